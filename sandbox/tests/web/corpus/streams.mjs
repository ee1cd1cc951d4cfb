const out = [];
// Every source by every consumer.
const sources = {
  sync: "new ReadableStream({start(c) { c.enqueue('a'); c.enqueue('b'); c.close() }})",
  pull: "(() => { let n = 0; return new ReadableStream({pull(c) { log.push('pull' + n); if (n++ === 3) c.close(); else c.enqueue(n) }, cancel(r) { log.push('cancel', r) }}) })()",
  slow: "(() => { let n = 0; return new ReadableStream({async pull(c) { await 0; if (n++ === 2) c.close(); else c.enqueue(n) }, cancel(r) { log.push('cancel', r); return 'x' }}) })()",
  errored: "new ReadableStream({start(c) { c.enqueue(1); c.error(new RangeError('s')) }})",
  errsLater: "(() => { let n = 0; return new ReadableStream({pull(c) { if (n++ === 1) c.error('late'); else c.enqueue(n) }}) })()",
  throwsPull: "new ReadableStream({pull() { throw new RangeError('p') }})",
  rejectsStart: "new ReadableStream({start() { return Promise.reject('st') }, pull() { log.push('never') }})",
  empty: "new ReadableStream({start(c) { c.close() }})",
  hwm0: "(() => { let n = 0; return new ReadableStream({pull(c) { log.push('pull'); c.enqueue(n++); if (n === 2) c.close() }}, {highWaterMark: 0}) })()",
  hwm3: "(() => { let n = 0; return new ReadableStream({pull(c) { log.push('pull'); c.enqueue(n++); if (n === 4) c.close() }}, {highWaterMark: 3}) })()",
  sized: "(() => { let n = 0; return new ReadableStream({pull(c) { log.push(c.desiredSize); c.enqueue('x'.repeat(++n)); if (n === 3) c.close() }}, {highWaterMark: 4, size: (s) => s.length}) })()",
  badSize: "new ReadableStream({start(c) { try { c.enqueue(1) } catch (e) { log.push(e.name) } }}, {size: () => -1})",
  throwsSize: "new ReadableStream({start(c) { try { c.enqueue(1) } catch (e) { log.push(e) } }}, {size() { throw 'sz' }})",
  from: "ReadableStream.from(['p', 'q'])",
  fromGen: "ReadableStream.from((async function* () { try { yield 1; yield 2 } finally { log.push('finally') } })())",
  fromSyncGen: "ReadableStream.from((function* () { try { yield 1; yield Promise.resolve(2) } finally { log.push('finally') } })())",
  fromThrows: "ReadableStream.from((async function* () { yield 1; throw 'gen' })())",
};
const consumers = {
  read: "const r = s.getReader(); for (let i = 0; i < 5; i++) try { const x = await r.read(); log.push(x); if (x.done) break } catch (e) { log.push('err', e); break }",
  closed: "const r = s.getReader(); r.closed.then(() => log.push('closed'), (e) => log.push('closed!', e)); try { while (!(await r.read()).done); } catch {} await 0; await 0",
  parallel: "const r = s.getReader(); log.push(await Promise.allSettled([r.read(), r.read(), r.read(), r.read()]))",
  iterate: "try { for await (const x of s) log.push(x) } catch (e) { log.push('err', e) } log.push(s.locked)",
  breakOut: "try { for await (const x of s) { log.push(x); break } } catch (e) { log.push('err', e) } log.push(s.locked); await 0",
  keep: "try { for await (const x of s.values({preventCancel: true})) { log.push(x); break } } catch (e) { log.push('err', e) } log.push(s.locked)",
  cancel: "try { log.push(await s.cancel('why')) } catch (e) { log.push('err', e) } log.push(s.locked)",
  cancelReader: "const r = s.getReader(); try { log.push(await r.cancel('why')) } catch (e) { log.push('err', e) } try { log.push(await r.read()) } catch (e) { log.push('err', e) }",
  release: "const r = s.getReader(); const p = r.read().catch((e) => log.push('r', e.name)); r.releaseLock(); await p; r.closed.catch((e) => log.push(e.name)); log.push(s.locked); try { await r.read() } catch (e) { log.push(e.name) }",
  tee: "const [a, b] = s.tee(); log.push(s.locked); for (const t of [a, b]) try { for await (const x of t) log.push(x) } catch (e) { log.push('err', e) }",
  teeCancel: "const [a, b] = s.tee(); const pa = a.cancel('ra').catch((e) => log.push('ea', e)); const pb = b.cancel('rb').catch((e) => log.push('eb', e)); await pa; await pb",
  teeOne: "const [a, b] = s.tee(); a.cancel('ra').catch(() => {}); try { for await (const x of b) log.push(x) } catch (e) { log.push('err', e) }",
  locked: "s.getReader(); for (const f of [() => s.getReader(), () => s.tee(), () => s.cancel(), () => s.pipeTo(new WritableStream()), () => s.pipeThrough(new TransformStream()), () => s.values()]) try { await f(); log.push('ok') } catch (e) { log.push(e.name) }",
  pipe: "const w = new WritableStream({write(x) { log.push('w', x) }, close() { log.push('close') }, abort(r) { log.push('abort', r) }}); try { log.push(await s.pipeTo(w)) } catch (e) { log.push('err', e) } log.push(s.locked, w.locked)",
  pipeKeep: "const w = new WritableStream({write(x) { log.push('w', x) }, close() { log.push('close') }, abort(r) { log.push('abort', r) }}); try { log.push(await s.pipeTo(w, {preventClose: true, preventAbort: true})) } catch (e) { log.push('err', e) } log.push(s.locked, w.locked)",
  pipeSlow: "const w = new WritableStream({async write(x) { await 0; log.push('w', x) }}, {highWaterMark: 2}); try { await s.pipeTo(w) } catch (e) { log.push('err', e) }",
  pipeBad: "const w = new WritableStream({write() { throw 'bad' }}); try { await s.pipeTo(w) } catch (e) { log.push('err', e) } log.push(s.locked)",
  pipeErrored: "const w = new WritableStream({start(c) { c.error('dead') }}); try { await s.pipeTo(w) } catch (e) { log.push('err', e) } log.push(s.locked)",
  pipeClosed: "const w = new WritableStream(); await w.close(); try { await s.pipeTo(w) } catch (e) { log.push('err', e.name ?? e) } log.push(s.locked)",
  pipeAborted: "const w = new WritableStream({abort(r) { log.push('abort', r) }}); try { await s.pipeTo(w, {signal: AbortSignal.abort('sig')}) } catch (e) { log.push('err', e) } log.push(s.locked)",
  pipeAbortKeep: "const w = new WritableStream({abort(r) { log.push('abort', r) }}); try { await s.pipeTo(w, {signal: AbortSignal.abort('sig'), preventAbort: true, preventCancel: true}) } catch (e) { log.push('err', e) } log.push(s.locked)",
  through: "const t = new TransformStream({transform(x, c) { c.enqueue([x]); c.enqueue(2) }, flush(c) { c.enqueue('end') }}); try { for await (const x of s.pipeThrough(t)) log.push(x) } catch (e) { log.push('err', e) }",
  identity: "try { for await (const x of s.pipeThrough(new TransformStream())) log.push(x) } catch (e) { log.push('err', e) }",
  badTransform: "try { for await (const x of s.pipeThrough(new TransformStream({transform() { throw 'tf' }}))) log.push(x) } catch (e) { log.push('err', e) }",
  terminates: "try { for await (const x of s.pipeThrough(new TransformStream({transform(x, c) { c.enqueue(x); c.terminate() }}))) log.push(x) } catch (e) { log.push('err', e) }",
  desired: "log.push(s instanceof ReadableStream, s.locked, String(s)); const r = s.getReader(); log.push(s.locked); r.releaseLock(); log.push(s.locked)",
};
for (const s of Object.values(sources)) for (const c of Object.values(consumers)) out.push(`const log = []; const s = ${s}; ${c}; return log`);

// Every sink by every producer.
const sinks = {
  plain: "new WritableStream({start() { log.push('start') }, write(x) { log.push('w', x) }, close() { log.push('close') }, abort(r) { log.push('abort', r) }})",
  slow: "new WritableStream({async write(x) { await 0; await 0; log.push('w', x) }, async close() { await 0; log.push('close') }, abort(r) { log.push('abort', r) }}, {highWaterMark: 2})",
  bad: "new WritableStream({write(x) { if (x === 2) throw 'bad' }, close() { log.push('close') }, abort(r) { log.push('abort', r) }})",
  badClose: "new WritableStream({close() { throw 'bc' }})",
  badAbort: "new WritableStream({abort() { throw 'ba' }})",
  badStart: "new WritableStream({start() { return Promise.reject('bs') }, abort() { log.push('no') }})",
  slowStart: "new WritableStream({start() { return Promise.resolve().then(() => log.push('started')) }, write(x) { log.push('w', x) }})",
  errs: "new WritableStream({write(x, c) { log.push('w', x); if (x === 1) c.error('ce') }})",
  sized: "new WritableStream({write(x) { log.push(x) }}, {highWaterMark: 3, size: (x) => x})",
  badSize: "new WritableStream({write(x) { log.push(x) }}, {size() { throw 'sz' }})",
  negSize: "new WritableStream({write(x) { log.push(x) }}, {size: () => -1})",
  signal: "new WritableStream({start(c) { c.signal.onabort = () => log.push('sig', c.signal.reason) }, write() { return new Promise((r) => setTimeout(r, 2)) }, abort(r) { log.push('abort', r) }})",
};
const settle = (p) => `await ${p}.then((v) => log.push('ok', v), (e) => log.push('no', e?.name ?? e))`;
const producers = {
  write: `const w = s.getWriter(); for (const x of [1, 2, 3]) ${settle("w.write(x)")}; ${settle("w.close()")}; ${settle("w.closed")}`,
  together: `const w = s.getWriter(); const ps = [1, 2, 3].map((x) => w.write(x)); ps.push(w.close(), w.closed); log.push((await Promise.allSettled(ps)).map((r) => r.status + (r.reason?.name ?? r.reason ?? '')))`,
  sizes: `const w = s.getWriter(); const d = () => { try { log.push(w.desiredSize) } catch (e) { log.push(e.name) } }; d(); w.ready.then(() => log.push('ready'), () => log.push('ready!')); w.write(1).catch(() => {}); d(); w.write(2).catch(() => {}); d(); await 0; await 0; await 0; d(); ${settle("w.ready")}; d()`,
  abort: `${settle("s.abort('r')")}; const w = s.getWriter(); ${settle("w.closed")}; ${settle("w.ready")}; ${settle("w.write(1)")}; ${settle("w.abort('again')")}`,
  abortMid: `const w = s.getWriter(); const p = w.write(1).catch((e) => log.push('wr', e?.name ?? e)); const q = w.write(3).catch((e) => log.push('w3', e?.name ?? e)); ${settle("w.abort('mid')")}; await p; await q; ${settle("w.closed")}`,
  closeTwice: `${settle("s.close()")}; ${settle("s.close()")}; const w = s.getWriter(); ${settle("w.close()")}; ${settle("w.ready")}`,
  closeThenWrite: `const w = s.getWriter(); const p = w.close().catch((e) => log.push('c', e?.name ?? e)); ${settle("w.write(9)")}; await p; ${settle("w.abort()")}`,
  abortThenClose: `const w = s.getWriter(); const p = w.abort('x').catch((e) => log.push('a', e)); ${settle("w.close()")}; await p; ${settle("w.closed")}`,
  closeThenAbort: `const w = s.getWriter(); const p = w.close().catch((e) => log.push('c', e?.name ?? e)); ${settle("w.abort('x')")}; await p; ${settle("w.closed")}`,
  release: `const w = s.getWriter(); w.releaseLock(); ${settle("w.closed")}; ${settle("w.ready")}; ${settle("w.write(1)")}; log.push(s.locked); try { w.desiredSize } catch (e) { log.push(e.name) }`,
  locked: `s.getWriter(); try { s.getWriter() } catch (e) { log.push(e.name) } ${settle("s.abort()")}; ${settle("s.close()")}; log.push(s.locked)`,
};
for (const s of Object.values(sinks)) for (const p of Object.values(producers)) out.push(`const log = []; const s = ${s}; ${p}; return log`);

// Transforms.
const transforms = {
  identity: "new TransformStream()",
  upper: "new TransformStream({transform(x, c) { c.enqueue(String(x).toUpperCase()) }})",
  start: "new TransformStream({start(c) { c.enqueue('s'); log.push(c.desiredSize) }, flush(c) { c.enqueue('f') }})",
  asyncT: "new TransformStream({async transform(x, c) { await 0; c.enqueue(x); c.enqueue(x) }})",
  wide: "new TransformStream({}, {highWaterMark: 3}, {highWaterMark: 2})",
  error: "new TransformStream({transform(x, c) { c.error('te') }})",
  reject: "new TransformStream({async transform() { throw 'tr' }})",
  flushThrows: "new TransformStream({flush() { throw 'fl' }})",
  terminate: "new TransformStream({transform(x, c) { c.enqueue(x); c.terminate() }})",
  startThrows: "(() => { try { return new TransformStream({start() { throw 'st' }}) } catch (e) { log.push(e); return new TransformStream() } })()",
  startRejects: "new TransformStream({start() { return Promise.reject('sr') }})",
};
const drives = {
  both: `const w = t.writable.getWriter(), r = t.readable.getReader(); const ps = Promise.allSettled([w.write('a'), w.write('b'), w.close()]); try { for (;;) { const x = await r.read(); log.push(x.value); if (x.done) break } } catch (e) { log.push('err', e) } log.push((await ps).map((p) => p.status + (p.reason?.name ?? p.reason ?? '')))`,
  sizes: `const w = t.writable.getWriter(); log.push(w.desiredSize); w.write('a').catch(() => {}); log.push(w.desiredSize); await 0; await 0; await 0; log.push(w.desiredSize)`,
  cancel: `${settle("t.readable.cancel('rc')")}; const w = t.writable.getWriter(); ${settle("w.write(1)")}; ${settle("w.closed")}`,
  abort: `${settle("t.writable.abort('wa')")}; const r = t.readable.getReader(); ${settle("r.read()")}; ${settle("r.closed")}`,
  closeOnly: `const p = t.writable.close().catch((e) => log.push('c', e?.name ?? e)); const r = t.readable.getReader(); ${settle("r.read()")}; await p`,
};
for (const t of Object.values(transforms)) for (const d of Object.values(drives)) out.push(`const log = []; const t = ${t}; ${d}; return log`);

// Construction and shape.
for (const v of ["undefined", "null", "{}", "1", "'x'", "() => {}", "{start: 1}", "{pull: null}", "{cancel: {}}", "{write: 1}", "{close: null}", "{abort: 'x'}", "{type: 'bytes'}", "{type: 'x'}", "{type: undefined}", "{type: null}", "{transform: 1}", "{flush: 1}", "{readableType: 'x'}", "{writableType: 1}", "{start() { throw new RangeError() }}"]) {
  for (const C of ["ReadableStream", "WritableStream", "TransformStream"]) out.push(`return String(new ${C}(${v}))`);
}
for (const v of ["undefined", "null", "{}", "1", "{highWaterMark: -1}", "{highWaterMark: NaN}", "{highWaterMark: 'x'}", "{highWaterMark: '2'}", "{highWaterMark: Infinity}", "{size: 1}", "{size: null}", "new CountQueuingStrategy({highWaterMark: 2})", "new ByteLengthQueuingStrategy({highWaterMark: 5})", "{highWaterMark: {}}"]) {
  out.push(`let d; new ReadableStream({start(c) { d = c.desiredSize }}, ${v}); return d`, `return new WritableStream({}, ${v}).getWriter().desiredSize`, `let d; new TransformStream({start(c) { d = c.desiredSize }}, ${v}, ${v}); return d`);
}
for (const C of ["CountQueuingStrategy", "ByteLengthQueuingStrategy"]) {
  for (const v of ["", "undefined", "{}", "1", "{highWaterMark: 3}", "{highWaterMark: 'x'}", "{highWaterMark: -2}"]) out.push(`const q = new ${C}(${v}); return [q.highWaterMark, typeof q.size, q.size.name, q.size.length, q.size({byteLength: 7}), q.size('x')]`);
}
for (const v of ["undefined", "null", "1", "'ab'", "[]", "[1, Promise.resolve(2)]", "new Set([1])", "{}", "{[Symbol.iterator]: 1}", "{[Symbol.asyncIterator]() { return 1 }}", "{[Symbol.asyncIterator]() { return {next() { return 1 }} }}", "{[Symbol.iterator]() { return {next() { return {done: true}} }} }", "new ReadableStream({start(c) { c.enqueue(5); c.close() }})"]) out.push(`const r = []; for await (const x of ReadableStream.from(${v})) r.push(x); return r`);
for (const m of ["getReader({mode: 'x'})", "getReader(null)", "getReader(1)", "pipeTo()", "pipeTo({})", "pipeThrough()", "pipeThrough({})", "pipeThrough({readable: new ReadableStream()})", "pipeThrough({readable: new ReadableStream(), writable: 1})", "pipeTo(new WritableStream(), {signal: 1})", "pipeTo(new WritableStream(), 1)", "values(1)", "cancel()"]) out.push(`return String(await new ReadableStream().${m})`);
for (const C of ["ReadableStream", "WritableStream", "TransformStream", "ReadableStreamDefaultReader", "WritableStreamDefaultWriter", "ReadableStreamDefaultController", "WritableStreamDefaultController", "TransformStreamDefaultController"]) {
  out.push(`return [${C}.length, ${C}.name, ${C}.prototype[Symbol.toStringTag]]`, `return new ${C}(1)`, `return ${C}()`, `return Object.getOwnPropertyNames(${C}.prototype).sort().filter((n) => n !== 'constructor').map((n) => { const d = Object.getOwnPropertyDescriptor(${C}.prototype, n); return [n, d.enumerable, typeof d.get, d.value?.length] })`);
}
out.push("const t = new TextEncoderStream(); const w = t.writable.getWriter(); w.write('a\\ud83d'); w.write('\\ude00b'); w.write('\\ud83d'); w.close(); return Array.fromAsync ? 0 : [t.encoding]");
for (const chunks of ["['a', 'é']", "['\\ud83d', '\\ude00']", "['\\ud83d', 'x']", "['x\\ud83d']", "[1, null, undefined, {}]", "['']", "[]", "['a', '', 'b']"]) out.push(`const r = []; for await (const x of ReadableStream.from(${chunks}).pipeThrough(new TextEncoderStream())) r.push(x); return r`);
for (const [args, chunks] of [["", "[[104, 105]]"], ["", "[[226], [130], [172]]"], ["", "[[226], [65]]"], ["'utf-8', {fatal: true}", "[[226], [65]]"], ["'utf-16le'", "[[97], [0]]"], ["'utf-8', {ignoreBOM: true}", "[[239, 187], [191, 97]]"], ["", "[[239, 187], [191, 97]]"], ["", "[[226]]"], ["'utf-8', {fatal: true}", "[[226]]"], ["'x'", "[]"]]) {
  out.push(`const r = []; try { for await (const x of ReadableStream.from(${chunks}.map((b) => new Uint8Array(b))).pipeThrough(new TextDecoderStream(${args}))) r.push(x) } catch (e) { r.push(e.name) } return r.join('|')`);
}
out.push("const r = []; try { for await (const x of ReadableStream.from(['a']).pipeThrough(new TextDecoderStream())) r.push(x) } catch (e) { r.push(e.name) } return r");
out.push("const d = new TextDecoderStream('latin2', {fatal: 1}); return [d.encoding, d.fatal, d.ignoreBOM, String(d), String(new TextEncoderStream()), d.readable instanceof ReadableStream, d.writable instanceof WritableStream]");
export default out;
