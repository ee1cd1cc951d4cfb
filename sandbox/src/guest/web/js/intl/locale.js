// Intl.Locale (ECMA-402, with the proposal "Intl Locale Info").
(function (lib) {
  const { native, split, exec, isObject, list, append, arrayOf, TypeError, RangeError } = lib;
  const { intl } = native;
  const { slotsOf, constructorOf, coerced, option, booleanOption, canonical, shown, isLocale, HOUR_CYCLES, ownCollations } = lib.intl;

  const KEYS = { __proto__: null, calendar: "ca", collation: "co", firstDayOfWeek: "fw", hourCycle: "hc", caseFirst: "kf", numberingSystem: "nu" };
  const LANGUAGE = /^([a-z]{2,3}|[a-z]{5,8})$/i, SCRIPT = /^[a-z]{4}$/i, REGION = /^([a-z]{2}|[0-9]{3})$/i, VARIANTS = /^([a-z0-9]{5,8}|[0-9][a-z0-9]{3})(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/i;
  const part = (options, name, shape) => {
    const value = option(options, name);
    if (value !== undefined && exec(shape, value) === null) throw new RangeError("Incorrect locale information provided");
    return value ?? "";
  };
  const keyword = ({ locale }, key) => {
    const parts = split(intl.tagParts(locale), "\0");
    for (let i = 5; i + 1 < parts.length; i += 2) if (parts[i] === key) return parts[i + 1];
    return undefined;
  };
  const made = (tag) => {
    if (tag === undefined) throw new RangeError("Incorrect locale information provided");
    return { __proto__: null, locale: tag };
  };
  const open = (tag, given) => {
    if (typeof tag !== "string" && !isObject(tag)) throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
    let locale = isLocale(tag) ? slotsOf(tag, "Locale", "constructor").locale : lib.toText(tag);
    const options = coerced(given);
    locale = canonical(locale);
    const language = part(options, "language", LANGUAGE), script = part(options, "script", SCRIPT), region = part(options, "region", REGION), variants = part(options, "variants", VARIANTS);
    if (language !== "" || script !== "" || region !== "" || variants !== "") locale = made(intl.withParts(locale, language, script, region, variants)).locale;
    let keywords = "";
    const add = (key, value) => {
      if (value !== undefined) keywords += (keywords === "" ? "" : "\0") + key + "\0" + value;
    };
    const type = (name, named = bare) => {
      let value = option(options, name);
      if (value !== undefined) value = named[value] ?? value;
      if (value !== undefined && exec(lib.intl.TYPE, value) === null) throw new RangeError("Incorrect locale information provided");
      add(KEYS[name], value === undefined ? undefined : lib.toLowerCase(value));
    };
    type("calendar");
    type("collation");
    type("firstDayOfWeek", NUMBERED);
    add("hc", option(options, "hourCycle", HOUR_CYCLES));
    add("kf", option(options, "caseFirst", ["upper", "lower", "false"]));
    const numeric = booleanOption(options, "numeric");
    if (numeric !== undefined) add("kn", lib.toText(numeric));
    type("numberingSystem");
    return made(keywords === "" ? locale : intl.withKeywords(locale, keywords));
  };

  const bare = { __proto__: null };
  const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  const NUMBERED = { __proto__: null, 0: "sun", 1: "mon", 2: "tue", 3: "wed", 4: "thu", 5: "fri", 6: "sat", 7: "sun" };
  const { construct } = lib;
  const again = (tag) => construct(lib.intl.Locale, [tag]);
  const at = (locale, place) => split(intl.tagParts(locale), "\0")[place];
  const text = (value) => (value === "" ? undefined : value);
  const week = (region, kind) => intl.supplemental("week." + kind + "." + region) ?? intl.supplemental("week." + kind + ".001");
  const only = (value) => arrayOf(items(value));
  const items = (...values) => {
    const result = list();
    for (let i = 0; i < values.length; i++) append(result, values[i]);
    return result;
  };
  class Locale {
    maximize() {
      return again(intl.likely(slotsOf(this, "Locale", "maximize").locale, true));
    }
    minimize() {
      return again(intl.likely(slotsOf(this, "Locale", "minimize").locale, false));
    }
    toString() {
      return slotsOf(this, "Locale", "toString").locale;
    }
    get baseName() {
      return at(slotsOf(this, "Locale", "baseName").locale, 4);
    }
    get calendar() {
      return keyword(slotsOf(this, "Locale", "calendar"), "ca");
    }
    get caseFirst() {
      return keyword(slotsOf(this, "Locale", "caseFirst"), "kf");
    }
    get collation() {
      return keyword(slotsOf(this, "Locale", "collation"), "co");
    }
    get firstDayOfWeek() {
      return keyword(slotsOf(this, "Locale", "firstDayOfWeek"), "fw");
    }
    get hourCycle() {
      return keyword(slotsOf(this, "Locale", "hourCycle"), "hc");
    }
    get numeric() {
      const value = keyword(slotsOf(this, "Locale", "numeric"), "kn");
      return value === "" || value === "true";
    }
    get numberingSystem() {
      return keyword(slotsOf(this, "Locale", "numberingSystem"), "nu");
    }
    get language() {
      return at(slotsOf(this, "Locale", "language").locale, 0);
    }
    get script() {
      return text(at(slotsOf(this, "Locale", "script").locale, 1));
    }
    get region() {
      return text(at(slotsOf(this, "Locale", "region").locale, 2));
    }
    get variants() {
      return text(at(slotsOf(this, "Locale", "variants").locale, 3));
    }
    getCalendars() {
      const slots = slotsOf(this, "Locale", "getCalendars");
      const set = keyword(slots, "ca");
      if (set !== undefined) return only(set);
      const region = intl.region(slots.locale);
      return split(intl.supplemental("calendar." + region) ?? "gregory", " ");
    }
    getCollations() {
      const slots = slotsOf(this, "Locale", "getCollations");
      const set = keyword(slots, "co");
      if (set !== undefined) return only(set);
      const own = ownCollations(at(slots.locale, 4));
      const found = items("emoji", "eor");
      for (let i = 0; i < own.length; i++) append(found, own[i]);
      lib.sort(found);
      return arrayOf(found);
    }
    getHourCycles() {
      const slots = slotsOf(this, "Locale", "getHourCycles");
      const set = keyword(slots, "hc");
      return only(set ?? { __proto__: null, h: "h12", H: "h23", K: "h11", k: "h24" }[intl.preferredHour(slots.locale)]);
    }
    getNumberingSystems() {
      const slots = slotsOf(this, "Locale", "getNumberingSystems");
      return only(keyword(slots, "nu") ?? intl.text(intl.best(slots.locale) ?? "en-US", "n.system"));
    }
    getTimeZones() {
      const region = at(slotsOf(this, "Locale", "getTimeZones").locale, 2);
      if (region === "") return undefined;
      const zones = intl.supplemental("zones." + region);
      return zones === undefined ? [] : split(zones, " ");
    }
    getTextInfo() {
      return { direction: intl.isRightToLeft(slotsOf(this, "Locale", "getTextInfo").locale) ? "rtl" : "ltr" };
    }
    getWeekInfo() {
      const slots = slotsOf(this, "Locale", "getWeekInfo");
      const region = intl.region(slots.locale);
      const day = (kind) => lib.indexOfList(DAYS, week(region, kind)) + 1;
      const first = lib.indexOfList(DAYS, keyword(slots, "fw")) + 1 || day("first");
      const weekend = list();
      for (let at = day("weekend"), last = day("weekday"), steps = 0; steps < 7; steps++, at = (at % 7) + 1) {
        append(weekend, at);
        if (at === last) break;
      }
      return { firstDay: first, weekend: arrayOf(weekend), minimalDays: +week(region, "least") };
    }
  }
  constructorOf("Locale", Locale, open, { length: 1, supported: false });
  lib.intl.Locale = lib.intl.Intl.Locale;
});
