// Intl.DurationFormat, value by value. Node 20 has none, so that this corpus is compared here alone.
const out = [];
const J = JSON.stringify;
const locales = ["en", "en-US", "de", "fr", "es", "ja", "ar", "hi", "pt-BR", "ru", "zh", "ko", "pl"];
const durations = ["{ hours: 1, minutes: 30 }", "{ hours: 1, minutes: 1, seconds: 1 }", "{ years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7, milliseconds: 8, microseconds: 9, nanoseconds: 10 }", "{ days: 2, minutes: 5 }", "{ seconds: 0 }", "{ minutes: 90 }", "{ hours: -1, minutes: -30 }", "{ milliseconds: 1500 }", "{ seconds: 1, milliseconds: 250 }", "{ hours: 12, seconds: 5 }", "{ years: 1234567 }", "{ nanoseconds: 1 }"];
const options = [undefined, { style: "long" }, { style: "narrow" }, { style: "digital" }, { style: "digital", fractionalDigits: 3 }, { hours: "2-digit", minutes: "2-digit" }, { style: "long", seconds: "numeric", fractionalDigits: 2 }, { minutesDisplay: "always", style: "short" }, { style: "short", milliseconds: "numeric" }, { hours: "numeric", secondsDisplay: "always" }, { numberingSystem: "arab" }];
for (const locale of locales) for (const option of options) for (const duration of durations) {
  const made = `new Intl.DurationFormat(${J(locale)}${option ? ", " + J(option) : ""})`;
  out.push(`return ${made}.format(${duration})`);
  if (locale === "en" || locale === "de") out.push(`return ${made}.formatToParts(${duration})`);
}
for (const option of options) out.push(`return Object.entries(new Intl.DurationFormat("en"${option ? ", " + J(option) : ""}).resolvedOptions())`);
for (const option of ["{ style: 'x' }", "{ hours: 'x' }", "{ hours: 'numeric', minutes: 'long' }", "{ years: 'numeric' }", "{ days: '2-digit' }", "{ fractionalDigits: 10 }", "{ fractionalDigits: -1 }", "{ minutesDisplay: 'x' }", "{ hoursDisplay: 'auto', hours: 'numeric' }", "null", "5", "{ numberingSystem: 'x' }", "{ milliseconds: 'numeric', seconds: 'long' }", "{ microseconds: 'numeric' }", "{ localeMatcher: 'x' }"]) out.push(`return Object.entries(new Intl.DurationFormat("en", ${option}).resolvedOptions())`, `return new Intl.DurationFormat("en", ${option}).format({ hours: 1, minutes: 2, seconds: 3, milliseconds: 4 })`);
for (const duration of ["undefined", "null", "{}", "5", "'PT1H'", "'P1Y2M3DT4H5M6.789S'", "'x'", "{ hours: 1.5 }", "{ hours: NaN }", "{ hours: Infinity }", "{ hours: 1, minutes: -1 }", "{ hours: '2' }", "{ hours: undefined }", "{ hour: 1 }", "{ years: 4294967296 }", "{ seconds: 9007199254740992 }", "{ hours: 1n }", "[]", "{ weeks: 0 }", "{ get hours() { return 3 } }"]) out.push(`return new Intl.DurationFormat("en").format(${duration})`);
out.push("return [Intl.DurationFormat.length, Intl.DurationFormat.name, String(new Intl.DurationFormat()), Intl.DurationFormat.prototype.format.length]", "return Intl.DurationFormat()", "return Intl.DurationFormat.supportedLocalesOf(['de', 'xx', 'en-GB'])", "return Intl.DurationFormat.prototype.format.call({}, {})");
export default out;
