//! Ordering strings as a language does, over ICU4X.

use std::cmp::Ordering;

use icu::collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu::collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu::collator::{CollatorBorrowed, CollatorPreferences};
use icu::locale::Locale as Tag;
use rquickjs::{Ctx, Result};

use super::super::native::bytes;
use super::{Formatter, Instance, foreign};

/// One way to compare.
pub(super) struct Collation(CollatorBorrowed<'static>);

impl Collation {
    /// `first` is `upper`, `lower` or `false`.
    pub(super) fn new(
        tag: &str,
        sensitivity: &str,
        ignore_punctuation: bool,
        numeric: bool,
        first: &str,
    ) -> Option<Self> {
        let tag: Tag = tag.parse().ok()?;
        let mut preferences = CollatorPreferences::from(&tag);
        preferences.numeric_ordering =
            Some(if numeric { CollationNumericOrdering::True } else { CollationNumericOrdering::False });
        preferences.case_first = Some(match first {
            "upper" => CollationCaseFirst::Upper,
            "lower" => CollationCaseFirst::Lower,
            _ => CollationCaseFirst::False,
        });
        let mut options = CollatorOptions::default();
        options.strength = Some(match sensitivity {
            "base" | "case" => Strength::Primary,
            "accent" => Strength::Secondary,
            _ => Strength::Tertiary,
        });
        options.case_level = Some(if sensitivity == "case" { CaseLevel::On } else { CaseLevel::Off });
        options.alternate_handling =
            Some(if ignore_punctuation { AlternateHandling::Shifted } else { AlternateHandling::NonIgnorable });
        CollatorBorrowed::try_new(preferences, options).ok().map(Self)
    }
}

/// `compare(formatter, a, b) -> -1 | 0 | 1`.
pub(super) fn compare<'js>(
    ctx: Ctx<'js>,
    formatter: Instance<'js>,
    a: rquickjs::String<'js>,
    b: rquickjs::String<'js>,
) -> Result<i32> {
    let formatter = formatter.borrow();
    let Formatter::Collator(Collation(collator)) = &*formatter else { return Err(foreign(&ctx)) };
    let order = bytes::with_units(&a, |a| bytes::with_units(&b, |b| collator.compare_utf16(a, b)))??;
    Ok(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}
