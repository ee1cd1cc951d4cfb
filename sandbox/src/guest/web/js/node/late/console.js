// What the console's methods write, but for those that write their arguments as they are.
(function (lib) {
  const { inspect } = lib.load("node/late/inspect.js");
  const {
    String, isObject, isArray, kindOf, keysOf, hasOwn, list, append, joinList, repeat, max, floor, newMap, mapForEach, setForEach, replaceAll, native,
    toFixed, indexOfList, padStart,
  } = lib;
  const { widthOf } = lib.load("node/late/text.js");
  const counts = newMap(), timers = newMap();
  let depth = 0;
  // The five methods that have a level of their own write what `String()` makes of their arguments, which is all that
  // some readers of logs keep; a group indents the lines of the others.
  const indented = (text) => (depth === 0 ? text : repeat("  ", depth) + replaceAll(text, "\n", "\n" + repeat("  ", depth)));
  const plain = (args, from = 0) => {
    const parts = list();
    for (let i = from; i < args.length; i++) append(parts, String(args[i]));
    return joinList(parts, " ");
  };
  const readable = (value, options = undefined) => (typeof value === "string" ? value : inspect(value, options));
  const labelOf = (args) => (args.length === 0 || args[0] === undefined ? "default" : String(args[0]));

  const duration = (ms) => {
    if (ms < 1000) return (+toFixed(ms, 3)) + "ms";
    if (ms < 60000) return toFixed(ms / 1000, 3) + "s";
    const hours = floor(ms / 3600000), minutes = floor((ms % 3600000) / 60000), seconds = toFixed((ms % 60000) / 1000, 3);
    const two = (value) => padStart(lib.toText(value), 2, "0");
    return hours > 0 ? hours + ":" + two(minutes) + ":" + padStart(seconds, 6, "0") + " (h:mm:ss.mmm)" : minutes + ":" + padStart(seconds, 6, "0") + " (m:ss.mmm)";
  };
  const elapsed = (label, args) => {
    const start = timers.get(label);
    if (start === undefined) return "Timer '" + label + "' does not exist";
    const rest = args.length > 1 ? " " + plain(args, 1) : "";
    return label + ": " + duration(native.now() - start) + rest;
  };
  const group = (args) => {
    const text = args.length > 0 ? indented(plain(args)) : undefined;
    depth += 1;
    return text;
  };

  // A cell shows a value without what is inside it.
  const cell = (value) => inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: isObject(value) && !isArray(value) && keysOf(value).length > 2 ? -1 : 0 });
  const row = (cells, widths) => {
    const parts = list();
    for (let i = 0; i < cells.length; i++) {
      append(parts, " " + cells[i] + repeat(" ", widths[i] - 1 - widthOf(cells[i])));
    }
    return "│" + joinList(parts, "│") + "│";
  };
  const rule = (widths, left, middle, right) => {
    const parts = list();
    for (let i = 0; i < widths.length; i++) append(parts, repeat("─", widths[i]));
    return left + joinList(parts, middle) + right;
  };
  const draw = (head, rows) => {
    const widths = list();
    for (let i = 0; i < head.length; i++) {
      let width = widthOf(head[i]);
      for (let j = 0; j < rows.length; j++) width = max(width, widthOf(rows[j][i]));
      append(widths, width + 2);
    }
    const lines = list();
    append(lines, rule(widths, "┌", "┬", "┐"));
    append(lines, row(head, widths));
    append(lines, rule(widths, "├", "┼", "┤"));
    for (let i = 0; i < rows.length; i++) append(lines, row(rows[i], widths));
    append(lines, rule(widths, "└", "┴", "┘"));
    return joinList(lines, "\n");
  };
  // Rows and columns beyond what a line of the log can hold are not drawn.
  const ROWS = 2000, COLUMNS = 200;
  const table = (data, properties) => {
    const entries = list();
    // The members of a Map or a Set are single values: only others have columns.
    let index = "(index)", keyed = false, flat = false;
    const add = (key, value) => {
      if (entries.length < ROWS) append(entries, { __proto__: null, key, value });
    };
    const kind = kindOf(data);
    if (kind === "map") {
      index = "(iteration index)";
      keyed = flat = true;
      mapForEach(data, (value, key) => add(key, value));
    } else if (kind === "set") {
      index = "(iteration index)";
      flat = true;
      setForEach(data, (value) => add(entries.length, value));
    } else {
      const keys = keysOf(data);
      for (let i = 0; i < keys.length && i < ROWS; i++) add(keys[i], data[keys[i]]);
    }
    const columns = list();
    if (isArray(properties)) for (let i = 0; i < properties.length && i < COLUMNS; i++) append(columns, lib.toText(properties[i]));
    let hasValues = false;
    for (let i = 0; i < entries.length; i++) {
      const { value } = entries[i];
      if (flat || !isObject(value) || typeof value === "function") {
        hasValues = true;
        continue;
      }
      if (isArray(properties)) continue;
      const keys = keysOf(value);
      for (let j = 0; j < keys.length && columns.length < COLUMNS; j++) if (indexOfList(columns, keys[j]) < 0) append(columns, keys[j]);
    }
    const head = list();
    append(head, index);
    if (keyed) append(head, "Key");
    if (!flat) for (let i = 0; i < columns.length; i++) append(head, columns[i]);
    if (hasValues) append(head, "Values");
    const rows = list();
    for (let i = 0; i < entries.length; i++) {
      const { key, value } = entries[i];
      const cells = list();
      append(cells, keyed ? lib.toText(i) : lib.toText(key));
      const isRow = !flat && isObject(value) && typeof value !== "function";
      if (keyed) append(cells, cell(key));
      if (!flat) for (let j = 0; j < columns.length; j++) append(cells, isRow && hasOwn(value, columns[j]) ? cell(value[columns[j]]) : "");
      if (hasValues) append(cells, isRow ? "" : cell(value));
      append(rows, cells);
    }
    return draw(head, rows);
  };

  return {
    __proto__: null,
    assert(args) {
      if (args[0]) return undefined;
      return indented(args.length > 1 ? "Assertion failed: " + plain(args, 1) : "Assertion failed");
    },
    count(args) {
      const label = labelOf(args);
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      return indented(label + ": " + count);
    },
    countReset(args) {
      counts.set(labelOf(args), 0);
    },
    dir(args) {
      return indented(readable(args[0], { customInspect: false, ...(isObject(args[1]) ? args[1] : undefined) }));
    },
    dirxml(args) {
      const parts = list();
      for (let i = 0; i < args.length; i++) append(parts, readable(args[i]));
      return indented(joinList(parts, " "));
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      if (depth > 0) depth -= 1;
    },
    table(args) {
      return indented(isObject(args[0]) && typeof args[0] !== "function" ? table(args[0], args[1]) : plain(args));
    },
    time(args) {
      timers.set(labelOf(args), native.now());
    },
    timeEnd(args) {
      const label = labelOf(args);
      const text = elapsed(label, []);
      lib.mapDelete(timers, label);
      return indented(text);
    },
    timeLog(args) {
      return indented(elapsed(labelOf(args), args));
    },
    trace(args) {
      const head = args.length > 0 ? "Trace: " + plain(args) : "Trace";
      const { stack } = new lib.Error();
      const own = "    at trace (native)\n";
      let frames = typeof stack === "string" ? lib.indexOf(stack, "    at ") : -1;
      if (frames >= 0 && lib.indexOf(stack, own) === frames) frames += own.length;
      return indented(frames >= 0 ? head + "\n" + lib.trimEnd(lib.slice(stack, frames)) : head);
    },
  };
});
