//! What must hold of what a program passes to `Intl`, whatever it is. Fuzzing drives it by coverage, a test from seeds.

use super::decimal::{Decimal, Rounding};
use super::number::{
    Display, Grouping, Notation, NumberFormat, Options as NumberOptions, Precision, Priority, SignDisplay, Style,
};
use super::parts::Parts;
use super::{cuts, date, tag};
use crate::seeded::{Random, from_seeds};

/// Twelve bytes choose options, the rest is a text: a tag, a zone, a number, fields of a date, or what is cut.
pub(crate) fn hold(data: &[u8]) {
    let Some((options, text)) = data.split_first_chunk::<12>() else { return };
    let text = &*String::from_utf8_lossy(text);
    match options[0] % 6 {
        0 => held_by_tags(text),
        1 => held_by_zones(text),
        2 => held_by_decimals(text),
        3 => held_by_numbers(options, text),
        4 => held_by_dates(options, text),
        _ => held_by_cuts(text),
    }
}

fn held_by_tags(text: &str) {
    let Some(canonical) = tag::canonical(text) else {
        assert_eq!(tag::parts(text).is_empty(), tag::likely(text, true).is_none(), "{text:?}");
        return;
    };
    assert_eq!(tag::canonical(&canonical).as_ref(), Some(&canonical));
    assert!(!tag::parts(&canonical).is_empty());
    for more in [true, false] {
        if let Some(likely) = tag::likely(&canonical, more) {
            assert!(tag::canonical(&likely).is_some(), "{likely}");
        }
    }
    tag::region(&canonical);
    tag::is_right_to_left(&canonical);
    if let Some(best) = tag::best(&canonical) {
        assert!(canonical.starts_with(&best) && tag::available(&best).is_some());
    }
    date::preferred_hour(&canonical);
    let parts = text.split_once('-').unwrap_or((text, ""));
    // Scripts give no other values, and keys of their own.
    let is_type = |text: &str| text.split('-').all(|part| (3..9).contains(&part.len()) && part.is_ascii());
    let value = if is_type(parts.1) { parts.1 } else { "" };
    let keywords = ["ca", value, "kn", "", "nu", value].map(str::to_owned);
    for made in [
        tag::with_keywords("en", &keywords),
        tag::with_keywords(&canonical, &keywords),
        tag::with_parts(&canonical, parts.0, parts.1, parts.1, parts.1),
        tag::with_parts("en", "", "", text, ""),
    ] {
        let again = made.as_deref().and_then(tag::canonical);
        assert_eq!(again, made, "{text:?}");
    }
}

fn held_by_zones(text: &str) {
    let Some(zone) = date::Zone::named(text) else { return };
    assert_eq!(date::Zone::named(&zone.name).map(|zone| zone.name).as_ref(), Some(&zone.name));
}

fn held_by_decimals(text: &str) {
    let value = decimal(text);
    for mode in ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"] {
        for (magnitude, increment) in [(0, 1), (-2, 1), (-2, 5), (3, 1), (-1, 5000)] {
            let mut rounded = value.clone();
            rounded.round(magnitude, increment, Rounding::named(mode));
            let once = rounded.clone();
            rounded.round(magnitude, increment, Rounding::named(mode));
            assert_eq!(rounded, once, "{text:?} {mode} {magnitude} {increment}");
        }
    }
    let (whole, fraction) = value.written(1, 0);
    let shown = format!("{}{whole}.{fraction}0", if value.negative { "-" } else { "" });
    let again: f64 = shown.parse().expect("digits");
    assert!(!text.parse().is_ok_and(f64::is_finite) || Ok(again) == text.parse(), "{text:?} became {shown}");
}

/// A number as scripts pass it: digits only for what is no special number.
fn decimal(text: &str) -> Decimal {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number != 0.0 => Decimal::parse(text),
        Ok(number) => Decimal::from_f64(number),
        Err(_) => Decimal::from_f64(f64::NAN),
    }
}

fn held_by_numbers(options: &[u8; 12], text: &str) {
    let [_, locale, system, style, notation, grouping, sign, whole, fraction, significant, rounding, priority] =
        *options;
    let of = |byte: u8, count: usize| usize::from(byte) % count;
    let tag = LOCALES[of(locale, LOCALES.len())];
    let (numbers, rest) = text.split_once(';').unwrap_or((text, ""));
    let style = match style % 8 {
        0..=2 => Style::Decimal,
        3 => Style::Percent,
        4 | 5 => Style::Currency {
            // Any three letters are a code.
            code: if rest.len() == 3 && rest.is_ascii() { rest.to_ascii_uppercase() } else { "EUR".to_owned() },
            display: [Display::Symbol, Display::Narrow, Display::Code, Display::Name][of(notation / 8, 4)],
            accounting: grouping > 127,
        },
        _ => Style::Unit {
            unit: ["kilometer-per-hour", "byte", "celsius", "fluid-ounce-per-week"][of(notation / 8, 4)].to_owned(),
            width: ["long", "short", "narrow"][of(grouping, 3)].to_owned(),
        },
    };
    let (least, most) = (of(fraction, 101), of(significant, 101));
    let increment = if rounding > 127 { [1, 2, 5, 25, 500, 5000][of(rounding, 6)] } else { 1 };
    let precision = Precision {
        whole: 1 + of(whole, 21),
        fraction: if increment > 1 { (least, least) } else { (least.min(most), most.max(least)) },
        significant: (1 + of(significant, 21).min(of(fraction, 21)), 1 + of(significant, 21).max(of(fraction, 21))),
        priority: match increment {
            1 => [Priority::Fraction, Priority::Significant, Priority::MorePrecision, Priority::LessPrecision]
                [of(priority, 4)],
            _ => Priority::Fraction,
        },
        increment,
        mode: Rounding::named(["ceil", "floor", "expand", "trunc", "halfEven", "halfExpand"][of(rounding, 6)]),
        strip: priority > 127,
    };
    let format = NumberFormat::new(NumberOptions {
        locale: tag::available(tag).expect("a locale of ours"),
        tag: tag.to_owned(),
        system: SYSTEMS[of(system, SYSTEMS.len())].to_owned(),
        style,
        notation: [
            Notation::Standard,
            Notation::Scientific,
            Notation::Engineering,
            Notation::CompactShort,
            Notation::CompactLong,
        ][of(notation, 5)],
        grouping: [Grouping::Never, Grouping::Auto, Grouping::Always, Grouping::Min2][of(grouping, 4)],
        sign: [
            SignDisplay::Auto,
            SignDisplay::Never,
            SignDisplay::Always,
            SignDisplay::ExceptZero,
            SignDisplay::Negative,
        ][of(sign, 5)],
        precision,
    });
    let (start, end) = numbers.split_once('/').unwrap_or((numbers, "1"));
    let (start, end) = (decimal(start), decimal(end));
    held_by_parts(&format.format(&start));
    held_by_parts(&format.format_range(&start, &end));
}

fn held_by_dates(options: &[u8; 12], text: &str) {
    let [_, locale, system, hour, styles, times @ ..] = *options;
    let tag = LOCALES[usize::from(locale) % LOCALES.len()];
    let style = |number: u8| [None, Some("full"), Some("long"), Some("medium"), Some("short")][usize::from(number % 5)];
    let (date_style, time_style) = (style(styles % 16).map(str::to_owned), style(styles / 16).map(str::to_owned));
    let (zone, fields) = text.split_once(';').unwrap_or(("UTC", text));
    let fields: String = fields.chars().filter(|char| "GyMEdBhHKkmsSzvO".contains(*char)).take(40).collect();
    let format = date::DateFormat::new(date::Options {
        locale: tag::available(tag).expect("a locale of ours"),
        tag: tag.to_owned(),
        system: SYSTEMS[usize::from(system) % SYSTEMS.len()].to_owned(),
        zone: date::Zone::named(zone).or_else(|| date::Zone::named("Europe/Prague")).expect("a zone that there is"),
        hour: [None, Some('h'), Some('H'), Some('K'), Some('k')][usize::from(hour) % 5],
        fields: match (&date_style, &time_style) {
            (None, None) => date::Fields::Skeleton(fields),
            _ => date::Fields::Styles { date: date_style, time: time_style },
        },
    });
    let [a, b, c, d, near, unit, _] = times;
    let start = i64::from(i32::from_le_bytes([a, b, c, d])) * (MOST_TIME / i64::from(i32::MAX)) + i64::from(near);
    let start = start.clamp(-MOST_TIME, MOST_TIME);
    let apart = i64::from(near) * [1, 1000, 60_000, 3_600_000, 86_400_000, 31 * 86_400_000][usize::from(unit) % 6];
    held_by_parts(&format.format(start));
    if let Some(range) = format.format_range(start, (start + apart).min(MOST_TIME)) {
        held_by_parts(&range);
    }
}

/// The parts are the text, and what scripts are given can be taken apart.
fn held_by_parts(parts: &Parts) {
    let together: String = parts.iter().map(|(_, _, text)| text).collect();
    assert_eq!(together, parts.text());
    for (with_source, width) in [(false, 2), (true, 3)] {
        let fields = parts.fields(with_source);
        assert!(fields.is_empty() || fields.split('\0').count() == width * parts.iter().count(), "{fields:?}");
    }
}

/// Cutting loses nothing, and the case of what has none stays.
fn held_by_cuts(text: &str) {
    let units: Vec<u16> = text.encode_utf16().chain(text.bytes().map(|byte| 0xD800 + u16::from(byte) * 8)).collect();
    for granularity in ["grapheme", "word", "sentence"] {
        let mut last = 0;
        cuts::each(&units, granularity, |end, _| {
            assert!(end > last, "{granularity}: a segment ends at {end} behind {last}");
            last = end;
        });
        assert_eq!(last, units.len(), "{granularity}");
    }
    for language in ["en", "tr", "lt", "el", text] {
        let upper = cuts::in_case(&units, true, language);
        assert_eq!(cuts::in_case(&upper, true, language), upper, "{language}");
        cuts::in_case(&units, false, language);
    }
}

/// Milliseconds from the epoch to the last moment that a date may be.
const MOST_TIME: i64 = 8_640_000_000_000_000;

const LOCALES: &[&str] =
    &["en", "de", "ar", "hi", "ja", "pl", "fr-CH", "pt-PT", "he", "zh-Hant", "es", "cs", "en-IN", "uk", "ko", "ru"];

const SYSTEMS: &[&str] = &["latn", "arab", "deva", "hanidec", "thai"];

/// Bytes for [`hold`], the same for a seed everywhere.
fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    let mut data: Vec<u8> = (0..12).map(|_| random.below(256) as u8).collect();
    let (pieces, count): (&[&str], _) = match data[0] % 6 {
        0 => (TAGS, 7),
        1 => (ZONES, 4),
        2 | 3 => (DIGITS, 12),
        4 => (FIELDS, 9),
        _ => (TEXT, 12),
    };
    data.extend(random.text(pieces, count).bytes());
    data
}

#[test]
fn nothing_that_is_passed_to_languages_breaks_them() {
    from_seeds(1000, generated, |data| hold(data));
}

const TAGS: &[&str] = &[
    "en",
    "DE",
    "zh",
    "iw",
    "sgn",
    "-",
    "-",
    "-Latn",
    "-hant",
    "-US",
    "-419",
    "-u",
    "-ca",
    "-gregory",
    "-nu-latn",
    "-tz-utc",
    "-x-a",
    "-t-en",
    "-1996",
    "-a-b",
    "_",
    "é",
    "und",
    "i-klingon",
    "art-lojban",
    "-kn",
    "-true",
    "-yes",
    "x-",
    "root",
];

const ZONES: &[&str] = &[
    "Europe/",
    "prague",
    "UTC",
    "gmt",
    "Etc/",
    "+0",
    "1:30",
    "-",
    "+23:59",
    "24",
    "America/",
    "Argentina/",
    "Ushuaia",
    "Asia/Calcutta",
    "..",
    "/",
    "\0",
    "EST5EDT",
];

const DIGITS: &[&str] = &[
    "1", "0", "9", "99", "5", "4", "000", ".", "-", "e", "E+", "e-", "300", "12", "/", ";", "usd", "xxx", "inf", "NaN",
    "+",
];

const FIELDS: &[&str] = &[
    "G",
    "y",
    "yy",
    "M",
    "MMM",
    "MMMM",
    "E",
    "EEEE",
    "d",
    "dd",
    "B",
    "h",
    "H",
    "K",
    "k",
    "m",
    "s",
    "SSS",
    "z",
    "zzzz",
    "v",
    "O",
    "Asia/Tokyo;",
    "+05:30;",
];

const TEXT: &[&str] = &[
    "a",
    "Z",
    "ß",
    "İ",
    "i\u{307}",
    "Σ",
    "ς",
    " ",
    ". ",
    "\r\n",
    "\u{200d}",
    "👩",
    "🇨🇿",
    "e\u{301}",
    "ไทย",
    "日本",
    "カタ",
    "မြန်မာ",
    "1,2",
    "can't",
    "\u{fffd}",
    "\0",
    "ŉ",
    "ﬁ",
    "ΐ",
    "한",
    "\u{1f3fd}",
];
