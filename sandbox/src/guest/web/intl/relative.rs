//! Times relative to now, as `Intl.RelativeTimeFormat` says them.

use icu::plurals::PluralRuleType;

use super::data::Locale;
use super::decimal::Decimal;
use super::number::{NumberFormat, Options};
use super::parts::{LITERAL, Parts, Piece, placed};
use super::plural::Plurals;

pub(super) struct RelativeFormat {
    locale: Locale,
    number: NumberFormat,
    plurals: Plurals,
    /// `long`, `short` or `narrow`.
    style: String,
    /// Whether there are words for some values: yesterday.
    words: bool,
}

impl RelativeFormat {
    pub(super) fn new(options: Options, style: String, words: bool) -> Self {
        let locale = options.locale.clone();
        let plurals = Plurals::new(&options.tag, PluralRuleType::Cardinal);
        Self { locale, number: NumberFormat::new(options), plurals, style, words }
    }

    /// A count of a unit in singular, in the future unless it is negative.
    pub(super) fn format(&self, value: f64, unit: &str) -> Parts {
        let key = format!("r.{}.{unit}", self.style);
        let mut parts = Parts::default();
        if self.words && value.fract() == 0.0 && value.abs() < 10.0 {
            let word = self.locale.get(&format!("{key}.at{}", value as i64));
            // There is one zero in the tables, and two in JavaScript.
            if let Some(word) = word {
                parts.push(LITERAL, word);
                return parts;
            }
        }
        let past = value.is_sign_negative();
        let amount = Decimal::from_f64(value.abs());
        let category = self.number.category(&amount, &self.plurals);
        let tense = if past { "past" } else { "future" };
        let pattern = self.locale.form(&format!("{key}.{tense}"), category).unwrap_or("{0}");
        for piece in placed(pattern) {
            match piece {
                Piece::Place(_) => parts.append(&self.number.format(&amount)),
                Piece::Text(text) => parts.push(LITERAL, text),
            }
        }
        parts
    }
}
