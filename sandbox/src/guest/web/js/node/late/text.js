// How single values and pieces of text look in what `util.inspect` shows, and how wide they are.
(function (lib) {
  const { numberText, symbolText, is, charCodeAt, indexOf, slice, split, startsWith, repeat, joinList, list, append, exec, toUpperCase, stripColors, String } = lib;

  // The least width at which a long string is broken into its lines.
  const SHORT = 16;

  const more = (count, what) => "... " + count + " more " + what + (count > 1 ? "s" : "");
  const grouped = (digits) => {
    let text = "";
    let end = digits.length;
    const first = startsWith(digits, "-") ? 1 : 0;
    for (; end >= first + 4; end -= 3) text = "_" + slice(digits, end - 3, end) + text;
    return end === digits.length ? digits : slice(digits, 0, end) + text;
  };
  const groupedFraction = (digits) => {
    let text = "", at = 0;
    for (; at < digits.length - 3; at += 3) text += slice(digits, at, at + 3) + "_";
    return at === 0 ? digits : "" + text + slice(digits, at);
  };
  const formatNumber = (stylize, number, separate) => {
    if (!separate && is(number, -0)) return stylize("-0", "number");
    const text = numberText(number);
    if (!separate || indexOf(text, "e") >= 0 || number !== number || number === Infinity || number === -Infinity) return stylize(text, "number");
    const dot = indexOf(text, ".");
    return stylize(dot < 0 ? grouped(text) : grouped(slice(text, 0, dot)) + "." + groupedFraction(slice(text, dot + 1)), "number");
  };
  const formatBigInt = (stylize, value, separate) => stylize((separate ? grouped(String(value)) : value) + "n", "bigint");
  const formatPrimitive = (stylize, value, ctx) => {
    switch (typeof value) {
      case "string": {
        let trailer = "";
        if (value.length > ctx.maxStringLength) {
          trailer = more(value.length - ctx.maxStringLength, "character");
          value = slice(value, 0, ctx.maxStringLength);
        }
        if (ctx.compact !== true && value.length > SHORT && value.length > ctx.breakLength - ctx.level - 4 && indexOf(value, "\n") >= 0) {
          const lines = split(value, "\n");
          const parts = list();
          for (let i = 0; i < lines.length; i++) {
            const line = i < lines.length - 1 ? lines[i] + "\n" : lines[i];
            if (line !== "") append(parts, stylize(quoted(line), "string"));
          }
          return joinList(parts, " +\n" + repeat(" ", ctx.level + 2)) + trailer;
        }
        return stylize(quoted(value), "string") + trailer;
      }
      case "number":
        return formatNumber(stylize, value, ctx.numericSeparator);
      case "bigint":
        return formatBigInt(stylize, value, ctx.numericSeparator);
      case "symbol":
        return stylize(symbolText(value), "symbol");
    }
    return stylize(lib.toText(value), typeof value === "undefined" ? "undefined" : "boolean");
  };

  // What is not printable, and one kind of quote, is escaped.
  const escapes = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };
  const escapeWith = (text, quote) => {
    if (exec(/[\x00-\x1f\x22\x27\x5c\x60\x7f-\x9f\ud800-\udfff]/, text) === null) return text;
    let result = "", from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      let escape;
      if (code === quote) escape = "\\" + slice(text, i, i + 1);
      else if (code < 32 || code === 92 || (code >= 127 && code < 160)) escape = escapes[code] ?? "\\x" + (code < 16 ? "0" : "") + toUpperCase(numberText(code, 16));
      else if (code >= 0xd800 && code <= 0xdfff) {
        const next = charCodeAt(text, i + 1);
        if (code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
          i++;
          continue;
        }
        escape = "\\u" + numberText(code, 16);
      } else continue;
      result += slice(text, from, i) + escape;
      from = i + 1;
    }
    return result + slice(text, from);
  };
  const escaped = (text) => escapeWith(text, 39);
  const quoted = (text) => {
    if (indexOf(text, "'") < 0) return "'" + escapeWith(text, 39) + "'";
    if (indexOf(text, '"') < 0) return '"' + escapeWith(text, -1) + '"';
    if (indexOf(text, "`") < 0 && indexOf(text, "${") < 0) return "`" + escapeWith(text, -1) + "`";
    return "'" + escapeWith(text, 39) + "'";
  };

  // Columns that a text takes in a terminal: two for wide characters, none for marks that combine.
  const widthOf = (text) => {
    text = stripColors(text);
    let width = 0;
    for (let i = 0; i < text.length; i++) {
      let code = charCodeAt(text, i);
      const next = charCodeAt(text, i + 1);
      if (code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        code = (code - 0xd800) * 0x400 + (next - 0xdc00) + 0x10000;
        i++;
      }
      width += isWide(code) ? 2 : isZeroWidth(code) ? 0 : 1;
    }
    return width;
  };
  const isWide = (code) =>
    code >= 0x1100 &&
    (code <= 0x115f || code === 0x2329 || code === 0x232a || (code >= 0x2e80 && code <= 0x3247 && code !== 0x303f) || (code >= 0x3250 && code <= 0x4dbf) ||
      (code >= 0x4e00 && code <= 0xa4c6) || (code >= 0xa960 && code <= 0xa97c) || (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe10 && code <= 0xfe19) || (code >= 0xfe30 && code <= 0xfe6b) || (code >= 0xff01 && code <= 0xff60) || (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1b000 && code <= 0x1b001) || (code >= 0x1f200 && code <= 0x1f251) || (code >= 0x1f300 && code <= 0x1f64f) || (code >= 0x1f900 && code <= 0x1f9ff) ||
      (code >= 0x20000 && code <= 0x3fffd));
  const isZeroWidth = (code) =>
    code <= 0x1f || (code >= 0x7f && code <= 0x9f) || (code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0x20d0 && code <= 0x20ff) ||
    (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xfe20 && code <= 0xfe2f) || (code >= 0xe0100 && code <= 0xe01ef);

  return { __proto__: null, more, formatNumber, formatBigInt, formatPrimitive, escaped, quoted, widthOf };
});
