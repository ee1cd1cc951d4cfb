//! Text to bytes and back: UTF-8 by the engine's own strings, everything else by the tables of `encoding_rs`.

use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8};
use rquickjs::class::{Trace, Tracer};
use rquickjs::{Class, Ctx, Exception, Function, JsLifetime, Object, Result, Value, class, function};

use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("encodingName", Function::new(ctx.clone(), encoding_name)?)?;
    natives.set("utf8Encode", Function::new(ctx.clone(), utf8_encode)?)?;
    natives.set("utf8EncodeInto", Function::new(ctx.clone(), utf8_encode_into)?)?;
    natives.set("newDecoder", Function::new(ctx.clone(), new_decoder)?)?;
    natives.set("decode", Function::new(ctx.clone(), decode)?)?;
    natives.set("decodeOnce", Function::new(ctx.clone(), decode_once)?)
}

/// The lower-case name of the encoding with this label, or undefined.
fn encoding_name(label: String) -> Option<String> {
    Encoding::for_label_no_replacement(label.as_bytes()).map(|encoding| encoding.name().to_ascii_lowercase())
}

/// `utf8Encode(string) -> Uint8Array`. Lone surrogates become U+FFFD.
fn utf8_encode<'js>(ctx: Ctx<'js>, string: rquickjs::String<'js>) -> Result<Value<'js>> {
    let text = string.to_cstring()?;
    let bytes = bytes::engine_bytes(&text);
    if !bytes::has_surrogate(bytes) {
        return bytes::new_bytes(&ctx, bytes);
    }
    bytes::charge(&ctx, bytes.len())?;
    bytes::new_bytes(&ctx, &bytes::without_surrogates(bytes))
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
        bytes::with_bytes_mut(&buffer, offset, length, |room| {
            let (mut read, mut written) = (0, 0);
            for unit in char::decode_utf16(units.iter().copied()) {
                let char = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
                let Some(room) = room.get_mut(written..written + char.len_utf8()) else { break };
                char.encode_utf8(room);
                written += char.len_utf8();
                read += char.len_utf16();
            }
            // A view and a string are shorter than 2^32.
            (read as u32, written as u32)
        })
    })?;
    let result = Object::new(ctx)?;
    result.set_prototype(None)?;
    result.set("read", read)?;
    result.set("written", written)?;
    Ok(result)
}

/// One decoder between two calls of `decode` with `stream`.
struct Stream {
    decoder: Decoder,
    fatal: bool,
}

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
    Class::instance(ctx, Stream { decoder: decoder_of(&encoding, ignore_bom), fatal })
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
    let mut stream = stream.borrow_mut();
    let Stream { decoder, fatal } = &mut *stream;
    text_of(&ctx, decoder, *fatal, &buffer, offset, length, last)
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
            let bytes = if ignore_bom { bytes } else { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes) };
            std::str::from_utf8(bytes).ok().map(|text| rquickjs::String::from_str(ctx.clone(), text))
        });
        if let Some(text) = fast {
            return Ok(text?.into_value());
        }
    }
    text_of(&ctx, &mut decoder_of(&encoding, ignore_bom), fatal, &buffer, offset, length, true)
}

fn decoder_of(encoding: &str, ignore_bom: bool) -> Decoder {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(UTF_8);
    if ignore_bom { encoding.new_decoder_without_bom_handling() } else { encoding.new_decoder_with_bom_removal() }
}

fn text_of<'js>(
    ctx: &Ctx<'js>,
    decoder: &mut Decoder,
    fatal: bool,
    buffer: &Value<'js>,
    offset: f64,
    length: f64,
    last: bool,
) -> Result<Value<'js>> {
    let room = bytes::with_bytes(buffer, offset, length, |bytes| decoder.max_utf16_buffer_length(bytes.len()));
    let Some(room) = room else { return Err(Exception::throw_range(ctx, "The input is too large to decode")) };
    bytes::charge(ctx, room.saturating_mul(2))?;
    let mut units = vec![0u16; room];
    let written = bytes::with_bytes(buffer, offset, length, |bytes| {
        if fatal {
            let (result, _, written) = decoder.decode_to_utf16_without_replacement(bytes, &mut units, last);
            matches!(result, DecoderResult::InputEmpty).then_some(written)
        } else {
            let (result, _, written, _) = decoder.decode_to_utf16(bytes, &mut units, last);
            matches!(result, CoderResult::InputEmpty).then_some(written)
        }
    });
    match written {
        Some(written) => bytes::new_string(ctx, &units[..written]),
        None => Err(Exception::throw_type(ctx, "The encoded data was not valid")),
    }
}
