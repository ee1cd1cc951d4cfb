// Buffer, value by value. Each case renders its outcome, or the name, code and message of what it throws.
const out = [];
const add = (expression) => out.push(`try { return ${expression} } catch (e) { return [e.name, e.code, e.code && e.message] }`);
const run = (body) => out.push(`try { ${body} } catch (e) { return [e.name, e.code, e.code && e.message] }`);
const encodings = ["utf8", "utf-8", "UTF8", "ucs2", "utf16le", "UTF-16LE", "latin1", "binary", "ascii", "hex", "base64", "base64url", "nope", "", null, undefined, 5, "Base64"];
const texts = ["", "a", "héllo", "€uro 😀", "\ud800x", "x\udc00", "68656c6c6f", "6865zz6c", "abc", "0g", "aGk=", "aGk", "aG k\n=", "a-_b", "a+/b", "YQ==YQ==", "Y=Q=", "YWJj=ZGVm", "YWI*jZA", "====", "=", "Y", "\u0100\u0141", "a\u0130b0", "ab ", "YQ===", "😀aGk"];
const show = (e) => `((b) => [b.length, b.toJSON().data, b.constructor === Buffer])(${e})`;
for (const t of texts) {
  for (const e of encodings) {
    const s = JSON.stringify(t), x = JSON.stringify(e) ?? "undefined";
    add(show(`Buffer.from(${s}, ${x})`));
    add(`Buffer.byteLength(${s}, ${x})`);
  }
}
const bytes = ["[]", "[0]", "[255]", "[104, 105]", "[0, 1, 2, 127, 128, 129, 254, 255]", "[0xe2, 0x82, 0xac]", "[0xe2, 0x82]", "[0xf0, 0x9f, 0x98, 0x80]", "[0xf0, 0x9f, 0x98]", "[0xed, 0xa0, 0x80]", "[0xc0, 0x80, 65]", "[0xef, 0xbb, 0xbf, 65]", "[65, 0, 66]", "[0x3d, 0xd8, 0, 0xde]"];
for (const b of bytes) {
  for (const e of encodings) {
    const x = JSON.stringify(e) ?? "undefined";
    add(`Buffer.from(${b}).toString(${x})`);
    add(`Buffer.from(${b}).toString(${x}, 1)`);
    add(`Buffer.from(${b}).toString(${x}, 1, 3)`);
  }
  add(`Buffer.from(${b}).toString()`);
  add(`JSON.stringify(Buffer.from(${b}))`);
  add(`[...Buffer.from(${b}).entries()]`);
  for (const m of ["hexSlice", "utf8Slice", "latin1Slice", "asciiSlice", "base64Slice", "base64urlSlice", "ucs2Slice"]) add(`Buffer.from(${b}).${m}(0, 2)`);
}
for (const [a, b] of [["-1", "2"], ["0", "-1"], ["'1'", "'3'"], ["NaN", "2"], ["1.9", "3.9"], ["Infinity", "2"], ["0", "Infinity"], ["null", "2"], ["3", "1"], ["undefined", "2"], ["-3", "-1"], ["-Infinity", "99"]]) {
  add(`Buffer.from("hello").toString("latin1", ${a}, ${b})`);
  add(`Buffer.from("hello").slice(${a}, ${b}).toString()`);
  add(`Buffer.from("hello").subarray(${a}, ${b}).toString()`);
}
for (const v of ["undefined", "null", "5", "true", "Symbol()", "1n", "{}", "{length: 2}", "{length: 2, 0: 65, 1: 321}", "{length: -1}", "{length: 'a'}", "{type: 'Buffer', data: [1, 2]}", "{type: 'Buffer', data: 5}", "[1, 2, 300, -1, 1.9, '3', 'x', null]", "new Uint16Array([1, 258])", "new Float64Array([1.5, -1])", "new DataView(new ArrayBuffer(2))", "new ArrayBuffer(3)", "new String('hé')", "Object('x')", "() => 1", "new Date(0)", "{ valueOf() { return 'v' } }", "{ valueOf() { return [1, 2] } }", "{ [Symbol.toPrimitive]() { return 'prim' } }", "new Map()", "new Set([1])", "Buffer.from('ab')", "new (class Foo {})()", "Object.create(null)", "new BigInt64Array(2)"]) {
  add(show(`Buffer.from(${v})`));
  add(`Buffer.byteLength(${v})`);
  add(`Buffer.isBuffer(${v})`);
  add(`Buffer.isEncoding(${v})`);
  add(show(`Buffer.alloc(${v})`));
  add(show(`Buffer.concat(${v})`));
  add(show(`Buffer.concat([Buffer.from('a'), ${v}])`));
  add(`Buffer.compare(Buffer.from('a'), ${v})`);
  add(`Buffer.from('abcabc').indexOf(${v})`);
  add(`Buffer.from('abcabc').equals(${v})`);
  add(show(`Buffer.alloc(4, ${v})`));
  add(show(`Buffer.alloc(4).fill(${v})`));
  add(`((b) => [b.write(${v}), b.toString()])(Buffer.alloc(4, 46))`);
  add(`Buffer.from('abc').readUInt8(${v})`);
  add(`((b) => [b.writeUInt8(${v}), b[0]])(Buffer.alloc(1))`);
  add(`((b) => [b.writeUInt32BE(${v}), b.toString('hex')])(Buffer.alloc(4))`);
  add(`((b) => [b.copy(${v})])(Buffer.from('abc'))`);
  add(`((b) => [b.copy(Buffer.alloc(3), ${v})])(Buffer.from('abc'))`);
}
for (const s of ["-1", "0", "1.5", "NaN", "3", "4294967297", "1e10", "Infinity", "'5'"]) {
  for (const f of ["alloc", "allocUnsafe", "allocUnsafeSlow"]) add(`Buffer.${f}(${s}).length`);
  add(`Buffer.concat([Buffer.from('abc'), Buffer.from('de')], ${s}).toString('latin1')`);
}
for (const [a, b] of [["0", "undefined"], ["1", "undefined"], ["1", "2"], ["4", "undefined"], ["5", "undefined"], ["-1", "undefined"], ["0", "9"], ["0", "-1"], ["NaN", "NaN"], ["'1'", "'2'"], ["1.7", "2.2"]]) {
  add(show(`Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, ${a}, ${b})`));
}
const needles = ["'a'", "'bc'", "''", "'abcabcabcx'", "'c'", "97", "99 + 256", "-159", "99.9", "Buffer.from('ca')", "new Uint8Array([98])", "'zz'", "Buffer.alloc(0)", "'é'"];
const offsets = ["undefined", "0", "1", "3", "8", "9", "10", "-1", "-4", "-100", "NaN", "'latin1'", "null", "'2'", "{}", "[]", "1.5", "Infinity", "-Infinity"];
for (const n of needles) for (const o of offsets) for (const f of ["indexOf", "lastIndexOf", "includes"]) add(`Buffer.from('abcabcabc').${f}(${n}, ${o})`);
for (const n of ["'b'", "'\\u6200'", "Buffer.from('b', 'ucs2')", "'cb'"]) for (const o of ["0", "1", "2", "3", "-1", "-3"]) for (const f of ["indexOf", "lastIndexOf"]) add(`Buffer.from('abcb', 'ucs2').${f}(${n}, ${o}, 'ucs2')`);
for (const e of ["hex", "base64", "latin1", "ascii", "nope", "utf8"]) add(`Buffer.from('abcabc').indexOf('62', 0, ${JSON.stringify(e)})`);
const fills = ["'ab'", "'€'", "''", "0", "255", "256", "-1", "1.9", "true", "false", "null", "undefined", "Buffer.from('xyz')", "Buffer.alloc(0)", "'zz'", "new Uint16Array([258])", "'6'", "{}", "[]"];
for (const v of fills) {
  add(show(`Buffer.alloc(7, ${v})`));
  for (const [a, b] of [["1", "3"], ["2", "undefined"], ["5", "2"], ["-1", "2"], ["0", "99"], ["'latin1'", "undefined"], ["1", "'hex'"], ["'1'", "2"], ["7", "7"], ["1.5", "3"]]) add(show(`Buffer.alloc(7, 46).fill(${v}, ${a}, ${b})`));
  add(show(`Buffer.alloc(7).fill(${v}, 0, 7, 'hex')`));
  add(show(`Buffer.alloc(7).fill(${v}, 0, 7, 'nope')`));
}
for (const t of ["'hello'", "'€'", "'6869'", "'aGVs'", "''", "'a€b'"]) {
  for (const a of ["", ", 1", ", 4", ", 5", ", 6", ", -1", ", 1.5", ", 'hex'", ", 1, 2", ", 1, 99", ", 1, -1", ", 1, 'ucs2'", ", 0, 3, 'utf8'", ", 0, 4, 'base64'", ", undefined, 2", ", 0, 5, 'nope'", ", 'nope'", ", '1'", ", null"]) {
    add(`((b) => [b.write(${t}${a}), b.toString('latin1')])(Buffer.alloc(5, 46))`);
  }
}
for (const a of ["", ", 1", ", 1, 2", ", 0, 1, 3", ", 5", ", 2, 3, 1", ", -1", ", 0, -1", ", 0, 9", ", 0, 0, 99", ", 0, 0, -1", ", NaN, NaN, NaN", ", '1', '2'", ", 1.9"]) add(`((t) => [Buffer.from('abcde').copy(t${a}), t.toString()])(Buffer.alloc(5, 46))`);
add("((b) => { b.copy(b, 1, 0, 4); return b.toString() })(Buffer.from('abcdef'))");
for (const a of ["", ", 0", ", 1, 2", ", 0, 3, 1, 2", ", 9", ", -1", ", 0, 9", ", 0, 0, 0, 0", ", 3, 1", ", 0, 3, 9", ", '0'", ", 1.5", ", undefined, 2, 1"]) add(`Buffer.from('abc').compare(Buffer.from('bcd')${a})`);
for (const f of ["swap16", "swap32", "swap64"]) for (const n of [0, 2, 3, 4, 8, 16]) add(`Buffer.from([${[...Array(n).keys()]}]).${f}().toString('hex')`);
const sizes = ["UInt8", "Int8", "UInt16LE", "UInt16BE", "Int16LE", "Int16BE", "UInt32LE", "UInt32BE", "Int32LE", "Int32BE", "FloatLE", "FloatBE", "DoubleLE", "DoubleBE", "BigInt64LE", "BigInt64BE", "BigUInt64LE", "BigUInt64BE"];
const numbers = ["0", "1", "-1", "127", "128", "255", "256", "-129", "65535", "65536", "-32769", "2147483647", "2147483648", "4294967295", "4294967296", "-2147483649", "1.5", "-1.5", "NaN", "Infinity", "'7'", "'x'", "undefined", "0n", "1n", "-1n", "2n ** 63n", "2n ** 64n", "-(2n ** 63n) - 1n", "1e300", "0.1", "{}", "null"];
for (const s of sizes) {
  for (const o of ["", "0", "1", "8", "9", "-1", "1.5", "NaN", "'1'", "null", "undefined", "99"]) add(`Buffer.from([1, 130, 3, 4, 255, 6, 7, 200, 9]).read${s}(${o})`);
  for (const v of numbers) add(`((b) => [b.write${s}(${v}), b.toString('hex')])(Buffer.alloc(8))`);
  for (const o of ["1", "8", "9", "-1", "1.5", "'1'", "null"]) add(`((b) => [b.write${s}(${s.startsWith("Big") ? "1n" : "1"}, ${o}), b.toString('hex')])(Buffer.alloc(9))`);
  add(`Buffer.alloc(2).read${s}()`);
}
for (const s of ["UIntLE", "UIntBE", "IntLE", "IntBE"]) {
  for (let n = 0; n < 8; n++) {
    add(`Buffer.from([1, 130, 3, 4, 255, 6, 200]).read${s}(1, ${n})`);
    for (const v of ["0", "1", "-1", "255", "32768", "-32769", "8388608", "2147483648", "1099511627775", "140737488355328", "-140737488355329", "281474976710656", "1.9", "NaN"]) add(`((b) => [b.write${s}(${v}, 0, ${n}), b.toString('hex')])(Buffer.alloc(6))`);
  }
  for (const a of ["", "0", "undefined, 2", "9, 2", "1.5, 2", "0, '2'", "0, 1.5", "'0', 2"]) add(`Buffer.from([1, 130, 3, 4, 255, 6, 200]).read${s}(${a})`);
}
for (const e of ["Buffer.poolSize", "Buffer.name", "Buffer.length", "typeof Buffer.prototype.parent", "Buffer.from('a').buffer instanceof ArrayBuffer", "Buffer(3).length", "Buffer('abc').toString()", "new Buffer([1]).length", "Buffer(3, 'utf8')", "Buffer.from('abc') instanceof Uint8Array", "Buffer.from('abc').map((x) => x + 1).toString()", "Buffer.isBuffer(Buffer.from('abc').map((x) => x))", "Buffer.isBuffer(Buffer.from('abc').filter(Boolean))", "Buffer.isBuffer(new Uint8Array(1))", "Buffer.isBuffer(Object.create(Buffer.prototype))", "Object.prototype.toString.call(Buffer.from(''))", "String(Buffer.from('hi'))", "Buffer.from('hi') + ''", "Buffer.of(1, 2, 300).toJSON()", "Buffer.from('abc').toLocaleString('hex')", "Buffer.prototype.readUInt8 === Buffer.prototype.readUint8", "Buffer.prototype.writeBigUInt64LE === Buffer.prototype.writeBigUint64LE", "Object.getOwnPropertyDescriptor(Buffer, 'from').enumerable", "Buffer.prototype.constructor === Buffer", "structuredClone(Buffer.from('ab')).constructor.name", "Buffer.from('ab').at(-1)", "Buffer.from('abc').reverse().toString()", "Buffer.from([3, 1, 2]).sort().toJSON().data", "Object.keys(Buffer.from('ab'))", "Buffer.concat([])", "Buffer.from('aé').length", "new TextDecoder().decode(Buffer.from('é'))", "btoa(Buffer.from('hi').toString('binary'))", "new Uint8Array(Buffer.from('ab')).length", "Buffer.from(Buffer.from('ab').buffer).length > 0", "Buffer.from('test').readUInt8.length + Buffer.from('test').writeUInt8.length", "Buffer.prototype.indexOf.name"]) add(e);
run("const a = Buffer.from('abc'); const b = a.subarray(1); b[0] = 88; return [a.toString(), b.length, b.byteOffset - a.byteOffset]");
run("const u = new Uint8Array([1, 2]); const b = Buffer.from(u.buffer); u[0] = 9; return b[0]");
run("const u = new Uint8Array([1, 2]); const b = Buffer.from(u); u[0] = 9; return b[0]");
for (const e of ["isUtf8", "isAscii"]) for (const b of [...bytes, "5", "'x'"]) out.push(`const m = await import('node:buffer'); try { return m.${e}(${b[0] === "[" ? `new Uint8Array(${b})` : b}) } catch (e) { return [e.name, e.code, e.code && e.message] }`);
for (const [f, t] of [["utf8", "latin1"], ["utf8", "ascii"], ["utf8", "ucs2"], ["latin1", "utf8"], ["ucs2", "utf8"], ["utf8", "hex"], ["latin1", "ucs2"]]) out.push(`const m = await import('node:buffer'); try { return m.transcode(Buffer.from('a€é😀', 'utf8'), '${f}', '${t}').toString('hex') } catch (e) { return e.code }`);
export default out;
