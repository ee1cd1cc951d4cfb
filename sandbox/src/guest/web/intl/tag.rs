//! Language tags: whether one is valid, its canonical form, its parts, and which locale of ours it means.

use icu::locale::{LanguageIdentifier, Locale as Tag, LocaleCanonicalizer, LocaleExpander};

use super::data::Locale;

/// The canonical form of a tag, if it is a valid one (ECMA-402 "CanonicalizeUnicodeLocaleId").
pub(super) fn canonical(text: &str) -> Option<String> {
    let mut tag = parsed(text)?;
    canonicalize(&mut tag);
    written(&tag)
}

fn canonicalize(tag: &mut Tag) {
    LocaleCanonicalizer::new_extended().canonicalize(tag);
    // Types that have a newer name, which the canonicalizer leaves as they are (UTS #35, "Canonicalizing Syntax").
    let keywords = &mut tag.extensions.unicode.keywords;
    let newer = keywords.iter().filter_map(|(key, value)| {
        let value = value.to_string();
        let (_, _, newer) = TYPES.iter().find(|(of, older, _)| *of == key.as_str() && *older == value)?;
        Some((*key, newer.parse().ok()?))
    });
    for (key, value) in newer.collect::<Vec<_>>() {
        keywords.set(key, value);
    }
}

/// A tag that ECMA-402 calls structurally valid.
fn parsed(text: &str) -> Option<Tag> {
    let separated = text.len() <= LONGEST && !text.contains('_') && !text.is_empty();
    let tag = separated.then(|| Tag::try_from_str(text).ok())??;
    // Private use alone is a tag of BCP 47, but of no Unicode locale.
    let alone = text.len() > 1 && text.as_bytes()[0].eq_ignore_ascii_case(&b'x') && text.as_bytes()[1] == b'-';
    (!alone).then_some(tag)
}

/// A tag as text, unless it became one that could not be read again.
fn written(tag: &Tag) -> Option<String> {
    Some(tag.to_string()).filter(|text| text.len() <= LONGEST)
}

/// Parts of a canonical tag: language, script, region, variants, the tag without extensions, then a key and a value for
/// each keyword.
pub(super) fn parts(text: &str) -> Vec<String> {
    let Some(tag) = parsed(text) else { return Vec::new() };
    let id = &tag.id;
    let mut parts = vec![
        id.language.to_string(),
        id.script.map(|script| script.to_string()).unwrap_or_default(),
        id.region.map(|region| region.to_string()).unwrap_or_default(),
        id.variants.iter().map(ToString::to_string).collect::<Vec<_>>().join("-"),
        id.to_string(),
    ];
    for (key, value) in tag.extensions.unicode.keywords.iter() {
        parts.push(key.to_string());
        parts.push(value.to_string());
    }
    parts
}

/// The canonical tag with these keywords in its Unicode extension instead of those of the same keys; an empty value is
/// `true`. `None` when a value is none of the type that keywords have.
pub(super) fn with_keywords(text: &str, keywords: &[String]) -> Option<String> {
    let mut tag = parsed(text)?;
    for pair in keywords.chunks_exact(2) {
        let value = if pair[1].is_empty() { "true" } else { &pair[1] };
        tag.extensions.unicode.keywords.set(pair[0].parse().ok()?, value.parse().ok()?);
    }
    canonicalize(&mut tag);
    written(&tag)
}

/// The tag with another language, script and region; an empty one stays as it is.
pub(super) fn with_parts(text: &str, language: &str, script: &str, region: &str) -> Option<String> {
    let mut tag = parsed(text)?;
    if !language.is_empty() {
        tag.id.language = language.parse().ok()?;
    }
    if !script.is_empty() {
        tag.id.script = Some(script.parse().ok()?);
    }
    if !region.is_empty() {
        tag.id.region = Some(region.parse().ok()?);
    }
    canonicalize(&mut tag);
    written(&tag)
}

/// "Add Likely Subtags" or "Remove Likely Subtags".
pub(super) fn likely(text: &str, more: bool) -> Option<String> {
    let mut tag = parsed(text)?;
    let expander = LocaleExpander::new_extended();
    if tag.id == LanguageIdentifier::UNKNOWN {
        // Nothing is known: the most likely language of all.
        tag.id = icu::locale::langid!("en-Latn-US");
    }
    if more {
        expander.maximize(&mut tag.id)
    } else {
        expander.minimize(&mut tag.id)
    };
    written(&tag)
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
    let mut tag = parsed(text)?;
    LocaleExpander::new_extended().maximize(&mut tag.id);
    Some(tag.id)
}

/// The longest beginning of a canonical tag that is a locale of ours (ECMA-402 "BestAvailableLocale").
pub(super) fn best(text: &str) -> Option<String> {
    let id = parsed(text)?.id.to_string();
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
