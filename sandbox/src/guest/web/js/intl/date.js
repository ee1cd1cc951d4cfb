// Intl.DateTimeFormat (ECMA-402).
(function (lib) {
  const { native, repeat, startsWith, charCodeAt, slice, trunc, dateNow, RangeError, TypeError } = lib;
  const { intl } = native;
  const { slotsOf, constructorOf, canonicalList, coerced, option, booleanOption, typeOption, numberOption, resolve, partsOf, shown, joined, unnamed, HOUR_CYCLES } = lib.intl;

  const WIDTHS = ["narrow", "short", "long"];
  const DIGITS = ["2-digit", "numeric"];
  const STYLES = ["full", "long", "medium", "short"];
  const NAMES = ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"];
  // In the order in which options are read: name, values, letters for each value.
  const text = (letter) => [repeat(letter, 5), repeat(letter, 3), repeat(letter, 4)];
  const digits = (letter) => [letter + letter, letter];
  const COMPONENTS = [
    { __proto__: null, name: "weekday", values: WIDTHS, letters: text("E"), date: true },
    { __proto__: null, name: "era", values: WIDTHS, letters: text("G") },
    { __proto__: null, name: "year", values: DIGITS, letters: digits("y"), date: true },
    { __proto__: null, name: "month", values: ["2-digit", "numeric", "narrow", "short", "long"], letters: ["MM", "M", "MMMMM", "MMM", "MMMM"], date: true },
    { __proto__: null, name: "day", values: DIGITS, letters: digits("d"), date: true },
    { __proto__: null, name: "dayPeriod", values: WIDTHS, letters: ["BBBBB", "B", "BBBB"], time: true },
    { __proto__: null, name: "hour", values: DIGITS, letters: digits("j"), time: true },
    { __proto__: null, name: "minute", values: DIGITS, letters: digits("m"), time: true },
    { __proto__: null, name: "second", values: DIGITS, letters: digits("s"), time: true },
    { __proto__: null, name: "fractionalSecondDigits", time: true },
    { __proto__: null, name: "timeZoneName", values: NAMES, letters: ["z", "zzzz", "O", "OOOO", "v", "vvvv"] },
  ];
  const HOURS = { __proto__: null, h11: "K", h12: "h", h23: "H", h24: "k" };
  const CYCLES = { __proto__: null, K: "h11", h: "h12", H: "h23", k: "h24" };

  // The hours of a locale when a program only says that there are twelve, or more.
  const cycleFor = (locale, hour12) => {
    const usual = CYCLES[intl.preferredHour(locale)];
    if (hour12 === undefined) return usual;
    const short = usual === "h11" || usual === "h12";
    if (hour12 === short) return usual;
    return hour12 ? "h12" : "h23";
  };

  const openWith = (locales, given, required, defaults) => {
    const requested = canonicalList(locales);
    const options = coerced(given);
    option(options, "localeMatcher", ["lookup", "best fit"], "best fit");
    const ca = typeOption(options, "calendar");
    const nu = typeOption(options, "numberingSystem");
    const hour12 = booleanOption(options, "hour12");
    let hc = option(options, "hourCycle", HOUR_CYCLES);
    if (hour12 !== undefined) hc = undefined;
    const resolved = resolve(requested, hour12 === undefined ? ["ca", "hc", "nu"] : ["ca", "nu"], { __proto__: null, ca, hc, nu });
    let timeZone = options.timeZone;
    if (timeZone === undefined) timeZone = "UTC";
    else {
      const name = lib.toText(timeZone);
      timeZone = intl.zone(lib.toWellFormed(name));
      if (timeZone === undefined) throw new RangeError("Invalid time zone specified: " + name);
    }
    const values = { __proto__: null };
    let explicit;
    let needed = true;
    for (let i = 0; i < COMPONENTS.length; i++) {
      const { name, values: allowed, date, time } = COMPONENTS[i];
      const value = allowed === undefined ? numberOption(options, name, 1, 3, undefined) : option(options, name, allowed);
      values[name] = value;
      if (value === undefined) continue;
      explicit ??= name;
      if ((date && required !== "time") || (time && required !== "date")) needed = false;
    }
    option(options, "formatMatcher", ["basic", "best fit"], "best fit");
    const dateStyle = option(options, "dateStyle", STYLES);
    const timeStyle = option(options, "timeStyle", STYLES);
    if (dateStyle !== undefined || timeStyle !== undefined) {
      if (explicit !== undefined) throw new TypeError("Can't set option " + explicit + " when " + (dateStyle !== undefined ? "dateStyle" : "timeStyle") + " is used");
      if (required === "date" && timeStyle !== undefined) throw new TypeError("Invalid option : timeStyle");
      if (required === "time" && dateStyle !== undefined) throw new TypeError("Invalid option : dateStyle");
    } else if (needed) {
      if (defaults !== "time") values.year = values.month = values.day = "numeric";
      if (defaults !== "date") values.hour = values.minute = values.second = "numeric";
    }
    const record = { __proto__: null, locale: resolved.locale, dataLocale: resolved.dataLocale, calendar: resolved.ca, numberingSystem: resolved.nu, timeZone, dateStyle, timeStyle, skeleton: "", hour: "", hourCycle: undefined };
    if (values.hour !== undefined || timeStyle !== undefined) {
      record.hourCycle = hour12 === undefined ? (resolved.hc ?? cycleFor(resolved.dataLocale)) : cycleFor(resolved.dataLocale, hour12);
      record.hour = HOURS[record.hourCycle];
    }
    for (let i = 0; i < COMPONENTS.length; i++) {
      const { name, values: allowed, letters } = COMPONENTS[i];
      const value = values[name];
      if (value === undefined) continue;
      if (allowed === undefined) record.skeleton += repeat("S", value);
      else if (name === "hour") record.skeleton += repeat(record.hour, value === "2-digit" ? 2 : 1);
      else record.skeleton += letters[lib.indexOfList(allowed, value)];
    }
    return { __proto__: null, kind: "DateTimeFormat", record, native: intl.newDate(record), bound: undefined };
  };
  lib.intl.openDate = openWith;

  const time = (lib.intl.timeOf = (value) => {
    const number = value === undefined ? dateNow() : trunc(+value);
    if (!(number >= -8.64e15 && number <= 8.64e15)) throw new RangeError("Invalid time value");
    return number;
  });
  const ends = (start, end) => {
    if (start === undefined || end === undefined) throw new TypeError("startDate or endDate cannot be undefined");
    const first = +start, last = +end;
    return [time(first), time(last)];
  };

  class DateTimeFormat {
    get format() {
      const slots = slotsOf(this, "DateTimeFormat", "format");
      return (slots.bound ??= unnamed((date) => intl.date(slots.native, time(date), undefined, false)));
    }
    formatToParts(date) {
      const slots = slotsOf(this, "DateTimeFormat", "formatToParts");
      return partsOf(intl.date(slots.native, time(date), undefined, true), 2);
    }
    formatRange(start, end) {
      const slots = slotsOf(this, "DateTimeFormat", "formatRange");
      const times = ends(start, end);
      return intl.date(slots.native, times[0], times[1], false);
    }
    formatRangeToParts(start, end) {
      const slots = slotsOf(this, "DateTimeFormat", "formatRangeToParts");
      const times = ends(start, end);
      return partsOf(intl.date(slots.native, times[0], times[1], true), 3);
    }
    resolvedOptions() {
      const { record, native: formatter } = slotsOf(this, "DateTimeFormat", "resolvedOptions");
      const { dateStyle, timeStyle, hourCycle } = record;
      const entries = ["locale", record.locale, "calendar", record.calendar, "numberingSystem", record.numberingSystem, "timeZone", record.timeZone, "hourCycle", hourCycle, "hour12", hourCycle === undefined ? undefined : hourCycle === "h11" || hourCycle === "h12"];
      const styles = ["dateStyle", dateStyle, "timeStyle", timeStyle];
      return shown(joined(entries, dateStyle === undefined && timeStyle === undefined ? components(intl.datePattern(formatter)) : [], styles));
    }
  }
  // The options that a pattern stands for.
  const LETTERS = { __proto__: null, c: "E", L: "M", H: "j", h: "j", K: "j", k: "j", b: "B", Z: "z" };
  const components = (pattern) => {
    const found = { __proto__: null };
    let quoted = false;
    for (let i = 0; i < pattern.length; ) {
      const letter = pattern[i];
      let end = i + 1;
      while (pattern[end] === letter) end++;
      if (letter === "'") {
        if ((end - i) % 2 === 1) quoted = !quoted;
      } else if (!quoted) found[LETTERS[letter] ?? letter] = end - i;
      i = end;
    }
    const entries = lib.list();
    for (let i = 0; i < COMPONENTS.length; i++) {
      const { name, values, letters } = COMPONENTS[i];
      let value;
      if (values === undefined) value = found.S;
      else {
        for (let at = 0; at < letters.length; at++) {
          const letter = letters[at][0];
          const length = found[letter];
          if (length === undefined) continue;
          const shortest = letters[at].length === 3 && letter !== "M" ? length < 4 : letter === "z" || letter === "B" ? letters[at].length < 4 && length < 4 : false;
          if (letters[at].length === length || shortest) value = values[at];
        }
      }
      lib.append(entries, name);
      lib.append(entries, value);
    }
    return entries;
  };
  constructorOf("DateTimeFormat", DateTimeFormat, (locales, options) => openWith(locales, options, "any", "date"), { callable: true });
});
