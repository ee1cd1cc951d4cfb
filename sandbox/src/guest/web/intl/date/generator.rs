//! The best pattern of a locale for the fields that a program wants (UTS #35, "availableFormats": ICU's
//! DateTimePatternGenerator, whose choices programs see on other engines).

use std::cell::RefCell;
use std::rc::Rc;

use super::super::data::Locale;
use super::skeleton::{
    self, DATE_MASK, FIELDS, FRACTION, HOUR, Item, MINUTE, MONTH, SECOND, Skeleton, WEEKDAY, YEAR, items, pattern_of,
};

/// All patterns of a locale.
pub(super) struct Generator {
    locale: Locale,
    patterns: Vec<Known>,
    /// The hour letter that the region prefers.
    hour: char,
    /// The sign in front of fractions of a second.
    decimal: &'static str,
}

thread_local! {
    static KEPT: RefCell<Vec<(String, Rc<Generator>)>> = RefCell::default();
}

/// How many generators are kept.
const MOST_KEPT: usize = 4;

/// How wide hours are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hours {
    AsWanted,
    OfLocale,
}

struct Known {
    skeleton: Skeleton,
    pattern: String,
    /// Whether the table says which fields the pattern is for; otherwise they are those that it has.
    said: bool,
}

impl Generator {
    /// The generator of a locale by its tag. A few are kept: making one takes longer than all else of a format.
    pub(super) fn of(tag: &str, locale: &Locale, hour: char, decimal: &'static str) -> Rc<Self> {
        KEPT.with_borrow_mut(|kept| {
            let same =
                kept.iter().find(|(of, generator)| of == tag && generator.hour == hour && generator.decimal == decimal);
            if let Some((_, generator)) = same {
                return Rc::clone(generator);
            }
            let generator = Rc::new(Self::new(locale, hour, decimal));
            if kept.len() >= MOST_KEPT {
                kept.remove(0);
            }
            kept.push((tag.to_owned(), Rc::clone(&generator)));
            generator
        })
    }

    fn new(locale: &Locale, hour: char, decimal: &'static str) -> Self {
        let mut generator = Self { locale: locale.clone(), patterns: Vec::new(), hour, decimal };
        for item in ["G", "y", "M", "E", "d", "a", "B", "H", "m", "s", "S", "v"] {
            generator.add(item, None);
        }
        for style in ["full", "long", "medium", "short"] {
            for kind in ["date", "time"] {
                generator.add(locale.text(&format!("d.{kind}.{style}")), None);
            }
        }
        for (wanted, pattern) in locale.starting_with("d.a.") {
            generator.add(pattern, Some(wanted));
        }
        generator
    }

    fn add(&mut self, pattern: &str, wanted: Option<&str>) {
        let skeleton = Skeleton::of(wanted.unwrap_or(pattern));
        let known = Known { skeleton, pattern: pattern.to_owned(), said: wanted.is_some() };
        let twin = self.patterns.iter().position(|other| other.skeleton.same_base(&known.skeleton) && !other.said);
        if twin.is_some() && wanted.is_none() {
            return;
        }
        let same = self.patterns.iter().position(|other| other.skeleton.original == known.skeleton.original);
        match same {
            Some(at) if wanted.is_some() && !self.patterns[at].said => self.patterns[at] = known,
            Some(_) => {}
            None => self.patterns.push(known),
        }
    }

    /// The pattern for these fields; its hours are as wide as wanted, or as the locale has them.
    pub(super) fn best(&self, wanted: &str, hours: Hours) -> String {
        let wanted = Skeleton::of(wanted);
        let (known, missing, extra) = self.nearest(&wanted, u32::MAX);
        if missing == 0 && extra == 0 {
            return self.adjusted(&known.pattern, known.said.then_some(&known.skeleton), &wanted, hours, false);
        }
        let mask = wanted.mask();
        let date = self.appended(&wanted, hours, mask & DATE_MASK);
        let time = self.appended(&wanted, hours, mask & !DATE_MASK);
        match (date.is_empty(), time.is_empty()) {
            (true, _) => time,
            (_, true) => date,
            _ => self.joined(&wanted, &date, &time),
        }
    }

    /// A date and a time as one pattern: which words join them depends on how the month is written.
    fn joined(&self, wanted: &Skeleton, date: &str, time: &str) -> String {
        let style = match wanted.base_length(MONTH) {
            4 if wanted.has(WEEKDAY) => "full",
            4 => "long",
            3 => "medium",
            _ => "short",
        };
        self.locale.text(&format!("d.join.{style}")).replace("{1}", date).replace("{0}", time)
    }

    fn nearest(&self, wanted: &Skeleton, mask: u32) -> (&Known, u32, u32) {
        let distances = self.patterns.iter().map(|known| (known, wanted.distance(&known.skeleton, mask)));
        let best = distances.reduce(|best, next| {
            let rank = |(distance, missing, _): (i32, u32, u32)| (distance, std::cmp::Reverse(missing));
            let nearer = rank(next.1) < rank(best.1);
            if nearer { next } else { best }
        });
        // There are always the twelve patterns of one field.
        best.map_or((&self.patterns[0], 0, 0), |(known, (_, missing, extra))| (known, missing, extra))
    }

    /// The nearest pattern, with the fields that it lacks appended.
    fn appended(&self, wanted: &Skeleton, hours: Hours, mask: u32) -> String {
        if mask == 0 {
            return String::new();
        }
        let part = |mask| {
            let (known, missing, _) = self.nearest(wanted, mask);
            let said = known.said.then_some(&known.skeleton);
            (self.adjusted(&known.pattern, said, wanted, hours, false), missing, said)
        };
        let (mut pattern, mut missing, mut said) = part(mask);
        let fraction = 1 << FRACTION;
        let seconds = 1 << SECOND | fraction;
        while missing != 0 {
            if missing & seconds == fraction && mask & seconds == seconds {
                pattern = self.adjusted(&pattern, said, wanted, hours, true);
                missing &= !fraction;
                continue;
            }
            let (next, left, next_said) = part(missing);
            said = next_said;
            let found = missing & !left;
            if found == 0 {
                break;
            }
            let name = APPENDED[(31 - found.leading_zeros()) as usize];
            let append = self.locale.text(&format!("d.append.{name}"));
            let quoted = format!("'{}'", self.locale.text(&format!("d.name.{name}")).replace('\'', "''"));
            pattern = append.replace("{0}", &pattern).replace("{1}", &next).replace("{2}", &quoted);
            missing = left;
        }
        pattern
    }

    /// A pattern with its fields as wide as wanted.
    fn adjusted(
        &self,
        pattern: &str,
        said: Option<&Skeleton>,
        wanted: &Skeleton,
        hours: Hours,
        fractions: bool,
    ) -> String {
        let mut adjusted = Vec::new();
        for item in items(pattern) {
            let Item::Field(letter, length) = item else {
                adjusted.push(item);
                continue;
            };
            let Some((field, kind, _)) = skeleton::row(letter, length) else {
                adjusted.push(item);
                continue;
            };
            if fractions && field == SECOND {
                adjusted.push(Item::Field(letter, length));
                adjusted.push(Item::Text(self.decimal.to_owned()));
                adjusted.push(Item::Field('S', wanted.original[FRACTION].1));
                continue;
            }
            if !wanted.has(field) {
                adjusted.push(Item::Field(letter, length));
                continue;
            }
            let (asked, mut asked_length) = wanted.original[field];
            if asked == 'E' && asked_length < 3 {
                asked_length = 3;
            }
            let mut new_length = asked_length;
            if matches!(field, MINUTE | SECOND) || field == HOUR && hours == Hours::OfLocale {
                new_length = length;
            } else if let Some(said) = said {
                let mixed = (kind > 0) != wanted.is_numeric(field);
                if said.original[field].1 == asked_length || mixed {
                    new_length = length;
                }
            }
            let mut new_letter = if matches!(field, HOUR | MONTH | WEEKDAY | YEAR) { letter } else { asked };
            if field == HOUR {
                new_letter = match (asked, self.hour) {
                    (asked, hour) if asked == hour => hour,
                    ('h', 'K') => 'K',
                    ('H', 'k') => 'k',
                    ('k', 'H') => 'H',
                    ('K', 'h') => 'h',
                    _ => new_letter,
                };
            }
            adjusted.push(Item::Field(new_letter, new_length));
        }
        pattern_of(&adjusted)
    }
}

/// What CLDR calls each field where it is appended.
const APPENDED: [&str; FIELDS] = [
    "Era",
    "Year",
    "Quarter",
    "Month",
    "Week",
    "Week",
    "Day-Of-Week",
    "Day",
    "Day-Of-Week",
    "Day",
    "Hour",
    "Hour",
    "Minute",
    "Second",
    "Second",
    "Timezone",
];
