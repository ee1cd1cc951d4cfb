// `util.format`: printf-like text.
(function (lib) {
  const { native, kindOf, indexOfList, getPrototypeOf, hasOwn, charCodeAt, slice, jsonText, Number, String, isObject } = lib;
  const { inspect, plain } = lib.load("node/late/inspect.js");
  const { formatNumber, formatBigInt } = lib.load("node/late/text.js");
  const { parseInt, parseFloat } = lib.numberParsers;

  const number = (value) => formatNumber(plain, value, false);
  // Whether a value's own class, or the value itself, says how it reads as text.
  const hasOwnText = (value) => {
    for (; kindOf(value) === "proxy"; value = native.proxyTarget(value)) if (native.proxyTarget(value) === null) return false;
    if (hasOwn(value, "toString")) return typeof value.toString === "function";
    for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) {
      if (hasOwn(at, "toString")) return !(hasOwn(at, "constructor") && indexOfList(lib.languageClasses, at.constructor) >= 0);
    }
    return false;
  };
  const json = (value) => {
    try {
      return jsonText(value);
    } catch (error) {
      if (isObject(error) && lib.isCycleError(error)) return "[Circular]";
      throw error;
    }
  };
  const asString = (value, options) => {
    if (typeof value === "number") return number(value);
    if (typeof value === "bigint") return formatBigInt(plain, value, false);
    if (typeof value !== "object" || value === null || hasOwnText(value)) return String(value);
    return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
  };
  const asNumber = (value, read) => {
    if (typeof value === "bigint") return formatBigInt(plain, value, false);
    if (typeof value === "symbol") return number(NaN);
    return number(read(value));
  };

  const formatWith = (options, args) => {
    const first = args[0];
    if (args.length === 1) return typeof first === "string" ? first : inspect(first, options);
    let text = "", at = 0, from = 0;
    if (typeof first === "string") {
      at = 1;
      for (let i = 0; i < first.length - 1; i++) {
        if (charCodeAt(first, i) !== 37) continue;
        const kind = charCodeAt(first, i + 1);
        if (kind === 37) {
          text += slice(first, from, i + 1);
          from = i + 2;
          i++;
          continue;
        }
        if (at === args.length) continue;
        let piece;
        const value = args[at];
        switch (kind) {
          case 115: // s
            piece = asString(value, options);
            break;
          case 106: // j
            piece = json(value);
            break;
          case 100: // d
            piece = isObject(value) ? number(Number(value)) : asNumber(value, Number);
            break;
          case 79: // O
            piece = inspect(value, options);
            break;
          case 111: // o
            piece = inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
            break;
          case 105: // i
            piece = isObject(value) ? number(parseInt(value)) : asNumber(value, parseInt);
            break;
          case 102: // f
            piece = typeof value === "symbol" ? number(NaN) : number(parseFloat(value));
            break;
          case 99: // c
            piece = "";
            break;
          default:
            continue;
        }
        text += slice(first, from, i) + piece;
        from = i + 2;
        i++;
        at++;
      }
      if (from === 0) text = first;
      else if (from < first.length) text += slice(first, from);
    }
    for (let gap = at > 0 ? " " : ""; at < args.length; at++, gap = " ") {
      const value = args[at];
      text += gap + (typeof value === "string" ? value : inspect(value, options));
    }
    return text;
  };
  return {
    __proto__: null,
    format(...args) {
      return args.length === 0 ? "" : formatWith({}, args);
    },
    formatWithOptions(options, ...args) {
      lib.needObject(options, "inspectOptions");
      return args.length === 0 ? "" : formatWith(options, args);
    },
  };
});
