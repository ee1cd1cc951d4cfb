//! Text to bytes and back, for TextEncoder and TextDecoder.

use rquickjs::class::{Trace, Tracer};
use rquickjs::{Class, Ctx, Exception, Function, JsLifetime, Object, Result, Value, class, function};

use super::super::codec;
use super::super::decoder::{self, Decoder};
use super::super::wtf8;
use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("encodingName", Function::new(ctx.clone(), encoding_name)?)?;
    natives.set("utf8Encode", Function::new(ctx.clone(), utf8_encode)?)?;
    natives.set("utf8EncodeInto", Function::new(ctx.clone(), utf8_encode_into)?)?;
    natives.set("newDecoder", Function::new(ctx.clone(), new_decoder)?)?;
    natives.set("decode", Function::new(ctx.clone(), decode)?)?;
    natives.set("decodeOnce", Function::new(ctx.clone(), decode_once)?)
}

/// `encodingName(label)`: the lower-case name of the encoding with this label, or undefined.
fn encoding_name(label: String) -> Option<String> {
    decoder::name(&label)
}

/// `utf8Encode(string) -> Uint8Array`. Lone surrogates become U+FFFD.
fn utf8_encode<'js>(ctx: Ctx<'js>, string: rquickjs::String<'js>) -> Result<Value<'js>> {
    let text = string.to_cstring()?;
    let bytes = bytes::engine_bytes(&text);
    if std::str::from_utf8(bytes).is_ok() {
        return bytes::new_bytes(&ctx, bytes);
    }
    bytes::charge(&ctx, bytes.len())?;
    bytes::new_bytes(&ctx, wtf8::lossy(bytes).as_bytes())
}

/// `utf8EncodeInto(string, buffer, offset, length) -> {read, written}`, as TextEncoder's method.
fn utf8_encode_into<'js>(
    ctx: Ctx<'js>,
    string: rquickjs::String<'js>,
    buffer: Value<'js>,
    offset: f64,
    length: f64,
) -> Result<Object<'js>> {
    let (read, written) = bytes::with_units(&string, |units| {
        bytes::with_bytes_mut(&buffer, offset, length, |room| codec::encode_utf8_into(units, room))
    })?;
    let result = Object::new(ctx)?;
    result.set_prototype(None)?;
    // A view and a string are shorter than 2^32.
    result.set("read", read as u32)?;
    result.set("written", written as u32)?;
    Ok(result)
}

/// One decoder between two calls of `decode` with `stream`.
struct Stream(Decoder);

impl<'js> Trace<'js> for Stream {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: holds nothing of the engine.
unsafe impl<'js> JsLifetime<'js> for Stream {
    type Changed<'to> = Stream;
}

impl<'js> class::JsClass<'js> for Stream {
    const NAME: &'static str = "Decoder";
    type Mutable = class::Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `newDecoder(encoding, fatal, ignoreBOM) -> decoder`.
fn new_decoder<'js>(ctx: Ctx<'js>, encoding: String, fatal: bool, ignore_bom: bool) -> Result<Class<'js, Stream>> {
    Class::instance(ctx, Stream(Decoder::new(&encoding, fatal, ignore_bom)))
}

/// `decode(decoder, buffer, offset, length, last) -> string`. Throws a TypeError on malformed input when fatal; the
/// decoder is spent then, and after `last`.
fn decode<'js>(
    ctx: Ctx<'js>,
    stream: Class<'js, Stream>,
    buffer: Value<'js>,
    offset: f64,
    length: f64,
    last: bool,
) -> Result<Value<'js>> {
    text_of(&ctx, &mut stream.borrow_mut().0, &buffer, offset, length, last)
}

/// `decodeOnce(encoding, fatal, ignoreBOM, buffer, offset, length) -> string`.
fn decode_once<'js>(
    ctx: Ctx<'js>,
    encoding: String,
    fatal: bool,
    ignore_bom: bool,
    buffer: Value<'js>,
    range: rquickjs::function::Rest<f64>,
) -> Result<Value<'js>> {
    let (offset, length) = (range.first().copied().unwrap_or(0.0), range.get(1).copied().unwrap_or(0.0));
    if encoding == "utf-8" {
        // Text that is valid as it stands, which is nearly all of it, goes into the engine without a copy of ours.
        let fast = bytes::with_bytes(&buffer, offset, length, |bytes| {
            decoder::valid_utf8(bytes, ignore_bom).map(|text| rquickjs::String::from_str(ctx.clone(), text))
        });
        if let Some(text) = fast {
            return Ok(text?.into_value());
        }
    }
    text_of(&ctx, &mut Decoder::new(&encoding, fatal, ignore_bom), &buffer, offset, length, true)
}

fn text_of<'js>(
    ctx: &Ctx<'js>,
    decoder: &mut Decoder,
    buffer: &Value<'js>,
    offset: f64,
    length: f64,
    last: bool,
) -> Result<Value<'js>> {
    let room = bytes::with_bytes(buffer, offset, length, |bytes| decoder.most_units(bytes.len()));
    let Some(room) = room else { return Err(Exception::throw_range(ctx, "The input is too large to decode")) };
    bytes::charge(ctx, room.saturating_mul(2))?;
    let mut units = vec![0u16; room];
    match bytes::with_bytes(buffer, offset, length, |bytes| decoder.decode(bytes, &mut units, last)) {
        Some(written) => bytes::new_string(ctx, &units[..written]),
        None => Err(Exception::throw_type(ctx, "The encoded data was not valid")),
    }
}
