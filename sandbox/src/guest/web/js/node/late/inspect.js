// `util.inspect`: any value as readable text, laid out as Node 20 lays it out.
(function (lib) {
  const {
    apply, native, getPrototypeOf, getOwnPropertyDescriptor, ownKeys, hasOwn, keysOf, defineProperty, create, kindOf, isObject, isArray,
    list, append, sort, removeAt, indexOfList, newMap, mapSize, mapForEach, setSize, setForEach, charCodeAt, indexOf, slice, startsWith,
    endsWith, repeat, replaceAll, exec, is, numberValue, stringValue, booleanValue, bigintValue, symbolText, dateValue, functionText,
    symbolFor, tagSymbol, arrayTag, arrayLength, arrayBytes, arrayBuffer, arrayOffset, bytesOf, min, max, String, arrayClasses,
  } = lib;
  const { OBJECT, ITEM, ARRAY, join } = lib.load("node/late/layout.js");
  const { more, formatNumber, formatBigInt, formatPrimitive, escaped, quoted, widthOf } = lib.load("node/late/text.js");

  const custom = symbolFor("nodejs.util.inspect.custom");
  const defaults = {
    showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
    breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
  };
  const optionNames = ownKeys(defaults);

  // Characters at one level beyond which nothing deeper is shown: aliased values are exponentially many.
  const BUDGET = 1 << 24;

  const styles = ({
    __proto__: null, special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold", string: "green", symbol: "green",
    date: "magenta", regexp: "red", module: "underline",
  });
  const colors = ({
    __proto__: null, bold: [1, 22], underline: [4, 24], cyan: [36, 39], yellow: [33, 39], grey: [90, 39], green: [32, 39], magenta: [35, 39], red: [31, 39],
  });
  const plain = (text) => text;
  const coloured = (text, style) => {
    const color = colors[styles[style]];
    return color === undefined ? text : "\u001b[" + color[0] + "m" + text + "\u001b[" + color[1] + "m";
  };

  const inspect = (value, options, ...more) => {
    const ctx = { __proto__: null, budget: list(), level: 0, seen: list(), current: 0, circular: undefined, stylize: plain, user: undefined };
    for (let i = 0; i < optionNames.length; i++) ctx[optionNames[i]] = defaults[optionNames[i]];
    if (typeof options === "boolean") {
      // The signature of old: `(value, showHidden, depth, colors)`.
      ctx.showHidden = options;
      if (more[0] !== undefined) ctx.depth = more[0];
      if (more[1] !== undefined) ctx.colors = more[1];
    } else if (options !== undefined && options !== null && typeof options === "object") {
      const keys = keysOf(options);
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (hasOwn(defaults, key) || key === "stylize") ctx[key] = options[key];
        else if (ctx.user === undefined) ctx.user = options;
      }
    }
    return start(ctx, value);
  };
  const start = (ctx, value) => {
    if (ctx.colors && ctx.stylize === plain) ctx.stylize = coloured;
    if (ctx.maxArrayLength === null) ctx.maxArrayLength = Infinity;
    if (ctx.maxStringLength === null) ctx.maxStringLength = Infinity;
    return formatValue(ctx, value, 0, false);
  };

  const formatValue = (ctx, value, depth, typed) => {
    if (!isObject(value)) return value === null ? ctx.stylize("null", "null") : formatPrimitive(ctx.stylize, value, ctx);
    const context = value;
    let isProxy = false;
    while (kindOf(value) === "proxy") {
      isProxy = true;
      const target = native.proxyTarget(value);
      if (target === null) return ctx.stylize("<Revoked Proxy>", "special");
      if (ctx.showProxy) return formatProxy(ctx, value, depth);
      value = target;
    }
    if (ctx.customInspect) {
      const method = value[custom];
      if (typeof method === "function" && method !== inspect && !isPrototypeObject(value)) {
        const left = ctx.depth === null ? null : ctx.depth - depth;
        const result = apply(method, context, [left, userOptions(ctx), inspect]);
        if (result !== context) {
          const text = typeof result === "object" ? formatValue(ctx, result, depth, false) : lib.toText(result);
          return replaceAll(text, "\n", "\n" + repeat(" ", ctx.level));
        }
      }
    }
    if (indexOfList(ctx.seen, value) >= 0) {
      ctx.circular ??= newMap();
      let index = ctx.circular.get(value);
      if (index === undefined) {
        index = mapSize(ctx.circular) + 1;
        ctx.circular.set(value, index);
      }
      return ctx.stylize("[Circular *" + index + "]", "special");
    }
    return formatObject(ctx, value, depth, typed);
  };
  // Prototypes show their own members, not what their method makes of them.
  const isPrototypeObject = (value) => {
    const { constructor } = value;
    return isObject(constructor) && constructor.prototype === value;
  };
  const userOptions = (ctx) => {
    const options = { stylize: ctx.stylize };
    for (let i = 0; i < optionNames.length; i++) native.put(options, optionNames[i], ctx[optionNames[i]]);
    if (ctx.user !== undefined) {
      const keys = keysOf(ctx.user);
      for (let i = 0; i < keys.length; i++) native.put(options, keys[i], ctx.user[keys[i]]);
    }
    return options;
  };
  const formatProxy = (ctx, proxy, depth) => {
    if (depth > ctx.depth && ctx.depth !== null) return ctx.stylize("Proxy [Array]", "special");
    ctx.level += 2;
    const parts = list();
    append(parts, formatValue(ctx, native.proxyTarget(proxy), depth + 1, false));
    append(parts, formatValue(ctx, native.proxyHandler(proxy), depth + 1, false));
    ctx.level -= 2;
    return join(ctx, parts, "", ["Proxy [", "]"], ARRAY, depth + 1, undefined);
  };

  // Own keys: those of strings first, then symbols; only enumerable ones unless hidden ones are shown.
  const keysIn = (value, ctx, skipIndices) => {
    const keys = list();
    const all = ownKeys(value);
    for (let i = 0; i < all.length; i++) {
      const key = all[i];
      if (skipIndices && typeof key === "string" && isIndex(key)) continue;
      if (ctx.showHidden) append(keys, key);
      else if (getOwnPropertyDescriptor(value, key)?.enumerable) append(keys, key);
    }
    return keys;
  };
  const isIndex = (key) => exec(/^(?:0|[1-9][0-9]{0,9})$/, key) !== null && +key < 4294967295;

  const isInstance = (value, constructor) => {
    try {
      const { prototype } = constructor;
      for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) if (at === prototype) return true;
    } catch {}
    return false;
  };
  const isOfLanguage = (descriptor) => descriptor !== undefined && typeof descriptor.value === "function" && lib.indexOfList(lib.languageClasses, descriptor.value) >= 0;
  // What an object inherits from classes of the program, accessors above all; shown with hidden properties.
  const addInherited = (ctx, main, from, depth, parts) => {
    const above = { __proto__: null };
    let at = from;
    for (let layer = 0; layer < 3; layer++) {
      if (layer > 0 || at === main) {
        at = getPrototypeOf(at);
        if (at === null || isOfLanguage(getOwnPropertyDescriptor(at, "constructor"))) return;
      }
      const keys = ownKeys(at);
      append(ctx.seen, main);
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (key === "constructor" || hasOwn(main, key) || above[key]) continue;
        if (typeof getOwnPropertyDescriptor(at, key)?.value === "function") continue;
        const text = formatProperty(ctx, at, depth, key, OBJECT, main);
        append(parts, ctx.colors ? "\x1b[2m" + text + "\x1b[22m" : text);
      }
      ctx.seen.length -= 1;
      for (let i = 0; i < keys.length; i++) above[keys[i]] = true;
    }
  };
  const nameOfClass = (value, ctx, depth, inherited) => {
    let first;
    for (let at = value; at !== null; ) {
      const descriptor = getOwnPropertyDescriptor(at, "constructor");
      if (descriptor !== undefined && typeof descriptor.value === "function" && descriptor.value.name !== "" && isInstance(value, descriptor.value)) {
        if (inherited !== undefined && (first !== at || !isOfLanguage(descriptor))) addInherited(ctx, value, first ?? value, depth, inherited);
        return String(descriptor.value.name);
      }
      at = getPrototypeOf(at);
      if (first === undefined) first = at;
    }
    if (first === null) return null;
    const own = typeof value === "function" ? "Function" : isArray(value) ? "Array" : "Object";
    if (depth > ctx.depth && ctx.depth !== null) return own + " <Complex prototype>";
    const nameOfFirst = nameOfClass(first, ctx, depth + 1, inherited);
    return nameOfFirst === null ? own + " <" + inspect(first, { customInspect: false, depth: -1 }) + ">" : own + " <" + nameOfFirst + ">";
  };
  const prefixOf = (name, tag, fallback, size = "") => {
    if (name === null) return tag !== "" && fallback !== tag ? "[" + fallback + size + ": null prototype] [" + tag + "] " : "[" + fallback + size + ": null prototype] ";
    return tag !== "" && name !== tag ? "" + name + size + " [" + tag + "] " : "" + name + size + " ";
  };

  const formatObject = (ctx, value, depth, typed) => {
    const kind = kindOf(value);
    const inherited = ctx.showHidden && (depth <= ctx.depth || ctx.depth === null) ? list() : undefined;
    const name = nameOfClass(value, ctx, depth, inherited);
    const hasInherited = inherited !== undefined && inherited.length > 0;
    let tag = value[tagSymbol];
    if (typeof tag !== "string" || (tag !== "" && (ctx.showHidden ? hasOwn(value, tagSymbol) : getOwnPropertyDescriptor(value, tagSymbol)?.enumerable))) tag = "";
    let keys, base = "", open = "{", close = "}", type = OBJECT, body = () => list();
    if (isArray(value)) {
      keys = keysIn(value, ctx, true);
      open = (name !== "Array" || tag !== "" ? prefixOf(name, tag, "Array", "(" + value.length + ")") : "") + "[";
      close = "]";
      if (value.length === 0 && keys.length === 0 && !hasInherited) return open + "]";
      type = ARRAY;
      body = formatArray;
    } else if (kind === "set" || kind === "map") {
      const size = kind === "set" ? setSize(value) : mapSize(value);
      keys = keysIn(value, ctx, false);
      open = prefixOf(name, tag, kind === "set" ? "Set" : "Map", "(" + size + ")") + "{";
      if (size === 0 && keys.length === 0 && !hasInherited) return open + "}";
      body = kind === "set" ? formatSet : formatMap;
    } else if (kind === "view") {
      keys = keysIn(value, ctx, true);
      const size = arrayLength(value);
      open = prefixOf(name, tag, name === null ? arrayTag(value) : "", "(" + size + ")") + "[";
      close = "]";
      if (size === 0 && keys.length === 0 && !ctx.showHidden) return open + "]";
      type = ARRAY;
      body = formatTyped;
    } else {
      keys = keysIn(value, ctx, false);
      if (typeof value === "function") {
        base = functionBase(value, name, tag, kind);
        if (keys.length === 0 && !hasInherited) return ctx.stylize(base, "special");
      } else {
        switch (kind) {
          case "regexp":
          case "date": {
            const text = kind === "regexp" ? "/" + lib.regexpSource(value) + "/" + lib.flagsOf(value) : dateText(value);
            const prefix = prefixOf(name, tag, kind === "regexp" ? "RegExp" : "Date");
            base = prefix === (kind === "regexp" ? "RegExp " : "Date ") ? text : prefix + text;
            if ((keys.length === 0 && !hasInherited) || (kind === "regexp" && depth > ctx.depth && ctx.depth !== null)) return ctx.stylize(base, kind);
            break;
          }
          case "error":
          case "exception":
            // V8 makes the stack first.
            if (ctx.showHidden && hasOwn(value, "stack") && indexOfList(keys, "stack") >= 0) {
              removeAt(keys, indexOfList(keys, "stack"));
              keys = prepend(keys, ["stack"]);
            }
            base = formatError(value, name, tag, ctx, keys);
            if (keys.length === 0 && !hasInherited) return base;
            break;
          case "buffer":
          case "shared": {
            const prefix = prefixOf(name, tag, kind === "buffer" ? "ArrayBuffer" : "SharedArrayBuffer");
            if (!typed) body = formatBuffer;
            else if (keys.length === 0) return prefix + "{ byteLength: " + formatNumber(ctx.stylize, bytesOf(value).length, false) + " }";
            open = prefix + "{";
            keys = prepend(keys, ["byteLength"]);
            break;
          }
          case "dataview":
            open = prefixOf(name, tag, "DataView") + "{";
            keys = prepend(keys, ["byteLength", "byteOffset", "buffer"]);
            break;
          case "promise":
            open = prefixOf(name, tag, "Promise") + "{";
            body = formatPromise;
            break;
          case "weakset":
          case "weakmap":
            open = prefixOf(name, tag, kind === "weakset" ? "WeakSet" : "WeakMap") + "{";
            body = (inner) => {
              const parts = list();
              append(parts, inner.stylize("<items unknown>", "special"));
              return parts;
            };
            break;
          case "number":
          case "string":
          case "boolean":
          case "symbol":
          case "bigint":
            base = boxedBase(value, kind, ctx, name, tag);
            if (kind === "string") keys = keysIn(value, ctx, true);
            if (keys.length === 0 && !hasInherited) return ctx.stylize(base, kind);
            break;
          default:
            if (name === "Object") {
              if (kind === "arguments") open = "[Arguments] {";
              else if (tag !== "") open = prefixOf(name, tag, "Object") + "{";
            } else if (name === null && tag === "Module" && kind === undefined) {
              open = prefixOf(name, tag, "Module") + "{";
            } else open = prefixOf(name, tag, "Object") + "{";
            if (keys.length === 0 && !hasInherited) return open + "}";
        }
      }
    }
    if (depth > ctx.depth && ctx.depth !== null) {
      const text = slice(prefixOf(name, tag, type === ARRAY ? "Array" : "Object"), 0, -1);
      return ctx.stylize(name === null ? text : "[" + text + "]", "special");
    }
    depth += 1;
    append(ctx.seen, value);
    ctx.current = depth;
    const { level } = ctx;
    const { length: opened } = ctx.seen;
    let parts;
    try {
      parts = body(ctx, value, depth);
      for (let i = 0; i < keys.length; i++) append(parts, formatProperty(ctx, value, depth, keys[i], type));
      if (hasInherited) for (let i = 0; i < inherited.length; i++) append(parts, inherited[i]);
    } catch (error) {
      if (!lib.isStackOverflow(error)) throw error;
      ctx.seen.length = opened - 1;
      ctx.level = level;
      const text = slice(prefixOf(name, tag, "Object"), 0, -1);
      return ctx.stylize("[" + text + ": Inspection interrupted prematurely. Maximum call stack size exceeded.]", "special");
    }
    const index = ctx.circular?.get(value);
    if (index !== undefined) {
      const reference = ctx.stylize("<ref *" + index + ">", "special");
      if (ctx.compact !== true) base = base === "" ? reference : reference + " " + base;
      else open = reference + " " + open;
    }
    ctx.seen.length -= 1;
    if (ctx.sorted) parts = sorted(parts, ctx.sorted === true ? undefined : ctx.sorted, type === OBJECT ? parts.length : keys.length);
    const text = join(ctx, parts, base, [open, close], type, depth, value);
    const spent = (ctx.budget[ctx.level] ?? 0) + text.length;
    while (ctx.budget.length <= ctx.level) append(ctx.budget, 0);
    ctx.budget[ctx.level] = spent;
    if (spent > BUDGET) ctx.depth = -1;
    return text;
  };
  const prepend = (keys, names) => {
    const all = list();
    for (let i = 0; i < names.length; i++) append(all, names[i]);
    for (let i = 0; i < keys.length; i++) append(all, keys[i]);
    return all;
  };
  // The last `count` parts in order.
  const sorted = (parts, comparator, count) => {
    const tail = list();
    for (let i = parts.length - count; i < parts.length; i++) append(tail, parts[i]);
    sort(tail, comparator);
    for (let i = 0; i < count; i++) parts[parts.length - count + i] = tail[i];
    return parts;
  };

  const dateText = (date) => {
    const time = dateValue(date);
    return time !== time ? "Invalid Date" : lib.dateIso(date);
  };
  const functionBase = (value, name, tag, kind) => {
    const source = functionText(value);
    if (startsWith(source, "class") && endsWith(source, "}")) {
      const inner = slice(source, 5, -1);
      const brace = indexOf(inner, "{");
      if (brace >= 0 && (indexOf(slice(inner, 0, brace), "(") < 0 || exec(/^\s+[^(]*?\s*\{|^\s*\{|^\s+extends\b/, inner) !== null)) return classBase(value, name, tag);
    }
    const word = { __proto__: null, generatorfunction: "GeneratorFunction", asyncfunction: "AsyncFunction", asyncgeneratorfunction: "AsyncGeneratorFunction" }[kind] ?? "Function";
    let base = "[" + word;
    if (name === null) base += " (null prototype)";
    base += value.name === "" ? " (anonymous)" : ": " + (typeof value.name === "string" ? value.name : inspect(value.name));
    base += "]";
    if (name !== word && name !== null) base += " " + name;
    return tag !== "" && name !== tag ? base + " [" + tag + "]" : base;
  };
  const classBase = (value, name, tag) => {
    let base = "class " + ((hasOwn(value, "name") && value.name) || "(anonymous)");
    if (name !== "Function" && name !== null) base += " [" + name + "]";
    if (tag !== "" && name !== tag) base += " [" + tag + "]";
    if (name === null) return "[" + base + " extends null]";
    const parent = getPrototypeOf(value)?.name;
    return parent ? "[" + base + " extends " + parent + "]" : "[" + base + "]";
  };
  const boxedBase = (value, kind, ctx, name, tag) => {
    const word = { __proto__: null, number: "Number", string: "String", boolean: "Boolean", symbol: "Symbol", bigint: "BigInt" }[kind];
    const primitive = { __proto__: null, number: numberValue, string: stringValue, boolean: booleanValue, symbol: lib.symbolValue, bigint: bigintValue }[kind](value);
    let base = "[" + word;
    if (word !== name) base += name === null ? " (null prototype)" : " (" + name + ")";
    base += ": " + formatPrimitive(plain, primitive, ctx) + "]";
    return tag !== "" && tag !== name ? base + " [" + tag + "]" : base;
  };

  const formatError = (error, className, tag, ctx, keys) => {
    const name = error.name !== undefined && error.name !== null ? String(error.name) : "Error";
    let stack = stackOf(error);
    if (!ctx.showHidden) {
      const own = ["name", "message", "stack"];
      for (let i = 0; i < own.length; i++) {
        const at = indexOfList(keys, own[i]);
        const text = error[own[i]];
        if (at >= 0 && (typeof text !== "string" || indexOf(stack, text) >= 0)) removeAt(keys, at);
      }
    }
    if ("cause" in error && indexOfList(keys, "cause") < 0) append(keys, "cause");
    if (isArray(error.errors) && indexOfList(keys, "errors") < 0) append(keys, "errors");
    stack = withClass(stack, className, name, tag);
    const message = error.message;
    const at = typeof message === "string" && message !== "" ? indexOf(stack, message) : -1;
    const frames = indexOf(stack, "\n    at", at >= 0 ? at + message.length : 0);
    if (frames < 0) stack = "[" + stack + "]";
    return ctx.level === 0 ? stack : replaceAll(stack, "\n", "\n" + repeat(" ", ctx.level));
  };
  // The stack with what was thrown as its first line, as V8 has it.
  const stackOf = (lib.stackText = (error) => {
    const head = lib.errorText(error);
    const { stack } = error;
    if (!stack) return head;
    const text = String(stack);
    if (exec(/^\s*at /, text) === null) return text;
    return endsWith(text, "\n") ? head + "\n" + slice(text, 0, -1) : head + "\n" + text;
  });
  const withClass = (stack, className, name, tag) => {
    const next = charCodeAt(stack, name.length);
    if (className !== null && !(endsWith(name, "Error") && startsWith(stack, name) && (stack.length === name.length || next === 58 || next === 10))) return stack;
    let { length } = name;
    let fallback = "Error";
    if (className === null) {
      const found = exec(/^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/, stack) ?? exec(/^([a-z_A-Z0-9-]*Error)$/, stack);
      fallback = found === null ? "" : found[1];
      length = fallback.length;
      if (fallback === "") fallback = "Error";
    }
    const prefix = slice(prefixOf(className, tag, fallback), 0, -1);
    if (name === prefix) return stack;
    if (indexOf(prefix, name) < 0) return prefix + " [" + name + "]" + slice(stack, length);
    return length === 0 ? prefix + ": " + stack : prefix + slice(stack, length);
  };

  const bound = (ctx, length) => min(max(0, ctx.maxArrayLength), length);
  const formatArray = (ctx, value, depth) => {
    const { length } = value;
    const shown = bound(ctx, length);
    const parts = list();
    for (let i = 0; i < shown; i++) {
      if (!hasOwn(value, i)) return formatHoles(ctx, value, depth, shown, parts, i);
      append(parts, formatProperty(ctx, value, depth, i, ITEM));
    }
    if (length > shown) append(parts, more(length - shown, "item"));
    return parts;
  };
  const formatHoles = (ctx, value, depth, shown, parts, at) => {
    const keys = keysOf(value);
    let index = at;
    for (let i = at; i < keys.length && parts.length < shown; i++) {
      const key = keys[i];
      if (lib.toText(index) !== key) {
        if (!isIndex(key)) break;
        const holes = key - index;
        append(parts, ctx.stylize("<" + holes + " empty item" + (holes > 1 ? "s" : "") + ">", "undefined"));
        index = +key;
        if (parts.length === shown) break;
      }
      append(parts, formatProperty(ctx, value, depth, key, ITEM));
      index++;
    }
    const rest = value.length - index;
    if (rest > 0) append(parts, parts.length === shown ? more(rest, "item") : ctx.stylize("<" + rest + " empty item" + (rest > 1 ? "s" : "") + ">", "undefined"));
    return parts;
  };
  const formatTyped = (ctx, value, depth) => {
    const length = arrayLength(value);
    const shown = bound(ctx, length);
    const parts = list();
    for (let i = 0; i < shown; i++) append(parts, typeof value[i] === "bigint" ? formatBigInt(ctx.stylize, value[i], ctx.numericSeparator) : formatNumber(ctx.stylize, value[i], ctx.numericSeparator));
    if (length > shown) append(parts, more(length - shown, "item"));
    if (ctx.showHidden) {
      ctx.level += 2;
      const extra = [["BYTES_PER_ELEMENT", arrayClasses[arrayTag(value)].BYTES_PER_ELEMENT], ["length", length], ["byteLength", arrayBytes(value)], ["byteOffset", arrayOffset(value)], ["buffer", arrayBuffer(value)]];
      for (let i = 0; i < extra.length; i++) append(parts, "[" + extra[i][0] + "]: " + formatValue(ctx, extra[i][1], depth, true));
      ctx.level -= 2;
    }
    return parts;
  };
  const formatSet = (ctx, value, depth) => {
    const parts = list();
    const size = setSize(value), shown = bound(ctx, size);
    ctx.level += 2;
    let at = 0;
    setForEach(value, (item) => {
      if (at++ < shown) append(parts, formatValue(ctx, item, depth, false));
    });
    ctx.level -= 2;
    if (size > shown) append(parts, more(size - shown, "item"));
    return parts;
  };
  const formatMap = (ctx, value, depth) => {
    const parts = list();
    const size = mapSize(value), shown = bound(ctx, size);
    ctx.level += 2;
    let at = 0;
    mapForEach(value, (item, key) => {
      if (at++ < shown) append(parts, formatValue(ctx, key, depth, false) + " => " + formatValue(ctx, item, depth, false));
    });
    ctx.level -= 2;
    if (size > shown) append(parts, more(size - shown, "item"));
    return parts;
  };
  const hexBytes = (buffer, offset, count) => {
    const digits = native.decodeBytes(6, buffer, offset, count);
    let text = "";
    for (let i = 0; i < digits.length; i += 2) text += (i > 0 ? " " : "") + slice(digits, i, i + 2);
    return text;
  };
  const formatBuffer = (ctx, value) => {
    const parts = list();
    const { length } = bytesOf(value);
    if (kindOf(value) === "buffer" && lib.bufferDetached(value)) {
      append(parts, ctx.stylize("(detached)", "special"));
      return parts;
    }
    const shown = bound(ctx, length);
    append(parts, ctx.stylize("[Uint8Contents]", "special") + ": <" + hexBytes(value, 0, shown) + (length > shown ? " " + more(length - shown, "byte") : "") + ">");
    return parts;
  };
  const formatPromise = (ctx, value, depth) => {
    const parts = list();
    const state = native.promiseState(value);
    if (state === 0) {
      append(parts, ctx.stylize("<pending>", "special"));
      return parts;
    }
    ctx.level += 2;
    const text = formatValue(ctx, native.promiseResult(value), depth, false);
    ctx.level -= 2;
    append(parts, state === 2 ? ctx.stylize("<rejected>", "special") + " " + text : text);
    return parts;
  };

  const formatProperty = (ctx, value, depth, key, type, receiver = value) => {
    const descriptor = getOwnPropertyDescriptor(value, key) ?? { __proto__: null, value: value[key], enumerable: true };
    let text, gap = " ";
    if (descriptor.value !== undefined) {
      const indent = ctx.compact !== true || type !== OBJECT ? 2 : 3;
      ctx.level += indent;
      text = formatValue(ctx, descriptor.value, depth, false);
      if (indent === 3 && ctx.breakLength < widthOf(text)) gap = "\n" + repeat(" ", ctx.level);
      ctx.level -= indent;
    } else if (descriptor.get !== undefined) {
      text = formatGetter(ctx, receiver, depth, descriptor);
    } else text = descriptor.set !== undefined ? ctx.stylize("[Setter]", "special") : ctx.stylize("undefined", "undefined");
    if (type === ITEM) return text;
    let name;
    if (typeof key === "symbol") name = "[" + ctx.stylize(escaped(symbolText(key)), "symbol") + "]";
    else if (key === "__proto__") name = "['__proto__']";
    else if (descriptor.enumerable === false) name = "[" + escaped(key) + "]";
    else if (exec(/^[a-zA-Z_][a-zA-Z_0-9]*$/, key) !== null) name = ctx.stylize(key, "name");
    else name = ctx.stylize(quoted(lib.toText(key)), "string");
    return name + ":" + gap + text;
  };
  const formatGetter = (ctx, value, depth, { get, set }) => {
    const label = set !== undefined ? "Getter/Setter" : "Getter";
    const { stylize, getters } = ctx;
    if (!(getters === true || (getters === "get" && set === undefined) || (getters === "set" && set !== undefined))) return stylize("[" + label + "]", "special");
    try {
      const result = apply(get, value, []);
      ctx.level += 2;
      let text;
      if (result === null) text = stylize("[" + label + ":", "special") + " " + stylize("null", "null") + stylize("]", "special");
      else if (typeof result === "object") text = stylize("[" + label + "]", "special") + " " + formatValue(ctx, result, depth, false);
      else text = stylize("[" + label + ":", "special") + " " + formatPrimitive(stylize, result, ctx) + stylize("]", "special");
      ctx.level -= 2;
      return text;
    } catch (error) {
      return stylize("[" + label + ": <Inspection threw (" + (error?.message) + ")>]", "special");
    }
  };

  // `<Buffer 68 69>`, and the members that a program gave it.
  const BUFFER_BYTES = 50;
  const buffer = (value, options) => {
    const length = arrayBytes(value);
    const shown = min(BUFFER_BYTES, length);
    let text = hexBytes(arrayBuffer(value), arrayOffset(value), shown);
    if (length > shown) text += " " + more(length - shown, "byte");
    if (isObject(options)) {
      const keys = keysIn(value, { __proto__: null, showHidden: options.showHidden }, true);
      if (keys.length > 0) {
        const extra = create(null);
        for (let i = 0; i < keys.length; i++) extra[keys[i]] = value[keys[i]];
        const all = userOptions({ __proto__: null, stylize: plain, ...options, breakLength: Infinity, compact: true, user: undefined });
        text += (length > 0 ? ", " : "") + slice(inspect(extra, all), 27, -2);
      }
    }
    return "<" + value.constructor.name + " " + text + ">";
  };

  const publicInspect = { inspect(value, options) { return arguments.length > 2 ? inspect(value, options, arguments[2], arguments[3]) : inspect(value, options); } }.inspect;
  defineProperty(publicInspect, "custom", { __proto__: null, value: custom, writable: true, enumerable: true, configurable: true });
  defineProperty(publicInspect, "defaultOptions", { __proto__: null, value: defaults, writable: true, enumerable: true, configurable: true });
  defineProperty(publicInspect, "colors", { __proto__: null, value: { ...colors }, writable: true, enumerable: true, configurable: true });
  defineProperty(publicInspect, "styles", { __proto__: null, value: { ...styles }, writable: true, enumerable: true, configurable: true });
  return { __proto__: null, inspect: publicInspect, buffer, plain };
});
