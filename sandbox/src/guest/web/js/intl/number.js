// Intl.NumberFormat and Intl.PluralRules (ECMA-402).
(function (lib) {
  const { native, exec, toUpperCase, isFinite, isObject, split, apply, max, min, RangeError, TypeError, Symbol, Object } = lib;
  const { intl } = native;
  const { slotsOf, constructorOf, canonicalList, coerced, option, typeOption, numberOption, defaultNumber, refuse, resolve, has, partsOf, shown } = lib.intl;

  // What a program passes as a number: a number, or a string of decimal digits for what is no double.
  const mathematical = (lib.intl.mathematical = (value) => {
    const primitive = primitiveOf(value);
    if (typeof primitive === "bigint") return lib.toText(primitive);
    const number = +primitive;
    if (typeof primitive !== "string" || primitive.length < 16 || !isFinite(number) || number === 0) return number;
    const found = exec(DECIMAL, primitive);
    return found === null ? number : found[1];
  });
  const DECIMAL = /^\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)\s*$/i;
  const primitiveOf = (value) => {
    if (!isObject(value)) return value;
    const exotic = value[Symbol.toPrimitive];
    if (exotic !== undefined && exotic !== null) {
      const result = apply(exotic, value, ["number"]);
      if (!isObject(result)) return result;
    } else {
      for (let i = 0; i < 2; i++) {
        const method = i === 0 ? value.valueOf : value.toString;
        if (typeof method !== "function") continue;
        const result = apply(method, value, []);
        if (!isObject(result)) return result;
      }
    }
    throw new TypeError("Cannot convert object to primitive value");
  };

  // SetNumberFormatDigitOptions. `record` gets what natives want and what resolvedOptions shows.
  const ROUNDING_MODES = ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"];
  const INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];
  const digitOptions = (lib.intl.digitOptions = (record, options, leastDefault, mostDefault, notation) => {
    record.minimumIntegerDigits = numberOption(options, "minimumIntegerDigits", 1, 21, 1);
    let leastFraction = options.minimumFractionDigits;
    let mostFraction = options.maximumFractionDigits;
    let leastSignificant = options.minimumSignificantDigits;
    let mostSignificant = options.maximumSignificantDigits;
    const increment = numberOption(options, "roundingIncrement", 1, 5000, 1);
    if (!has(INCREMENTS, increment)) refuse(increment, "roundingIncrement");
    record.roundingIncrement = increment;
    record.roundingMode = option(options, "roundingMode", ROUNDING_MODES, "halfExpand");
    const priority = option(options, "roundingPriority", ["auto", "morePrecision", "lessPrecision"], "auto");
    record.trailingZeroDisplay = option(options, "trailingZeroDisplay", ["auto", "stripIfInteger"], "auto");
    if (increment !== 1) mostDefault = leastDefault;
    const significant = leastSignificant !== undefined || mostSignificant !== undefined;
    const fraction = leastFraction !== undefined || mostFraction !== undefined;
    const needSignificant = priority !== "auto" || significant;
    const needFraction = priority !== "auto" || (!needSignificant && (fraction || notation !== "compact"));
    record.minimumFractionDigits = record.maximumFractionDigits = 0;
    record.minimumSignificantDigits = 1;
    record.maximumSignificantDigits = 2;
    if (needSignificant) {
      leastSignificant = defaultNumber(leastSignificant, 1, 21, 1, "minimumSignificantDigits");
      record.minimumSignificantDigits = leastSignificant;
      record.maximumSignificantDigits = defaultNumber(mostSignificant, leastSignificant, 21, 21, "maximumSignificantDigits");
    }
    if (needFraction) {
      leastFraction = defaultNumber(leastFraction, 0, 100, undefined, "minimumFractionDigits");
      mostFraction = defaultNumber(mostFraction, 0, 100, undefined, "maximumFractionDigits");
      if (leastFraction === undefined) leastFraction = mostFraction === undefined ? leastDefault : min(leastDefault, mostFraction);
      if (mostFraction === undefined) mostFraction = max(mostDefault, leastFraction);
      if (leastFraction > mostFraction) throw new RangeError("maximumFractionDigits value is out of range.");
      record.minimumFractionDigits = leastFraction;
      record.maximumFractionDigits = mostFraction;
    }
    const compact = !needSignificant && !needFraction;
    record.priority = compact ? "morePrecision" : priority !== "auto" ? priority : significant ? "significant" : "fraction";
    // Compact notation without digit options rounds to integers, but keeps two digits.
    record.roundingPriority = compact ? "morePrecision" : priority;
    record.showsFraction = needFraction || compact;
    record.showsSignificant = needSignificant || compact;
    if (increment !== 1) {
      if (record.priority !== "fraction") throw new TypeError("roundingIncrement value is invalid.");
      if (record.minimumFractionDigits !== record.maximumFractionDigits) throw new RangeError("roundingIncrement value is out of range.");
    }
  });
  const digitEntries = (lib.intl.digitEntries = (record) => [
    "minimumIntegerDigits", record.minimumIntegerDigits,
    "minimumFractionDigits", record.showsFraction ? record.minimumFractionDigits : undefined,
    "maximumFractionDigits", record.showsFraction ? record.maximumFractionDigits : undefined,
    "minimumSignificantDigits", record.showsSignificant ? record.minimumSignificantDigits : undefined,
    "maximumSignificantDigits", record.showsSignificant ? record.maximumSignificantDigits : undefined,
  ]);
  const roundingEntries = (lib.intl.roundingEntries = (record) => [
    "roundingIncrement", record.roundingIncrement, "roundingMode", record.roundingMode,
    "roundingPriority", record.roundingPriority, "trailingZeroDisplay", record.trailingZeroDisplay,
  ]);
  const joined = (lib.intl.joined = (...groups) => {
    const all = lib.list();
    for (let i = 0; i < groups.length; i++) for (let at = 0; at < groups[i].length; at++) lib.append(all, groups[i][at]);
    return all;
  });
  // The options of a format that only writes plain numbers of a locale.
  const plain = (lib.intl.plain = ({ locale, dataLocale, nu }) => ({
    __proto__: null, locale, dataLocale, numberingSystem: nu, style: "decimal", notation: "standard", compactDisplay: "", useGrouping: "auto", signDisplay: "auto",
  }));

  const CURRENCY = /^[a-z]{3}$/i;
  const isUnit = (unit) => {
    if (intl.isUnit(unit)) return true;
    const at = lib.indexOf(unit, "-per-");
    return at > 0 && intl.isUnit(lib.slice(unit, 0, at)) && intl.isUnit(lib.slice(unit, at + 5));
  };
  const unitOptions = (record, options) => {
    record.style = option(options, "style", ["decimal", "percent", "currency", "unit"], "decimal");
    const currency = option(options, "currency");
    if (currency === undefined) {
      if (record.style === "currency") throw new TypeError("Currency code is required with currency style.");
    } else if (exec(CURRENCY, currency) === null) throw new RangeError("Invalid currency code : " + currency);
    const currencyDisplay = option(options, "currencyDisplay", ["code", "symbol", "narrowSymbol", "name"], "symbol");
    const currencySign = option(options, "currencySign", ["standard", "accounting"], "standard");
    const unit = option(options, "unit");
    if (unit === undefined) {
      if (record.style === "unit") throw new TypeError("Unit is required with unit style.");
    } else if (!isUnit(unit)) throw new RangeError("Invalid unit argument for Intl.NumberFormat() '" + unit + "'");
    const unitDisplay = option(options, "unitDisplay", ["short", "narrow", "long"], "short");
    if (record.style === "currency") {
      record.currency = toUpperCase(currency);
      record.currencyDisplay = currencyDisplay;
      record.currencySign = currencySign;
    } else if (record.style === "unit") {
      record.unit = unit;
      record.unitDisplay = unitDisplay;
    }
  };
  const NOTATIONS = ["standard", "scientific", "engineering", "compact"];
  const grouping = (options, fallback) => {
    const value = options.useGrouping;
    if (value === undefined) return fallback;
    if (value === true) return "always";
    if (!value) return "false";
    const text = lib.toText(value);
    if (text === "true" || text === "false") return fallback;
    return has(["min2", "auto", "always"], text) ? text : refuse(text, "useGrouping");
  };

  const open = (locales, given) => {
    const requested = canonicalList(locales);
    const options = coerced(given);
    option(options, "localeMatcher", ["lookup", "best fit"], "best fit");
    const nu = typeOption(options, "numberingSystem");
    const record = plain(resolve(requested, ["nu"], { __proto__: null, nu }));
    unitOptions(record, options);
    const notation = (record.notation = option(options, "notation", NOTATIONS, "standard"));
    let least = 0, most = record.style === "percent" ? 0 : 3;
    if (record.style === "currency" && notation === "standard") {
      least = most = +(intl.supplemental("fraction." + record.currency) ?? 2);
    }
    digitOptions(record, options, least, most, notation);
    const compactDisplay = option(options, "compactDisplay", ["short", "long"], "short");
    if (notation === "compact") record.compactDisplay = compactDisplay;
    record.useGrouping = grouping(options, notation === "compact" ? "min2" : "auto");
    record.signDisplay = option(options, "signDisplay", ["auto", "never", "always", "exceptZero", "negative"], "auto");
    return { __proto__: null, record, native: intl.newNumber(record), bound: undefined };
  };
  const ends = (start, end) => {
    if (start === undefined || end === undefined) throw new TypeError("Invalid argument");
    const values = [mathematical(start), mathematical(end)];
    if (values[0] !== values[0] || values[1] !== values[1]) throw new RangeError("Invalid argument");
    return values;
  };

  class NumberFormat {
    get format() {
      const slots = slotsOf(this, "NumberFormat", "format");
      return (slots.bound ??= unnamed((value) => intl.number(slots.native, mathematical(value), undefined, false)));
    }
    formatToParts(value) {
      const slots = slotsOf(this, "NumberFormat", "formatToParts");
      return partsOf(intl.number(slots.native, mathematical(value), undefined, true), 2);
    }
    formatRange(start, end) {
      const slots = slotsOf(this, "NumberFormat", "formatRange");
      const values = ends(start, end);
      return intl.number(slots.native, values[0], values[1], false);
    }
    formatRangeToParts(start, end) {
      const slots = slotsOf(this, "NumberFormat", "formatRangeToParts");
      const values = ends(start, end);
      return partsOf(intl.number(slots.native, values[0], values[1], true), 3);
    }
    resolvedOptions() {
      const { record } = slotsOf(this, "NumberFormat", "resolvedOptions");
      const compact = record.notation === "compact";
      return shown(joined(
        ["locale", record.locale, "numberingSystem", record.numberingSystem, "style", record.style, "currency", record.currency, "currencyDisplay", record.currencyDisplay, "currencySign", record.currencySign, "unit", record.unit, "unitDisplay", record.unitDisplay],
        digitEntries(record),
        ["useGrouping", record.useGrouping === "false" ? false : record.useGrouping, "notation", record.notation, "compactDisplay", compact ? record.compactDisplay : undefined, "signDisplay", record.signDisplay],
        roundingEntries(record),
      ));
    }
  }
  // A function that is passed has no name of its own.
  const unnamed = (lib.intl.unnamed = (bound) => bound);
  lib.intl.openNumber = constructorOf("NumberFormat", NumberFormat, open, { callable: true });

  class PluralRules {
    select(value) {
      const slots = slotsOf(this, "PluralRules", "select");
      return intl.plural(slots.native, +value, undefined);
    }
    selectRange(start, end) {
      const slots = slotsOf(this, "PluralRules", "selectRange");
      if (start === undefined || end === undefined) throw new TypeError("Invalid argument");
      const first = +start, last = +end;
      if (first !== first || last !== last) throw new RangeError("Invalid argument");
      return intl.plural(slots.native, first, last);
    }
    resolvedOptions() {
      const { record, native: plural } = slotsOf(this, "PluralRules", "resolvedOptions");
      return shown(joined(
        ["locale", record.locale, "type", record.type, "notation", record.notation],
        digitEntries(record),
        ["pluralCategories", split(intl.pluralCategories(plural), " ")],
        roundingEntries(record),
      ));
    }
  }
  constructorOf("PluralRules", PluralRules, (locales, given) => {
    const requested = canonicalList(locales);
    const options = coerced(given);
    option(options, "localeMatcher", ["lookup", "best fit"], "best fit");
    const type = option(options, "type", ["cardinal", "ordinal"], "cardinal");
    const notation = option(options, "notation", NOTATIONS, "standard");
    const record = plain(resolve(requested, ["nu"], create()));
    digitOptions(record, options, 0, 3, notation);
    record.notation = notation;
    if (notation === "compact") record.compactDisplay = "short";
    record.type = type;
    record.locale = record.dataLocale;
    return { __proto__: null, record, native: intl.newPlural(record, type === "ordinal") };
  });
  function create() {
    return { __proto__: null };
  }
});
