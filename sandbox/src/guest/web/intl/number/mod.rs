//! Formatting numbers as `Intl.NumberFormat` does: digits, signs and groups by the patterns of a locale.

mod pattern;
mod precision;
mod range;

use icu::plurals::PluralRuleType;

use super::data::Locale;
use super::decimal::{Decimal, Kind};
use super::parts::{self, LITERAL, Parts, Piece, placed};
use super::plural::Plurals;
use pattern::{Pattern, Token};
pub(super) use pattern::{Symbols, is_system, is_unit};
pub(super) use precision::{Precision, Priority};

/// What a number is a number of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Style {
    Decimal,
    Percent,
    /// Code, how the currency is shown, and whether negative amounts are written as accountants do.
    Currency {
        code: String,
        display: Display,
        accounting: bool,
    },
    /// Unit and its width: `long`, `short` or `narrow`.
    Unit {
        unit: String,
        width: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Display {
    Symbol,
    Narrow,
    Code,
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Notation {
    Standard,
    Scientific,
    Engineering,
    CompactShort,
    CompactLong,
}

/// When digits are grouped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grouping {
    Never,
    /// As the locale does.
    Auto,
    Always,
    /// When at least two digits stand in front of the first separator.
    Min2,
}

/// When a sign is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SignDisplay {
    Auto,
    Never,
    Always,
    ExceptZero,
    Negative,
}

/// Everything that decides how a number looks.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) locale: Locale,
    /// The locale's tag, for the rules of its language.
    pub(super) tag: String,
    pub(super) system: String,
    pub(super) style: Style,
    pub(super) notation: Notation,
    pub(super) grouping: Grouping,
    pub(super) sign: SignDisplay,
    pub(super) precision: Precision,
}

/// Formats numbers in one way.
pub(super) struct NumberFormat {
    options: Options,
    /// The power of ten by which numbers are multiplied.
    scale: i32,
    /// What the sign for percent is in parts.
    percent: parts::Kind,
    symbols: Symbols,
    pattern: Pattern,
    plurals: Plurals,
}

/// A formatted number with what stands around it, from the inside out.
struct Layers {
    number: Parts,
    /// The exponent of a scientific number.
    exponent: Parts,
    /// Signs, symbols, and the names of powers in compact notation.
    affixes: (Parts, Parts),
    /// Units and the names of currencies.
    names: (Parts, Parts),
    /// The plural category by which names are chosen.
    category: &'static str,
}

/// What stands between affixes.
struct Beside {
    /// The number is only near to what is shown.
    near: bool,
    /// The affixes have the name of a power.
    compact: bool,
    /// It is written with digits.
    digits: bool,
}

impl Layers {
    fn parts(&self) -> Parts {
        let mut parts = self.names.0.clone();
        for layer in [&self.affixes.0, &self.number, &self.exponent, &self.affixes.1, &self.names.1] {
            parts.append(layer);
        }
        parts
    }
}

impl NumberFormat {
    pub(super) fn new(mut options: Options) -> Self {
        let compact = matches!(options.notation, Notation::CompactShort | Notation::CompactLong);
        let scale = if options.style == Style::Percent { 2 } else { 0 };
        // As ICU writes percent: the sign by the pattern of percents, or the unit behind a compact number; a name in any.
        let unit = matches!(&options.style, Style::Unit { unit, width } if unit == "percent" && width != "long");
        if compact && options.style == Style::Percent {
            options.style = Style::Unit { unit: "percent".to_owned(), width: "short".to_owned() };
        } else if unit && !compact {
            options.style = Style::Percent;
        }
        let percent = if unit { "unit" } else { "percentSign" };
        let locale = &options.locale;
        let mut symbols = Symbols::of(locale, &options.system).with_digits(&options.system);
        let key = match &options.style {
            Style::Percent => "percent",
            Style::Currency { display: Display::Name, .. } | Style::Decimal | Style::Unit { .. } => "format",
            // Where no sign is shown, ICU does not ask how accountants write one.
            Style::Currency { accounting: true, .. } if options.sign != SignDisplay::Never => "accounting",
            Style::Currency { .. } => "currency",
        };
        if matches!(options.style, Style::Currency { .. }) {
            symbols = symbols.for_money(locale);
        }
        let pattern = Pattern::parse(locale.text(&format!("{}.{key}", symbols.key)));
        let plurals = Plurals::new(&options.tag, PluralRuleType::Cardinal);
        Self { options, scale, percent, symbols, pattern, plurals }
    }

    pub(super) fn format(&self, value: &Decimal) -> Parts {
        self.layers(value, false).parts()
    }

    /// The plural category of a number as it is written.
    pub(super) fn category(&self, value: &Decimal, plurals: &Plurals) -> &'static str {
        let (value, least, power) = self.rounded(value.clone());
        if value.kind != Kind::Finite {
            return "other";
        }
        let (whole, fraction) = value.written(self.options.precision.whole, least);
        plurals.category(&whole, &fraction, u8::try_from(power).unwrap_or(0))
    }

    /// `near`: the number is only near to what is shown.
    fn layers(&self, value: &Decimal, near: bool) -> Layers {
        let mut value = value.clone();
        value.shift(self.scale);
        let (value, least, power) = self.rounded(value);
        let finite = value.kind == Kind::Finite;
        let (whole, fraction) = value.written(self.options.precision.whole, least);
        let fraction = if self.options.precision.strip && fraction.bytes().all(|digit| digit == b'0') {
            String::new()
        } else {
            fraction
        };

        let compact = matches!(self.options.notation, Notation::CompactShort | Notation::CompactLong);
        let shift = if compact && finite { u8::try_from(power).unwrap_or(0) } else { 0 };
        let category = |shift: u8| if finite { self.plurals.category(&whole, &fraction, shift) } else { "other" };
        let named = compact && finite && power > 0;
        let named = named.then(|| self.compact_pattern(value.magnitude() + power, category(0))).flatten();
        let category = category(shift);
        let pattern = named.as_ref().unwrap_or(&self.pattern);

        let mut number = Parts::default();
        match value.kind {
            Kind::NotANumber => number.push("nan", self.symbols.nan),
            Kind::Infinite => number.push("infinity", self.symbols.infinity),
            Kind::Finite => self.write_digits(&mut number, &whole, &fraction),
        }
        let mut exponent = Parts::default();
        if finite && matches!(self.options.notation, Notation::Scientific | Notation::Engineering) {
            exponent.push("exponentSeparator", self.symbols.exponential);
            if power < 0 {
                push_named(&mut exponent, "exponentMinusSign", self.symbols.minus);
            }
            exponent.push("exponentInteger", &self.symbols.localized(&power.unsigned_abs().to_string()));
        }
        let beside = Beside { near, compact: named.is_some(), digits: finite };
        let affixes = self.affixes(pattern, self.sign(&value), &beside);
        // Some languages have a word for one of a unit, which shows no number.
        match self.names(category) {
            Some(names) => Layers { number, exponent, affixes, names, category },
            None => Layers {
                number: self.bare_name(category),
                exponent,
                affixes: Default::default(),
                names: Default::default(),
                category,
            },
        }
    }

    /// The number that is written, how many digits follow its point at least, and the power of ten that was taken out.
    fn rounded(&self, value: Decimal) -> (Decimal, usize, i32) {
        let power_of = |magnitude: i32| match self.options.notation {
            Notation::Standard => 0,
            Notation::Scientific => magnitude,
            Notation::Engineering => magnitude.div_euclid(3) * 3,
            Notation::CompactShort | Notation::CompactLong => self.compact_power(magnitude),
        };
        let attempt = |power: i32| {
            let mut rounded = value.clone();
            rounded.shift(-power);
            let least = self.options.precision.round(&mut rounded);
            (rounded, least, power)
        };
        if value.kind != Kind::Finite || value.is_zero() {
            return attempt(0);
        }
        let first = attempt(power_of(value.magnitude()));
        // Rounding up may have made one digit more.
        let power = power_of(if first.0.is_zero() { value.magnitude() } else { first.0.magnitude() + first.2 });
        if power == first.2 { first } else { attempt(power) }
    }

    fn write_digits(&self, number: &mut Parts, whole: &str, fraction: &str) {
        let (first, others) = self.pattern.groups;
        let least = match self.options.grouping {
            Grouping::Never => usize::MAX,
            Grouping::Auto => self.symbols.least_group,
            Grouping::Always => 1,
            Grouping::Min2 => 2.max(self.symbols.least_group),
        };
        let scientific = matches!(self.options.notation, Notation::Scientific | Notation::Engineering);
        if first == 0 || scientific || whole.len() < first.saturating_add(least) {
            number.push("integer", &self.symbols.localized(whole));
        } else {
            let head = whole.len() - first;
            let mut at = match head % others {
                0 => others,
                rest => rest,
            };
            number.push("integer", &self.symbols.localized(&whole[..at]));
            while at < head {
                number.push("group", self.symbols.group);
                number.push("integer", &self.symbols.localized(&whole[at..at + others]));
                at += others;
            }
            number.push("group", self.symbols.group);
            number.push("integer", &self.symbols.localized(&whole[head..]));
        }
        if !fraction.is_empty() {
            number.push("decimal", self.symbols.decimal);
            number.push("fraction", &self.symbols.localized(fraction));
        }
    }

    fn sign(&self, value: &Decimal) -> Option<Token> {
        let negative = value.negative.then_some(Token::Minus);
        let zero = value.is_zero() || value.kind == Kind::NotANumber;
        match self.options.sign {
            SignDisplay::Auto => negative,
            SignDisplay::Never => None,
            SignDisplay::Always => negative.or(Some(Token::Plus)),
            SignDisplay::ExceptZero => {
                if zero {
                    None
                } else {
                    negative.or(Some(Token::Plus))
                }
            }
            SignDisplay::Negative => negative.filter(|_| !zero),
        }
    }

    fn affixes(&self, pattern: &Pattern, sign: Option<Token>, beside: &Beside) -> (Parts, Parts) {
        // They stand where a negative pattern has its minus, else in front.
        let near = beside.near.then_some(Token::Approximately);
        let signs: Vec<Token> = near.into_iter().chain(sign.clone()).collect();
        let has_minus =
            |sides: &(Vec<Token>, Vec<Token>)| sides.0.iter().chain(&sides.1).any(|token| *token == Token::Minus);
        let signed = |tokens: &[Token]| {
            let places = tokens
                .iter()
                .map(|token| if *token == Token::Minus { &signs[..] } else { std::slice::from_ref(token) });
            places.flatten().cloned().collect::<Vec<_>>()
        };
        let (prefix, suffix) = match &pattern.negative {
            Some(negative) if !signs.is_empty() && has_minus(negative) => (signed(&negative.0), signed(&negative.1)),
            Some(negative) if sign == Some(Token::Minus) => negative.clone(),
            _ => ([&signs[..], &pattern.prefix[..]].concat(), pattern.suffix.clone()),
        };
        let mut before = Parts::default();
        self.write_affix(&mut before, &prefix, beside.compact);
        if let (Some(Token::Currency), Some(symbol)) = (prefix.last(), self.currency_symbol().chars().last())
            && beside.digits
            && needs_space(symbol)
        {
            before.push(LITERAL, self.options.locale.text(&format!("{}.insert.after", self.symbols.key)));
        }
        let mut after = Parts::default();
        if let (Some(Token::Currency), Some(symbol)) = (suffix.first(), self.currency_symbol().chars().next())
            && beside.digits
            && needs_space(symbol)
        {
            after.push(LITERAL, self.options.locale.text(&format!("{}.insert.before", self.symbols.key)));
        }
        self.write_affix(&mut after, &suffix, beside.compact);
        (before, after)
    }

    fn write_affix(&self, parts: &mut Parts, tokens: &[Token], compact: bool) {
        for token in tokens {
            match token {
                Token::Text(text) if compact && !text.trim().is_empty() => push_named(parts, "compact", text),
                Token::Text(text) => parts.push(LITERAL, text),
                Token::Minus => push_named(parts, "minusSign", self.symbols.minus),
                Token::Plus => push_named(parts, "plusSign", self.symbols.plus),
                Token::Percent => push_named(parts, self.percent, self.symbols.percent),
                Token::Currency => parts.push("currency", self.currency_symbol()),
                Token::Approximately => parts.push("approximatelySign", self.symbols.approximately),
            }
        }
    }

    fn currency_symbol(&self) -> &str {
        let Style::Currency { code, display, .. } = &self.options.style else { return "" };
        let symbol = match display {
            Display::Symbol => self.options.locale.get(&format!("m.{code}.s")),
            Display::Narrow => self.options.locale.get(&format!("m.{code}.n")),
            Display::Code | Display::Name => None,
        };
        symbol.unwrap_or(code)
    }

    /// The pattern of compact notation for a number of this magnitude.
    fn compact_pattern(&self, magnitude: i32, category: &str) -> Option<Pattern> {
        let (kind, alpha) = match &self.options.style {
            Style::Currency { display, .. } if *display != Display::Name => {
                let alphabetic = self.currency_symbol().chars().last().is_some_and(needs_space);
                ("money", alphabetic)
            }
            _ => (if self.options.notation == Notation::CompactLong { "long" } else { "short" }, false),
        };
        let form = |system: &str, magnitude: i32| {
            let at = |kind: &str| self.options.locale.form(&format!("k.{system}.{kind}.{magnitude}"), category);
            alpha.then(|| at("money-alpha")).flatten().or_else(|| at(kind))
        };
        let known = |system: &str| (3..=magnitude.min(MOST_NAMED)).rev().find_map(|magnitude| form(system, magnitude));
        let text = known(self.symbols.system).or_else(|| known("latn"))?;
        let pattern = Pattern::parse(text);
        if pattern.prefix.is_empty() && pattern.suffix.is_empty() {
            return None;
        }
        Some(pattern)
    }

    /// The power of ten that compact notation names for numbers of this magnitude.
    fn compact_power(&self, magnitude: i32) -> i32 {
        if magnitude < 3 {
            return 0;
        }
        let key = |magnitude: i32| format!("k.{}.short.{magnitude}.other", self.symbols.system);
        let capped =
            (3..=magnitude.min(MOST_NAMED)).rev().find(|magnitude| self.options.locale.get(&key(*magnitude)).is_some());
        let capped = capped.unwrap_or(magnitude);
        self.compact_pattern(capped, "other").map_or(0, |pattern| capped + 1 - pattern.zeros as i32)
    }

    /// The name of a unit that stands for the number too.
    fn bare_name(&self, category: &str) -> Parts {
        let mut parts = Parts::default();
        if let Style::Unit { unit, width } = &self.options.style {
            parts.push("unit", &self.unit_pattern(unit, width, category));
        }
        parts
    }

    /// What stands around the whole: a unit or the name of a currency. None when there is no place for the number.
    fn names(&self, category: &str) -> Option<(Parts, Parts)> {
        let locale = &self.options.locale;
        let mut sides = (Parts::default(), Parts::default());
        match &self.options.style {
            Style::Currency { code, display: Display::Name, .. } => {
                let pattern = locale.form(&format!("{}.named", self.symbols.key), category).unwrap_or("{0} {1}");
                let name = locale.form(&format!("m.{code}"), category).unwrap_or(code);
                let mut side = &mut sides.0;
                for piece in placed(pattern) {
                    match piece {
                        Piece::Place(0) => side = &mut sides.1,
                        Piece::Place(_) => side.push("currency", name),
                        Piece::Text(text) => side.push(LITERAL, text),
                    }
                }
            }
            Style::Unit { unit, width } => {
                let pattern = self.unit_pattern(unit, width, category);
                let (before, after) = pattern.split_once("{0}")?;
                push_named(&mut sides.0, "unit", before);
                push_named(&mut sides.1, "unit", after);
            }
            _ => {}
        }
        Some(sides)
    }

    fn unit_pattern(&self, unit: &str, width: &str, category: &str) -> String {
        let locale = &self.options.locale;
        let single = |unit: &str, category: &str| locale.form(&format!("u.{width}.{unit}"), category);
        if let Some(pattern) = single(unit, category) {
            return pattern.to_owned();
        }
        let Some((unit, per)) = unit.split_once("-per-") else { return format!("{{0}} {unit}") };
        let unit = single(unit, category).unwrap_or("{0}");
        if let Some(pattern) = locale.get(&format!("u.{width}.{per}.per")) {
            return pattern.replace("{0}", unit);
        }
        let name = single(per, "one").unwrap_or_default().replace("{0}", "");
        locale.text(&format!("u.{width}.per")).replace("{1}", name.trim()).replace("{0}", unit)
    }
}

/// A name or sign, and the spaces and marks of direction around it, which are text.
fn push_named(parts: &mut Parts, kind: &'static str, text: &str) {
    let is_space = |char: char| char.is_whitespace() || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}');
    let name = text.trim_matches(is_space);
    let start = text.len() - text.trim_start_matches(is_space).len();
    parts.push(LITERAL, &text[..start]);
    parts.push(kind, name);
    parts.push(LITERAL, &text[start + name.len()..]);
}

/// Whether a currency's symbol that ends like this wants a space to the digits: all but symbols and spaces.
fn needs_space(char: char) -> bool {
    use icu::properties::props::{EnumeratedProperty as _, GeneralCategory, GeneralCategoryGroup};
    let category = GeneralCategory::for_char(char);
    !GeneralCategoryGroup::Symbol.contains(category) && !GeneralCategoryGroup::Separator.contains(category)
}

/// The largest power of ten that a language has a name for.
const MOST_NAMED: i32 = 20;
