// Intl.RelativeTimeFormat, Intl.ListFormat, Intl.DisplayNames, Intl.Collator and Intl.Segmenter (ECMA-402).
(function (lib) {
  const { native, list, append, arrayOf, split, exec, slice, endsWith, toUpperCase, toLowerCase, isFinite, isObject, apply, trunc, iteratorSymbol, tagSymbol, IteratorPrototype, setPrototypeOf, defineProperty, RangeError, TypeError } = lib;
  const { intl } = native;
  const { slotsOf, constructorOf, canonicalList, coerced, optionsObject, option, booleanOption, typeOption, resolve, partsOf, shown, plain, digitOptions, unnamed, has, canonical } = lib.intl;
  const MATCHERS = ["lookup", "best fit"];
  const STYLES = ["long", "short", "narrow"];
  const bare = { __proto__: null };

  // Relative times.
  const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
  const relative = (slots, value, unit, parts) => {
    const number = +value;
    let name = lib.toText(unit);
    if (endsWith(name, "s")) name = slice(name, 0, -1);
    if (!has(UNITS, name)) throw new RangeError("Invalid unit argument for format() '" + unit + "'");
    if (!isFinite(number)) throw new RangeError("The value is not finite");
    const text = intl.relative(slots.native, number, name, parts);
    if (!parts) return text;
    return partsOf(text, 2, (part) => {
      if (part.type !== "literal") native.put(part, "unit", name);
    });
  };
  class RelativeTimeFormat {
    format(value, unit) {
      return relative(slotsOf(this, "RelativeTimeFormat", "format"), value, unit, false);
    }
    formatToParts(value, unit) {
      return relative(slotsOf(this, "RelativeTimeFormat", "formatToParts"), value, unit, true);
    }
    resolvedOptions() {
      const { record, style, numeric } = slotsOf(this, "RelativeTimeFormat", "resolvedOptions");
      return shown(["locale", record.locale, "style", style, "numeric", numeric, "numberingSystem", record.numberingSystem]);
    }
  }
  constructorOf("RelativeTimeFormat", RelativeTimeFormat, (locales, given) => {
    const requested = canonicalList(locales);
    const options = coerced(given);
    option(options, "localeMatcher", MATCHERS, "best fit");
    const nu = typeOption(options, "numberingSystem");
    const record = plain(resolve(requested, ["nu"], { __proto__: null, nu }));
    const style = option(options, "style", STYLES, "long");
    const numeric = option(options, "numeric", ["always", "auto"], "always");
    digitOptions(record, bare, 0, 3, "standard");
    return { __proto__: null, record, style, numeric, native: intl.newRelative(record, style, numeric === "auto") };
  });

  // Lists. Some languages write another word for "and" in front of its own sound.
  const SPANISH_I = /^(i|hi(?!a|e))/i, SPANISH_O = /^(o|ho|8|11(?![0-9]))/i;
  const HEBREW = /^[\u0590-\u05ff\ufb1d-\ufb4f]/;
  const joint = (slots, pattern, next) => {
    if (slots.language === "es") {
      const or = slots.type === "disjunction";
      const at = lib.indexOf(pattern, or ? " o " : " y ");
      if (at >= 0 && exec(or ? SPANISH_O : SPANISH_I, next) !== null) return slice(pattern, 0, at) + (or ? " u " : " e ") + slice(pattern, at + 3);
    }
    if (slots.language === "he" && slots.type !== "disjunction" && exec(HEBREW, next) === null) {
      const at = lib.indexOf(pattern, "\u05d5{1}");
      if (at >= 0) return slice(pattern, 0, at) + "\u05d5-{1}";
    }
    return pattern;
  };
  const parts = (slots, items) => {
    const count = items.length;
    const pieces = list();
    const push = (type, value) => {
      if (value === "") return;
      const last = pieces[pieces.length - 1];
      if (type === "literal" && last !== undefined && last.type === "literal") last.value += value;
      else append(pieces, { type, value });
    };
    if (count === 1) push("element", items[0]);
    if (count < 2) return pieces;
    const patterns = slots.patterns;
    for (let i = 0; i < count; i++) {
      if (i === 0) push("literal", before(joint(slots, patterns[count === 2 ? 3 : 0], items[1])));
      append(pieces, { type: "element", value: items[i] });
      if (i === count - 1) push("literal", after(patterns[count === 2 ? 3 : 2]));
      else {
        const pattern = count === 2 ? patterns[3] : i === count - 2 ? patterns[2] : i === 0 ? patterns[0] : patterns[1];
        push("literal", between(joint(slots, pattern, items[i + 1])));
      }
    }
    return pieces;
  };
  const before = (pattern) => slice(pattern, 0, lib.indexOf(pattern, "{0}"));
  const after = (pattern) => slice(pattern, lib.indexOf(pattern, "{1}") + 3);
  const between = (pattern) => slice(pattern, lib.indexOf(pattern, "{0}") + 3, lib.indexOf(pattern, "{1}"));
  // StringListFromIterable. An iterator is closed when it gives what is no string.
  const strings = (iterable) => {
    const items = list();
    if (iterable === undefined) return items;
    const open = iterable === null ? undefined : iterable[iteratorSymbol];
    if (typeof open !== "function") throw new TypeError("The list is not iterable");
    const iterator = apply(open, iterable, []);
    if (!isObject(iterator)) throw new TypeError("The list is not iterable");
    const { next } = iterator;
    for (;;) {
      const result = apply(next, iterator, []);
      if (!isObject(result)) throw new TypeError("The list: the iterator's result is not an object");
      if (result.done) return items;
      const item = result.value;
      if (typeof item !== "string") {
        closed(iterator);
        throw new TypeError("Iterable yielded a value which is not a string");
      }
      append(items, item);
    }
  };
  // What closing throws is lost: the error that made it necessary is the one that is seen.
  const closed = (iterator) => {
    try {
      const end = iterator.return;
      if (end !== undefined && end !== null) apply(end, iterator, []);
    } catch {}
  };
  class ListFormat {
    format(items) {
      const slots = slotsOf(this, "ListFormat", "format");
      return lib.intl.listText(slots, strings(items));
    }
    formatToParts(items) {
      const slots = slotsOf(this, "ListFormat", "formatToParts");
      return arrayOf(parts(slots, strings(items)));
    }
    resolvedOptions() {
      const { locale, type, style } = slotsOf(this, "ListFormat", "resolvedOptions");
      return shown(["locale", locale, "type", type, "style", style]);
    }
  }
  lib.intl.listParts = parts;
  lib.intl.listText = (slots, items) => {
    const pieces = parts(slots, items);
    let text = "";
    for (let i = 0; i < pieces.length; i++) text += pieces[i].value;
    return text;
  };
  const openList = (lib.intl.listOf = (locale, type, style) => {
    const patterns = split(intl.text(locale, "l." + type + "." + style) ?? "{0}, {1}|{0}, {1}|{0}, {1}|{0}, {1}", "|");
    return { __proto__: null, locale, language: split(locale, "-")[0], type, style, patterns };
  });
  constructorOf("ListFormat", ListFormat, (locales, given) => {
    const requested = canonicalList(locales);
    const options = optionsObject(given);
    option(options, "localeMatcher", MATCHERS, "best fit");
    const { dataLocale } = resolve(requested, [], bare);
    const type = option(options, "type", ["conjunction", "disjunction", "unit"], "conjunction");
    return openList(dataLocale, type, option(options, "style", STYLES, "long"));
  });

  // Names.
  const NAMED = ["language", "region", "script", "currency", "calendar", "dateTimeField"];
  const FIELDS = ["era", "year", "quarter", "month", "weekOfYear", "weekday", "day", "dayPeriod", "hour", "minute", "second", "timeZoneName"];
  const REGION = /^([a-z]{2}|[0-9]{3})$/i, SCRIPT = /^[a-z]{4}$/i, CURRENCY = /^[a-z]{3}$/i;
  const wrong = (code) => {
    throw new RangeError(`Invalid argument to Intl.DisplayNames.prototype.of`);
  };
  const namedAt = ({ locale, style }, key) => (style !== "long" && intl.text(locale, key + ".short")) || intl.text(locale, key);
  const languageName = (slots, tag) => {
    const { locale, languageDisplay } = slots;
    const parts = split(intl.tagParts(tag), "\0");
    const language = parts[0], script = parts[1], region = parts[2];
    let base, usesScript = false, usesRegion = false;
    const attempt = (code, hasScript, hasRegion) => {
      if (base !== undefined) return;
      base = namedAt(slots, "x.language." + code);
      usesScript = hasScript;
      usesRegion = hasRegion;
    };
    if (languageDisplay === "dialect") {
      if (script !== "" && region !== "") attempt(language + "-" + script + "-" + region, true, true);
      else if (script !== "") attempt(language + "-" + script, true, false);
      else if (region !== "") attempt(language + "-" + region, false, true);
    }
    attempt(language, false, false);
    if (base === undefined) return undefined;
    const rest = list();
    if (script !== "" && !usesScript) append(rest, namedAt(slots, "x.script." + script) ?? script);
    if (region !== "" && !usesRegion) append(rest, namedAt(slots, "x.region." + region) ?? region);
    if (parts[3] !== "") append(rest, toUpperCase(parts[3]));
    let inner = "";
    for (let i = 0; i < rest.length; i++) inner = i === 0 ? rest[0] : fill(intl.text(locale, "x.separator"), inner, rest[i]);
    return inner === "" ? base : fill(intl.text(locale, "x.locale"), base, inner);
  };
  const fill = (pattern, first, second) => {
    const at = lib.indexOf(pattern, "{0}"), to = lib.indexOf(pattern, "{1}");
    return slice(pattern, 0, at) + first + slice(pattern, at + 3, to) + second + slice(pattern, to + 3);
  };
  class DisplayNames {
    of(code) {
      const slots = slotsOf(this, "DisplayNames", "of");
      const { type, style, fallback, locale } = slots;
      let text = lib.toText(code), name;
      switch (type) {
        case "language":
          if (exec(/^([a-z]{2,3}|[a-z]{5,8})(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/i, text) === null) wrong();
          text = canonical(text);
          name = languageName(slots, text);
          break;
        case "region":
          if (exec(REGION, text) === null) wrong();
          text = toUpperCase(text);
          name = namedAt(slots, "x.region." + text);
          break;
        case "script":
          if (exec(SCRIPT, text) === null) wrong();
          text = toUpperCase(text[0]) + toLowerCase(slice(text, 1));
          name = namedAt(slots, "x.script." + text);
          break;
        case "currency":
          if (exec(CURRENCY, text) === null) wrong();
          text = toUpperCase(text);
          // In every style, as V8 names them.
          name = intl.text(locale, "m." + text + ".name");
          break;
        case "calendar":
          if (exec(lib.intl.TYPE, text) === null) wrong();
          text = toLowerCase(text);
          name = intl.text(locale, "x.calendar." + text);
          break;
        default:
          if (!has(FIELDS, text)) wrong();
          name = intl.text(locale, "x.field." + text + "." + style) ?? intl.text(locale, "x.field." + text + ".long");
      }
      return name ?? (fallback === "code" ? text : undefined);
    }
    resolvedOptions() {
      const { locale, style, type, fallback, languageDisplay } = slotsOf(this, "DisplayNames", "resolvedOptions");
      return shown(["locale", locale, "style", style, "type", type, "fallback", fallback, "languageDisplay", type === "language" ? languageDisplay : undefined]);
    }
  }
  constructorOf("DisplayNames", DisplayNames, (locales, given, count) => {
    const requested = canonicalList(locales);
    if (given === undefined) throw new TypeError("Incorrect options argument");
    const options = optionsObject(given);
    option(options, "localeMatcher", MATCHERS, "best fit");
    const style = option(options, "style", ["narrow", "short", "long"], "long");
    const type = option(options, "type", NAMED);
    if (type === undefined) throw new TypeError("Required option 'type' must not be undefined");
    const fallback = option(options, "fallback", ["code", "none"], "code");
    const { dataLocale } = resolve(requested, [], bare);
    return { __proto__: null, locale: dataLocale, style, type, fallback, languageDisplay: option(options, "languageDisplay", ["dialect", "standard"], "dialect") };
  }, { length: 2 });

  // Order.
  class Collator {
    get compare() {
      const slots = slotsOf(this, "Collator", "compare");
      return (slots.bound ??= unnamed((a, b) => intl.compare(slots.native, lib.toText(a), lib.toText(b))));
    }
    resolvedOptions() {
      const { locale, usage, sensitivity, ignorePunctuation, collation, numeric, caseFirst } = slotsOf(this, "Collator", "resolvedOptions");
      return shown(["locale", locale, "usage", usage, "sensitivity", sensitivity, "ignorePunctuation", ignorePunctuation, "collation", collation, "numeric", numeric, "caseFirst", caseFirst]);
    }
  }
  // The languages and regions that have an order of their own in ICU; it names the language alone for all others. Of Chinese
  // it has one for each way to write it.
  const OWN_ORDER = { __proto__: null, "ar-SA": true, "de-AT": true, "en-US": true, "fr-CA": true, "he-IL": true, "id-ID": true, "nb-NO": true };
  const orderLocale = ({ locale, dataLocale }) => {
    if (OWN_ORDER[dataLocale] || lib.startsWith(dataLocale, "zh")) return locale;
    return split(dataLocale, "-")[0] + lib.slice(locale, dataLocale.length);
  };
  lib.intl.openCollator = constructorOf("Collator", Collator, (locales, given) => {
    const requested = canonicalList(locales);
    const options = coerced(given);
    const usage = option(options, "usage", ["sort", "search"], "sort");
    option(options, "localeMatcher", MATCHERS, "best fit");
    const co = typeOption(options, "collation");
    const numeric = booleanOption(options, "numeric");
    const kf = option(options, "caseFirst", ["upper", "lower", "false"]);
    const resolved = resolve(requested, ["co", "kf", "kn"], { __proto__: null, co, kn: numeric === undefined ? undefined : lib.toText(numeric), kf });
    const sensitivity = option(options, "sensitivity", ["base", "accent", "case", "variant"], "variant");
    const ignorePunctuation = booleanOption(options, "ignorePunctuation", false);
    const table = usage === "search" ? "search" : resolved.co;
    const tag = table === "default" ? resolved.dataLocale : intl.withKeywords(resolved.dataLocale, "co\0" + table);
    return {
      __proto__: null, locale: orderLocale(resolved), usage, sensitivity, ignorePunctuation, collation: resolved.co, numeric: resolved.kn === "true", caseFirst: resolved.kf,
      native: intl.newCollator(tag, sensitivity, ignorePunctuation, resolved.kn === "true", resolved.kf), bound: undefined,
    };
  }, { callable: true });

  // Segments. Their ends come from a native in one array, with a bit for what is like a word.
  class Segmenter {
    segment(input) {
      const { granularity } = slotsOf(this, "Segmenter", "segment");
      const text = lib.toText(input);
      return new Segments(secret, text, granularity);
    }
    resolvedOptions() {
      const { locale, granularity } = slotsOf(this, "Segmenter", "resolvedOptions");
      return shown(["locale", locale, "granularity", granularity]);
    }
  }
  constructorOf("Segmenter", Segmenter, (locales, given) => {
    const requested = canonicalList(locales);
    const options = optionsObject(given);
    option(options, "localeMatcher", MATCHERS, "best fit");
    const { dataLocale } = resolve(requested, [], bare);
    return { __proto__: null, locale: dataLocale, granularity: option(options, "granularity", ["grapheme", "word", "sentence"], "grapheme") };
  });
  const { secret } = lib;
  const packedAt = (ends, at) => (ends[at * 4] | (ends[at * 4 + 1] << 8) | (ends[at * 4 + 2] << 16) | (ends[at * 4 + 3] << 24)) >>> 0;
  const segment = ({ text, granularity, ends }, at) => {
    const packed = packedAt(ends, at);
    const index = at === 0 ? 0 : packedAt(ends, at - 1) >>> 1;
    const data = { segment: slice(text, index, packed >>> 1), index, input: text };
    if (granularity === "word") native.put(data, "isWordLike", (packed & 1) === 1);
    return data;
  };
  class Segments {
    #slots;
    constructor(token, text, granularity) {
      lib.guard(token);
      const ends = intl.boundaries(text, granularity);
      this.#slots = { __proto__: null, text, granularity, ends, count: lib.arrayLength(ends) / 4 };
    }
    containing(index) {
      if (!lib.isObject(this) || !(#slots in this)) lib.illegal();
      const slots = this.#slots;
      const number = trunc(+index) || 0;
      if (number < 0 || number >= slots.text.length) return undefined;
      let low = 0, high = slots.count - 1;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (packedAt(slots.ends, middle) >>> 1 > number) high = middle;
        else low = middle + 1;
      }
      return segment(slots, low);
    }
    [iteratorSymbol]() {
      if (!lib.isObject(this) || !(#slots in this)) lib.illegal();
      return new SegmentIterator(secret, this.#slots);
    }
  }
  delete Segments.prototype.constructor;
  class SegmentIterator {
    #slots;
    #at = 0;
    constructor(token, slots) {
      lib.guard(token);
      this.#slots = slots;
    }
    next() {
      if (!lib.isObject(this) || !(#slots in this)) lib.illegal();
      if (this.#at >= this.#slots.count) return { value: undefined, done: true };
      return { value: segment(this.#slots, this.#at++), done: false };
    }
  }
  delete SegmentIterator.prototype.constructor;
  setPrototypeOf(SegmentIterator.prototype, IteratorPrototype);
  defineProperty(SegmentIterator.prototype, tagSymbol, { __proto__: null, value: "Segmenter String Iterator", configurable: true });
});
