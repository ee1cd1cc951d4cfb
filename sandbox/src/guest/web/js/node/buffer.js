// Buffer: a Uint8Array with Node's methods. The methods for numbers are in `numbers.js`.
(function (lib) {
  const {
    native, global, defineProperty, getPrototypeOf, setPrototypeOf, ownKeys, getOwnPropertyDescriptor, kindOf, isObject, isArray, isView,
    trunc, min, list, append, arrayOf, arrayTag, arrayBuffer, arrayOffset, arrayBytes, arrayLength, arraySet, bytesOf, bufferLength,
    charCodeAt, slice, toLowerCase, symbolFor, getterOf, Uint8Array, ArrayBuffer, TypeError, RangeError, Error, Array, expose, coded,
    badType, badValue, outOfRange, received, needNumber,
  } = lib;

  const UTF8 = 0, UTF16 = 1, LATIN1 = 2, ASCII = 3, BASE64 = 4, BASE64URL = 5, HEX = 6;
  const encodings = {
    __proto__: null,
    "utf8": UTF8, "utf-8": UTF8, "ucs2": UTF16, "ucs-2": UTF16, "utf16le": UTF16, "utf-16le": UTF16,
    "latin1": LATIN1, "binary": LATIN1, "ascii": ASCII, "base64": BASE64, "base64url": BASE64URL, "hex": HEX,
  };
  // The number of an encoding; undefined for what is none.
  const numberOf = (lib.bufferEncoding = (name) => {
    if (typeof name !== "string") return undefined;
    return encodings[name] ?? encodings[toLowerCase(name)];
  });
  const unknown = (name) => coded(TypeError, "ERR_UNKNOWN_ENCODING", "Unknown encoding: " + name);
  // The encoding of an optional argument; the empty string and null are as good as nothing.
  const encodingOf = (name) => {
    if (name === undefined || name === null || name === "") return UTF8;
    const number = numberOf(name);
    if (number === undefined) throw unknown(name);
    return number;
  };

  const kMaxLength = 2147483647;
  const kStringMaxLength = 536870888;
  const sharedLength = getterOf(global.SharedArrayBuffer.prototype, "byteLength");

  // What `new` makes. Programs reach it only through Buffer.
  class FastBuffer extends Uint8Array {}
  const { prototype } = FastBuffer;

  const adopt = (lib.adoptBuffer = (bytes) => {
    setPrototypeOf(bytes, prototype);
    return bytes;
  });
  const sized = (size) => {
    needNumber(size, "size", 0, kMaxLength);
    return new FastBuffer(size);
  };
  const isBytes = (value) => kindOf(value) === "view" && arrayTag(value) === "Uint8Array";
  const needBytes = (value, name) => {
    if (!isBytes(value)) throw badType(name, "an instance of Buffer or Uint8Array", value);
  };
  const isBuffer = (lib.isBuffer = (value) => {
    if (!isObject(value)) return false;
    for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) if (at === prototype) return true;
    return false;
  });

  function Buffer(value, encodingOrOffset, length) {
    if (typeof value === "number") {
      if (typeof encodingOrOffset === "string") throw badType("string", "of type string", value);
      return sized(value);
    }
    return from(value, encodingOrOffset, length);
  }
  defineProperty(Buffer, "prototype", { __proto__: null, value: prototype, writable: false });
  setPrototypeOf(Buffer, Uint8Array);
  defineProperty(prototype, "constructor", { __proto__: null, value: Buffer, writable: true, enumerable: false, configurable: true });

  const fromText = (text, encoding) => adopt(encoding === UTF8 ? native.utf8Encode(text) : native.encodeText(text, encoding));
  const from = (value, encodingOrOffset, length) => {
    if (typeof value === "string") return fromText(value, typeof encodingOrOffset === "string" ? encodingOf(encodingOrOffset) : UTF8);
    if (typeof value === "object" && value !== null) {
      const kind = kindOf(value);
      if (kind === "buffer" || kind === "shared") return fromArrayBuffer(value, kind, encodingOrOffset, length);
      const valueOf = value.valueOf && value.valueOf();
      if (valueOf !== null && valueOf !== undefined && valueOf !== value && (typeof valueOf === "string" || typeof valueOf === "object")) {
        return from(valueOf, encodingOrOffset, length);
      }
      const made = fromObject(value);
      if (made !== undefined) return made;
      const convert = value[lib.toPrimitiveSymbol];
      if (typeof convert === "function") {
        const primitive = lib.apply(convert, value, ["string"]);
        if (typeof primitive === "string") return from(primitive, encodingOrOffset);
      }
    }
    throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object." + received(value));
  };
  const fromArrayBuffer = (buffer, kind, offset, length) => {
    const whole = kind === "shared" ? sharedLength(buffer) : bufferLength(buffer);
    if (offset === undefined) offset = 0;
    else {
      offset = +offset;
      if (offset !== offset) offset = 0;
    }
    const most = whole - offset;
    if (most < 0) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
    if (length === undefined) length = most;
    else {
      length = +length;
      if (length > 0) {
        if (length > most) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
      } else length = 0;
    }
    return new FastBuffer(buffer, offset, length);
  };
  const fromObject = (value) => {
    if (isBytes(value) || isView(value)) return kindOf(value) === "dataview" ? new FastBuffer(0) : copyOf(value);
    if (value.length !== undefined) return typeof value.length === "number" ? fromArrayLike(value) : new FastBuffer(0);
    if (value.type === "Buffer" && isArray(value.data)) return fromArrayLike(value.data);
    return undefined;
  };
  const fromArrayLike = (items) => {
    const { length } = items;
    if (!(length > 0)) return new FastBuffer(0);
    if (length > kMaxLength) throw coded(RangeError, "ERR_INVALID_ARG_VALUE", "Invalid array length");
    const bytes = new FastBuffer(trunc(length));
    for (let i = 0; i < length; i++) bytes[i] = items[i];
    return bytes;
  };
  const copyOf = (view) => {
    const length = arrayLength(view);
    const bytes = new FastBuffer(length);
    if (arrayTag(view) === "BigInt64Array" || arrayTag(view) === "BigUint64Array") {
      throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
    }
    if (length > 0) arraySet(bytes, view);
    return bytes;
  };

  const statics = {
    from(value, encodingOrOffset, length) {
      return from(value, encodingOrOffset, length);
    },
    of(...items) {
      const bytes = new FastBuffer(items.length);
      for (let i = 0; i < items.length; i++) bytes[i] = items[i];
      return bytes;
    },
    alloc(size, fill, encoding) {
      const bytes = sized(size);
      if (fill === undefined || fill === 0 || size === 0) return bytes;
      return fillBytes(bytes, fill, undefined, undefined, encoding);
    },
    allocUnsafe(size) {
      return sized(size);
    },
    allocUnsafeSlow(size) {
      return sized(size);
    },
    isBuffer(value) {
      return isBuffer(value);
    },
    isEncoding(encoding) {
      return typeof encoding === "string" && encoding !== "" && numberOf(encoding) !== undefined;
    },
    byteLength(value, encoding) {
      if (typeof value === "string") return textLength(value, numberOf(encoding) ?? UTF8);
      if (typeof value === "object" && value !== null) {
        const place = bytesOf(value);
        if (place !== undefined) return place.length;
      }
      throw badType("string", "of type string or an instance of Buffer or ArrayBuffer", value);
    },
    compare(a, b) {
      needBytes(a, "buf1");
      needBytes(b, "buf2");
      return compareParts(a, 0, arrayBytes(a), b, 0, arrayBytes(b));
    },
    concat(parts, length) {
      if (!isArray(parts)) throw badType("list", "an instance of Array", parts);
      if (parts.length === 0) return new FastBuffer(0);
      if (length === undefined) {
        length = 0;
        for (let i = 0; i < parts.length; i++) {
          if (isBytes(parts[i])) length += arrayBytes(parts[i]);
        }
      } else {
        lib.needInteger(length, "length", 0, kMaxLength);
      }
      const bytes = sized(length);
      let at = 0;
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i];
        if (!isBytes(part)) throw badType("list[" + i + "]", "an instance of Buffer or Uint8Array", part);
        at += copyBytes(part, bytes, at, 0, arrayBytes(part));
      }
      return bytes;
    },
  };
  const staticNames = ownKeys(statics);
  for (let i = 0; i < staticNames.length; i++) {
    defineProperty(Buffer, staticNames[i], { __proto__: null, value: statics[staticNames[i]], writable: true, enumerable: true, configurable: true });
  }
  defineProperty(Buffer, "poolSize", { __proto__: null, value: 8192, writable: true, enumerable: true, configurable: true });

  const textLength = (text, encoding) => {
    const { length } = text;
    switch (encoding) {
      case UTF16:
        return length * 2;
      case LATIN1:
      case ASCII:
        return length;
      case HEX:
        return length >>> 1;
      case BASE64:
      case BASE64URL: {
        let digits = length;
        if (length > 0 && charCodeAt(text, length - 1) === 61) digits -= 1;
        if (length > 1 && charCodeAt(text, digits - 1) === 61) digits -= 1;
        return (digits * 3) >>> 2;
      }
    }
    return native.utf8Length(text);
  };
  const compareParts = (a, aStart, aEnd, b, bStart, bEnd) =>
    native.compareBytes(arrayBuffer(a), arrayBuffer(b), arrayOffset(a) + aStart, aEnd - aStart, arrayOffset(b) + bStart, bEnd - bStart);
  // Copies what fits and returns the number of bytes.
  const copyBytes = (source, target, targetStart, start, end) => {
    const count = min(end - start, arrayBytes(target) - targetStart, arrayBytes(source) - start);
    if (!(count > 0)) return 0;
    const part = new Uint8Array(arrayBuffer(source), arrayOffset(source) + start, count);
    arraySet(target, part, targetStart);
    return count;
  };

  const textOf = (bytes, encoding, start, end) => {
    const size = end - start;
    if (size > kStringMaxLength) {
      throw coded(Error, "ERR_STRING_TOO_LONG", "Cannot create a string longer than 0x1fffffe8 characters");
    }
    return native.decodeBytes(encoding, arrayBuffer(bytes), arrayOffset(bytes) + start, size);
  };
  const writeText = (bytes, text, encoding, offset, length) =>
    native.writeText(text, encoding, arrayBuffer(bytes), arrayOffset(bytes) + offset, length);

  const needText = (text) => {
    if (typeof text !== "string") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
  };

  // Where a search begins (Node's IndexOfOffset); -1 when it can find nothing.
  const searchStart = (length, offset, size, isForward) => {
    if (offset < 0) {
      if (offset + length >= 0) return length + offset;
      return isForward || size === 0 ? 0 : -1;
    }
    if (offset + size <= length) return offset;
    if (size === 0) return length;
    return isForward ? -1 : length - 1;
  };
  const indexOf = (bytes, value, byteOffset, encoding, isForward) => {
    needBytes(bytes, "buffer");
    const length = arrayBytes(bytes);
    if (typeof byteOffset === "string") {
      encoding = byteOffset;
      byteOffset = undefined;
    } else if (byteOffset > 0x7fffffff) byteOffset = 0x7fffffff;
    else if (byteOffset < -0x80000000) byteOffset = -0x80000000;
    byteOffset = +byteOffset;
    if (byteOffset !== byteOffset) byteOffset = isForward ? 0 : length;
    byteOffset = trunc(byteOffset);
    let needle, step = 1;
    if (typeof value === "number") {
      needle = new Uint8Array(1);
      needle[0] = value >>> 0;
    } else {
      const number = encoding === undefined ? UTF8 : numberOf(encoding);
      if (typeof value === "string") {
        if (number === undefined) throw unknown(encoding);
        needle = native.encodeText(value, number);
      } else if (isBytes(value)) needle = value;
      else throw badType("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
      if (number === UTF16) step = 2;
    }
    const size = arrayBytes(needle);
    const start = searchStart(length, byteOffset, size, isForward);
    if (size === 0) return start;
    if (start < 0 || length === 0 || size > length || (isForward && size + start > length)) return -1;
    if (step === 2 && (length < 2 || size < 2)) return -1;
    return native.searchBytes(arrayBuffer(bytes), arrayBuffer(needle), arrayOffset(bytes), step === 2 ? length - (length % 2) : length, arrayOffset(needle), step === 2 ? size - (size % 2) : size, step === 2 ? start - (start % 2) : start, step, isForward ? 0 : 1);
  };

  const fillBytes = (bytes, value, offset, end, encoding) => {
    if (!isBytes(bytes)) throw badType("this", "an instance of Buffer or Uint8Array", bytes);
    let number = UTF8;
    if (typeof value === "string") {
      if (offset === undefined || typeof offset === "string") {
        encoding = offset ?? encoding;
        offset = undefined;
      } else if (typeof end === "string") {
        encoding = end;
        end = undefined;
      }
      if (encoding !== undefined && encoding !== null && typeof encoding !== "string") throw badType("encoding", "of type string", encoding);
      number = encodingOf(encoding);
    }
    if (offset === undefined) {
      offset = 0;
      end = arrayBytes(bytes);
    } else {
      needNumber(offset, "offset", 0);
      if (end === undefined) end = arrayBytes(bytes);
      else needNumber(end, "end", 0, arrayBytes(bytes));
      if (offset >= end) return bytes;
    }
    offset = trunc(offset);
    end = trunc(end);
    let pattern;
    if (typeof value === "string") {
      pattern = value.length === 0 ? new Uint8Array(1) : native.encodeText(value, number);
      if (arrayBytes(pattern) === 0 && end > offset) throw badValue("value", value);
    } else if (isObject(value) && bytesOf(value) !== undefined) {
      const place = bytesOf(value);
      if (place.length === 0) {
        if (end > offset) throw badValue("value", value);
        return bytes;
      }
      native.repeatBytes(arrayBuffer(bytes), place.buffer, arrayOffset(bytes) + offset, min(end, arrayBytes(bytes)) - offset, place.offset, place.length);
      return bytes;
    } else {
      pattern = new Uint8Array(1);
      pattern[0] = typeof value === "boolean" ? +value : value & 255;
    }
    // Converting the value may have moved or shrunk the buffer.
    end = min(end, arrayBytes(bytes));
    if (end > offset) native.repeatBytes(arrayBuffer(bytes), arrayBuffer(pattern), arrayOffset(bytes) + offset, end - offset, arrayOffset(pattern), arrayBytes(pattern));
    return bytes;
  };

  // A bound of a part: NaN and what is absent are `absent`, what is negative counts from `length` if `fromEnd`.
  const partOf = (bytes, start, end) => {
    const length = arrayBytes(bytes);
    start = trunc(+start) || 0;
    if (start < 0) {
      start += length;
      if (start < 0) start = 0;
    } else if (start > length) start = length;
    if (end === undefined) end = length;
    else {
      end = trunc(+end) || 0;
      if (end < 0) {
        end += length;
        if (end < 0) end = 0;
      } else if (end > length) end = length;
    }
    return new FastBuffer(arrayBuffer(bytes), arrayOffset(bytes) + start, end > start ? end - start : 0);
  };
  const swapGroups = (bytes, width) => {
    needBytes(bytes, "this");
    const length = arrayBytes(bytes);
    if (length % width !== 0) throw coded(RangeError, "ERR_INVALID_BUFFER_SIZE", "Buffer size must be a multiple of " + (width * 8) + "-bits");
    native.swapBytes(arrayBuffer(bytes), arrayOffset(bytes), length, width);
    return bytes;
  };
  const place = (value, name, fallback, high = kMaxLength) => {
    if (value === undefined) return fallback;
    lib.needInteger(value, name, 0, high);
    return value;
  };

  const members = {
    toString(encoding, start, end) {
      const length = arrayBytes(this);
      if (arguments.length === 0) return textOf(this, UTF8, 0, length);
      if (start <= 0) start = 0;
      else if (start >= length) return "";
      else start = trunc(start) || 0;
      if (end === undefined || end > length) end = length;
      else end = trunc(end) || 0;
      if (end <= start) return "";
      return textOf(this, encoding === undefined ? UTF8 : (numberOf(encoding) ?? fail(encoding)), start, end);
    },
    equals(other) {
      if (!isBytes(other)) throw badType("otherBuffer", "an instance of Buffer or Uint8Array", other);
      if (this === other) return true;
      return arrayBytes(this) === arrayBytes(other) && compareParts(this, 0, arrayBytes(this), other, 0, arrayBytes(other)) === 0;
    },
    compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
      needBytes(target, "target");
      if (arguments.length === 1) return compareParts(this, 0, arrayBytes(this), target, 0, arrayBytes(target));
      targetStart = place(targetStart, "targetStart", 0);
      targetEnd = place(targetEnd, "targetEnd", arrayBytes(target), arrayBytes(target));
      sourceStart = place(sourceStart, "sourceStart", 0);
      sourceEnd = place(sourceEnd, "sourceEnd", arrayBytes(this), arrayBytes(this));
      if (sourceStart >= sourceEnd) return targetStart >= targetEnd ? 0 : -1;
      if (targetStart >= targetEnd) return 1;
      return compareParts(this, sourceStart, sourceEnd, target, targetStart, targetEnd);
    },
    indexOf(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, true);
    },
    lastIndexOf(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, false);
    },
    includes(value, byteOffset, encoding) {
      return indexOf(this, value, byteOffset, encoding, true) !== -1;
    },
    fill(value, offset, end, encoding) {
      return fillBytes(this, value, offset, end, encoding);
    },
    write(text, offset, length, encoding) {
      const size = arrayBytes(this);
      if (offset === undefined) {
        needText(text);
        return writeText(this, text, UTF8, 0, size);
      }
      if (length === undefined && typeof offset === "string") {
        encoding = offset;
        length = size;
        offset = 0;
      } else {
        lib.needInteger(offset, "offset", 0, size);
        const rest = size - offset;
        if (length === undefined) length = rest;
        else if (typeof length === "string") {
          encoding = length;
          length = rest;
        } else {
          lib.needInteger(length, "length", 0, size);
          if (length > rest) length = rest;
        }
      }
      needText(text);
      return writeText(this, text, encodingOf(encoding), offset, length);
    },
    toJSON() {
      if (arrayLength(this) === 0) return { type: "Buffer", data: [] };
      const data = list();
      const length = arrayLength(this);
      for (let i = 0; i < length; i++) append(data, this[i]);
      return { type: "Buffer", data: arrayOf(data) };
    },
    copy(target, targetStart, sourceStart, sourceEnd) {
      needBytes(target, "target");
      const integer = (value, absent) => {
        if (value === undefined) return absent;
        const number = +value;
        return number !== number ? absent : trunc(number);
      };
      const from = integer(targetStart, 0);
      if (from < 0) throw outOfRange("targetStart", ">= 0", from);
      const start = integer(sourceStart, 0);
      if (start < 0 || start > arrayBytes(this)) throw outOfRange("sourceStart", ">= 0 && <= " + arrayBytes(this), start);
      const end = sourceEnd === undefined ? arrayBytes(this) : integer(sourceEnd, 0);
      if (end < 0) throw outOfRange("sourceEnd", ">= 0", end);
      if (from >= arrayBytes(target) || start >= end) return 0;
      return copyBytes(this, target, from, start, end);
    },
    subarray(start, end) {
      return partOf(this, start, end);
    },
    slice(start, end) {
      return partOf(this, start, end);
    },
    swap16() {
      return swapGroups(this, 2);
    },
    swap32() {
      return swapGroups(this, 4);
    },
    swap64() {
      return swapGroups(this, 8);
    },
    inspect(depth, context) {
      return lib.inspectBuffer(this, depth, context);
    },
  };
  const fail = (encoding) => {
    throw unknown(encoding);
  };
  const bounded = (bytes, start, end) => {
    needBytes(bytes, "argument");
    const length = arrayBytes(bytes);
    const from = start === undefined ? 0 : trunc(+start) || 0;
    const to = end === undefined ? length : trunc(+end) || 0;
    if (length === 0) return { __proto__: null, from: 0, to: 0 };
    if (from < 0 || to < 0 || to > length) throw coded(RangeError, "ERR_OUT_OF_RANGE", "Index out of range");
    return { __proto__: null, from: min(from, length), to: min(to < from ? from : to, length) };
  };
  const define = (name, value) => {
    defineProperty(prototype, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  const memberNames = ownKeys(members);
  for (let i = 0; i < memberNames.length; i++) define(memberNames[i], members[memberNames[i]]);
  define("toLocaleString", members.toString);
  defineProperty(prototype, symbolFor("nodejs.util.inspect.custom"), { __proto__: null, value: members.inspect, writable: true, enumerable: true, configurable: true });

  // `hexSlice`, `hexWrite` and the like.
  const pieces = [["utf8", UTF8], ["ucs2", UTF16], ["latin1", LATIN1], ["ascii", ASCII], ["base64", BASE64], ["base64url", BASE64URL], ["hex", HEX]];
  for (let i = 0; i < pieces.length; i++) {
    const name = pieces[i][0], number = pieces[i][1];
    const methods = {
      [name + "Slice"](start, end) {
        const { from, to } = bounded(this, start, end);
        return textOf(this, number, from, to);
      },
      [name + "Write"](text, offset, length) {
        needBytes(this, "argument");
        needText(text);
        const size = arrayBytes(this);
        const at = offset === undefined ? 0 : trunc(+offset) || 0;
        if (at < 0 || at > size) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
        const room = length === undefined ? size - at : trunc(+length) || 0;
        if (room < 0) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
        return writeText(this, text, number, at, min(room, size - at));
      },
    };
    define(name + "Slice", methods[name + "Slice"]);
    define(name + "Write", methods[name + "Write"]);
  }

  const accessor = (name, get) => defineProperty(prototype, name, { __proto__: null, get, enumerable: true, configurable: false });
  accessor("parent", getOwnPropertyDescriptor({ get parent() { return isBuffer(this) ? arrayBuffer(this) : undefined; } }, "parent").get);
  accessor("offset", getOwnPropertyDescriptor({ get offset() { return isBuffer(this) ? arrayOffset(this) : undefined; } }, "offset").get);

  lib.Buffer = Buffer;
  lib.utilGlobals = { __proto__: null, TextEncoder: global.TextEncoder, TextDecoder: global.TextDecoder };
  lib.bufferGlobals = { __proto__: null, Blob: global.Blob, File: global.File, atob: global.atob, btoa: global.btoa };
  lib.bufferPrototype = prototype;
  lib.bufferFrom = from;
  lib.bufferMax = kMaxLength;
  lib.bufferStringMax = kStringMaxLength;
  expose("Buffer", Buffer, true);
});
