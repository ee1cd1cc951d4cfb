const out = [];
const inits = ["", ", {}", ", undefined", ", null", ", {bubbles: true}", ", {cancelable: 1, composed: 'x'}", ", 1", ", 'x'", ", {bubbles: null}", ", {detail: 5}", ", {get bubbles() { throw new RangeError() }}"];
const types = ["'x'", "''", "null", "undefined", "1", "{}", "Symbol()", "'\\ud800'"];
for (const C of ["Event", "CustomEvent"]) {
  for (const t of types) for (const i of inits) out.push(`const e = new ${C}(${t}${i}); return [e.type, e.bubbles, e.cancelable, e.composed, e.detail, e.defaultPrevented, e.returnValue, e.eventPhase, e.target, e.currentTarget, e.srcElement, e.cancelBubble, e.composedPath(), e.isTrusted, String(e)]`);
  out.push(`return new ${C}()`, `return ${C}('x')`, `return [${C}.length, ${C}.name]`);
}
for (const i of inits) out.push(`const e = new Event('x'${i}); e.preventDefault(); e.returnValue = false; e.cancelBubble = true; e.stopPropagation(); return [e.defaultPrevented, e.returnValue, e.cancelBubble]`);
for (const d of ["undefined", "null", "0", "{a: 1}", "'x'"]) out.push(`return new CustomEvent('x', {detail: ${d}}).detail`);
out.push("return [Event.NONE, Event.CAPTURING_PHASE, Event.AT_TARGET, Event.BUBBLING_PHASE, Event.prototype.AT_TARGET]");
for (const o of ["undefined", "null", "true", "false", "1", "{}", "{once: true}", "{once: 1, capture: true}", "{passive: true}", "{capture: {}}", "'x'"]) {
  out.push(`const t = new EventTarget(); const log = []; t.addEventListener('a', (e) => { log.push(e.type, e.eventPhase); e.preventDefault() }, ${o}); const e = () => new Event('a', {cancelable: true}); return [t.dispatchEvent(e()), t.dispatchEvent(e()), log]`);
  out.push(`const t = new EventTarget(); let n = 0; const f = () => n++; t.addEventListener('a', f, ${o}); t.addEventListener('a', f, ${o}); t.dispatchEvent(new Event('a')); t.removeEventListener('a', f, ${o}); t.dispatchEvent(new Event('a')); return n`);
  out.push(`const t = new EventTarget(); let n = 0; const f = () => n++; t.addEventListener('a', f); t.removeEventListener('a', f, ${o}); t.dispatchEvent(new Event('a')); return n`);
}
for (const l of ["undefined", "null", "1", "'x'", "{}", "{handleEvent() { log.push('h', this === l) }}", "{handleEvent: 1}", "() => log.push('f')", "class { static handleEvent() { log.push('s') } }", "Symbol()"]) {
  out.push(`const log = []; const l = ${l}; const t = new EventTarget(); t.addEventListener('a', l); return [t.dispatchEvent(new Event('a')), log]`);
  out.push(`const log = []; const t = new EventTarget(); return [t.removeEventListener('a', ${l})]`);
}
for (const e of ["", "undefined", "null", "{}", "{type: 'a'}", "'a'", "new Event('a')", "new CustomEvent('a', {cancelable: true})"]) out.push(`const t = new EventTarget(); let s; t.addEventListener('a', (x) => { s = [x.target === t, x.currentTarget === t, x.srcElement === t, x.eventPhase, x.composedPath().length] }); const r = t.dispatchEvent(${e}); return [r, s]`);
out.push("const t = new EventTarget(); const e = new Event('a'); let n = 0; t.addEventListener('a', () => { n++; try { t.dispatchEvent(e) } catch (x) { n = x.name + x.code } }); t.dispatchEvent(e); return n");
out.push("const t = new EventTarget(); const e = new Event('a'); let n = 0; t.addEventListener('a', () => n++); t.dispatchEvent(e); t.dispatchEvent(e); return [n, e.target === t, e.currentTarget, e.eventPhase]");
out.push("const t = new EventTarget(); const log = []; t.addEventListener('a', () => { log.push(1); t.addEventListener('a', () => log.push('late')) }); t.addEventListener('a', () => log.push(2)); t.dispatchEvent(new Event('a')); return log");
out.push("const t = new EventTarget(); const log = []; const g = () => log.push('g'); t.addEventListener('a', () => { log.push(1); t.removeEventListener('a', g) }); t.addEventListener('a', g); t.dispatchEvent(new Event('a')); return log");
out.push("const t = new EventTarget(); const log = []; t.addEventListener('a', (e) => { log.push(1); e.stopImmediatePropagation() }); t.addEventListener('a', () => log.push(2)); t.dispatchEvent(new Event('a')); return log");
out.push("const t = new EventTarget(); const log = []; t.addEventListener('a', (e) => { log.push(1); e.stopPropagation() }); t.addEventListener('a', () => log.push(2)); t.dispatchEvent(new Event('a')); return log");
out.push("const t = new EventTarget(); return [t.addEventListener('a', () => {}), t.removeEventListener('a', () => {}), String(t), Object.keys(t)]");
out.push("const t = new EventTarget(); let self; t.addEventListener('a', function () { self = this === t }); t.dispatchEvent(new Event('a')); return self");
out.push("class T extends EventTarget { go() { return this.dispatchEvent(new CustomEvent('z', {detail: 4})) } } const t = new T(); let d; t.addEventListener('z', (e) => d = e.detail); return [t.go(), d, t instanceof EventTarget]");
for (const m of ["addEventListener('a')", "removeEventListener('a')", "dispatchEvent()", "addEventListener()"]) out.push(`return new EventTarget().${m}`);
out.push("return EventTarget.prototype.addEventListener.call({}, 'a', () => {})", "return Object.getOwnPropertyDescriptor(Event.prototype, 'type').get.call({})", "return EventTarget()", "return [EventTarget.length, EventTarget.prototype.addEventListener.length, EventTarget.prototype.removeEventListener.length, EventTarget.prototype.dispatchEvent.length]");
// Abort.
for (const r of ["", "undefined", "null", "5", "'x'", "{a: 1}", "new RangeError('r')"]) {
  out.push(`const c = new AbortController(); const before = [c.signal.aborted, c.signal.reason]; c.abort(${r}); c.abort(9); return [before, c.signal.aborted, c.signal.reason]`);
  out.push(`const s = AbortSignal.abort(${r}); try { s.throwIfAborted() } catch (e) { return [e, e === s.reason, s.aborted] }`);
  out.push(`const c = new AbortController(); let e; c.signal.onabort = (x) => e = [x.type, x.isTrusted, x.bubbles, x.cancelable, x.target === c.signal]; c.abort(${r}); return e`);
  out.push(`const a = new AbortController(); const b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); const log = []; s.addEventListener('abort', () => log.push(s.reason)); b.abort(${r}); a.abort('no'); return [s.aborted, log]`);
}
for (const v of ["undefined", "null", "[]", "[1]", "[new AbortController().signal]", "new Set()", "{}", "'x'", "[AbortSignal.abort(1), AbortSignal.abort(2)]"]) out.push(`const s = AbortSignal.any(${v}); return [s.aborted, s.reason, s instanceof AbortSignal]`);
for (const v of ["", "undefined", "-1", "NaN", "Infinity", "'x'", "1.5", "0", "2**53", "{}"]) out.push(`const s = AbortSignal.timeout(${v}); return [s.aborted, s instanceof AbortSignal]`);
out.push("const s = AbortSignal.timeout(5); const r = await new Promise((f) => s.addEventListener('abort', () => f(s.reason))); return [r, r.message.length > 0]");
out.push("return new AbortSignal()", "return AbortSignal()", "return AbortController()", "return [AbortController.length, AbortSignal.length, AbortSignal.any.length, AbortSignal.timeout.length, AbortSignal.abort.length]");
out.push("const c = new AbortController(); const t = new EventTarget(); let n = 0; t.addEventListener('a', () => n++, {signal: c.signal}); t.dispatchEvent(new Event('a')); c.abort(); t.dispatchEvent(new Event('a')); return n");
out.push("const t = new EventTarget(); let n = 0; t.addEventListener('a', () => n++, {signal: AbortSignal.abort()}); t.dispatchEvent(new Event('a')); return n");
for (const v of ["null", "1", "{}"]) out.push(`new EventTarget().addEventListener('a', () => {}, {signal: ${v}})`);
out.push("const c = new AbortController(); const log = []; c.signal.onabort = () => log.push(1); c.signal.addEventListener('abort', () => log.push(2)); c.signal.onabort = () => log.push(3); c.abort(); return log");
out.push("const c = new AbortController(); c.signal.onabort = 5; const a = c.signal.onabort; const f = () => {}; c.signal.onabort = f; return [a, c.signal.onabort === f]");
out.push("const a = new AbortController(); const x = AbortSignal.any([a.signal]); const y = AbortSignal.any([x]); const log = []; y.onabort = () => log.push('y', x.aborted); x.onabort = () => log.push('x', y.aborted); a.signal.onabort = () => log.push('a', x.aborted, y.aborted); a.abort(); return log");
out.push("return [Object.keys(AbortController.prototype), Object.keys(AbortSignal.prototype), Object.keys(EventTarget.prototype)]", "return String(new AbortController()) + new AbortController().signal", "const {signal} = new AbortController(); return [signal.aborted, signal.reason, signal.onabort, signal.throwIfAborted()]");
export default out;
