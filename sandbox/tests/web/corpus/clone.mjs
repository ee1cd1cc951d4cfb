const out = [];
const values = ["undefined", "null", "true", "0", "-0", "NaN", "1.5", "'x'", "'\\ud800'", "1n", "-(2n**70n)", "Symbol('s')", "() => 1", "function f() {}", "class A {}", "[]", "[1,,3]",
  "Object.assign([1], {x: 2})", "{}", "{a: 1, b: {c: [2]}}", "{['__proto__']: 1}", "Object.create({a: 1})", "Object.create(null)", "new (class A { x = 1 })()", "{get a() { return 1 }}",
  "Object.defineProperty({}, 'h', {value: 1})", "{[Symbol.iterator]: 1, a: 2}", "new Date(0)", "new Date(NaN)", "/a.b/dgimsy", "/x/v", "Object.assign(/x/g, {lastIndex: 3})", "new Map([[1, {a: 2}], ['k', new Map()]])",
  "new Set([1, {a: 1}, new Set([2])])", "new Map([[{a: 1}, 2]])", "Object(1)", "Object('s')", "Object(false)", "Object(1n)", "Object(Symbol())", "new Error('m')", "new TypeError('m')", "new RangeError()",
  "Object.assign(new Error('m'), {extra: 1})", "Object.assign(new Error('m'), {name: 'Custom'})", "Object.assign(new Error('m'), {name: 'TypeError'})", "new (class MyError extends Error {})('m')", "new Error('m', {cause: {a: 1}})",
  "new Error('m', {cause: () => 1})", "new AggregateError([1], 'm')", "new DOMException('m', 'AbortError')", "new ArrayBuffer(3)", "new Uint8Array([1,2,3])", "new Uint8Array([1,2,3]).subarray(1, 2)", "new Int16Array([-1, 5])",
  "new Float32Array([1.5])", "new Float64Array([NaN, -0])", "new BigInt64Array([5n])", "new BigUint64Array([5n])", "new Uint8ClampedArray([300])", "new DataView(new ArrayBuffer(4), 1, 2)", "new ArrayBuffer(2, {maxByteLength: 8})",
  "new Uint8Array(new ArrayBuffer(4, {maxByteLength: 8}), 1, 2)", "Promise.resolve(1)", "new WeakMap()", "new WeakSet()", "new WeakRef({})", "new Proxy({}, {})", "new Proxy([], {})", "globalThis", "Math", "JSON", "(function* () {})()", "[].values()", "new Map().entries()",
  "(function () { return arguments })(1, 2)", "new AbortController()", "new AbortController().signal", "new Event('x')", "new EventTarget()", "new TextEncoder()", "new Headers({a: 'b'})", "new URL('https://a/')", "Object.freeze({a: 1})", "Object.freeze([1])", "Object.seal({a: 1})"];
for (const v of values) {
  out.push(`return structuredClone(${v})`, `return structuredClone([${v}])`, `return structuredClone({k: ${v}})`, `return structuredClone(new Map([['k', ${v}]]))`);
  out.push(`try { return structuredClone({a: {b: ${v}}}) } catch (e) { return [e.name, e.code, e instanceof DOMException] }`);
}
for (const v of values) {
  out.push(`const v = ${v}; const c = structuredClone([v, v]); return typeof v === 'object' && v !== null ? [c[0] === c[1], c[0] !== v, Object.getPrototypeOf(c[0]) === Object.getPrototypeOf(v)] : Object.is(c[0], v)`);
  out.push(`const v = ${v}; return Object.getOwnPropertyNames(structuredClone(v)).filter((n) => n !== 'stack')`);
}
for (const d of ["enumerable", "writable", "configurable"]) {
  out.push(`return Object.getOwnPropertyDescriptor(structuredClone({a: 1}), 'a').${d}`, `return Object.getOwnPropertyDescriptor(structuredClone([1]), 0).${d}`);
  for (const m of ["message", "cause"]) out.push(`return Object.getOwnPropertyDescriptor(structuredClone(new Error('m', {cause: 1})), '${m}').${d}`);
}
out.push("const o = {}; o.o = o; const c = structuredClone(o); return c.o === c && c !== o", "const a = []; a[0] = a; const c = structuredClone(a); return c[0] === c", "const m = new Map(); m.set(m, m); const c = structuredClone(m); return c.get(c) === c",
  "const s = new Set(); s.add(s); const c = structuredClone(s); return c.has(c)", "const e = new Error('x'); e.cause = e; const c = structuredClone(e); return c.cause === c");
out.push("const b = new Uint8Array([1,2]).buffer; const c = structuredClone({x: new Uint8Array(b), y: new Uint8Array(b, 1)}); return [c.x.buffer === c.y.buffer, c.y.byteOffset, c.x]");
out.push("const e = new Error('x'); return structuredClone(e).stack === e.stack");
// Transfer.
for (const t of ["[b]", "new Set([b])", "[b, b]", "[u]", "[{}]", "[1]", "[null]", "{}", "null", "1", "'a'", "undefined", "[new SharedArrayBuffer(1)]"]) {
  out.push(`const b = new ArrayBuffer(4); const u = new Uint8Array(b).fill(7); const c = structuredClone({b, u}, {transfer: ${t}}); return [c, b.byteLength, b.detached, u.length]`);
  out.push(`const b = new ArrayBuffer(4); const u = new Uint8Array(b).fill(7); try { structuredClone({b, f() {}}, {transfer: ${t}}) } catch (e) { return [e.name, b.byteLength] }`);
  out.push(`const b = new ArrayBuffer(4); const u = new Uint8Array(b).fill(7); return [structuredClone(1, {transfer: ${t}}), b.byteLength]`);
}
out.push("const b = new ArrayBuffer(2, {maxByteLength: 9}); return structuredClone(b, {transfer: [b]})", "const b = new ArrayBuffer(2); b.transfer(); return structuredClone(b)", "const b = new ArrayBuffer(2); b.transfer(); return structuredClone(1, {transfer: [b]})", "const b = new ArrayBuffer(2); b.transfer(); return structuredClone(new Uint8Array(2), {transfer: [b]})");
for (const o of ["undefined", "null", "{}", "1", "'x'", "{transfer: undefined}", "() => 1"]) out.push(`return structuredClone(5, ${o})`);
out.push("return structuredClone()", "return [structuredClone.length, structuredClone.name]");
// Side effects on the way.
out.push("const log = []; const o = {get a() { log.push('a'); return 1 }, get b() { log.push('b'); delete o.c; return 2 }, c: 3}; return [structuredClone(o), log]");
out.push("const a = [1, 2, 3]; Object.defineProperty(a, 0, {get() { a.length = 1; return 9 }, enumerable: true}); return structuredClone(a)");
out.push("const m = new Map([[{get x() { m.set('late', 1); return 1 }}, 0]]); return structuredClone(m)", "const s = new Set([{get x() { s.delete(2); return 1 }}, 2]); return structuredClone(s)");
out.push("return structuredClone({get a() { throw new RangeError('x') }})", "const o = {}; o.a = {get x() { o.b = 1; return 2 }}; return structuredClone(o)");
export default out;
