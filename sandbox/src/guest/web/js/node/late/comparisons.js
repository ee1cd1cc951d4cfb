// `util.isDeepStrictEqual`: Node's strict deep equality.
(function (lib) {
  const {
    native, getPrototypeOf, getOwnPropertyDescriptor, ownKeys, hasOwn, kindOf, isObject, isArray, is, list, append, setSize, setHas,
    setForEach, mapSize, mapGet, mapHas, mapForEach, dateValue, numberValue, stringValue, booleanValue, bigintValue,
    symbolValue, arrayTag, arrayLength, bytesOf,
  } = lib;

  const boxes = { __proto__: null, number: numberValue, string: stringValue, boolean: booleanValue, bigint: bigintValue, symbol: symbolValue };
  // `open` holds the pairs that are being compared: a pair that is met again within itself is taken as equal.
  const same = (a, b, open) => {
    if (a === b) return a !== 0 || is(a, b);
    if (!isObject(a) || !isObject(b) || typeof a !== typeof b) return a !== a && b !== b && typeof a === "number" && typeof b === "number";
    if (typeof a === "function") return false;
    if (getPrototypeOf(a) !== getPrototypeOf(b)) return false;
    const kind = kindOf(a);
    if (kind !== kindOf(b) || isArray(a) !== isArray(b)) return false;
    switch (kind) {
      case "date":
        if (!is(dateValue(a), dateValue(b))) return false;
        break;
      case "regexp":
        if (lib.regexpSource(a) !== lib.regexpSource(b) || lib.flagsOf(a) !== lib.flagsOf(b) || a.lastIndex !== b.lastIndex) return false;
        break;
      case "error":
      case "exception":
        if (a.message !== b.message || a.name !== b.name) return false;
        if (hasOwn(a, "cause") !== hasOwn(b, "cause") || !same(a.cause, b.cause, open)) return false;
        break;
      case "number":
      case "string":
      case "boolean":
      case "bigint":
      case "symbol":
        if (!is(boxes[kind](a), boxes[kind](b))) return false;
        break;
      case "view":
        if (arrayTag(a) !== arrayTag(b)) return false;
        if (arrayTag(a) === "Float32Array" || arrayTag(a) === "Float64Array") {
          if (arrayLength(a) !== arrayLength(b)) return false;
          for (let i = 0; i < arrayLength(a); i++) if (!is(a[i], b[i])) return false;
          return sameKeys(a, b, open, true);
        }
        return sameBytes(a, b) && sameKeys(a, b, open, true);
      case "buffer":
      case "shared":
      case "dataview":
        if (!sameBytes(a, b)) return false;
        break;
    }
    for (let i = 0; i < open.length; i++) if (open[i][0] === a) return open[i][1] === b;
    append(open, [a, b]);
    const result =
      (!isArray(a) || a.length === b.length) &&
      (kind !== "set" || (setSize(a) === setSize(b) && sameSets(a, b, open))) &&
      (kind !== "map" || (mapSize(a) === mapSize(b) && sameMaps(a, b, open))) &&
      sameKeys(a, b, open, false);
    open.length -= 1;
    return result;
  };
  const sameBytes = (a, b) => {
    const x = bytesOf(a), y = bytesOf(b);
    return x.length === y.length && native.compareBytes(x.buffer, y.buffer, x.offset, x.length, y.offset, y.length) === 0;
  };
  const enumerableKeys = (value, skipIndices) => {
    const keys = list();
    const all = ownKeys(value);
    for (let i = 0; i < all.length; i++) {
      if (skipIndices && typeof all[i] === "string" && lib.toText(+all[i]) === all[i]) continue;
      if (getOwnPropertyDescriptor(value, all[i])?.enumerable) append(keys, all[i]);
    }
    return keys;
  };
  const sameKeys = (a, b, open, skipIndices) => {
    const keys = enumerableKeys(a, skipIndices);
    if (keys.length !== enumerableKeys(b, skipIndices).length) return false;
    for (let i = 0; i < keys.length; i++) if (!getOwnPropertyDescriptor(b, keys[i])?.enumerable) return false;
    for (let i = 0; i < keys.length; i++) if (!same(a[keys[i]], b[keys[i]], open)) return false;
    return true;
  };
  // Each member that the other set does not have itself has to find an equal one that no other has found.
  const sameSets = (a, b, open) => {
    const rest = list();
    setForEach(a, (item) => {
      if (!setHas(b, item)) append(rest, item);
    });
    if (rest.length === 0) return true;
    const others = list();
    setForEach(b, (item) => {
      if (!setHas(a, item)) append(others, item);
    });
    return pairUp(rest, others, (x, y) => isObject(x) && isObject(y) && same(x, y, open));
  };
  const sameMaps = (a, b, open) => {
    const rest = list();
    let equal = true;
    mapForEach(a, (value, key) => {
      if (!equal) return;
      if (mapHas(b, key)) equal = same(value, mapGet(b, key), open);
      else append(rest, [key, value]);
    });
    if (!equal || rest.length === 0) return equal;
    const others = list();
    mapForEach(b, (value, key) => {
      if (!mapHas(a, key)) append(others, [key, value]);
    });
    return pairUp(rest, others, (x, y) => isObject(x[0]) && isObject(y[0]) && same(x[0], y[0], open) && same(x[1], y[1], open));
  };
  const pairUp = (rest, others, equal) => {
    if (rest.length !== others.length) return false;
    for (let i = 0; i < rest.length; i++) {
      let found = -1;
      for (let j = 0; j < others.length && found < 0; j++) if (equal(rest[i], others[j])) found = j;
      if (found < 0) return false;
      lib.removeAt(others, found);
    }
    return true;
  };
  return { __proto__: null, isDeepStrictEqual: (a, b) => same(a, b, list()) };
});
