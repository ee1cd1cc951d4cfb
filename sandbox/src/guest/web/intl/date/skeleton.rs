//! Skeletons: which fields a pattern has, how wide they are, and how far two skeletons are apart (UTS #35, "Matching
//! Skeletons"; the distances are those of ICU's DateTimePatternGenerator).

/// The fields of a pattern, in their order.
pub(super) const FIELDS: usize = 16;
pub(super) const ERA: usize = 0;
pub(super) const YEAR: usize = 1;
pub(super) const MONTH: usize = 3;
pub(super) const WEEKDAY: usize = 6;
pub(super) const DAY: usize = 9;
pub(super) const PERIOD: usize = 10;
pub(super) const HOUR: usize = 11;
pub(super) const MINUTE: usize = 12;
pub(super) const SECOND: usize = 13;
pub(super) const FRACTION: usize = 14;
pub(super) const ZONE: usize = 15;

/// Those that make a date.
pub(super) const DATE_MASK: u32 = (1 << PERIOD) - 1;

/// One piece of a date pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A letter and how often it stands there.
    Field(char, usize),
    Text(String),
}

/// Takes a pattern apart.
pub(super) fn items(pattern: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut quoted = false;
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        let text = match char {
            '\'' if chars.peek() == Some(&'\'') => {
                chars.next();
                '\''
            }
            '\'' => {
                quoted = !quoted;
                continue;
            }
            _ if !quoted && char.is_ascii_alphabetic() => {
                let mut length = 1;
                while chars.peek() == Some(&char) {
                    chars.next();
                    length += 1;
                }
                items.push(Item::Field(char, length));
                continue;
            }
            _ => char,
        };
        match items.last_mut() {
            Some(Item::Text(last)) => last.push(text),
            _ => items.push(Item::Text(text.to_string())),
        }
    }
    items
}

/// Writes pieces as a pattern.
pub(super) fn pattern_of(items: &[Item]) -> String {
    let mut pattern = String::new();
    for item in items {
        match item {
            Item::Field(letter, length) => pattern.extend(std::iter::repeat_n(*letter, *length)),
            Item::Text(text) if text.contains(|char: char| char.is_ascii_alphabetic() || char == '\'') => {
                pattern.push('\'');
                pattern.push_str(&text.replace('\'', "''"));
                pattern.push('\'');
            }
            Item::Text(text) => pattern.push_str(text),
        }
    }
    pattern
}

/// A letter as a kind of field: its field, its type (numeric when positive), and the least length of the row.
pub(super) fn row(letter: char, length: usize) -> Option<(usize, i32, usize)> {
    let (field, kind) = match letter {
        'G' => (ERA, Letter::Text(0)),
        'y' => (YEAR, Letter::Numeric(0)),
        'r' => (YEAR, Letter::Numeric(3)),
        'U' => (YEAR, Letter::Text(0)),
        'Q' => (2, Letter::Mixed(0, 0)),
        'M' => (MONTH, Letter::Mixed(0, 0)),
        'L' => (MONTH, Letter::Mixed(1, 1)),
        'w' => (4, Letter::Numeric(0)),
        'W' => (5, Letter::Numeric(0)),
        'E' => (WEEKDAY, Letter::Text(0)),
        'c' => (WEEKDAY, Letter::Mixed(2, 2)),
        'e' => (WEEKDAY, Letter::Mixed(1, 1)),
        'd' => (DAY, Letter::Numeric(0)),
        'D' => (7, Letter::Numeric(0)),
        'F' => (8, Letter::Numeric(0)),
        'a' => (PERIOD, Letter::Text(0)),
        'b' => (PERIOD, Letter::Text(1)),
        'B' => (PERIOD, Letter::Text(3)),
        'h' => (HOUR, Letter::Numeric(0)),
        'K' => (HOUR, Letter::Numeric(1)),
        'H' => (HOUR, Letter::Numeric(10)),
        'k' => (HOUR, Letter::Numeric(11)),
        'm' => (MINUTE, Letter::Numeric(0)),
        's' => (SECOND, Letter::Numeric(0)),
        'S' => (FRACTION, Letter::Numeric(0)),
        'z' => (ZONE, Letter::Text(0)),
        'v' => (ZONE, Letter::Text(2)),
        'O' => (ZONE, Letter::Text(1)),
        _ => return None,
    };
    let text = |delta: i32| match length {
        ..=3 => (SHORT - delta * DELTA, 1),
        4 => (LONG - delta * DELTA, 4),
        5 => (NARROW - delta * DELTA, 5),
        _ => (SHORTER - delta * DELTA, 6),
    };
    let (kind, least) = match kind {
        Letter::Numeric(delta) => (NUMERIC + delta * DELTA + length as i32, 1),
        Letter::Mixed(delta, _) if length < 3 => (NUMERIC + delta * DELTA + length as i32, 1),
        Letter::Mixed(_, delta) => {
            let (kind, least) = text(delta);
            (kind, least.max(3))
        }
        Letter::Text(delta) => text(delta),
    };
    Some((field, kind, least))
}

enum Letter {
    Numeric(i32),
    Text(i32),
    /// Numeric up to two letters.
    Mixed(i32, i32),
}

/// What a pattern or a request asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Skeleton {
    /// The type of each field; 0 for one that is not there.
    kinds: [i32; FIELDS],
    /// Letter and length of each field as it was written.
    pub(super) original: [(char, usize); FIELDS],
    /// The same, each at its least length.
    base: [(char, usize); FIELDS],
}

impl Skeleton {
    pub(super) fn of(pattern: &str) -> Self {
        let mut skeleton = Self::default();
        for item in items(pattern) {
            let Item::Field(letter, length) = item else { continue };
            skeleton.add(letter, length);
        }
        if skeleton.has(FRACTION) && skeleton.has(MINUTE) && !skeleton.has(SECOND) {
            skeleton.add('s', 1);
        }
        match skeleton.original[HOUR].0 {
            'h' | 'K' if !skeleton.has(PERIOD) => skeleton.add('a', 1),
            'H' | 'k' => skeleton.remove(PERIOD),
            _ => {}
        }
        skeleton
    }

    fn add(&mut self, letter: char, length: usize) {
        if let Some((field, kind, least)) = row(letter, length) {
            self.kinds[field] = kind;
            self.original[field] = (letter, length);
            self.base[field] = (letter, least);
        }
    }

    fn remove(&mut self, field: usize) {
        self.kinds[field] = 0;
        self.original[field] = Default::default();
        self.base[field] = Default::default();
    }

    pub(super) fn has(&self, field: usize) -> bool {
        self.kinds[field] != 0
    }

    pub(super) fn is_numeric(&self, field: usize) -> bool {
        self.kinds[field] > 0
    }

    pub(super) fn same_base(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// How many letters its field has at least.
    pub(super) fn base_length(&self, field: usize) -> usize {
        self.base[field].1
    }

    pub(super) fn mask(&self) -> u32 {
        (0..FIELDS).filter(|field| self.has(*field)).fold(0, |mask, field| mask | 1 << field)
    }

    /// The distance to what a pattern has, as far as `mask` goes, and the fields that the pattern lacks and has too many.
    pub(super) fn distance(&self, other: &Self, mask: u32) -> (i32, u32, u32) {
        let (mut distance, mut missing, mut extra) = (0, 0, 0);
        for field in 0..FIELDS {
            let mine = if mask & (1 << field) == 0 { 0 } else { self.kinds[field] };
            let theirs = other.kinds[field];
            match (mine, theirs) {
                _ if mine == theirs => {}
                (0, _) => {
                    distance += 0x10000;
                    extra |= 1 << field;
                }
                (_, 0) => {
                    distance += 0x1000;
                    missing |= 1 << field;
                }
                _ => distance += (mine - theirs).abs(),
            }
        }
        (distance, missing, extra)
    }
}

const NUMERIC: i32 = 0x100;
const NARROW: i32 = -0x101;
const SHORTER: i32 = -0x102;
const SHORT: i32 = -0x103;
const LONG: i32 = -0x104;
const DELTA: i32 = 0x10;
