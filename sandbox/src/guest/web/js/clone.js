// structuredClone (HTML, 2.7): serialization and deserialization in one walk. Members of clones are defined, not assigned:
// no setter of a program sees them grow.
(function (lib) {
  const {
    kindOf, arrayClasses, expose, need, dictionary, sequence, isObject, list, append, keysOf, hasOwn, getOwnPropertyDescriptor,
    getPrototypeOf, defineProperty, global, getterOf, functionText, symbolText, platform,
    ObjectPrototype, Object, Map, Set, Date, RegExp, Error, ArrayBuffer, DataView, Uint8Array, DOMException, TypeError,
    newMap, mapSet, mapForEach, setAdd, setForEach, numberValue, stringValue, booleanValue, bigintValue, dateValue,
    bufferLength, bufferMax, bufferResizable, bufferResize, bufferDetached, bufferTransfer, arrayTag, arrayBuffer, arrayOffset, arrayBytes, arrayLength, arraySet,
    viewBuffer, viewOffset, viewBytes,
  } = lib;
  const { put } = lib.native;
  const regexpSource = (lib.regexpSource = getterOf(RegExp.prototype, "source"));
  const regexpFlags = [["d", "hasIndices"], ["g", "global"], ["i", "ignoreCase"], ["m", "multiline"], ["s", "dotAll"], ["u", "unicode"], ["v", "unicodeSets"], ["y", "sticky"]];
  for (let i = 0; i < regexpFlags.length; i++) regexpFlags[i] = { letter: regexpFlags[i][0], isSet: getterOf(RegExp.prototype, regexpFlags[i][1]) };
  const errorClasses = { __proto__: null };
  const errorNames = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
  for (let i = 0; i < errorNames.length; i++) errorClasses[errorNames[i]] = global[errorNames[i]];

  const refuse = (what) => {
    throw new DOMException(what + " could not be cloned.", "DataCloneError");
  };
  const define = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };

  // `memory` maps what was met to its clone; `moved` holds the buffers to transfer, with the clones that stand for them.
  const clone = (value, memory, moved) => {
    switch (typeof value) {
      case "symbol":
        return refuse(symbolText(value));
      case "function":
        return refuse(functionText(value));
      case "object":
        break;
      default:
        return value;
    }
    if (value === null) return null;
    const known = memory.get(value);
    if (known !== undefined) return known;
    switch (kindOf(value)) {
      case "object":
        return plain(value, memory, moved);
      case "array":
        return array(value, memory, moved);
      case "date":
        return remember(memory, value, new Date(dateValue(value)));
      case "regexp":
        return remember(memory, value, new RegExp(regexpSource(value), flagsOf(value)));
      case "map":
        return cloneMap(value, memory, moved);
      case "set":
        return cloneSet(value, memory, moved);
      case "error":
        return cloneError(value, memory, moved);
      case "exception":
        return exception(value, memory);
      case "number":
        return remember(memory, value, Object(numberValue(value)));
      case "string":
        return remember(memory, value, Object(stringValue(value)));
      case "boolean":
        return remember(memory, value, Object(booleanValue(value)));
      case "bigint":
        return remember(memory, value, Object(bigintValue(value)));
      case "symbol":
        return refuse("Object(Symbol())");
      case "buffer":
        return buffer(value, memory, moved);
      case "view":
      case "dataview":
        return view(value, memory, moved);
      case "shared":
        return refuse("A SharedArrayBuffer");
      case "promise":
        return refuse("#<Promise>");
      case "proxy":
        return refuse("#<Object>");
    }
    // Objects whose class the engine keeps for itself hold state that cannot be carried.
    return refuse(lib.objectText(value));
  };
  const remember = (memory, value, copy) => {
    memory.set(value, copy);
    return copy;
  };

  const plain = (value, memory, moved) => {
    const prototype = getPrototypeOf(value);
    if (prototype !== ObjectPrototype && prototype !== null) {
      for (let i = 0; i < platform.length; i++) {
        const brand = platform[i];
        if (!brand.isInstance(value)) continue;
        if (brand.clone === undefined) refuse("#<" + brand.name + ">");
        return remember(memory, value, brand.clone(value));
      }
    }
    const copy = {};
    memory.set(value, copy);
    fill(copy, value, memory, moved);
    return copy;
  };
  const array = (value, memory, moved) => {
    const copy = [];
    const { length } = value;
    memory.set(value, copy);
    fill(copy, value, memory, moved);
    copy.length = length;
    return copy;
  };
  const fill = (copy, value, memory, moved) => {
    const keys = keysOf(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (!hasOwn(value, key)) continue;
      const item = value[key];
      const type = typeof item;
      put(copy, key, type === "object" || type === "function" || type === "symbol" ? clone(item, memory, moved) : item);
    }
  };
  const flagsOf = (lib.flagsOf = (value) => {
    let flags = "";
    for (let i = 0; i < regexpFlags.length; i++) if (regexpFlags[i].isSet(value)) flags += regexpFlags[i].letter;
    return flags;
  });

  // Entries are taken before any of them is cloned: getters may change the collection meanwhile.
  const cloneMap = (value, memory, moved) => {
    const copy = remember(memory, value, new Map());
    const entries = list();
    mapForEach(value, (item, key) => {
      append(entries, key);
      append(entries, item);
    });
    for (let i = 0; i < entries.length; i += 2) mapSet(copy, clone(entries[i], memory, moved), clone(entries[i + 1], memory, moved));
    return copy;
  };
  const cloneSet = (value, memory, moved) => {
    const copy = remember(memory, value, new Set());
    const items = list();
    setForEach(value, (item) => append(items, item));
    for (let i = 0; i < items.length; i++) setAdd(copy, clone(items[i], memory, moved));
    return copy;
  };

  // Name, message, stack and cause travel; the class is one of the language's.
  const cloneError = (value, memory, moved) => {
    const { name } = value;
    const className = name === undefined ? "Error" : lib.toText(name);
    const described = getOwnPropertyDescriptor(value, "message");
    const ErrorClass = errorClasses[className] ?? Error;
    const copy = new ErrorClass();
    memory.set(value, copy);
    if (described !== undefined && hasOwn(described, "value")) define(copy, "message", lib.toText(described.value));
    const stack = hasOwn(value, "stack") ? value.stack : lib.errorStack(value);
    if (typeof stack === "string") define(copy, "stack", stack);
    if (hasOwn(value, "cause")) define(copy, "cause", clone(value.cause, memory, moved));
    return copy;
  };
  const exceptionName = getterOf(DOMException.prototype, "name");
  const exceptionMessage = getterOf(DOMException.prototype, "message");
  const exception = (value, memory) => {
    const copy = remember(memory, value, new DOMException(exceptionMessage(value), exceptionName(value)));
    const described = getOwnPropertyDescriptor(value, "stack");
    if (described !== undefined && typeof described.value === "string") define(copy, "stack", described.value);
    return copy;
  };

  const sameSize = (value) => {
    const length = bufferLength(value);
    return bufferResizable(value) ? new ArrayBuffer(length, { __proto__: null, maxByteLength: bufferMax(value) }) : new ArrayBuffer(length);
  };
  const copyInto = (target, source) => {
    const length = lib.min(bufferLength(target), bufferLength(source));
    if (length > 0) arraySet(new Uint8Array(target, 0, length), new Uint8Array(source, 0, length));
  };
  const buffer = (value, memory, moved) => {
    if (bufferDetached(value)) refuse("An ArrayBuffer is detached and");
    const copy = remember(memory, value, sameSize(value));
    const transfer = find(moved, value);
    // The bytes of a transferred buffer move at the end, when nothing can fail any more.
    if (transfer === undefined) copyInto(copy, value);
    else transfer.copy = copy;
    return copy;
  };
  const find = (moved, value) => {
    for (let i = 0; i < moved.length; i++) if (moved[i].buffer === value) return moved[i];
    return undefined;
  };
  const view = (value, memory, moved) => {
    const tag = arrayTag(value);
    let source;
    let offset;
    let length;
    if (tag === undefined) {
      source = viewBuffer(value);
      try {
        offset = viewOffset(value);
        length = viewBytes(value);
      } catch {
        refuse("A view that is out of its buffer's bounds");
      }
    } else {
      source = arrayBuffer(value);
      offset = arrayOffset(value);
      length = arrayLength(value);
      if (kindOf(source) === "buffer" && outOfBounds(value, tag, source)) refuse("A view that is out of its buffer's bounds");
    }
    if (kindOf(source) === "buffer" && bufferResizable(source) && isTracking(value, tag, source, offset)) length = undefined;
    const copy = clone(source, memory, moved);
    return remember(memory, value, tag === undefined ? new DataView(copy, offset, length) : new arrayClasses[tag](copy, offset, length));
  };
  // Whether a view's length follows that of its buffer. Nothing tells but a buffer that changes: it does so for a moment,
  // unseen by anybody, and gets its bytes back.
  const isTracking = (value, tag, source, offset) => {
    const bytes = () => (tag === undefined ? viewBytes(value) : arrayBytes(value));
    const size = bufferLength(source);
    const end = offset + bytes();
    if (size - end >= WIDEST) return false;
    if (end === offset) {
      // One that is empty has to get an element. Where there will never be room, both kinds are the same.
      const wider = lib.min(bufferMax(source), size + WIDEST);
      return wider > size && whileResized(source, wider, () => bytes() > 0);
    }
    const rest = new Uint8Array(size - end + 1);
    arraySet(rest, new Uint8Array(source, end - 1));
    const isInside = whileResized(source, end - 1, () => {
      try {
        return tag === undefined ? viewBytes(value) >= 0 : !outOfBounds(value, tag, source);
      } catch {
        return false;
      }
    });
    arraySet(new Uint8Array(source, end - 1), rest);
    return isInside;
  };
  // The bytes of the widest element.
  const WIDEST = 8;
  const whileResized = (buffer, size, look) => {
    const before = bufferLength(buffer);
    bufferResize(buffer, size);
    const seen = look();
    bufferResize(buffer, before);
    return seen;
  };
  // A view has no length and no offset both when it is empty and when it is out of bounds; only the first can still be made.
  const outOfBounds = (value, tag, source) => {
    if (arrayBytes(value) !== 0 || !bufferResizable(source)) return false;
    try {
      atZero(value, 0);
      return false;
    } catch {
      return true;
    }
  };
  const atZero = lib.uncurry(lib.TypedArray.prototype.at);

  const { structuredClone } = {
    structuredClone(value, options = undefined) {
      need(arguments.length, 1, "structuredClone");
      const { transfer } = dictionary(options, "options");
      const moved = list();
      if (transfer !== undefined) {
        const given = sequence(transfer, (item) => {
          if (!isObject(item)) throw new TypeError("Failed to execute 'structuredClone': a value to transfer is not an object.");
          return item;
        }, "transfer");
        for (let i = 0; i < given.length; i++) {
          const item = given[i];
          if (kindOf(item) !== "buffer") throw new DOMException("Value at index " + i + " does not have a transferable type.", "DataCloneError");
          if (find(moved, item) !== undefined) throw new DOMException("ArrayBuffer at index " + i + " is a duplicate of an earlier ArrayBuffer.", "DataCloneError");
          append(moved, { __proto__: null, buffer: item, copy: undefined });
        }
      }
      const copy = clone(value, newMap(), moved);
      for (let i = 0; i < moved.length; i++) {
        if (bufferDetached(moved[i].buffer)) {
          throw new DOMException("ArrayBuffer at index " + i + " is detached and could not be transferred.", "DataCloneError");
        }
      }
      for (let i = 0; i < moved.length; i++) {
        const { buffer: source, copy: target } = moved[i];
        if (target !== undefined) copyInto(target, source);
        bufferTransfer(source, 0);
      }
      return copy;
    },
  };
  expose("structuredClone", structuredClone, true);
  lib.structuredClone = (value) => clone(value, newMap(), list());
});
