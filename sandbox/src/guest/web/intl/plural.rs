//! Which plural form a number takes in a language.

use icu::decimal::input::Decimal;
use icu::locale::Locale;
use icu::plurals::{PluralCategory, PluralOperands, PluralRuleType, PluralRulesOptions, PluralRulesWithRanges};

/// The rules of one language, for cardinal or ordinal numbers.
pub(super) struct Plurals(Option<PluralRulesWithRanges<icu::plurals::PluralRules>>);

impl Plurals {
    pub(super) fn new(tag: &str, kind: PluralRuleType) -> Self {
        let locale: Locale = tag.parse().unwrap_or(Locale::UNKNOWN);
        let options = PluralRulesOptions::default().with_type(kind);
        Self(PluralRulesWithRanges::try_new((&locale).into(), options).ok())
    }

    /// The category of a number that is written with these digits, times ten to the power `exponent`.
    pub(super) fn category(&self, whole: &str, fraction: &str, exponent: u8) -> &'static str {
        let Some(rules) = &self.0 else { return OTHER };
        // Rules look at no more than the last digits, and whether there are others before them.
        let whole = if whole.len() > 18 { format!("1{}", &whole[whole.len() - 17..]) } else { whole.to_owned() };
        let fraction = &fraction[..fraction.len().min(17)];
        let point = if fraction.is_empty() { "" } else { "." };
        let Ok(decimal) = Decimal::try_from_str(&format!("{whole}{point}{fraction}")) else { return OTHER };
        name(rules.rules().category_for(PluralOperands::from_significand_and_exponent(&decimal.absolute, exponent)))
    }

    /// The category of a range between numbers of two categories.
    pub(super) fn range(&self, start: &str, end: &str) -> &'static str {
        let category = |name: &str| PluralCategory::get_for_cldr_string(name).unwrap_or(PluralCategory::Other);
        self.0.as_ref().map_or(OTHER, |rules| name(rules.resolve_range(category(start), category(end))))
    }

    /// Every category that numbers of the language take.
    pub(super) fn categories(&self) -> Vec<&'static str> {
        self.0.as_ref().map_or_else(|| vec![OTHER], |rules| rules.rules().categories().map(name).collect())
    }
}

fn name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => OTHER,
    }
}

const OTHER: &str = "other";
