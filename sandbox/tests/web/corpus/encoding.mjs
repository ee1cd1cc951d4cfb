const labels = ["utf-8", "utf8", "UTF-8 ", "utf-16", "utf-16le", "utf-16be", "latin1", "ascii", "iso-8859-2", "iso-8859-15", "windows-1251", "koi8-r", "shift_jis",
  "euc-jp", "iso-2022-jp", "gbk", "gb18030", "big5", "euc-kr", "macintosh", "x-mac-cyrillic", "replacement", "none", "", "x-user-defined", "unicode-1-1-utf-8", "ucs-2"];
const inputs = ["", "0", "104,105", "239,187,191,97", "255,254,97,0", "254,255,0,97", "195,169", "195", "226,130", "240,159,152,128", "240,159", "237,160,128", "192,128",
  "244,144,128,128", "130,160,131,65", "164,162,161", "27,36,66,36,34,27,40,66", "129,48,129,48", "0,216,0,220", "0,216", "97,0,98", "128,129,255", "97,255,98,254", "248,136,128,128,128"];
const out = [];
for (const label of labels) {
  out.push(`return new TextDecoder(${JSON.stringify(label)}).encoding`);
  for (const bytes of inputs) {
    const l = JSON.stringify(label);
    out.push(`return new TextDecoder(${l}).decode(new Uint8Array([${bytes}]))`);
    out.push(`return new TextDecoder(${l}, {fatal: true}).decode(new Uint8Array([${bytes}]))`);
    if (label.startsWith("utf") || label === "shift_jis" || label === "iso-2022-jp") {
      out.push(`return new TextDecoder(${l}, {ignoreBOM: true}).decode(new Uint8Array([${bytes}]))`);
      out.push(`const d = new TextDecoder(${l}); const b = [${bytes}]; const r = b.map((x) => d.decode(new Uint8Array([x]), {stream: true})); r.push(d.decode()); return r`);
      out.push(`const d = new TextDecoder(${l}, {fatal: true}); const r = []; for (const x of [${bytes}]) try { r.push(d.decode(new Uint8Array([x]), {stream: true})) } catch (e) { r.push(e.name); break } return r`);
    }
  }
}
const strings = ["", "a", "é", "€", "😀", "a\ud800b", "\udc00\ud800", "a😀b", "\0", "\ufeffx", "\ud83d", "\ude00", "ab\ud83d\ude00\ud83d"];
for (const text of strings) {
  const s = JSON.stringify(text);
  out.push(`return new TextEncoder().encode(${s})`);
  out.push(`return new TextDecoder().decode(new TextEncoder().encode(${s}))`);
  for (let n = 0; n < 8; n++) out.push(`const u = new Uint8Array(${n}); return [new TextEncoder().encodeInto(${s}, u), u]`);
}
for (const v of ["undefined", "null", "1", "{}", "[1,2]", "Symbol()", "1n", "{toString() { return 'x' }}"]) {
  out.push(`return new TextEncoder().encode(${v})`, `return new TextDecoder().decode(${v})`, `return new TextEncoder().encodeInto(${v}, new Uint8Array(4))`);
  out.push(`return new TextEncoder().encodeInto("a", ${v})`, `return new TextDecoder(${v}).encoding`, `return new TextDecoder("utf-8", ${v}).fatal`);
}
for (const view of ["new ArrayBuffer(2)", "new Uint16Array([97, 98])", "new DataView(new Uint8Array([97,98,99]).buffer, 1)", "new Uint8Array([97,98,99]).subarray(1)", "new Float64Array(1)", "new SharedArrayBuffer(2)", "new BigInt64Array([97n])"]) {
  out.push(`return new TextDecoder().decode(${view})`, `return new TextEncoder().encodeInto("xy", ${view})`);
}
out.push("return [TextEncoder.length, TextDecoder.length, TextEncoder.prototype.encode.length, TextEncoder.prototype.encodeInto.length, TextDecoder.prototype.decode.length]");
out.push("return [Object.keys(TextEncoder.prototype), Object.keys(TextDecoder.prototype)]");
out.push("return String(new TextEncoder()) + new TextDecoder()");
export default out;
