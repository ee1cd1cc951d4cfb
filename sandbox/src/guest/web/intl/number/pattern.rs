//! Number patterns: `#,##0.00 ¤;(#,##0.00 ¤)` taken apart, and symbols of a numbering system.

use super::super::data::{Locale, supplemental};

/// What stands around a number, and how its digits are grouped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pattern {
    pub(super) prefix: Vec<Token>,
    pub(super) suffix: Vec<Token>,
    /// Around a negative number, when the pattern says so itself.
    pub(super) negative: Option<(Vec<Token>, Vec<Token>)>,
    /// Digits of the group next to the point, and of the others; 0 for none.
    pub(super) groups: (usize, usize),
    /// How many digits stand in front of the point: the zeros of a compact pattern.
    pub(super) zeros: usize,
}

/// One piece of an affix.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Text(String),
    Minus,
    Plus,
    Percent,
    Currency,
    /// Says that a number is near to what is shown.
    Approximately,
}

impl Pattern {
    pub(super) fn parse(pattern: &str) -> Self {
        let mut halves = split_unquoted(pattern);
        let (prefix, number, suffix) = affixes(halves.next().unwrap_or_default());
        let negative = halves.next().map(|half| {
            let (prefix, _, suffix) = affixes(half);
            (prefix, suffix)
        });
        let whole = number.split('.').next().unwrap_or_default();
        let mut groups = whole.rsplit(',').map(str::len);
        let groups = match (groups.next(), groups.next(), groups.next()) {
            (Some(first), Some(second), Some(_)) => (first, second),
            (Some(first), Some(_), None) => (first, first),
            _ => (0, 0),
        };
        Self { prefix, suffix, negative, groups, zeros: whole.matches('0').count() }
    }
}

/// The parts of a pattern between semicolons that are not quoted.
fn split_unquoted(pattern: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    pattern.split(move |char| {
        quoted ^= char == '\'';
        char == ';' && !quoted
    })
}

/// Prefix, number and suffix of one half of a pattern.
fn affixes(half: &str) -> (Vec<Token>, &str, Vec<Token>) {
    let mut quoted = false;
    let is_number = |char: char| matches!(char, '#' | '0' | ',' | '.' | '@' | 'E');
    let mut start = None;
    let mut end = half.len();
    for (at, char) in half.char_indices() {
        quoted ^= char == '\'';
        match start {
            None if !quoted && is_number(char) => start = Some(at),
            Some(_) if quoted || !is_number(char) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let start = start.unwrap_or(half.len());
    (tokens(&half[..start]), &half[start..end.max(start)], tokens(&half[end.max(start)..]))
}

fn tokens(affix: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    let mut quoted = false;
    let mut chars = affix.chars().peekable();
    while let Some(char) = chars.next() {
        let token = match char {
            '\'' if chars.peek() == Some(&'\'') => {
                chars.next();
                text.push('\'');
                continue;
            }
            '\'' => {
                quoted = !quoted;
                continue;
            }
            '-' if !quoted => Token::Minus,
            '+' if !quoted => Token::Plus,
            '%' if !quoted => Token::Percent,
            '¤' if !quoted => Token::Currency,
            _ => {
                text.push(char);
                continue;
            }
        };
        if !text.is_empty() {
            tokens.push(Token::Text(std::mem::take(&mut text)));
        }
        tokens.push(token);
    }
    if !text.is_empty() {
        tokens.push(Token::Text(text));
    }
    tokens
}

/// How a locale writes numbers in one numbering system.
#[derive(Clone)]
pub(in super::super) struct Symbols {
    /// The prefix of the keys that the locale has for the system, `n.latn` for one of its own.
    pub(super) key: String,
    /// Of the system itself, for other keys.
    pub(super) system: &'static str,
    pub(in super::super) digits: [char; 10],
    pub(in super::super) decimal: &'static str,
    pub(super) group: &'static str,
    pub(super) minus: &'static str,
    pub(super) plus: &'static str,
    pub(super) percent: &'static str,
    pub(super) approximately: &'static str,
    pub(super) exponential: &'static str,
    pub(super) infinity: &'static str,
    pub(super) nan: &'static str,
    /// The digits in front of the first group separator are at least this many.
    pub(super) least_group: usize,
}

impl Symbols {
    /// A locale's symbols for a numbering system, else those that the system has of its own, else those of Latin digits.
    pub(in super::super) fn of(locale: &Locale, system: &str) -> Self {
        let own = locale.get(&format!("n.{system}.decimal")).is_some();
        let known = if own { system } else { "latn" };
        let symbol = |name: &str| {
            let apart = if own { None } else { supplemental(&format!("n.{system}.{name}")) };
            apart.unwrap_or_else(|| locale.text(&format!("n.{known}.{name}")))
        };
        Self {
            key: format!("n.{known}"),
            system: if known == "latn" { "latn" } else { locale.text("n.system") },
            digits: digits(known),
            decimal: symbol("decimal"),
            group: symbol("group"),
            minus: symbol("minusSign"),
            plus: symbol("plusSign"),
            percent: symbol("percentSign"),
            approximately: symbol("approximatelySign"),
            exponential: symbol("exponential"),
            infinity: symbol("infinity"),
            nan: symbol("nan"),
            least_group: locale.text("n.grouping").parse().unwrap_or(1),
        }
    }

    /// Writes with the digits of another numbering system.
    pub(in super::super) fn with_digits(mut self, system: &str) -> Self {
        self.digits = digits(system);
        self
    }

    /// Those between amounts of money, where the locale has others for them.
    pub(super) fn for_money(mut self, locale: &Locale) -> Self {
        self.decimal = locale.get(&format!("{}.currencyDecimal", self.key)).unwrap_or(self.decimal);
        self.group = locale.get(&format!("{}.currencyGroup", self.key)).unwrap_or(self.group);
        self
    }

    /// ASCII digits as the system writes them.
    pub(in super::super) fn localized(&self, digits: &str) -> String {
        digits.bytes().map(|digit| self.digits[usize::from(digit.wrapping_sub(b'0').min(9))]).collect()
    }
}

/// Whether numbers can be written in a system of this name.
pub(in super::super) fn is_system(name: &str) -> bool {
    supplemental(&format!("digits.{name}")).is_some()
}

/// Whether this is one of the simple units that ECMA-402 sanctions.
pub(in super::super) fn is_unit(name: &str) -> bool {
    supplemental("units").unwrap_or_default().split(' ').any(|unit| unit == name)
}

fn digits(system: &str) -> [char; 10] {
    let mut digits = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];
    if let Some(own) = supplemental(&format!("digits.{system}")) {
        digits.iter_mut().zip(own.chars()).for_each(|(digit, own)| *digit = own);
    }
    digits
}
