//! Where text may be cut, and the case of letters in languages that have rules of their own.

use icu::casemap::CaseMapper;
use icu::locale::LanguageIdentifier;
use icu::segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu::segmenter::{GraphemeClusterSegmenter, SentenceSegmenter, WordSegmenter};
use rquickjs::{Ctx, Result, Value};

use super::super::native::bytes;

/// `boundaries(text, granularity) -> Uint8Array`: the end of each segment in UTF-16 units, times two, plus one when it is
/// like a word; four bytes each, the lowest first.
pub(super) fn boundaries<'js>(ctx: Ctx<'js>, text: rquickjs::String<'js>, granularity: String) -> Result<Value<'js>> {
    let length = bytes::with_units(&text, <[u16]>::len)?;
    bytes::charge(&ctx, length.saturating_mul(12))?;
    let mut packed = Vec::new();
    // A string is shorter than 2^30.
    let mut push = |end: usize, word: bool| packed.extend(((end as u32) << 1 | u32::from(word)).to_le_bytes());
    bytes::with_units(&text, |units| match granularity.as_str() {
        "word" => {
            let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
            segmenter.segment_utf16(units).iter_with_word_type().skip(1).fold(0, |start, (end, kind)| {
                // A segment that ends with a mark is like a word for its letters.
                let letters =
                    || char::decode_utf16(units[start..end].iter().copied()).flatten().any(char::is_alphanumeric);
                push(end, kind.is_word_like() || letters());
                end
            });
        }
        "sentence" => {
            let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
            segmenter.segment_utf16(units).skip(1).for_each(|end| push(end, false));
        }
        _ => GraphemeClusterSegmenter::new().segment_utf16(units).skip(1).for_each(|end| push(end, false)),
    })?;
    bytes::new_bytes(&ctx, &packed)
}

/// `mapCase(text, upper, language) -> text`, by the rules of that language. Lone surrogates stay.
pub(super) fn map_case<'js>(
    ctx: Ctx<'js>,
    text: rquickjs::String<'js>,
    upper: bool,
    language: String,
) -> Result<Value<'js>> {
    let language: LanguageIdentifier = language.parse().unwrap_or(LanguageIdentifier::UNKNOWN);
    let mapper = CaseMapper::new();
    let length = bytes::with_units(&text, <[u16]>::len)?;
    bytes::charge(&ctx, length.saturating_mul(12))?;
    let mut mapped: Vec<u16> = Vec::new();
    bytes::with_units(&text, |units| {
        let mut run = String::new();
        let flush = |run: &mut String, mapped: &mut Vec<u16>| {
            let text = if upper {
                mapper.uppercase_to_string(run, &language)
            } else {
                mapper.lowercase_to_string(run, &language)
            };
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
    })?;
    bytes::new_string(&ctx, &mapped)
}
