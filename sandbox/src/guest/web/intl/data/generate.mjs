// Makes the tables of this folder from the Unicode consortium's own packages:
//   npm install cldr-core@48 cldr-numbers-full@48 cldr-dates-full@48 cldr-units-full@48 cldr-localenames-full@48 cldr-misc-full@48 cldr-bcp47@48
//   node generate.mjs node_modules
// A file has the tables of one language; `@locale parent` heads a table of sorted lines of key, tab, value. A locale's
// own lines hide its parent's; the value `∅` hides a parent's line and gives nothing. Plural forms that equal `other` are left out. `supplemental.txt` has what belongs to no locale.
import { existsSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";

const packages = process.argv[2];
const folder = new URL("./", import.meta.url);
const json = (path) => JSON.parse(readFileSync(`${packages}/${path}`, "utf8"));
const LANGUAGES = "ar cs da de el en es fi fr he hi hu id it ja ko nb nl no pl pt ro ru sv tr uk vi zh".split(" ");
const UNITS = Intl.supportedValuesOf("unit");
const CURRENT = Intl.supportedValuesOf("currency");
// What is no currency has a name too.
const NAMED = [...CURRENT, "XX" + "X"].sort();
// Zones of no place, which ICU does not list.
const PLACELESS = ["UTC", ...Array.from({ length: 12 }, (_, hours) => `Etc/GMT+${hours + 1}`), ...Array.from({ length: 14 }, (_, hours) => `Etc/GMT-${hours + 1}`)];

const supplemental = (name) => json(`cldr-core/supplemental/${name}.json`).supplemental;
const parents = supplemental("parentLocales").parentLocales.parentLocale;
const names = readdirSync(`${packages}/cldr-numbers-full/main`).filter((name) => LANGUAGES.includes(name.split("-")[0]) && existsSync(`${packages}/cldr-localenames-full/main/${name}/languages.json`) && !/-(Latn|POSIX|polyton|Shaw|Dsrt)$/.test(name));
const parentOf = (name) => {
  if (parents[name] !== undefined) return names.includes(parents[name]) ? parents[name] : "";
  const parts = name.split("-");
  for (parts.pop(); parts.length > 0; parts.pop()) if (names.includes(parts.join("-"))) return parts.join("-");
  return "";
};

const WIDTHS = { wide: "w", abbreviated: "a", narrow: "n" };
const PERIODS = ["am", "pm", "midnight", "noon", "morning1", "morning2", "afternoon1", "afternoon2", "evening1", "evening2", "night1", "night2"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS = { Era: "era", Year: "year", Month: "month", Week: "week", "Day-Of-Week": "weekday", Day: "day", Hour: "hour", Minute: "minute", Second: "second", Timezone: "zone", Quarter: "quarter" };

function table(name) {
  const lines = new Map();
  const put = (key, value) => {
    if (value === undefined) return;
    if (/[\t\n]/.test(key + value)) throw new Error(`${name} ${key}`);
    lines.set(key, value);
  };
  // Only forms that differ from `other`.
  const forms = (key, source, prefix, suffix = "") => {
    const other = source[`${prefix}other${suffix}`];
    put(`${key}.other`, other);
    for (const count of ["zero", "one", "two", "few", "many", "0", "1"]) {
      const value = source[`${prefix}${count}${suffix}`];
      if (value !== other) put(`${key}.${count}`, value);
    }
  };
  const all = (values) => {
    if (values.some((value) => value !== undefined && value.includes("|"))) throw new Error(`${name}: ${values}`);
    return values.map((value) => value ?? "").join("|");
  };

  const { numbers } = json(`cldr-numbers-full/main/${name}/numbers.json`).main[name];
  put("n.system", numbers.defaultNumberingSystem);
  put("n.native", numbers.otherNumberingSystems.native);
  put("n.grouping", numbers.minimumGroupingDigits);
  for (const system of new Set(["latn", numbers.defaultNumberingSystem, numbers.otherNumberingSystems.native])) {
    const symbols = numbers[`symbols-numberSystem-${system}`];
    if (!symbols) continue;
    const at = `n.${system}`;
    for (const symbol of ["decimal", "group", "percentSign", "plusSign", "minusSign", "approximatelySign", "exponential", "infinity", "nan", "currencyDecimal", "currencyGroup"]) {
      put(`${at}.${symbol}`, symbols[symbol]);
    }
    put(`${at}.format`, numbers[`decimalFormats-numberSystem-${system}`].standard);
    put(`${at}.percent`, numbers[`percentFormats-numberSystem-${system}`].standard);
    put(`${at}.scientific`, numbers[`scientificFormats-numberSystem-${system}`].standard);
    put(`${at}.range`, numbers[`miscPatterns-numberSystem-${system}`].range);
    put(`${at}.approximately`, numbers[`miscPatterns-numberSystem-${system}`].approximately);
    const money = numbers[`currencyFormats-numberSystem-${system}`];
    put(`${at}.currency`, money.standard);
    put(`${at}.currency.alpha`, money["standard-alphaNextToNumber"]);
    put(`${at}.accounting`, money.accounting);
    put(`${at}.accounting.alpha`, money["accounting-alphaNextToNumber"]);
    put(`${at}.insert.before`, money.currencySpacing.beforeCurrency.insertBetween);
    put(`${at}.insert.after`, money.currencySpacing.afterCurrency.insertBetween);
    forms(`${at}.named`, money, "unitPattern-count-");
    for (let digits = 3; digits <= 20; digits++) {
      for (const width of ["short", "long"]) {
        forms(`k.${system}.${width}.${digits}`, numbers[`decimalFormats-numberSystem-${system}`][width].decimalFormat, `1${"0".repeat(digits)}-count-`);
      }
      const { standard } = money.short ?? { standard: {} };
      forms(`k.${system}.money.${digits}`, standard, `1${"0".repeat(digits)}-count-`);
      forms(`k.${system}.money-alpha.${digits}`, standard, `1${"0".repeat(digits)}-count-`, "-alt-alphaNextToNumber");
    }
  }

  const { currencies } = json(`cldr-numbers-full/main/${name}/currencies.json`).main[name].numbers;
  for (const [code, currency] of Object.entries(currencies)) {
    if (!NAMED.includes(code)) continue;
    if (currency.symbol !== code) put(`m.${code}.s`, currency.symbol);
    if ((currency["symbol-alt-narrow"] ?? currency.symbol) !== code) put(`m.${code}.n`, currency["symbol-alt-narrow"] ?? currency.symbol);
    put(`m.${code}.name`, currency.displayName);
    forms(`m.${code}`, currency, "displayName-count-");
  }

  const { units } = json(`cldr-units-full/main/${name}/units.json`).main[name];
  for (const width of ["long", "short", "narrow"]) {
    for (const [key, unit] of Object.entries(units[width])) {
      const id = key.slice(key.indexOf("-") + 1);
      if (!id.split("-per-").every((part) => UNITS.includes(part))) continue;
      forms(`u.${width}.${id}`, unit, "unitPattern-count-");
      put(`u.${width}.${id}.per`, unit.perUnitPattern);
    }
    put(`u.${width}.per`, units[width].per.compoundUnitPattern);
  }

  const { gregorian } = json(`cldr-dates-full/main/${name}/ca-gregorian.json`).main[name].dates.calendars;
  for (const [form, letter] of [["format", "f"], ["stand-alone", "s"]]) {
    for (const [width, short] of Object.entries(WIDTHS)) {
      put(`d.month.${letter}${short}`, all(Array.from({ length: 12 }, (_, i) => gregorian.months[form][width][i + 1])));
      put(`d.day.${letter}${short}`, all(DAYS.map((day) => gregorian.days[form][width][day])));
      put(`d.period.${letter}${short}`, all(PERIODS.map((period) => gregorian.dayPeriods[form][width][period])));
    }
  }
  put("d.era.w", all([gregorian.eras.eraNames[0], gregorian.eras.eraNames[1]]));
  put("d.era.a", all([gregorian.eras.eraAbbr[0], gregorian.eras.eraAbbr[1]]));
  put("d.era.n", all([gregorian.eras.eraNarrow[0], gregorian.eras.eraNarrow[1]]));
  for (const style of ["full", "long", "medium", "short"]) {
    const text = (pattern) => (typeof pattern === "string" ? pattern : pattern._value);
    put(`d.date.${style}`, text(gregorian.dateFormats[style]));
    put(`d.time.${style}`, text(gregorian.timeFormats[style]));
    put(`d.join.${style}`, text((gregorian["dateTimeFormats-atTime"]?.standard ?? gregorian.dateTimeFormats)[style]));
    put(`d.plain.${style}`, text(gregorian.dateTimeFormats[style]));
  }
  const { availableFormats, appendItems, intervalFormats } = gregorian.dateTimeFormats;
  for (const [skeleton, pattern] of Object.entries(availableFormats)) {
    if (!/-|[QwWY]/.test(skeleton)) put(`d.a.${skeleton}`, pattern);
  }
  for (const [field, pattern] of Object.entries(appendItems)) put(`d.append.${field}`, pattern);
  put("d.i", intervalFormats.intervalFormatFallback);
  for (const [skeleton, differences] of Object.entries(intervalFormats)) {
    if (typeof differences === "string" || /[QwWY]/.test(skeleton)) continue;
    for (const [field, pattern] of Object.entries(differences)) if (!field.includes("-")) put(`d.i.${skeleton}.${field}`, pattern);
  }

  const { fields } = json(`cldr-dates-full/main/${name}/dateFields.json`).main[name].dates;
  for (const [item, field] of Object.entries(FIELDS)) put(`d.name.${item}`, fields[field].displayName);
  for (const field of ["second", "minute", "hour", "day", "week", "month", "quarter", "year"]) {
    for (const [suffix, width] of [["", "long"], ["-short", "short"], ["-narrow", "narrow"]]) {
      const source = fields[field + suffix];
      for (const [key, value] of Object.entries(source)) if (key.startsWith("relative-type-")) put(`r.${width}.${field}.at${key.slice(14)}`, value);
      forms(`r.${width}.${field}.past`, source["relativeTime-type-past"], "relativeTimePattern-count-");
      forms(`r.${width}.${field}.future`, source["relativeTime-type-future"], "relativeTimePattern-count-");
    }
  }
  const FIELD_NAMES = { era: "era", year: "year", quarter: "quarter", month: "month", weekOfYear: "week", weekday: "weekday", day: "day", dayPeriod: "dayperiod", hour: "hour", minute: "minute", second: "second", timeZoneName: "zone" };
  for (const [type, field] of Object.entries(FIELD_NAMES)) {
    for (const [suffix, width] of [["", "long"], ["-short", "short"], ["-narrow", "narrow"]]) put(`x.field.${type}.${width}`, fields[field + suffix]?.displayName);
  }

  const zones = json(`cldr-dates-full/main/${name}/timeZoneNames.json`).main[name].dates.timeZoneNames;
  for (const key of ["hourFormat", "gmtFormat", "gmtZeroFormat", "regionFormat", "fallbackFormat"]) put(`z.${key}`, zones[key]);
  const zone = (key, source) => {
    for (const width of ["long", "short"]) {
      const { generic, standard, daylight } = source[width] ?? {};
      if (generic ?? standard ?? daylight) put(`z.${key}.${width}`, all([generic, standard, daylight]));
    }
  };
  for (const [key, source] of Object.entries(zones.metazone ?? {})) zone(key, source);
  const walk = (path, source) => {
    if (source._type === "zone") {
      zone(path, source);
      if (source.exemplarCity !== undefined) put(`z.${path}.city`, source.exemplarCity);
    } else for (const [key, inner] of Object.entries(source)) if (typeof inner === "object") walk(path ? `${path}/${key}` : key, inner);
  };
  walk("", zones.zone);

  const { listPatterns } = json(`cldr-misc-full/main/${name}/listPatterns.json`).main[name];
  for (const [type, key] of [["conjunction", "standard"], ["disjunction", "or"], ["unit", "unit"]]) {
    for (const [width, suffix] of [["long", ""], ["short", "-short"], ["narrow", "-narrow"]]) {
      const list = listPatterns[`listPattern-type-${key}${suffix}`];
      put(`l.${type}.${width}`, all([list.start, list.middle, list.end, list[2]]));
    }
  }

  const display = (file) => json(`cldr-localenames-full/main/${name}/${file}.json`).main[name].localeDisplayNames;
  const place = (key, source, kept) => {
    for (const [code, value] of Object.entries(source)) {
      const [plain, alt] = code.split("-alt-");
      if (alt === "short" && kept(plain)) put(`${key}.${plain}.short`, value);
      else if (alt === undefined && kept(plain) && value !== plain) put(`${key}.${plain}`, value);
    }
  };
  const whole = name === "en";
  place("x.language", display("languages").languages, (code) => whole || /^(..|fil|yue|.*-.*)$/.test(code));
  place("x.region", display("territories").territories, (code) => whole || /^(..|001|150|419)$/.test(code));
  place("x.script", display("scripts").scripts, (code) => whole || /^(Arab|Armn|Beng|Cyrl|Deva|Ethi|Geor|Grek|Gujr|Guru|Han[bis t]?|Hans|Hant|Hebr|Hira|Jpan|Kana|Khmr|Knda|Kore|Laoo|Latn|Mlym|Mong|Mymr|Orya|Sinh|Taml|Telu|Thaa|Thai|Tibt|Zzzz)$/.test(code));
  const patterns = json(`cldr-localenames-full/main/${name}/localeDisplayNames.json`).main[name].localeDisplayNames;
  put("x.locale", patterns.localeDisplayPattern.localePattern);
  put("x.separator", patterns.localeDisplayPattern.localeSeparator);
  for (const [type, value] of Object.entries(patterns.types?.calendar ?? {})) if (!type.includes("-alt-")) put(`x.calendar.${type === "gregorian" ? "gregory" : type}`, value);
  return lines;
}

const text = (lines) => [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}\t${value}\n`).join("");
const write = (file, content) => writeFileSync(new URL(file, folder), content);
for (const file of readdirSync(folder)) if (file.endsWith(".txt")) unlinkSync(new URL(file, folder));
const tables = new Map(names.map((name) => [name, table(name)]));
for (const language of LANGUAGES) {
  let file = "";
  for (const name of names.filter((name) => name.split("-")[0] === language).sort()) {
    const parent = parentOf(name);
    const own = tables.get(name), base = tables.get(parent) ?? new Map();
    const lines = new Map([...own].filter(([key, value]) => base.get(key) !== value));
    for (const key of base.keys()) if (!own.has(key)) lines.set(key, "∅");
    file += `@${name} ${parent}\n${text(lines)}`;
  }
  write(`${language}.txt`, file);
}

const shared = new Map();
for (const [system, value] of Object.entries(supplemental("numberingSystems").numberingSystems)) if (value._digits) shared.set(`digits.${system}`, value._digits);
for (const [code, value] of Object.entries(supplemental("currencyData").currencyData.fractions)) if (value._digits !== "2" || code === "DEFAULT") shared.set(`fraction.${code}`, value._digits);
// What the root has of its own for a numbering system is what the languages of that system have.
for (const [system, language] of [["arab", "ar"], ["arabext", "fa"]]) {
  const symbols = json(`cldr-numbers-full/main/${language}/numbers.json`).main[language].numbers[`symbols-numberSystem-${system}`];
  for (const symbol of ["decimal", "group", "percentSign", "plusSign", "minusSign", "approximatelySign", "exponential", "infinity"]) shared.set(`n.${system}.${symbol}`, symbols[symbol]);
}
shared.set("currencies", NAMED.join(" "));
for (const [region, { _preferred, _allowed }] of Object.entries(supplemental("timeData").timeData)) shared.set(`hour.${region}`, `${_preferred} ${_allowed}`);
const { firstDay, minDays, weekendStart, weekendEnd } = supplemental("weekData").weekData;
for (const [key, values] of Object.entries({ first: firstDay, least: minDays, weekend: weekendStart, weekday: weekendEnd })) {
  for (const [region, value] of Object.entries(values)) if (!region.includes("-alt-")) shared.set(`week.${key}.${region}`, value);
}
for (const [region, value] of Object.entries(supplemental("calendarPreferenceData").calendarPreferenceData)) shared.set(`calendar.${region}`, value.map((name) => (name === "gregorian" ? "gregory" : name)).join(" "));
for (const [language, rules] of Object.entries(supplemental("dayPeriods").dayPeriodRuleSet)) {
  if (LANGUAGES.includes(language)) shared.set(`period.${language}`, Object.entries(rules).map(([period, rule]) => `${period} ${rule._at ?? `${rule._from} ${rule._before}`}`).join("|"));
}
const minutes = (text) => (text === undefined ? "" : Date.parse(`${text.replace(" ", "T")}Z`) / 60000);
const metazones = (path, source) => {
  if (Array.isArray(source)) shared.set(`zone.${path}`, source.map(({ usesMetazone: use }) => `${use._mzone} ${minutes(use._from)} ${minutes(use._to)}`).join("|"));
  else for (const [key, inner] of Object.entries(source)) metazones(path ? `${path}/${key}` : key, inner);
};
metazones("", supplemental("metaZones").metaZones.metazoneInfo.timezone);
for (const entry of supplemental("metaZones").metaZones.metazones ?? []) {
  const { _other, _territory, _type } = entry.mapZone ?? {};
  if (_territory === "001") shared.set(`golden.${_other}`, _type);
}
const places = new Map();
// Keys begin with the code of the region, but for these.
const REGIONS = { gazastrp: "PS", hebron: "PS", jeruslm: "IL" };
for (const [key, value] of Object.entries(json("cldr-bcp47/bcp47/timezone.json").keyword.u.tz)) {
  if (typeof value !== "object" || value._alias === undefined) continue;
  const [canonical, ...aliases] = value._alias.split(" ");
  const region = value._region ?? REGIONS[key] ?? key.slice(0, 2).toUpperCase();
  const current = value._deprecated !== true && value._preferred === undefined;
  if (current && canonical.includes("/") && !canonical.startsWith("Etc/")) places.set(region, [...(places.get(region) ?? []), canonical]);
  for (const alias of aliases) shared.set(`alias.${alias}`, canonical);
}
const { primaryZones } = json("cldr-core/supplemental/primaryZones.json").supplemental;
for (const [region, zones] of places) {
  shared.set(`zones.${region}`, [...zones].sort().join(" "));
  if (zones.length === 1) shared.set(`place.${zones[0]}`, region);
  else if (primaryZones[region] !== undefined) shared.set(`place.${primaryZones[region]}`, region);
}
shared.set("zones", [...Intl.supportedValuesOf("timeZone"), ...PLACELESS].sort().join(" "));
shared.set("systems", Intl.supportedValuesOf("numberingSystem").join(" "));
shared.set("units", UNITS.join(" "));
write("supplemental.txt", text(shared));
