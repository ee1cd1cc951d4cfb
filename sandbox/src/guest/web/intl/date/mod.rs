//! Formatting dates as `Intl.DateTimeFormat` does: fields by the patterns of a locale.

mod civil;
mod generator;
mod interval;
mod skeleton;
mod zone;

use std::rc::Rc;

use super::data::{Locale, supplemental};
use super::number::Symbols;
use super::parts::{LITERAL, Parts};
use super::tag;
use civil::Civil;
use generator::{Generator, Hours};
use skeleton::{Item, items, pattern_of};
pub(super) use zone::Zone;

/// Everything that decides how a date looks.
pub(super) struct Options {
    pub(super) locale: Locale,
    /// The locale's tag, for the habits of its region.
    pub(super) tag: String,
    pub(super) system: String,
    pub(super) zone: Zone,
    /// `h`, `H`, `K` or `k` for the hours, when the pattern has any.
    pub(super) hour: Option<char>,
    pub(super) fields: Fields,
}

/// Which fields are shown.
pub(super) enum Fields {
    /// Letters of the wanted fields.
    Skeleton(String),
    /// Styles of date and time, `full` to `short`.
    Styles { date: Option<String>, time: Option<String> },
}

/// Formats dates in one way.
pub(super) struct DateFormat {
    options: Options,
    symbols: Symbols,
    generator: Rc<Generator>,
    pattern: String,
    items: Vec<Item>,
}

impl DateFormat {
    pub(super) fn new(options: Options) -> Self {
        let symbols = Symbols::of(&options.locale, &options.system).with_digits(&options.system);
        let generator = Generator::of(&options.tag, &options.locale, preferred_hour(&options.tag), symbols.decimal);
        let pattern = match &options.fields {
            Fields::Skeleton(skeleton) => with_hour(&generator.best(skeleton, Hours::AsWanted), options.hour),
            Fields::Styles { date, time } => styled(&options, &generator, date.as_deref(), time.as_deref()),
        };
        Self { items: items(&pattern), options, symbols, generator, pattern }
    }

    /// The pattern in CLDR's letters, from which the resolved options are read.
    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Formats a time in milliseconds since the epoch.
    pub(super) fn format(&self, time: i64) -> Parts {
        self.write(&self.items, time)
    }

    fn civil(&self, time: i64) -> Civil {
        Civil::at(time, self.options.zone.offset(time).0)
    }

    fn write(&self, items: &[Item], time: i64) -> Parts {
        let civil = self.civil(time);
        let mut parts = Parts::default();
        for item in items {
            match item {
                Item::Text(text) => parts.push(LITERAL, text),
                Item::Field(letter, length) => {
                    let (kind, text) = self.field(*letter, *length, &civil, time);
                    parts.push(kind, &text);
                }
            }
        }
        parts
    }

    fn field(&self, letter: char, length: usize, civil: &Civil, time: i64) -> (&'static str, String) {
        let number = |value: i64, least: usize| self.symbols.localized(&format!("{value:0least$}"));
        let name =
            |key: &str, at: usize| self.options.locale.text(key).split('|').nth(at).unwrap_or_default().to_owned();
        // Names are long, abbreviated or narrow.
        let width = match length {
            4 => 'w',
            5 => 'n',
            _ => 'a',
        };
        match letter {
            'G' => ("era", name(&format!("d.era.{width}"), usize::from(civil.year > 0))),
            'y' => {
                let year = if civil.year > 0 { civil.year } else { 1 - civil.year };
                ("year", if length == 2 { number(year % 100, 2) } else { number(year, length) })
            }
            'M' | 'L' if length < 3 => ("month", number(civil.month as i64 + 1, length)),
            'M' | 'L' => {
                let form = if letter == 'M' { 'f' } else { 's' };
                ("month", name(&format!("d.month.{form}{width}"), civil.month))
            }
            'E' | 'c' => {
                let form = if letter == 'E' { 'f' } else { 's' };
                ("weekday", name(&format!("d.day.{form}{width}"), civil.weekday))
            }
            'd' => ("day", number(i64::from(civil.day), length)),
            'a' | 'b' => ("dayPeriod", name(&format!("d.period.f{width}"), usize::from(civil.hour >= 12))),
            'B' => ("dayPeriod", self.part_of_day(civil, width)),
            'H' => ("hour", number(i64::from(civil.hour), length)),
            'k' => ("hour", number(i64::from(if civil.hour == 0 { 24 } else { civil.hour }), length)),
            'K' => ("hour", number(i64::from(civil.hour % 12), length)),
            'h' => ("hour", number(i64::from((civil.hour + 11) % 12 + 1), length)),
            'm' => ("minute", number(i64::from(civil.minute), length)),
            's' => ("second", number(i64::from(civil.second), length)),
            'S' => {
                let digits = format!("{:03}", civil.millisecond);
                ("fractionalSecond", self.symbols.localized(&digits[..length.min(3)]))
            }
            _ => ("timeZoneName", self.options.zone.shown(&self.options.locale, &self.symbols, letter, length, time)),
        }
    }

    /// The part of the day by the rules of the language: noon and midnight only when it is just then.
    fn part_of_day(&self, civil: &Civil, width: char) -> String {
        let names = self.options.locale.text(&format!("d.period.f{width}"));
        let name = |period: &str| {
            let at = PERIODS.iter().position(|known| *known == period)?;
            names.split('|').nth(at).filter(|name| !name.is_empty())
        };
        let language = self.options.tag.split('-').next().unwrap_or_default();
        let language = if language == "nb" { "no" } else { language };
        let now = civil.hour * 60 + civil.minute;
        let minutes = |clock: &str| {
            let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
            hour.parse().unwrap_or(0) * 60 + minute.parse().unwrap_or(0)
        };
        let shows =
            |letter: char| self.items.iter().any(|item| matches!(item, Item::Field(field, _) if *field == letter));
        let exact = (civil.minute == 0 || !shows('m')) && (civil.second == 0 || !shows('s'));
        let rules = supplemental(&format!("period.{language}")).unwrap_or_default();
        let rules = || rules.split('|').map(|rule| rule.split(' ').collect::<Vec<_>>());
        // Midnight is not said: it may be the beginning or the end of a day.
        let just =
            rules().find(|rule| rule.len() == 2 && rule[0] == "noon" && exact && minutes(rule[1]) / 60 == civil.hour);
        let within = || {
            rules().find(|rule| {
                let (from, before) =
                    (minutes(rule.get(1).copied().unwrap_or("0")), minutes(rule.get(2).copied().unwrap_or("0")));
                rule.len() == 3
                    && if from < before { (from..before).contains(&now) } else { now >= from || now < before }
            })
        };
        let found = just.and_then(|rule| name(rule[0])).or_else(|| within().and_then(|rule| name(rule[0])));
        found.or_else(|| name(if civil.hour < 12 { "am" } else { "pm" })).unwrap_or_default().to_owned()
    }
}

/// The hour letter that the region of a locale prefers.
pub(super) fn preferred_hour(tag: &str) -> char {
    let region = tag::region(tag);
    let language = tag.split('-').next().unwrap_or_default();
    let habits = supplemental(&format!("hour.{language}-{region}")).or_else(|| supplemental(&format!("hour.{region}")));
    habits.or_else(|| supplemental("hour.001")).and_then(|habits| habits.chars().next()).unwrap_or('H')
}

/// The pattern of a locale for styles, with the hours that are wanted.
fn styled(options: &Options, generator: &Generator, date: Option<&str>, time: Option<&str>) -> String {
    let pattern = |kind: &str, style: &str| options.locale.text(&format!("d.{kind}.{style}"));
    let pattern = match (date, time) {
        (Some(date), Some(time)) => {
            pattern("join", date).replace("{1}", pattern("date", date)).replace("{0}", pattern("time", time))
        }
        (Some(style), None) => pattern("date", style).to_owned(),
        (None, Some(style)) => pattern("time", style).to_owned(),
        (None, None) => String::new(),
    };
    let hours = items(&pattern).into_iter().find_map(|item| match item {
        Item::Field(letter @ ('h' | 'H' | 'k' | 'K'), _) => Some(letter),
        _ => None,
    });
    if hours.is_none() || options.hour.is_none() || hours == options.hour {
        return pattern;
    }
    with_hour(&generator.best(&skeleton_of(&pattern, options.hour), Hours::AsWanted), options.hour)
}

/// The fields of a pattern, with the hours of a cycle.
fn skeleton_of(pattern: &str, hour: Option<char>) -> String {
    let mut skeleton = Vec::new();
    for item in items(pattern) {
        match item {
            Item::Field('h' | 'H' | 'k' | 'K', length) => skeleton.push(Item::Field(hour.unwrap_or('H'), length)),
            Item::Field('a' | 'b', _) if hour.is_some() => {}
            Item::Field(..) => skeleton.push(item),
            Item::Text(_) => {}
        }
    }
    pattern_of(&skeleton)
}

/// A pattern with its hours counted in a cycle.
fn with_hour(pattern: &str, hour: Option<char>) -> String {
    let Some(hour) = hour else { return pattern.to_owned() };
    let mut items = items(pattern);
    for item in &mut items {
        if let Item::Field(letter @ ('h' | 'H' | 'k' | 'K'), _) = item {
            *letter = hour;
        }
    }
    pattern_of(&items)
}

/// In the order of the tables.
const PERIODS: [&str; 12] = [
    "am",
    "pm",
    "midnight",
    "noon",
    "morning1",
    "morning2",
    "afternoon1",
    "afternoon2",
    "evening1",
    "evening2",
    "night1",
    "night2",
];
