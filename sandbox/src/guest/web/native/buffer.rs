//! What Buffer does with bytes, over the pure codec. Places in buffers come as `(buffer, offset, length)`; a part that a
//! buffer no longer has is left out.

use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::super::codec::{self, Encoding, Text};
use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("decodeBytes", Function::new(ctx.clone(), decode)?)?;
    natives.set("encodeText", Function::new(ctx.clone(), encode)?)?;
    natives.set("writeText", Function::new(ctx.clone(), write)?)?;
    natives.set("utf8Length", Function::new(ctx.clone(), utf8_length)?)?;
    natives.set("searchBytes", Function::new(ctx.clone(), find)?)?;
    natives.set("compareBytes", Function::new(ctx.clone(), compare)?)?;
    natives.set("repeatBytes", Function::new(ctx.clone(), repeat)?)?;
    natives.set("swapBytes", Function::new(ctx.clone(), swap)?)?;
    natives.set("isUtf8", Function::new(ctx.clone(), is_utf8)?)?;
    natives.set("isAscii", Function::new(ctx.clone(), is_ascii)?)
}

/// `decodeBytes(encoding, buffer, offset, length) -> string`.
fn decode<'js>(ctx: Ctx<'js>, encoding: u32, buffer: Value<'js>, offset: f64, length: f64) -> Result<Value<'js>> {
    let encoding = Encoding::of(encoding);
    if encoding == Encoding::Utf8 {
        // Text that is valid as it stands, which is nearly all of it, goes into the engine without a copy of ours.
        let valid = bytes::with_bytes(&buffer, offset, length, |bytes| {
            std::str::from_utf8(bytes).ok().map(|text| rquickjs::String::from_str(ctx.clone(), text))
        });
        if let Some(text) = valid {
            return Ok(text?.into_value());
        }
    }
    let size = bytes::with_bytes(&buffer, offset, length, |bytes| encoding.most_text(bytes.len()));
    bytes::charge(&ctx, size)?;
    match bytes::with_bytes(&buffer, offset, length, |bytes| codec::decode(bytes, encoding)) {
        Text::Utf8(text) => Ok(rquickjs::String::from_str(ctx, &text)?.into_value()),
        Text::Units(units) => bytes::new_string(&ctx, &units),
    }
}

/// `encodeText(string, encoding) -> Uint8Array`.
fn encode<'js>(ctx: Ctx<'js>, string: rquickjs::String<'js>, encoding: u32) -> Result<Value<'js>> {
    let encoding = Encoding::of(encoding);
    let encoded = bytes::with_units(&string, |units| -> Result<Vec<u8>> {
        let most = match encoding {
            Encoding::Utf8 => codec::utf8_length(units),
            _ => encoding.most_bytes(units.len()),
        };
        bytes::charge(&ctx, most)?;
        let mut room = vec![0; most];
        let written = codec::encode_into(units, encoding, &mut room);
        room.truncate(written);
        Ok(room)
    })??;
    bytes::new_bytes(&ctx, &encoded)
}

/// `writeText(string, encoding, buffer, offset, length) -> bytes written`.
fn write<'js>(
    string: rquickjs::String<'js>,
    encoding: u32,
    buffer: Value<'js>,
    offset: f64,
    length: f64,
) -> Result<f64> {
    bytes::with_units(&string, |units| {
        bytes::with_bytes_mut(&buffer, offset, length, |room| {
            codec::encode_into(units, Encoding::of(encoding), room) as f64
        })
    })
}

/// `utf8Length(string) -> bytes`.
fn utf8_length(string: rquickjs::String<'_>) -> Result<f64> {
    bytes::with_units(&string, |units| codec::utf8_length(units) as f64)
}

/// `searchBytes(buffer, needle, offset, length, needleOffset, needleLength, from, step, backwards) -> index | -1`.
fn find<'js>(ctx: Ctx<'js>, buffer: Value<'js>, needle: Value<'js>, rest: Rest<f64>) -> Result<f64> {
    let [offset, length, needle_offset, needle_length, from, step, backwards] = numbers(&rest);
    // The table of a needle's borders takes a word for each byte.
    bytes::charge(&ctx, (needle_length as usize).saturating_mul(9))?;
    let found = bytes::with_bytes(&buffer, offset, length, |hay| {
        bytes::with_bytes(&needle, needle_offset, needle_length, |needle| {
            codec::find(hay, needle, from as usize, (step as usize).max(1), backwards != 0.0)
        })
    });
    Ok(found.map_or(-1.0, |at| at as f64))
}

/// `compareBytes(a, b, aOffset, aLength, bOffset, bLength) -> -1 | 0 | 1`.
fn compare<'js>(a: Value<'js>, b: Value<'js>, rest: Rest<f64>) -> i32 {
    let [a_offset, a_length, b_offset, b_length] = numbers(&rest);
    bytes::with_bytes(&a, a_offset, a_length, |a| bytes::with_bytes(&b, b_offset, b_length, |b| a.cmp(b) as i32))
}

/// `repeatBytes(buffer, pattern, offset, length, patternOffset, patternLength)`. An empty pattern changes nothing.
fn repeat<'js>(ctx: Ctx<'js>, buffer: Value<'js>, pattern: Value<'js>, rest: Rest<f64>) -> Result<()> {
    let [offset, length, pattern_offset, pattern_length] = numbers(&rest);
    bytes::charge(&ctx, pattern_length as usize)?;
    // A copy, because the pattern may lie in the room that is filled.
    let pattern = bytes::with_bytes(&pattern, pattern_offset, pattern_length, <[u8]>::to_vec);
    if !pattern.is_empty() {
        bytes::with_bytes_mut(&buffer, offset, length, |room| codec::repeat(room, &pattern));
    }
    Ok(())
}

/// `swapBytes(buffer, offset, length, width)`.
fn swap(buffer: Value<'_>, offset: f64, length: f64, width: f64) {
    bytes::with_bytes_mut(&buffer, offset, length, |bytes| codec::swap(bytes, width as usize));
}

/// `isUtf8(buffer, offset, length)`.
fn is_utf8(buffer: Value<'_>, offset: f64, length: f64) -> bool {
    bytes::with_bytes(&buffer, offset, length, |bytes| std::str::from_utf8(bytes).is_ok())
}

/// `isAscii(buffer, offset, length)`.
fn is_ascii(buffer: Value<'_>, offset: f64, length: f64) -> bool {
    bytes::with_bytes(&buffer, offset, length, <[u8]>::is_ascii)
}

/// The first numbers of those that a script passed; missing ones are zero.
fn numbers<const N: usize>(rest: &Rest<f64>) -> [f64; N] {
    std::array::from_fn(|at| rest.get(at).copied().unwrap_or(0.0))
}
