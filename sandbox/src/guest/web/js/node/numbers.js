// Buffer's methods that read and write numbers.
(function (lib) {
  const {
    global, defineProperty, bufferPrototype, arrayBytes, floor, Number, BigInt, RangeError, ArrayBuffer, Uint8Array, badType, outOfRange,
    coded,
  } = lib;

  const define = (name, value) => {
    defineProperty(bufferPrototype, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  const outside = (value, high, name = undefined) => {
    if (typeof value !== "number") throw badType(name ?? "offset", "of type number", value);
    if (floor(value) !== value) throw outOfRange(name ?? "offset", "an integer", value);
    if (high < 0) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
    throw outOfRange(name ?? "offset", ">= " + (name === undefined ? 0 : 1) + " and <= " + high, value);
  };
  // Whether all `size` bytes are there is asked of the bytes themselves, which knows every kind of bad offset.
  const check = (bytes, offset, size) => {
    if (typeof offset !== "number") throw badType("offset", "of type number", offset);
    if (bytes[offset] === undefined || bytes[offset + size - 1] === undefined) outside(offset, arrayBytes(bytes) - size);
  };
  const checkRange = (value, low, high, size) => {
    // A number is compared with numbers: the engine compares fractions with large BigInts wrongly.
    const isMixed = typeof low === "bigint" && typeof value === "number";
    if (!(isMixed ? value > Number(high) || value < Number(low) : value > high || value < low)) return;
    const n = typeof low === "bigint" ? "n" : "";
    let range = ">= " + low + n + " and <= " + high + n;
    if (size > 4) {
      range = low >= 0 ? ">= 0" + n + " and < 2" + n + " ** " + (size * 8) + n : ">= -(2" + n + " ** " + (size * 8 - 1) + n + ") and < 2" + n + " ** " + (size * 8 - 1) + n;
    }
    throw outOfRange("value", range, value);
  };

  const readLittle = (bytes, offset, size) => {
    let value = 0;
    for (let i = offset + size - 1; i >= offset; i--) value = value * 256 + bytes[i];
    return value;
  };
  const readBig = (bytes, offset, size) => {
    let value = 0;
    for (let i = offset; i < offset + size; i++) value = value * 256 + bytes[i];
    return value;
  };
  const spans = [0, 0x100, 0x10000, 0x1000000, 0x100000000, 0x10000000000, 0x1000000000000];
  const signed = (value, size) => (value >= spans[size] / 2 ? value - spans[size] : value);
  // The low 32 bits are taken as the language does, those above by a division that rounds down.
  const writeLittle = (bytes, value, offset, size) => {
    let low = value >>> 0;
    let high = size > 4 ? floor(value / 4294967296) & 0xffff : 0;
    for (let i = 0; i < size; i++) {
      if (i < 4) {
        bytes[offset + i] = low;
        low >>>= 8;
      } else {
        bytes[offset + i] = high;
        high >>>= 8;
      }
    }
    return offset + size;
  };
  const writeBig = (bytes, value, offset, size) => {
    let low = value >>> 0;
    let high = size > 4 ? floor(value / 4294967296) & 0xffff : 0;
    for (let i = 0; i < size; i++) {
      if (i < 4) {
        bytes[offset + size - 1 - i] = low;
        low >>>= 8;
      } else {
        bytes[offset + size - 1 - i] = high;
        high >>>= 8;
      }
    }
    return offset + size;
  };
  const lowest = (isSigned, size) => (isSigned ? -spans[size] / 2 : 0);
  const highest = (isSigned, size) => (isSigned ? spans[size] / 2 - 1 : spans[size] - 1);

  const both = (word, suffix, value) => {
    // `UInt` is spelled `Uint` as well.
    define("" + word + suffix, value);
    if (lib.indexOf(word, "UInt") >= 0) define(lib.replaceAll(word, "UInt", "Uint") + suffix, value);
  };
  const ends = [["LE", readLittle, writeLittle], ["BE", readBig, writeBig]];

  // Eight, sixteen and 32 bits.
  const fixed = (isSigned, size, end, read, write) => {
    const kind = (isSigned ? "Int" : "UInt") + (size * 8);
    const low = lowest(isSigned, size), high = highest(isSigned, size);
    const methods = {
      ["read" + kind + end](offset = 0) {
        check(this, offset, size);
        const value = read(this, offset, size);
        return isSigned ? signed(value, size) : value;
      },
      ["write" + kind + end](value, offset = 0) {
        value = +value;
        if (size === 1 && typeof offset !== "number") throw badType("offset", "of type number", offset);
        checkRange(value, low, high, size);
        check(this, offset, size);
        return write(this, value, offset, size);
      },
    };
    both("read" + (isSigned ? "Int" : "UInt"), "" + (size * 8) + end, methods["read" + kind + end]);
    both("write" + (isSigned ? "Int" : "UInt"), "" + (size * 8) + end, methods["write" + kind + end]);
  };
  // One to six bytes.
  const sized = (isSigned, end, read, write) => {
    const kind = isSigned ? "Int" : "UInt";
    const checkSize = (size) => {
      if (size !== 1 && size !== 2 && size !== 3 && size !== 4 && size !== 5 && size !== 6) outside(size, 6, "byteLength");
    };
    const methods = {
      ["read" + kind + end](offset, byteLength) {
        if (offset === undefined) throw badType("offset", "of type number", offset);
        checkSize(byteLength);
        check(this, offset, byteLength);
        const value = read(this, offset, byteLength);
        return isSigned ? signed(value, byteLength) : value;
      },
      ["write" + kind + end](value, offset, byteLength) {
        checkSize(byteLength);
        value = +value;
        if (byteLength === 1 && typeof offset !== "number") throw badType("offset", "of type number", offset);
        checkRange(value, lowest(isSigned, byteLength), highest(isSigned, byteLength), byteLength);
        check(this, offset, byteLength);
        return write(this, value, offset, byteLength);
      },
    };
    both("read" + kind, end, methods["read" + kind + end]);
    both("write" + kind, end, methods["write" + kind + end]);
  };
  const wide = (isSigned, end, read, write) => {
    const kind = isSigned ? "Int64" : "UInt64";
    const low = isSigned ? -0x8000000000000000n : 0n, high = isSigned ? 0x7fffffffffffffffn : 0xffffffffffffffffn;
    const isLittle = end === "LE";
    const methods = {
      ["readBig" + kind + end](offset = 0) {
        check(this, offset, 8);
        const first = read(this, offset, 4), second = read(this, offset + 4, 4);
        const upper = isLittle ? second : first;
        return BigInt(isSigned ? upper | 0 : upper) * 0x100000000n + BigInt(isLittle ? first : second);
      },
      ["writeBig" + kind + end](value, offset = 0) {
        checkRange(value, low, high, 8);
        check(this, offset, 8);
        const lower = Number(value & 0xffffffffn), upper = Number((value >> 32n) & 0xffffffffn);
        write(this, isLittle ? lower : upper, offset, 4);
        return write(this, isLittle ? upper : lower, offset + 4, 4);
      },
    };
    both("readBig" + (isSigned ? "Int" : "UInt"), "64" + end, methods["readBig" + kind + end]);
    both("writeBig" + (isSigned ? "Int" : "UInt"), "64" + end, methods["writeBig" + kind + end]);
  };
  // The machine's own order is little-endian.
  const scratch = new ArrayBuffer(8);
  const scratchBytes = new Uint8Array(scratch);
  const floats = [["Float", 4, new global.Float32Array(scratch)], ["Double", 8, new global.Float64Array(scratch)]];
  const floating = (name, size, view, end) => {
    const place = (i) => (end === "LE" ? i : size - 1 - i);
    const methods = {
      ["read" + name + end](offset = 0) {
        check(this, offset, size);
        for (let i = 0; i < size; i++) scratchBytes[place(i)] = this[offset + i];
        return view[0];
      },
      ["write" + name + end](value, offset = 0) {
        value = +value;
        check(this, offset, size);
        view[0] = value;
        for (let i = 0; i < size; i++) this[offset + i] = scratchBytes[place(i)];
        return offset + size;
      },
    };
    define("read" + name + end, methods["read" + name + end]);
    define("write" + name + end, methods["write" + name + end]);
  };

  for (let s = 0; s < 2; s++) {
    fixed(s === 1, 1, "", readLittle, writeLittle);
    for (let e = 0; e < 2; e++) {
      const end = ends[e][0], read = ends[e][1], write = ends[e][2];
      fixed(s === 1, 2, end, read, write);
      fixed(s === 1, 4, end, read, write);
      sized(s === 1, end, read, write);
      wide(s === 1, end, read, write);
      if (s === 0) for (let f = 0; f < 2; f++) floating(floats[f][0], floats[f][1], floats[f][2], end);
    }
  }
});
