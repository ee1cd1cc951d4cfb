import { constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

const out = [];
const through = "const through = async (stream, chunks) => { const w = stream.writable.getWriter(); const writing = (async () => { for (const c of chunks) await w.write(c); await w.close(); })(); writing.catch(() => {}); const r = stream.readable.getReader(); const bytes = []; for (;;) { const { value, done } = await r.read(); if (done) break; if (!(value instanceof Uint8Array)) throw new RangeError(); bytes.push(...value); } await writing; return bytes };";
const sum = "const sum = (bytes) => { let h = 7; for (const b of bytes) h = (h * 31 + b) | 0; return [bytes.length, h, bytes.slice(0, 8)] };";
let state = 77;
const random = (n) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n;
const inputs = [Buffer.alloc(0), Buffer.from("a"), Buffer.from("hello hello hello"), Buffer.alloc(300, 65), Buffer.from(Array.from({ length: 257 }, (_, i) => i & 255)), Buffer.from(Array.from({ length: 900 }, () => random(256))), Buffer.from(Array.from({ length: 2000 }, () => 97 + random(3)))];
const formats = { gzip: gzipSync, deflate: deflateSync, "deflate-raw": deflateRawSync };
const literal = (bytes) => `new Uint8Array([${[...bytes]}])`;
// Node's errors are those of zlib, ours TypeErrors as the standard wants: compared is what is refused.
const decompress = (format, chunks) => `${through} ${sum} try { return sum(await through(new DecompressionStream('${format}'), [${chunks}])) } catch (e) { return e instanceof Error && 'refused' }`;

for (const [format, compress] of Object.entries(formats)) {
  for (const input of inputs) {
    for (const options of [{}, { level: 0 }, { level: 9 }, { strategy: constants.Z_FIXED }, { strategy: constants.Z_HUFFMAN_ONLY }]) out.push(decompress(format, [literal(compress(input, options))]));
    out.push(`${through} ${sum} return sum(await through(new DecompressionStream('${format}'), [new Uint8Array(await through(new CompressionStream('${format}'), [${literal(input)}]))]))`);
  }
  const whole = compress(inputs[2]);
  // Cut, damaged, and with more behind it.
  for (let at = 0; at < whole.length; at++) out.push(decompress(format, [literal(whole.subarray(0, at))]), decompress(format, [literal(whole.subarray(0, at)), literal(whole.subarray(at))]));
  for (let at = 0; at < whole.length; at++) for (const bit of [1, 16, 128]) { const damaged = Buffer.from(whole); damaged[at] ^= bit; out.push(decompress(format, [literal(damaged)])); }
  out.push(decompress(format, [literal(whole), "new Uint8Array(0)"]));
  for (const chunks of [[literal(Buffer.concat([whole, Buffer.from([0])]))], [literal(whole), "new Uint8Array([1])"], [literal(Buffer.concat([whole, whole]))]]) out.push(`/* more behind the end */ ${decompress(format, chunks)}`);
  for (const view of ["new DataView(new Uint8Array([1,2,3]).buffer, 1)", "new Uint16Array([1, 2])", "new Uint8Array([9,1,2,9]).subarray(1, 3)"]) out.push(`${through} return through(new DecompressionStream('${format}'), [new Uint8Array(await through(new CompressionStream('${format}'), [${view}, ${view}]))])`);
  out.push(`return new Response(new Blob(["some text ", "and more"]).stream().pipeThrough(new CompressionStream('${format}')).pipeThrough(new DecompressionStream('${format}'))).text()`);
}
// Headers of gzip with everything that they may have.
const body = gzipSync(Buffer.from("x")).subarray(10);
for (const flags of [0, 1, 2, 4, 8, 16, 12, 24, 28, 32, 64, 128]) {
  const parts = [0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 2, 255];
  if (flags & 4) parts.push(2, 0, 7, 8);
  if (flags & 8) parts.push(110, 0);
  if (flags & 16) parts.push(99, 99, 0);
  out.push(decompress("gzip", [literal([...parts, ...body])]), decompress("gzip", [...parts, ...body].map((byte) => literal([byte]))));
}
for (const name of ["CompressionStream", "DecompressionStream"]) {
  for (const format of ["", "'GZIP'", "'br'", "undefined", "null", "1", "{toString() { return 'gzip' }}", "Symbol()"]) out.push(`return new ${name}(${format}).readable instanceof ReadableStream`);
  out.push(`${name}('gzip')`, `return [${name}.length, ${name}.name, Object.keys(${name}.prototype)]`, `return Object.getOwnPropertyDescriptor(${name}.prototype, 'readable').get.call({})`);
  out.push(`const s = new ${name}('gzip'); return [s.readable === s.readable, s.writable instanceof WritableStream, s.readable.locked]`, `return String(new ${name}('gzip'))`);
}
export default out;
