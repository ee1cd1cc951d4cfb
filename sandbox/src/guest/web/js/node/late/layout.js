// How the parts of an object are laid out by `util.inspect`: on a line, one below the other, or in columns.
(function (lib) {
  const { list, append, joinList, indexOf, repeat, padStart, padEnd, max, min, floor, sqrt, round, stripColors } = lib;
  const { widthOf } = lib.load("node/late/text.js");

  // What the parts are of: an object, an element of an array, or an array.
  const OBJECT = 0, ITEM = 1, ARRAY = 2;

  const fits = (ctx, parts, start, base) => {
    let total = parts.length + start;
    if (total + parts.length > ctx.breakLength) return false;
    for (let i = 0; i < parts.length; i++) {
      total += ctx.colors ? stripColors(parts[i]).length : parts[i].length;
      if (total > ctx.breakLength) return false;
    }
    return base === "" || indexOf(base, "\n") < 0;
  };
  const join = (ctx, parts, base, braces, type, depth, value) => {
    const open = braces[0], close = braces[1];
    const lead = base === "" ? "" : base + " ";
    const indent = repeat(" ", ctx.level);
    if (ctx.compact === true) {
      if (fits(ctx, parts, 0, base)) return open + (base === "" ? "" : " " + base) + " " + joinList(parts, ", ") + " " + close;
      const gap = base === "" && open.length === 1 ? " " : (base === "" ? "" : " " + base) + "\n" + indent + "  ";
      return open + gap + joinList(parts, ",\n" + indent + "  ") + " " + close;
    }
    if (typeof ctx.compact === "number" && ctx.compact >= 1) {
      const { length } = parts;
      if (type === ARRAY && length > 6) parts = inColumns(ctx, parts, value);
      if (ctx.current - depth < ctx.compact && length === parts.length && fits(ctx, parts, parts.length + ctx.level + open.length + base.length + 10, base)) {
        const line = joinList(parts, ", ");
        if (indexOf(line, "\n") < 0) return lead + open + " " + line + " " + close;
      }
    }
    return lead + open + "\n" + indent + "  " + joinList(parts, ",\n" + indent + "  ") + "\n" + indent + close;
  };
  // Many short items in columns of about the shape of a square.
  const inColumns = (ctx, parts, value) => {
    let total = 0, widest = 0;
    const count = ctx.maxArrayLength < parts.length ? parts.length - 1 : parts.length;
    const widths = list();
    for (let i = 0; i < count; i++) {
      append(widths, widthOf(parts[i]));
      total += widths[i] + 2;
      if (widths[i] > widest) widest = widths[i];
    }
    const cell = widest + 2;
    if (!(cell * 3 + ctx.level < ctx.breakLength && (total / cell > 5 || widest <= 6))) return parts;
    const biased = max(cell - 3 - sqrt(cell - total / parts.length), 1);
    const columns = min(round(sqrt(2.5 * biased * count) / biased), floor((ctx.breakLength - ctx.level) / cell), ctx.compact * 4, 15);
    if (columns <= 1) return parts;
    const cells = list();
    for (let i = 0; i < columns; i++) {
      let width = 0;
      for (let j = i; j < count; j += columns) if (widths[j] > width) width = widths[j];
      append(cells, width + 2);
    }
    let pad = padStart;
    if (value !== undefined) {
      for (let i = 0; i < parts.length; i++) {
        if (typeof value[i] !== "number" && typeof value[i] !== "bigint") {
          pad = padEnd;
          break;
        }
      }
    }
    const lines = list();
    for (let i = 0; i < count; i += columns) {
      const end = min(i + columns, count);
      let line = "";
      let j = i;
      for (; j < end - 1; j++) line += pad(parts[j] + ", ", cells[j - i] + parts[j].length - widths[j], " ");
      line += pad === padStart ? padStart(parts[j], cells[j - i] + parts[j].length - widths[j] - 2, " ") : parts[j];
      append(lines, line);
    }
    if (count < parts.length) append(lines, parts[count]);
    return lines;
  };

  return { __proto__: null, OBJECT, ITEM, ARRAY, join };
});
