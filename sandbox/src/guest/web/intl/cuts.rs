//! Where text may be cut, and the case of letters in languages that have rules of their own, over ICU4X. Knows nothing of
//! the engine.

use icu::casemap::CaseMapper;
use icu::locale::LanguageIdentifier;
use icu::segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu::segmenter::{GraphemeClusterSegmenter, SentenceSegmenter, WordSegmenter};

/// Calls `found` with the end of each segment, in units, and whether it is like a word. `granularity` is `grapheme`,
/// `word` or `sentence`.
pub(super) fn each(units: &[u16], granularity: &str, mut found: impl FnMut(usize, bool)) {
    match granularity {
        "word" => {
            let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
            segmenter.segment_utf16(units).iter_with_word_type().skip(1).fold(0, |start, (end, kind)| {
                // A segment that ends with a mark is like a word for its letters.
                let letters =
                    || char::decode_utf16(units[start..end].iter().copied()).flatten().any(char::is_alphanumeric);
                found(end, kind.is_word_like() || letters());
                end
            });
        }
        "sentence" => {
            let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
            segmenter.segment_utf16(units).skip(1).for_each(|end| found(end, false));
        }
        _ => GraphemeClusterSegmenter::new().segment_utf16(units).skip(1).for_each(|end| found(end, false)),
    }
}

/// The text in upper or lower case by the rules of a language. Lone surrogates stay.
pub(super) fn in_case(units: &[u16], upper: bool, language: &str) -> Vec<u16> {
    let language: LanguageIdentifier = language.parse().unwrap_or(LanguageIdentifier::UNKNOWN);
    let mapper = CaseMapper::new();
    let mut mapped: Vec<u16> = Vec::new();
    let mut run = String::new();
    let flush = |run: &mut String, mapped: &mut Vec<u16>| {
        let text =
            if upper { mapper.uppercase_to_string(run, &language) } else { mapper.lowercase_to_string(run, &language) };
        mapped.extend(text.encode_utf16());
        run.clear();
    };
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(char) => run.push(char),
            Err(lone) => {
                flush(&mut run, &mut mapped);
                mapped.push(lone.unpaired_surrogate());
            }
        }
    }
    flush(&mut run, &mut mapped);
    mapped
}
