//! Ordering strings as a language does, over ICU4X.

use std::cmp::Ordering;

use icu::collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu::collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu::collator::{CollatorBorrowed, CollatorPreferences};
use icu::locale::Locale as Tag;
use icu::properties::props::{EnumeratedProperty as _, GeneralCategory};
use rquickjs::{Ctx, Result};

use super::super::native::bytes;
use super::{Formatter, Instance, foreign};

/// One way to compare.
pub(super) struct Collation {
    collator: CollatorBorrowed<'static>,
    numeric: bool,
}

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
        CollatorBorrowed::try_new(preferences, options).ok().map(|collator| Self { collator, numeric })
    }
}

impl Collation {
    fn order(&self, a: &[u16], b: &[u16]) -> Ordering {
        if self.numeric
            && let Some((a, b)) = without_shared_digits(a, b)
        {
            return self.collator.compare_utf16(&a, &b);
        }
        self.collator.compare_utf16(a, b)
    }
}

/// The two texts without most of the digits that end what they have in common, where these are many: ICU4X goes back
/// over them one by one, and moves all that it has passed each time. The first that is not zero and the last one stay,
/// so that the numbers that go on behind them have the same order.
fn without_shared_digits(a: &[u16], b: &[u16]) -> Option<(Vec<u16>, Vec<u16>)> {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    // Not half of a pair.
    let pair = shared.checked_sub(1).is_some_and(|at| (0xD800..0xDC00).contains(&a[at]));
    let shared = &a[..shared - usize::from(pair)];
    let mut start = shared.len();
    let mut last = start;
    while let Some(digit) = last_char(&shared[..start]).filter(|char| is_digit(*char)) {
        if start == shared.len() {
            last -= digit.len_utf16();
        }
        start -= digit.len_utf16();
    }
    if shared.len() - start < MANY_DIGITS {
        return None;
    }
    let first = char::decode_utf16(shared[start..last].iter().copied()).flatten().find(|digit| !is_zero(*digit));
    let shortened = |text: &[u16]| {
        let mut shortened = text[..start].to_vec();
        shortened
            .extend_from_slice(first.map(|digit| digit.encode_utf16(&mut [0; 2]).to_vec()).as_deref().unwrap_or(&[]));
        shortened.extend_from_slice(&text[last..]);
        shortened
    };
    Some((shortened(a), shortened(b)))
}

fn last_char(text: &[u16]) -> Option<char> {
    let from = text.len().saturating_sub(2);
    let mut chars = char::decode_utf16(text[from..].iter().copied());
    let first = chars.next()?.ok();
    match chars.next() {
        Some(second) => second.ok(),
        None => first,
    }
}

fn is_digit(char: char) -> bool {
    GeneralCategory::for_char(char) == GeneralCategory::DecimalNumber
}

/// Digits stand in rows from zero to nine, of which some follow one another.
fn is_zero(digit: char) -> bool {
    let before = (1..).map_while(|back| char::from_u32(u32::from(digit).checked_sub(back)?));
    before.take_while(|char| is_digit(*char)).count() % 10 == 0
}

/// From so many units on it is worth the copies.
const MANY_DIGITS: usize = 64;

/// `compare(formatter, a, b) -> -1 | 0 | 1`.
pub(super) fn compare<'js>(
    ctx: Ctx<'js>,
    formatter: Instance<'js>,
    a: rquickjs::String<'js>,
    b: rquickjs::String<'js>,
) -> Result<i32> {
    let formatter = formatter.borrow();
    let Formatter::Collator(collation) = &*formatter else { return Err(foreign(&ctx)) };
    let order = bytes::with_units(&a, |a| bytes::with_units(&b, |b| collation.order(a, b)))??;
    Ok(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_begin_alike_are_in_the_order_of_their_values() {
        let collation = Collation::new("en", "variant", false, true, "false");
        let order = |a: &str, b: &str| {
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            collation.as_ref().map(|collation| collation.order(&units(a), &units(b)))
        };
        for many in [
            "1".repeat(200),
            "0".repeat(200),
            "٣".repeat(200),
            "𝟘".repeat(200),
            "𝟙".repeat(200),
            format!("{}9", "0".repeat(200)),
        ] {
            let zeros = many.chars().all(|digit| "0𝟘".contains(digit));
            assert_eq!(order(&format!("a{many}2"), &format!("a{many}10")), Some(Ordering::Less), "{many}");
            assert_eq!(order(&format!("a{many}"), &format!("a{many}")), Some(Ordering::Equal), "{many}");
            assert_eq!(
                order(&format!("a{many}9"), &format!("a{many}08")),
                Some(if zeros { Ordering::Greater } else { Ordering::Less }),
                "{many}"
            );
            assert_eq!(order(&format!("a{many}b"), &format!("a{many}a")), Some(Ordering::Greater), "{many}");
            assert_eq!(order(&format!("a{many}\u{301}"), &format!("a{many}1")), Some(Ordering::Less), "{many}");
        }
    }
}
