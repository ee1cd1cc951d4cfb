// The `toLocale…` methods of the language's own objects, over Intl (ECMA-402, "Locale sensitive functions").
(function (lib) {
  const { native, global, defineProperty, numberValue, bigintValue, dateValue, arrayLength, isObject, isArray, Object, Number, BigInt, Date, String, ArrayPrototype, TypedArray, TypeError, list, append, split, apply, min, trunc, mapGet, mapSet, mapSize, newMap } = lib;
  const { intl } = native;
  const { openNumber, openDate, openCollator, mathematical, canonicalList } = lib.intl;

  // Formatters for one locale and no options are kept: programs call these methods in loops.
  const MOST = 16;
  const kept = (open) => {
    let cache;
    return (locales, options) => {
      if (options !== undefined || (locales !== undefined && typeof locales !== "string")) return open(locales, options);
      cache ??= newMap();
      let slots = cache.get(locales);
      if (slots === undefined) {
        slots = open(locales, undefined);
        if (mapSize(cache) < MOST) cache.set(locales, slots);
      }
      return slots;
    };
  };
  const numbers = kept(openNumber);
  const collators = kept(openCollator);
  const dates = { __proto__: null, any: kept((locales, options) => openDate(locales, options, "any", "all")), date: kept((locales, options) => openDate(locales, options, "date", "date")), time: kept((locales, options) => openDate(locales, options, "time", "time")) };
  const shownDate = (date, kind, locales, options) => {
    const time = dateValue(date);
    if (time !== time) return "Invalid Date";
    return intl.date(dates[kind](locales, options).native, time, undefined, false);
  };
  const coerced = (value, method) => {
    if (value === undefined || value === null) throw new TypeError("String.prototype." + method + " called on null or undefined");
    return lib.toText(value);
  };
  const SPECIAL = { __proto__: null, az: true, el: true, lt: true, tr: true };
  const cased = (text, locales, upper) => {
    const requested = typeof locales === "string" && locales === "en-US" ? undefined : canonicalList(locales);
    const language = requested === undefined || requested.length === 0 ? "en" : split(requested[0], "-")[0];
    if (SPECIAL[language]) return intl.mapCase(text, upper, language);
    return upper ? lib.toUpperCase(text) : lib.toLowerCase(text);
  };

  // Arrays that are being written: one inside itself is empty.
  const open = list();
  const joined = (object, length, locales, options) => {
    for (let i = 0; i < open.length; i++) if (open[i] === object) return "";
    append(open, object);
    try {
      let text = "";
      for (let i = 0; i < length; i++) {
        if (i > 0) text += ",";
        const item = object[i];
        if (item !== undefined && item !== null) text += lib.toText(apply(item.toLocaleString, item, [locales, options]));
      }
      return text;
    } finally {
      open.length -= 1;
    }
  };

  const methods = (prototype, members) => {
    const names = lib.ownKeys(members);
    for (let i = 0; i < names.length; i++) {
      defineProperty(prototype, names[i], { __proto__: null, value: members[names[i]], writable: true, configurable: true });
    }
  };
  // The arguments are optional, so that they do not count in a function's length.
  methods(Number.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return intl.number(numbers(locales, options).native, numberValue(this), undefined, false);
    },
  });
  methods(BigInt.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      const value = lib.toText(bigintValue(this));
      return intl.number(numbers(locales, options).native, value, undefined, false);
    },
  });
  methods(Date.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      return shownDate(this, "any", locales, options);
    },
    toLocaleDateString(locales = undefined, options = undefined) {
      return shownDate(this, "date", locales, options);
    },
    toLocaleTimeString(locales = undefined, options = undefined) {
      return shownDate(this, "time", locales, options);
    },
  });
  methods(ArrayPrototype, {
    toLocaleString(locales = undefined, options = undefined) {
      const object = Object(this);
      const length = trunc(+object.length);
      return joined(object, length > 0 ? min(length, 9007199254740991) : 0, locales, options);
    },
  });
  methods(TypedArray.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      if (lib.kindOf(this) !== "view") throw new TypeError("this is not a typed array.");
      return joined(this, arrayLength(this), locales, options);
    },
  });
  methods(String.prototype, {
    localeCompare(that, locales = undefined, options = undefined) {
      const text = coerced(this, "localeCompare"), other = lib.toText(that);
      return intl.compare(collators(locales, options).native, text, other);
    },
    toLocaleLowerCase(locales = undefined) {
      return cased(coerced(this, "toLocaleLowerCase"), locales, false);
    },
    toLocaleUpperCase(locales = undefined) {
      return cased(coerced(this, "toLocaleUpperCase"), locales, true);
    },
  });
});
