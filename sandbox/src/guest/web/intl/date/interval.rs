//! Ranges of dates: fields that both ends share are written once, by the interval patterns of a locale (UTS #35,
//! "intervalFormats"; the choices are those of ICU's DateIntervalFormat).

use std::collections::BTreeSet;

use super::super::parts::{END, Kind, LITERAL, Parts, Piece, SHARED, START, placed};
use super::civil::Civil;
use super::generator::Hours;
use super::skeleton::{DATE_MASK, Item, Skeleton, items};
use super::{DateFormat, with_hour};

/// The largest field in which two moments differ, as its letter in the tables; smaller ones come later.
const LADDER: [char; 9] = ['G', 'y', 'M', 'd', 'a', 'h', 'm', 's', 'S'];

impl DateFormat {
    /// Formats the time between two moments, in milliseconds since the epoch; `None` when both look the same.
    pub(in super::super) fn format_range(&self, start: i64, end: i64) -> Option<Parts> {
        let step = difference(&self.civil(start), &self.civil(end))?;
        let wanted = Wanted::of(&self.pattern);
        let smallest = LADDER.iter().rposition(|letter| wanted.has(*letter)).unwrap_or(0);
        let day = 3;
        if step > smallest {
            return None;
        }
        let range = match (wanted.date.is_empty(), wanted.time.is_empty()) {
            (_, true) => self.dates(&wanted, step, start, end),
            (true, false) if step <= day => {
                let pattern = self.best(&format!("yMd{}", wanted.whole));
                self.both(&pattern, start, end)
            }
            (true, false) => self.times(&wanted, self.time_interval(&wanted, step), start, end),
            (false, false) if step <= day => {
                let mut skeleton = wanted.whole.clone();
                for (letter, at) in [('d', 3), ('M', 2), ('y', 1)] {
                    if step <= at && !wanted.date.contains(letter) {
                        skeleton.insert(0, letter);
                    }
                }
                let pattern = self.best(&skeleton);
                self.both(&pattern, start, end)
            }
            (false, false) => {
                let interval = self.time_interval(&wanted, step);
                // ICU has the date with all its widths where it has a pattern for the times, and without them where not.
                let date = if interval.is_some() { &wanted.full_date } else { &wanted.date };
                let date = self.write(&items(&self.generator.best(date, Hours::OfLocale)), start);
                let times = self.times(&wanted, interval, start, end);
                self.joined(self.options.locale.text("d.plain.medium"), &times, &date)
            }
        };
        Some(range)
    }

    fn best(&self, skeleton: &str) -> String {
        with_hour(&self.generator.best(skeleton, Hours::OfLocale), self.options.hour)
    }

    fn dates(&self, wanted: &Wanted, step: usize, start: i64, end: i64) -> Parts {
        // A larger field than the pattern has is added to it, one after the other.
        let mut skeleton = wanted.date.clone();
        let mut best = self.nearest(&skeleton);
        for at in (1..=3).rev() {
            let letter = LADDER[at];
            if at < step {
                break;
            }
            let found = best.as_ref().and_then(|best| self.interval(best, letter, &skeleton));
            if let Some(pattern) = found.filter(|_| at == step) {
                return self.split(&pattern, start, end);
            }
            let has_smaller = LADDER[at..=3].iter().any(|letter| skeleton.contains(*letter));
            if best.as_ref().is_some_and(|best| self.options.locale.get(&format!("d.i.{}.{letter}", best.0)).is_none())
                && has_smaller
                && !skeleton.contains(letter)
            {
                skeleton.insert(0, letter);
                best = self.nearest(&skeleton);
                let found = best.as_ref().and_then(|best| self.interval(best, letter, &skeleton));
                if let Some(pattern) = found.filter(|_| at == step) {
                    return self.split(&pattern, start, end);
                }
            }
        }
        if step == 0
            && let Some(pattern) = best.as_ref().and_then(|best| self.interval(best, 'G', &skeleton))
        {
            return self.split(&pattern, start, end);
        }
        let pattern = self.best(&wanted.whole);
        self.both(&pattern, start, end)
    }

    /// The pattern for two times of one day that differ in a field.
    fn time_interval(&self, wanted: &Wanted, step: usize) -> Option<String> {
        let hour = wanted.time.chars().find(|letter| matches!(letter, 'h' | 'H' | 'K' | 'k')).unwrap_or('H');
        let twelve = matches!(hour, 'h' | 'K');
        let skeleton = wanted.time.replace('K', "h").replace('k', "H");
        let letter = match LADDER[step] {
            'a' if !twelve => 'H',
            'h' if !twelve => 'H',
            letter => letter,
        };
        self.nearest(&skeleton).and_then(|best| self.interval(&best, letter, &skeleton))
    }

    fn times(&self, wanted: &Wanted, interval: Option<String>, start: i64, end: i64) -> Parts {
        match interval {
            Some(pattern) => self.split(&with_hour(&pattern, self.options.hour), start, end),
            None => {
                let pattern = self.best(&wanted.full_time);
                self.both(&pattern, start, end)
            }
        }
    }

    /// The interval patterns that are nearest to a skeleton: their own skeleton, and whether a zone's letter differs.
    fn nearest(&self, skeleton: &str) -> Option<(String, bool)> {
        let mut keys = BTreeSet::new();
        for (key, _) in self.options.locale.starting_with("d.i.") {
            keys.extend(key.split('.').next());
        }
        let zoned = skeleton.contains('z');
        let asked = widths(&skeleton.replace('z', "v"));
        let mut best: Option<(i32, &str, bool)> = None;
        for key in keys {
            let has = widths(key);
            let (mut distance, mut fits) = (0, true);
            for (letter, (mine, theirs)) in asked.iter().zip(has.iter()).enumerate() {
                let (mine, theirs) = (*mine, *theirs);
                let text = letter == usize::from(b'M' - b'A') && (mine <= 2) != (theirs <= 2);
                distance += match () {
                    () if mine == theirs => 0,
                    () if mine == 0 || theirs == 0 => {
                        fits = false;
                        0x1000
                    }
                    () if text => 0x100,
                    () => (mine - theirs).abs(),
                };
            }
            if best.is_none_or(|(least, ..)| distance < least) {
                best = Some((distance, key, fits));
            }
        }
        best.filter(|(.., fits)| *fits).map(|(_, key, _)| (key.to_owned(), zoned))
    }

    /// The interval pattern for a difference in one field, its fields as wide as those of the skeleton.
    fn interval(&self, best: &(String, bool), letter: char, skeleton: &str) -> Option<String> {
        let pattern = self.options.locale.get(&format!("d.i.{}.{letter}", best.0))?;
        let (has, asked) = (widths(&best.0), widths(skeleton));
        let mut adjusted = items(pattern);
        for item in &mut adjusted {
            if let Item::Field(letter, length) = item {
                if best.1 && *letter == 'v' {
                    *letter = 'z';
                }
                let at = match *letter {
                    'L' => 'M',
                    letter => letter,
                };
                let at = (at as usize).wrapping_sub('A' as usize);
                if let (Some(has), Some(asked)) = (has.get(at), asked.get(at))
                    && *has == *length as i32
                    && asked > has
                {
                    *length = *asked as usize;
                }
            }
        }
        Some(super::pattern_of(&adjusted))
    }

    /// Writes an interval pattern: from the first field that stands there twice on, it is about the end.
    fn split(&self, pattern: &str, start: i64, end: i64) -> Parts {
        let items = items(pattern);
        let letter = |item: &Item| match item {
            Item::Field('L', _) => Some('M'),
            Item::Field('c', _) => Some('E'),
            Item::Field(letter, _) => Some(*letter),
            Item::Text(_) => None,
        };
        let letters: Vec<_> = items.iter().map(letter).collect();
        let second = (0..items.len()).find(|at| letters[*at].is_some() && letters[..*at].contains(&letters[*at]));
        let second = second.unwrap_or(items.len());
        let repeated = |at: &usize| {
            let other = if *at < second { &letters[second..] } else { &letters[..second] };
            letters[*at].is_some() && other.contains(&letters[*at])
        };
        let span = |from: usize, to: usize| {
            let mut own = (from..to).filter(repeated);
            own.next().map(|first| (first, own.next_back().unwrap_or(first)))
        };
        let (first, last) = (span(0, second), span(second, items.len()));
        let mut range = Parts::default();
        for (at, item) in items.iter().enumerate() {
            let within = |span: Option<(usize, usize)>| span.is_some_and(|(from, to)| (from..=to).contains(&at));
            let source: Kind = if within(first) {
                START
            } else if within(last) {
                END
            } else {
                SHARED
            };
            let time = if at < second { start } else { end };
            range.append_from(&self.write(std::slice::from_ref(item), time), source);
        }
        range
    }

    /// Both ends in full.
    fn both(&self, pattern: &str, start: i64, end: i64) -> Parts {
        let items = items(pattern);
        let (first, second) = (self.write(&items, start), self.write(&items, end));
        let mut range = Parts::default();
        for piece in placed(self.options.locale.text("d.i")) {
            match piece {
                Piece::Place(0) => range.append_fields_from(&first, (SHARED, START, SHARED)),
                Piece::Place(_) => range.append_fields_from(&second, (SHARED, END, SHARED)),
                Piece::Text(text) => range.push(LITERAL, text),
            }
        }
        range
    }

    fn joined(&self, pattern: &str, times: &Parts, date: &Parts) -> Parts {
        let mut joined = Parts::default();
        for piece in placed(&pattern.replace('\'', "")) {
            match piece {
                Piece::Place(0) => joined.append(times),
                Piece::Place(_) => joined.append(date),
                Piece::Text(text) => joined.push(LITERAL, text),
            }
        }
        joined
    }
}

/// What a pattern shows, as skeletons.
struct Wanted {
    /// Numbers and times without widths, as the interval patterns are named.
    date: String,
    time: String,
    full_date: String,
    full_time: String,
    whole: String,
}

impl Wanted {
    fn of(pattern: &str) -> Self {
        let skeleton = Skeleton::of(pattern);
        let mut wanted = Self {
            date: String::new(),
            time: String::new(),
            full_date: String::new(),
            full_time: String::new(),
            whole: String::new(),
        };
        for (field, (letter, length)) in skeleton.original.iter().enumerate() {
            if *length == 0 {
                continue;
            }
            let letter = *letter;
            let written = |length: usize| letter.to_string().repeat(length);
            wanted.whole.push_str(&written(*length));
            if DATE_MASK & (1 << field) != 0 {
                let least = match letter {
                    'M' if *length < 3 => 1,
                    'E' | 'c' if *length < 4 => 1,
                    'd' => 1,
                    _ => *length,
                };
                wanted.date.push_str(&written(least));
                wanted.full_date.push_str(&written(*length));
            } else {
                wanted.full_time.push_str(&written(*length));
                let least = if letter == 'S' { *length } else { 1 };
                if letter != 'a' {
                    wanted.time.push_str(&written(least));
                }
            }
        }
        wanted
    }

    fn has(&self, letter: char) -> bool {
        let hours = |letter| matches!(letter, 'h' | 'H' | 'K' | 'k');
        match letter {
            'a' => self.time.contains(['h', 'K']),
            'h' => self.time.contains(hours),
            'd' => self.date.contains(['d', 'E', 'c']),
            'M' => self.date.contains(['M', 'L']),
            _ => self.date.contains(letter) || self.time.contains(letter),
        }
    }
}

/// How often each letter stands in a skeleton.
fn widths(skeleton: &str) -> [i32; 58] {
    let mut widths = [0; 58];
    for letter in skeleton.bytes() {
        if let Some(width) = widths.get_mut(usize::from(letter.wrapping_sub(b'A'))) {
            *width += 1;
        }
    }
    widths
}

/// Where on the ladder two moments differ first.
fn difference(first: &Civil, second: &Civil) -> Option<usize> {
    let rungs = |civil: &Civil| {
        let time = [
            i64::from(civil.hour / 12),
            i64::from(civil.hour),
            i64::from(civil.minute),
            i64::from(civil.second),
            i64::from(civil.millisecond),
        ];
        let date = [i64::from(civil.year > 0), civil.year, civil.month as i64, i64::from(civil.day)];
        date.into_iter().chain(time).collect::<Vec<_>>()
    };
    rungs(first).iter().zip(&rungs(second)).position(|(first, second)| first != second)
}
