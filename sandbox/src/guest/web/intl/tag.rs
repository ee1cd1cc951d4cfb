//! Language tags: whether one is valid, its canonical form, its parts, and which locale of ours it means.

use std::cell::RefCell;
use std::collections::HashMap;

use icu::locale::extensions::transform::Key;
use icu::locale::{LanguageIdentifier, Locale as Tag, LocaleCanonicalizer, LocaleExpander};

use super::data::Locale;

/// A structurally valid tag. ICU4X's type has no room for languages of five to eight letters, of which none is registered:
/// such a one stands beside it, and for it a code that means nothing.
struct Parsed {
    tag: Tag,
    language: Option<String>,
}

impl Parsed {
    /// A tag that ECMA-402 calls structurally valid.
    fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST || text.contains('_') || text.is_empty() {
            return None;
        }
        // Private use alone is a tag of BCP 47, but of no Unicode locale.
        let first = text.split('-').next().unwrap_or_default();
        if first.eq_ignore_ascii_case("x") && text.len() > 1 {
            return None;
        }
        if is_long_language(first) {
            let tag = Tag::try_from_str(&format!("{STAND_IN}{}", &text[first.len()..])).ok()?;
            return Some(Self { tag, language: Some(first.to_ascii_lowercase()) });
        }
        Some(Self { tag: Tag::try_from_str(text).ok()?, language: None })
    }

    /// Text that starts with the language's code, with the language itself.
    fn written(&self, text: String) -> String {
        match &self.language {
            Some(language) => format!("{language}{}", text.strip_prefix(STAND_IN).unwrap_or(&text)),
            None => text,
        }
    }

    /// The tag as text, unless it became one that could not be read again.
    fn text(&self) -> Option<String> {
        Some(self.written(self.tag.to_string())).filter(|text| text.len() <= LONGEST)
    }

    fn canonicalize(&mut self) {
        LocaleCanonicalizer::new_extended().canonicalize(&mut self.tag);
        // Types that have a newer name, which the canonicalizer leaves as they are (UTS #35, "Canonicalizing Syntax").
        let keywords = &mut self.tag.extensions.unicode.keywords;
        let newer = keywords.iter().filter_map(|(key, value)| {
            let value = value.to_string();
            let (_, _, newer) = TYPES.iter().find(|(of, older, _)| *of == key.as_str() && *older == value)?;
            Some((*key, newer.parse().ok()?))
        });
        for (key, value) in newer.collect::<Vec<_>>() {
            keywords.set(key, value);
        }
        let fields = &mut self.tag.extensions.transform.fields;
        for (key, older, newer) in TRANSFORMS {
            if let (Ok(key), Ok(newer)) = (key.parse::<Key>(), newer.parse())
                && fields.get(&key).is_some_and(|value| value.to_string() == *older)
            {
                fields.set(key, newer);
            }
        }
    }
}

fn is_long_language(subtag: &str) -> bool {
    (5..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The canonical form of a tag, if it is a valid one (ECMA-402 "CanonicalizeUnicodeLocaleId").
pub(super) fn canonical(text: &str) -> Option<String> {
    let mut parsed = Parsed::of(text)?;
    parsed.canonicalize();
    parsed.text()
}

/// Parts of a canonical tag: language, script, region, variants, the tag without extensions, then a key and a value for
/// each keyword.
pub(super) fn parts(text: &str) -> Vec<String> {
    let Some(parsed) = Parsed::of(text) else { return Vec::new() };
    let id = &parsed.tag.id;
    let mut parts = vec![
        parsed.written(id.language.to_string()),
        id.script.map(|script| script.to_string()).unwrap_or_default(),
        id.region.map(|region| region.to_string()).unwrap_or_default(),
        id.variants.iter().map(ToString::to_string).collect::<Vec<_>>().join("-"),
        parsed.written(id.to_string()),
    ];
    for (key, value) in parsed.tag.extensions.unicode.keywords.iter() {
        parts.push(key.to_string());
        parts.push(value.to_string());
    }
    parts
}

/// The canonical tag with these keywords in its Unicode extension instead of those of the same keys; an empty value is
/// `true`. `None` when a value is none of the type that keywords have.
pub(super) fn with_keywords(text: &str, keywords: &[String]) -> Option<String> {
    let mut parsed = Parsed::of(text)?;
    for pair in keywords.chunks_exact(2) {
        let value = if pair[1].is_empty() { "true" } else { &pair[1] };
        parsed.tag.extensions.unicode.keywords.set(pair[0].parse().ok()?, value.parse().ok()?);
    }
    parsed.canonicalize();
    parsed.text()
}

/// The tag with another language, script, region and variants; an empty one stays as it is.
pub(super) fn with_parts(text: &str, language: &str, script: &str, region: &str, variants: &str) -> Option<String> {
    let mut parsed = Parsed::of(text)?;
    let id = &mut parsed.tag.id;
    if is_long_language(language) {
        parsed.language = Some(language.to_ascii_lowercase());
        id.language = STAND_IN.parse().ok()?;
    } else if !language.is_empty() {
        parsed.language = None;
        id.language = language.parse().ok()?;
    }
    if !script.is_empty() {
        id.script = Some(script.parse().ok()?);
    }
    if !region.is_empty() {
        id.region = Some(region.parse().ok()?);
    }
    if !variants.is_empty() {
        // Reads them in any order, and refuses one that stands there twice.
        id.variants = format!("und-{variants}").parse::<LanguageIdentifier>().ok()?.variants;
    }
    parsed.canonicalize();
    parsed.text()
}

/// "Add Likely Subtags" or "Remove Likely Subtags"; a tag that would become too long stays as it is.
pub(super) fn likely(text: &str, more: bool) -> Option<String> {
    let mut parsed = Parsed::of(text)?;
    let expander = LocaleExpander::new_extended();
    let id = &mut parsed.tag.id;
    // What is removed is what would be added to the rest.
    expander.maximize(id);
    if id.language.is_unknown() {
        // Nothing that is known: the most likely language of all.
        let most = icu::locale::langid!("en-Latn-US");
        id.language = most.language;
        id.script = id.script.or(most.script);
        id.region = id.region.or(most.region);
    }
    if !more {
        expander.minimize(id);
    }
    parsed.text().or_else(|| Some(text.to_owned()))
}

/// The region that a tag means.
pub(super) fn region(text: &str) -> String {
    maximal(text).and_then(|id| id.region).map_or_else(|| "001".to_owned(), |region| region.to_string())
}

/// Whether a language is written from right to left.
pub(super) fn is_right_to_left(text: &str) -> bool {
    let script = maximal(text).and_then(|id| id.script);
    script.is_some_and(|script| RIGHT_TO_LEFT.contains(&script.as_str()))
}

fn maximal(text: &str) -> Option<LanguageIdentifier> {
    let mut id = Parsed::of(text)?.tag.id;
    LocaleExpander::new_extended().maximize(&mut id);
    Some(id)
}

/// The longest beginning of a canonical tag that is a locale of ours (ECMA-402 "BestAvailableLocale").
pub(super) fn best(text: &str) -> Option<String> {
    let id = Parsed::of(text)?.tag.id.to_string();
    let mut candidate = id.as_str();
    loop {
        if available(candidate).is_some() {
            return Some(candidate.to_owned());
        }
        candidate = &candidate[..candidate.rfind('-')?];
    }
}

/// The tables of a locale. Those of a language are also those of its most likely region and script: `de-DE` is `de`.
pub(super) fn available(text: &str) -> Option<Locale> {
    // Each formatter asks for its locale several times, and programs make many of the same.
    AVAILABLE.with_borrow_mut(|known| {
        if let Some(locale) = known.get(text) {
            return locale.clone();
        }
        let locale = looked_up(text);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(text.to_owned(), locale.clone());
        locale
    })
}

thread_local! {
    static AVAILABLE: RefCell<HashMap<String, Option<Locale>>> = RefCell::default();
}

/// How many answers are kept.
const MOST_KNOWN: usize = 64;

fn looked_up(text: &str) -> Option<Locale> {
    if let Some(locale) = Locale::find(text) {
        return Some(locale);
    }
    let id: LanguageIdentifier = text.parse().ok()?;
    id.region?;
    let same = |candidate: LanguageIdentifier| {
        let name = candidate.to_string();
        (maximal(&name) == maximal(text)).then(|| Locale::find(&name))?
    };
    let mut full = maximal(text)?;
    if let Some(locale) = same(LanguageIdentifier { region: None, ..id.clone() }) {
        return Some(locale);
    }
    if id.script.is_some() {
        return None;
    }
    Locale::find(&full.to_string()).or_else(|| {
        full.region = None;
        same(full)
    })
}

/// Longer tags are refused: reading one takes time that grows with the square of its length.
const LONGEST: usize = 2048;

/// For private use, so that no table knows it.
const STAND_IN: &str = "qtx";

const RIGHT_TO_LEFT: &[&str] =
    &["Arab", "Hebr", "Thaa", "Syrc", "Nkoo", "Adlm", "Mand", "Mend", "Rohg", "Samr", "Yezi"];

/// Keys of the Unicode extension, older names of their types, and the names in use (CLDR, `bcp47`).
const TYPES: &[(&str, &str, &str)] = &[
    ("ca", "ethiopic-amete-alem", "ethioaa"),
    ("ca", "islamicc", "islamic-civil"),
    ("kb", "yes", "true"),
    ("kc", "yes", "true"),
    ("kh", "yes", "true"),
    ("kk", "yes", "true"),
    ("kn", "yes", "true"),
    ("ks", "primary", "level1"),
    ("ks", "tertiary", "level3"),
    ("ms", "imperial", "uksystem"),
    ("tz", "aqams", "aqmcm"),
    ("tz", "aukns", "auhba"),
    ("tz", "caffs", "cawnp"),
    ("tz", "camtr", "cator"),
    ("tz", "canpg", "cator"),
    ("tz", "capnt", "caiql"),
    ("tz", "cathu", "cator"),
    ("tz", "cayzf", "caedm"),
    ("tz", "cet", "bebru"),
    ("tz", "cnckg", "cnsha"),
    ("tz", "cnhrb", "cnsha"),
    ("tz", "cnkhg", "cnurc"),
    ("tz", "cst6cdt", "uschi"),
    ("tz", "cuba", "cuhav"),
    ("tz", "eet", "grath"),
    ("tz", "egypt", "egcai"),
    ("tz", "eire", "iedub"),
    ("tz", "est", "papty"),
    ("tz", "est5edt", "usnyc"),
    ("tz", "factory", "unk"),
    ("tz", "gaza", "gazastrp"),
    ("tz", "gmt0", "gmt"),
    ("tz", "hongkong", "hkhkg"),
    ("tz", "hst", "ushnl"),
    ("tz", "iceland", "isrey"),
    ("tz", "iran", "irthr"),
    ("tz", "israel", "jeruslm"),
    ("tz", "jamaica", "jmkin"),
    ("tz", "japan", "jptyo"),
    ("tz", "libya", "lytip"),
    ("tz", "met", "bebru"),
    ("tz", "mncoq", "mnuln"),
    ("tz", "mst", "usphx"),
    ("tz", "mst7mdt", "usden"),
    ("tz", "mxstis", "mxtij"),
    ("tz", "navajo", "usden"),
    ("tz", "poland", "plwaw"),
    ("tz", "portugal", "ptlis"),
    ("tz", "prc", "cnsha"),
    ("tz", "pst8pdt", "uslax"),
    ("tz", "roc", "twtpe"),
    ("tz", "rok", "krsel"),
    ("tz", "turkey", "trist"),
    ("tz", "uaozh", "uaiev"),
    ("tz", "uauzh", "uaiev"),
    ("tz", "uct", "utc"),
    ("tz", "umjon", "ushnl"),
    ("tz", "usnavajo", "usden"),
    ("tz", "wet", "ptlis"),
    ("tz", "zulu", "utc"),
];

/// The same for the fields of a transformed extension.
const TRANSFORMS: &[(&str, &str, &str)] = &[
    ("d0", "name", "charname"),
    ("m0", "beta-metsehaf", "betamets"),
    ("m0", "ies-jes", "iesjes"),
    ("m0", "names", "prprname"),
    ("m0", "tekie-alibekit", "tekieali"),
];
