//! The natives of segments and of the case of letters.

use rquickjs::{Ctx, Result, Value};

use super::super::native::bytes;
use super::cuts;

/// `boundaries(text, granularity) -> Uint8Array`: the end of each segment in UTF-16 units, times two, plus one when it is
/// like a word; four bytes each, the lowest first.
pub(super) fn boundaries<'js>(ctx: Ctx<'js>, text: rquickjs::String<'js>, granularity: String) -> Result<Value<'js>> {
    let length = bytes::with_units(&text, <[u16]>::len)?;
    bytes::charge(&ctx, length.saturating_mul(12))?;
    let mut packed = Vec::new();
    // A string is shorter than 2^30.
    let push = |end: usize, word: bool| packed.extend(((end as u32) << 1 | u32::from(word)).to_le_bytes());
    bytes::with_units(&text, |units| cuts::each(units, &granularity, push))?;
    bytes::new_bytes(&ctx, &packed)
}

/// `mapCase(text, upper, language) -> text`, by the rules of that language. Lone surrogates stay.
pub(super) fn map_case<'js>(
    ctx: Ctx<'js>,
    text: rquickjs::String<'js>,
    upper: bool,
    language: String,
) -> Result<Value<'js>> {
    let length = bytes::with_units(&text, <[u16]>::len)?;
    bytes::charge(&ctx, length.saturating_mul(12))?;
    let mapped = bytes::with_units(&text, |units| cuts::in_case(units, upper, &language))?;
    bytes::new_string(&ctx, &mapped)
}
