// Intl.DurationFormat (ECMA-402).
(function (lib) {
  const { native, list, append, arrayOf, isInteger, isObject, repeat, slice, RangeError, TypeError } = lib;
  const { intl } = native;
  const { slotsOf, constructorOf, canonicalList, optionsObject, option, typeOption, numberOption, resolve, partsOf, shown, joined, openNumber, listOf, listText, listParts } = lib.intl;

  const SIXTY = ["numeric", "2-digit"];
  const WORDS = ["long", "short", "narrow"];
  const unit = (name, styles, digital) => ({ __proto__: null, name, single: slice(name, 0, -1), styles, digital });
  const all = lib.arrayOf(joined(WORDS, SIXTY));
  const fine = lib.arrayOf(joined(WORDS, ["numeric"]));
  const UNITS = [
    unit("years", WORDS, "short"), unit("months", WORDS, "short"), unit("weeks", WORDS, "short"), unit("days", WORDS, "short"),
    unit("hours", all, "numeric"), unit("minutes", all, "numeric"), unit("seconds", all, "numeric"),
    unit("milliseconds", fine, "numeric"), unit("microseconds", fine, "numeric"), unit("nanoseconds", fine, "numeric"),
  ];
  const HOURS = 4, SECONDS = 6;

  // GetDurationUnitOptions.
  const unitOptions = (options, at, base, before) => {
    const { name, styles, digital } = UNITS[at];
    const numericBefore = before === "fractional" || before === "numeric" || before === "2-digit";
    let style = option(options, name, styles);
    let fallback = "always";
    if (style === undefined) {
      if (base === "digital") {
        style = digital;
        if (at < HOURS || at > SECONDS) fallback = "auto";
      } else if (numericBefore) {
        style = "numeric";
        if (at !== 5 && at !== SECONDS) fallback = "auto";
      } else {
        style = base;
        fallback = "auto";
      }
    }
    if (style === "numeric" && at > SECONDS) {
      style = "fractional";
      fallback = "auto";
    }
    const display = option(options, name + "Display", ["auto", "always"], fallback);
    const refuse = () => {
      throw new RangeError("Value " + style + " out of range for Intl.DurationFormat options property " + name);
    };
    if (display === "always" && style === "fractional") refuse();
    if (before === "fractional" && style !== "fractional") refuse();
    if (before === "numeric" || before === "2-digit") {
      if (style !== "fractional" && style !== "numeric" && style !== "2-digit") refuse();
      if (at === 5 || at === SECONDS) style = "2-digit";
    }
    return { __proto__: null, style, display };
  };
  const open = (locales, given) => {
    const requested = canonicalList(locales);
    const options = optionsObject(given);
    option(options, "localeMatcher", ["lookup", "best fit"], "best fit");
    const nu = typeOption(options, "numberingSystem");
    const { locale, dataLocale, nu: system } = resolve(requested, ["nu"], { __proto__: null, nu });
    const base = option(options, "style", ["long", "short", "narrow", "digital"], "short");
    const units = list();
    let before = "";
    for (let at = 0; at < UNITS.length; at++) {
      const chosen = unitOptions(options, at, base, before);
      append(units, chosen);
      if (at >= HOURS) before = chosen.style;
    }
    const digits = numberOption(options, "fractionalDigits", 0, 9, undefined);
    return { __proto__: null, locale, dataLocale, system, base, units, digits, numbers: { __proto__: null } };
  };

  // Whether days and what is smaller, all of one sign, are 2^53 seconds or more. Sums of doubles only say so far away from that.
  const isTooLong = (values) => {
    const sum = values[3] * 86400 + values[4] * 3600 + values[5] * 60 + values[6] + values[7] / 1e3 + values[8] / 1e6 + values[9] / 1e9;
    const near = sum < 0 ? -sum : sum;
    if (near < 9e15 || near > 9.1e15) return near > 9e15;
    const { BigInt } = lib;
    const seconds = BigInt(values[3]) * 86400n + BigInt(values[4]) * 3600n + BigInt(values[5]) * 60n + BigInt(values[6]);
    const fraction = BigInt(values[7]) * 1000000n + BigInt(values[8]) * 1000n + BigInt(values[9]);
    const total = seconds * 1000000000n + fraction;
    return (total < 0n ? -total : total) >= 9007199254740992000000000n;
  };

  // ToDurationRecord: ten integers of one sign.
  const recordOf = (input) => {
    if (!isObject(input)) throw new (typeof input === "string" ? RangeError : TypeError)("Invalid duration");
    const values = list();
    for (let at = 0; at < UNITS.length; at++) append(values, undefined);
    let sign = 0, some = false;
    const SORTED = [3, 4, 8, 7, 5, 1, 9, 6, 2, 0];
    for (let i = 0; i < SORTED.length; i++) {
      const value = input[UNITS[SORTED[i]].name];
      if (value !== undefined) some = true;
      const number = value === undefined ? 0 : +value;
      if (!isInteger(number)) throw new RangeError("Invalid duration");
      values[SORTED[i]] = number + 0;
    }
    if (!some) throw new TypeError("Invalid duration");
    for (let at = 0; at < UNITS.length; at++) {
      const value = values[at];
      if (value === 0) continue;
      const own = value < 0 ? -1 : 1;
      if (sign !== 0 && own !== sign) throw new RangeError("Invalid duration");
      sign = own;
      if (at < 3 && !(value > -4294967296 && value < 4294967296)) throw new RangeError("Invalid duration");
    }
    if (isTooLong(values)) throw new RangeError("Invalid duration");
    return { __proto__: null, values, sign };
  };

  // A unit with the smaller ones as its fraction, exactly, as decimal text.
  const withFraction = (values, at) => {
    const { BigInt } = lib;
    let total = 0n, digits = 0;
    for (let unit = at; unit < UNITS.length; unit++) {
      total = total * (unit === at ? 1n : 1000n) + BigInt(values[unit]);
      if (unit > at) digits += 3;
    }
    const negative = total < 0n;
    let text = lib.toText(negative ? -total : total);
    if (digits > 0) {
      if (text.length <= digits) text = repeat("0", digits + 1 - text.length) + text;
      text = slice(text, 0, -digits) + "." + slice(text, text.length - digits);
    }
    return { __proto__: null, text: (negative ? "-" : "") + text, zero: total === 0n };
  };
  const number = (slots, value, options, name) => {
    // What else the options say is the same for a unit each time.
    const key = options.signDisplay === undefined ? name : name + " without a sign";
    let format = slots.numbers[key];
    if (format === undefined) {
      options.numberingSystem = slots.system;
      format = slots.numbers[key] = openNumber(slots.dataLocale, options).native;
    }
    const text = intl.number(format, value, undefined, true);
    return partsOf(text, 2, (part) => {
      native.put(part, "unit", name);
    });
  };

  // Groups of parts: each is one element of the list.
  const groups = (slots, { values, sign }) => {
    const found = list();
    let signShown = true;
    const signed = (options, value, zero) => {
      if (!signShown) options.signDisplay = "never";
      else {
        signShown = false;
        if (zero && sign < 0) return "-0";
      }
      return value;
    };
    const fractionAt = (at) => at >= SECONDS && at + 1 < UNITS.length && slots.units[at + 1].style === "fractional";
    const fractional = (options, at) => {
      options.maximumFractionDigits = slots.digits ?? 9;
      options.minimumFractionDigits = slots.digits ?? 0;
      options.roundingMode = "trunc";
      return withFraction(values, at);
    };
    for (let at = 0; at < UNITS.length; at++) {
      const { style, display } = slots.units[at];
      if (style === "numeric" || style === "2-digit") {
        const seconds = fractionAt(SECONDS) ? withFraction(values, SECONDS) : { __proto__: null, text: lib.toText(values[SECONDS]), zero: values[SECONDS] === 0 };
        const shows = (unit, zero) => at <= unit && (!zero || slots.units[unit].display !== "auto");
        const hours = shows(4, values[4] === 0), last = shows(6, seconds.zero);
        const minutes = at <= 5 && ((hours && last) || shows(5, values[5] === 0));
        const clock = list();
        const put = (unit, value, zero, options) => {
          if (clock.length > 0) append(clock, { type: "literal", value: ":" });
          options.useGrouping = false;
          if (slots.units[unit].style === "2-digit") options.minimumIntegerDigits = 2;
          const parts = number(slots, signed(options, value, zero), options, UNITS[unit].single);
          for (let i = 0; i < parts.length; i++) append(clock, parts[i]);
        };
        if (hours) put(4, values[4], values[4] === 0, { __proto__: null });
        if (minutes) put(5, values[5], values[5] === 0, { __proto__: null });
        if (last) {
          const options = { __proto__: null };
          if (fractionAt(SECONDS)) fractional(options, SECONDS);
          put(6, seconds.text, seconds.zero, options);
        }
        if (clock.length > 0) append(found, clock);
        break;
      }
      const options = { __proto__: null };
      let value = values[at], zero = value === 0, end = false;
      if (fractionAt(at)) {
        const exact = fractional(options, at);
        value = exact.text;
        zero = exact.zero;
        end = true;
      }
      if (!zero || display !== "auto") {
        options.style = "unit";
        options.unit = UNITS[at].single;
        options.unitDisplay = style;
        append(found, number(slots, signed(options, value, zero), options, UNITS[at].single));
      }
      if (end) break;
    }
    return found;
  };
  const textOf = (parts) => {
    let text = "";
    for (let i = 0; i < parts.length; i++) text += parts[i].value;
    return text;
  };
  const listFor = (slots) => listOf(slots.dataLocale, "unit", slots.base === "digital" ? "short" : slots.base);

  class DurationFormat {
    format(duration) {
      const slots = slotsOf(this, "DurationFormat", "format");
      const found = groups(slots, recordOf(duration));
      const texts = list();
      for (let i = 0; i < found.length; i++) append(texts, textOf(found[i]));
      return listText(listFor(slots), texts);
    }
    formatToParts(duration) {
      const slots = slotsOf(this, "DurationFormat", "formatToParts");
      const found = groups(slots, recordOf(duration));
      const texts = list();
      for (let i = 0; i < found.length; i++) append(texts, textOf(found[i]));
      const pieces = listParts(listFor(slots), texts), parts = list();
      for (let i = 0, group = 0; i < pieces.length; i++) {
        if (pieces[i].type === "literal") append(parts, pieces[i]);
        else for (let at = 0, own = found[group++]; at < own.length; at++) append(parts, own[at]);
      }
      return arrayOf(parts);
    }
    resolvedOptions() {
      const slots = slotsOf(this, "DurationFormat", "resolvedOptions");
      const entries = list();
      for (let at = 0; at < UNITS.length; at++) {
        const { style, display } = slots.units[at];
        append(entries, UNITS[at].name);
        append(entries, style === "fractional" ? "numeric" : style);
        append(entries, UNITS[at].name + "Display");
        append(entries, display);
      }
      return shown(joined(["locale", slots.locale, "numberingSystem", slots.system, "style", slots.base], entries, ["fractionalDigits", slots.digits]));
    }
  }
  constructorOf("DurationFormat", DurationFormat, open);
});
