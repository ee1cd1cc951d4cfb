// What every constructor of `Intl` shares (ECMA-402, "Requirements for internationalization" and "Locale and parameter
// negotiation"). Where the standard leaves a choice, it is V8's.
(function (lib) {
  const { native, construct, create, defineProperty, getOwnPropertyDescriptor, freeze, list, append, arrayOf, tagSymbol, isObject, global, split, symbolFor, Object, RangeError, TypeError, Symbol, String, slice, indexOf, floor, trunc, min, exec, apply } = lib;
  const { intl } = native;

  const Intl = {};
  defineProperty(Intl, tagSymbol, { __proto__: null, value: "Intl", configurable: true });
  const shared = (lib.intl = { __proto__: null, Intl });

  // The slots of an object: one record, whatever its constructor, with the name of it as `kind`.
  class Returned {
    constructor(object) {
      return object;
    }
  }
  class Slotted extends Returned {
    #slots;
    constructor(object, slots) {
      super(object);
      this.#slots = slots;
    }
    static of(object) {
      return isObject(object) && #slots in object ? object.#slots : undefined;
    }
  }
  const slotsOf = (shared.slotsOf = (object, kind, method) => {
    const slots = Slotted.of(object);
    if (slots === undefined || slots.kind !== kind) throw new TypeError("Method Intl." + kind + ".prototype." + method + " called on incompatible receiver");
    return slots;
  });
  shared.isLocale = (value) => Slotted.of(value)?.kind === "Locale";

  // A constructor whose prototype is that of the class `Members`. `open` makes the slots from the arguments.
  shared.constructorOf = (kind, Members, open, { length = 0, callable = false, supported = true } = {}) => {
    const Base = function () {};
    const Constructor = function (locales, options) {
      if (new.target === undefined && !callable) throw new TypeError("Constructor Intl." + kind + " requires 'new'");
      const object = construct(Base, [], new.target ?? Constructor);
      const slots = open(locales, options, arguments.length);
      slots.kind = kind;
      new Slotted(object, slots);
      return object;
    };
    defineProperty(Constructor, "name", { __proto__: null, value: kind });
    defineProperty(Constructor, "length", { __proto__: null, value: length });
    defineProperty(Constructor, "prototype", { __proto__: null, value: Members.prototype, writable: false });
    defineProperty(Members.prototype, "constructor", { __proto__: null, value: Constructor });
    defineProperty(Members.prototype, tagSymbol, { __proto__: null, value: "Intl." + kind, configurable: true });
    if (supported) {
      const { supportedLocalesOf } = {
        supportedLocalesOf(locales) {
          return supportedLocales(canonicalList(locales), arguments[1]);
        },
      };
      defineProperty(Constructor, "supportedLocalesOf", { __proto__: null, value: supportedLocalesOf, writable: true, configurable: true });
    }
    shared.expose(kind, Constructor);
    return (locales, options) => {
      const slots = open(locales, options, 2);
      slots.kind = kind;
      return slots;
    };
  };
  shared.expose = (name, value) => {
    defineProperty(Intl, name, { __proto__: null, value, writable: true, configurable: true });
  };

  // Locales.
  const invalidLocale = (tag) => {
    throw new RangeError(`Incorrect locale information provided`);
  };
  const canonical = (shared.canonical = (tag) => {
    const form = intl.canonical(lib.toWellFormed(lib.toText(tag)));
    return form === undefined ? invalidLocale(tag) : form;
  });
  const canonicalList = (shared.canonicalList = (locales) => {
    const seen = list();
    if (locales === undefined) return seen;
    if (typeof locales === "string") {
      append(seen, canonical(locales));
      return seen;
    }
    if (shared.isLocale(locales)) {
      append(seen, Slotted.of(locales).locale);
      return seen;
    }
    if (locales === null) throw new TypeError("Cannot convert undefined or null to object");
    const object = Object(locales);
    const length = min(lengthOf(object.length), 9007199254740991);
    for (let i = 0; i < length; i++) {
      if (!(i in object)) continue;
      const value = object[i];
      if (typeof value !== "string" && !isObject(value)) throw new TypeError("Language ID should be string or object.");
      const tag = shared.isLocale(value) ? Slotted.of(value).locale : canonical(value);
      if (!has(seen, tag)) append(seen, tag);
    }
    return seen;
  });
  const lengthOf = (value) => {
    const number = trunc(+value);
    return number > 0 ? number : 0;
  };
  const has = (shared.has = (items, wanted) => {
    for (let i = 0; i < items.length; i++) if (items[i] === wanted) return true;
    return false;
  });
  const supportedLocales = (requested, options) => {
    if (options !== undefined) option(coerced(options), "localeMatcher", ["lookup", "best fit"], "best fit");
    const supported = list();
    for (let i = 0; i < requested.length; i++) if (intl.best(requested[i]) !== undefined) append(supported, requested[i]);
    return arrayOf(supported);
  };
  // `keys` are those of the Unicode extension that matter, `wanted` what the options say of each. The result has the
  // locale as programs see it, the one whose tables are used, and a value for each key.
  shared.resolve = (requested, keys, wanted) => {
    let base = "en-US", tag = "en-US";
    for (let i = 0; i < requested.length; i++) {
      const best = intl.best(requested[i]);
      if (best === undefined) continue;
      base = best;
      tag = requested[i];
      break;
    }
    const result = { __proto__: null, locale: base, dataLocale: base };
    const parts = split(intl.tagParts(tag), "\0");
    let kept = "";
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      let value = DEFAULTS[key](base);
      for (let at = 5; at + 1 < parts.length; at += 2) {
        if (parts[at] !== key) continue;
        const asked = key === "kn" && parts[at + 1] === "" ? "true" : parts[at + 1];
        if (VALID[key](asked, base)) {
          value = asked;
          if (wanted[key] === undefined || wanted[key] === asked || !VALID[key](wanted[key], base)) kept += (kept === "" ? "" : "\0") + key + "\0" + parts[at + 1];
        }
      }
      if (wanted[key] !== undefined && VALID[key](wanted[key], base)) value = wanted[key];
      result[key] = value;
    }
    if (kept !== "") result.locale = intl.withKeywords(base, kept) ?? base;
    return result;
  };
  const none = () => undefined;
  const DEFAULTS = { __proto__: null, nu: (base) => intl.text(base, "n.system"), ca: () => "gregory", hc: none, co: () => "default", kn: () => "false", kf: (base) => (split(base, "-")[0] === "da" ? "upper" : "false") };
  const VALID = {
    __proto__: null,
    nu: (value) => intl.isSystem(value),
    ca: (value) => value === "gregory",
    hc: (value) => has(HOUR_CYCLES, value),
    co: (value, base) => has(COLLATIONS, value) || has(OWN_COLLATIONS[split(base, "-")[0]] ?? [], value),
    kn: (value) => value === "true" || value === "false",
    kf: (value) => value === "upper" || value === "lower" || value === "false",
  };
  const HOUR_CYCLES = (shared.HOUR_CYCLES = ["h11", "h12", "h23", "h24"]);
  const COLLATIONS = ["emoji", "eor"];
  const OWN_COLLATIONS = { __proto__: null, de: ["phonebk"], es: ["trad"], fi: ["trad"], sv: ["trad"], zh: ["pinyin", "stroke", "zhuyin", "unihan"], ja: ["unihan"], ko: ["unihan", "searchjl"], ar: ["compat"], vi: ["trad"] };
  // All of these together, in alphabetical order.
  const COLLATION_NAMES = "compat emoji eor phonebk pinyin searchjl stroke trad unihan zhuyin";
  shared.ownCollations = (base) => OWN_COLLATIONS[split(base, "-")[0]] ?? [];

  // Options.
  const coerced = (shared.coerced = (options) => {
    if (options === undefined) return create(null);
    if (options === null) throw new TypeError("Cannot convert undefined or null to object");
    return Object(options);
  });
  shared.optionsObject = (options) => {
    if (options === undefined) return create(null);
    if (!isObject(options)) throw new TypeError("Incorrect options argument");
    return options;
  };
  const refuse = (shared.refuse = (value, name) => {
    throw new RangeError("Value " + value + " out of range for Intl options property " + name);
  });
  const option = (shared.option = (options, name, values, fallback) => {
    const value = options[name];
    if (value === undefined) return fallback;
    const text = lib.toText(value);
    if (values !== undefined && !has(values, text)) refuse(text, name);
    return text;
  });
  shared.booleanOption = (options, name, fallback) => {
    const value = options[name];
    return value === undefined ? fallback : !!value;
  };
  // An option that is a type of the Unicode extension.
  shared.typeOption = (options, name) => {
    const value = option(options, name);
    if (value !== undefined && exec(TYPE, value) === null) refuse(value, name);
    return value === undefined ? undefined : lib.toLowerCase(value);
  };
  const TYPE = (shared.TYPE = /^[a-z0-9]{3,8}(-[a-z0-9]{3,8})*$/i);
  const defaultNumber = (shared.defaultNumber = (value, least, most, fallback, name) => {
    if (value === undefined) return fallback;
    const number = +value;
    if (!(number >= least && number <= most)) throw new RangeError(name + " value is out of range.");
    return floor(number);
  });
  shared.numberOption = (options, name, least, most, fallback) => defaultNumber(options[name], least, most, fallback, name);

  // The result of a native: parts as objects with these names.
  shared.partsOf = (text, names, more = undefined) => {
    const parts = list();
    if (text === "") return arrayOf(parts);
    const fields = split(text, "\0");
    for (let i = 0; i + 1 < fields.length; i += names) {
      if (names === 2) append(parts, { type: fields[i], value: fields[i + 1] });
      else append(parts, { type: fields[i], value: fields[i + 2], source: fields[i + 1] });
      if (more !== undefined) more(parts[parts.length - 1]);
    }
    return arrayOf(parts);
  };
  // An object with these members, those that are undefined left out.
  shared.shown = (entries) => {
    const object = {};
    for (let i = 0; i < entries.length; i += 2) if (entries[i + 1] !== undefined) native.put(object, entries[i], entries[i + 1]);
    return object;
  };

  const functions = {
    getCanonicalLocales(locales) {
      return arrayOf(canonicalList(locales));
    },
    supportedValuesOf(key) {
      const name = lib.toText(key);
      const known = VALUES[name];
      if (known === undefined) throw new RangeError("Invalid key : " + name);
      return split(known(), " ");
    },
  };
  const VALUES = {
    __proto__: null,
    calendar: () => "gregory",
    collation: () => COLLATION_NAMES,
    currency: () => intl.supplemental("currencies"),
    numberingSystem: () => intl.supplemental("systems"),
    timeZone: () => intl.supplemental("zones"),
    unit: () => intl.supplemental("units"),
  };
  shared.expose("getCanonicalLocales", functions.getCanonicalLocales);
  shared.expose("supportedValuesOf", functions.supportedValuesOf);
  lib.expose("Intl", Intl);
});
