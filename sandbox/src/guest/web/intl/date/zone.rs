//! Time zones: their offsets by the IANA database that is part of the binary, and their names by locale.

use jiff::Timestamp;
use jiff::tz::{Dst, TimeZone, TimeZoneDatabase};

use super::super::data::{Locale, supplemental};
use super::super::number::Symbols;

/// A zone by its canonical name, or a fixed offset.
#[derive(Clone)]
pub(in super::super) struct Zone {
    /// As CLDR names it; a fixed offset is `+hh:mm`.
    pub(in super::super) name: String,
    rules: Rules,
}

#[derive(Clone)]
enum Rules {
    Fixed(i32),
    Iana(TimeZone),
}

impl Zone {
    /// The zone that a name in any case means, or an offset like `+01:30`.
    pub(in super::super) fn named(name: &str) -> Option<Self> {
        if let Some(minutes) = offset_minutes(name) {
            let name =
                format!("{}{:02}:{:02}", if minutes < 0 { '-' } else { '+' }, minutes.abs() / 60, minutes.abs() % 60);
            return Some(Self { name, rules: Rules::Fixed(minutes * 60) });
        }
        if !name.is_ascii() || name.len() > 64 {
            return None;
        }
        let rules = TimeZoneDatabase::bundled().get(name).ok();
        let known = rules.as_ref().and_then(|zone| zone.iana_name().map(str::to_owned));
        let canonical = canonical(&known.or_else(|| listed(name))?);
        if canonical == UTC {
            return Some(Self { name: canonical, rules: Rules::Fixed(0) });
        }
        let rules = rules.or_else(|| TimeZoneDatabase::bundled().get(&canonical).ok())?;
        Some(Self { name: canonical, rules: Rules::Iana(rules) })
    }

    /// Seconds east of UTC at a time in milliseconds, and whether daylight saving time was in force.
    pub(super) fn offset(&self, time: i64) -> (i32, bool) {
        match &self.rules {
            Rules::Fixed(seconds) => (*seconds, false),
            Rules::Iana(zone) => {
                // The last rule holds for ever, but the database ends with the year 9999. Days of the week are the same every
                // four centuries.
                let within =
                    if time < LAST_OF_RULES { time } else { time - (time - LAST_OF_RULES + CYCLE) / CYCLE * CYCLE };
                let bounded = Timestamp::from_millisecond(within).unwrap_or(Timestamp::MIN);
                let info = zone.to_offset_info(bounded);
                (info.offset().seconds(), info.dst() == Dst::Yes)
            }
        }
    }

    /// What a pattern's zone field shows at a time.
    pub(super) fn shown(&self, locale: &Locale, symbols: &Symbols, field: char, length: usize, time: i64) -> String {
        let (seconds, daylight) = self.offset(time);
        let long = length >= 4;
        let name = match field {
            'z' => self.specific(locale, long, daylight, time),
            'v' => self.generic(locale, long, time).or_else(|| self.place(locale)),
            _ => None,
        };
        name.unwrap_or_else(|| offset_from_gmt(locale, symbols, seconds, long))
    }

    /// A name that says whether daylight saving time is in force.
    fn specific(&self, locale: &Locale, long: bool, daylight: bool, time: i64) -> Option<String> {
        self.name_at(locale, long, time, if daylight { 2 } else { 1 })
    }

    /// A name for summer and winter. One without daylight saving time half a year around is called by its standard.
    fn generic(&self, locale: &Locale, long: bool, time: i64) -> Option<String> {
        if matches!(self.rules, Rules::Fixed(_)) {
            return None;
        }
        let changes = (-12..=12).any(|step| self.offset(time + step * HALF_A_YEAR / 12).1);
        let standard = (!changes).then(|| self.name_at(locale, long, time, 1)).flatten();
        standard.or_else(|| self.name_at(locale, long, time, 0))
    }

    /// The zone's own name, or that of the group of zones to which it belongs at that time.
    fn name_at(&self, locale: &Locale, long: bool, time: i64, kind: usize) -> Option<String> {
        let width = if long { "long" } else { "short" };
        let own = if self.name == UTC { "Etc/UTC" } else { &self.name };
        let named = |key: &str| {
            let names = locale.get(&format!("z.{key}.{width}"))?;
            names.split('|').nth(kind).filter(|name| !name.is_empty() && *name != "∅∅∅")
        };
        let name = named(own).or_else(|| named(self.group(time)?));
        name.map(str::to_owned)
    }

    fn group(&self, time: i64) -> Option<&'static str> {
        let minutes = time.div_euclid(60_000);
        supplemental(&format!("zone.{}", self.name))?.split('|').find_map(|entry| {
            let mut fields = entry.split(' ');
            let group = fields.next()?;
            let bound = |field: Option<&str>| field.and_then(|field| field.parse::<i64>().ok());
            let (from, to) = (bound(fields.next()), bound(fields.next()));
            // The groups are those since 1970 (UTS #35, "Metazones").
            (from.unwrap_or(0) <= minutes && to.is_none_or(|to| minutes < to)).then_some(group)
        })
    }

    /// The time of a country, or of a city where a country has several.
    fn place(&self, locale: &Locale) -> Option<String> {
        if matches!(self.rules, Rules::Fixed(_)) || self.name.starts_with("Etc/") {
            return None;
        }
        let country =
            supplemental(&format!("place.{}", self.name)).and_then(|region| locale.get(&format!("x.region.{region}")));
        let city = locale.get(&format!("z.{}.city", self.name)).map(str::to_owned);
        let city = || city.unwrap_or_else(|| self.name.rsplit('/').next().unwrap_or_default().replace('_', " "));
        let place = country.map_or_else(city, str::to_owned);
        Some(locale.text("z.regionFormat").replace("{0}", &place))
    }
}

/// An offset as a locale writes it: `GMT+1`, or `GMT+01:00` when it is long.
fn offset_from_gmt(locale: &Locale, symbols: &Symbols, seconds: i32, long: bool) -> String {
    let mut signs = locale.text("z.hourFormat").split(';');
    let plus = signs.next().unwrap_or("+HH:mm");
    let pattern = if seconds < 0 { signs.next().unwrap_or("-HH:mm") } else { plus };
    let size = seconds.unsigned_abs();
    let (hours, minutes, rest) = (size / 3600, size / 60 % 60, size % 60);
    let digits = |value: u32, least: usize| symbols.localized(&format!("{value:0least$}"));
    let at = pattern.find('H').unwrap_or(0);
    let separator = pattern.split('H').next_back().and_then(|tail| tail.split('m').next()).unwrap_or(":");
    let mut offset = format!("{}{}", &pattern[..at], digits(hours, if long { 2 } else { 1 }));
    if long || minutes > 0 || rest > 0 {
        offset.push_str(separator);
        offset.push_str(&digits(minutes, 2));
    }
    if rest > 0 {
        offset.push_str(separator);
        offset.push_str(&digits(rest, 2));
    }
    locale.text("z.gmtFormat").replace("{0}", &offset)
}

/// `+hh`, `+hhmm` and `+hh:mm`, in minutes.
fn offset_minutes(name: &str) -> Option<i32> {
    let digits = name.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match digits.len() {
        2 => (digits, "0"),
        4 => (digits.get(..2)?, digits.get(2..)?),
        5 if digits.as_bytes()[2] == b':' => (digits.get(..2)?, digits.get(3..)?),
        _ => return None,
    };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i32>().ok())?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let sign = if name.starts_with('-') { -1 } else { 1 };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// The name of the zone that this one is another name of.
fn canonical(name: &str) -> String {
    let canonical = supplemental(&format!("alias.{name}")).unwrap_or(name);
    if matches!(canonical, "Etc/UTC" | "Etc/GMT" | "GMT" | "UTC") { UTC.to_owned() } else { canonical.to_owned() }
}

/// A zone's name as CLDR writes it, for one that the database does not have.
fn listed(name: &str) -> Option<String> {
    let known = supplemental("zones").unwrap_or_default().split(' ').find(|zone| zone.eq_ignore_ascii_case(name));
    known.map(str::to_owned)
}

const UTC: &str = "UTC";

/// Milliseconds.
const HALF_A_YEAR: i64 = 184 * DAY;
const DAY: i64 = 86_400_000;

/// The beginning of the year 9996, and four centuries, in milliseconds.
const LAST_OF_RULES: i64 = 253_276_070_400_000;
const CYCLE: i64 = 146_097 * DAY;
