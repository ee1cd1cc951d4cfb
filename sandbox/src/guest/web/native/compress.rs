//! Compression and decompression in pieces, for the streams of the Compression standard.

use rquickjs::class::{Trace, Tracer};
use rquickjs::{Class, Ctx, Exception, Function, JsLifetime, Object, Result, Value, class, function};

use super::super::deflate::{Damaged, Deflater, Format, Inflater, Progress};
use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("newDeflater", Function::new(ctx.clone(), new_deflater)?)?;
    natives.set("newInflater", Function::new(ctx.clone(), new_inflater)?)?;
    natives.set("runCodec", Function::new(ctx.clone(), run_codec)?)
}

/// One direction of one format, between two calls.
struct Codec {
    coder: Coder,
    _held: bytes::Held,
}

enum Coder {
    Deflater(Deflater),
    Inflater(Inflater),
}

impl<'js> Trace<'js> for Codec {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: holds nothing with a lifetime of the engine's.
unsafe impl<'js> JsLifetime<'js> for Codec {
    type Changed<'to> = Codec;
}

impl<'js> class::JsClass<'js> for Codec {
    const NAME: &'static str = "Codec";
    type Mutable = class::Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `newDeflater(format) -> codec` that compresses.
fn new_deflater(ctx: Ctx<'_>, format: String) -> Result<Class<'_, Codec>> {
    let held = bytes::Held::of(&ctx, DEFLATER)?;
    Class::instance(ctx, Codec { coder: Coder::Deflater(Deflater::new(format_of(&format))), _held: held })
}

/// `newInflater(format) -> codec` that decompresses.
fn new_inflater(ctx: Ctx<'_>, format: String) -> Result<Class<'_, Codec>> {
    let held = bytes::Held::of(&ctx, INFLATER)?;
    Class::instance(ctx, Codec { coder: Coder::Inflater(Inflater::new(format_of(&format))), _held: held })
}

fn format_of(name: &str) -> Format {
    match name {
        "gzip" => Format::Gzip,
        "deflate" => Format::Zlib,
        _ => Format::Raw,
    }
}

/// `runCodec(codec, bytes, from, last) -> {read, bytes: Uint8Array | undefined, more, done}`: takes bytes from an index
/// on and gives what came of them, up to one piece. `more` says that there was not enough room in it, `done` that the
/// output is complete.
///
/// Throws a TypeError for damaged input.
fn run_codec<'js>(
    ctx: Ctx<'js>,
    codec: Class<'js, Codec>,
    data: Value<'js>,
    from: u32,
    last: bool,
) -> Result<Object<'js>> {
    let mut codec = codec.borrow_mut();
    let mut piece = vec![0; PIECE];
    let step = bytes::with_array(&data, |data| {
        let data = data.get(from as usize..).unwrap_or_default();
        match &mut codec.coder {
            Coder::Deflater(deflater) => deflater.step(data, &mut piece, last),
            Coder::Inflater(inflater) => inflater.step(data, &mut piece),
        }
    });
    let Progress { read, written } =
        step.map_err(|Damaged| Exception::throw_type(&ctx, "The compressed data was not valid"))?;
    let done = match &codec.coder {
        Coder::Deflater(deflater) => deflater.is_done(),
        Coder::Inflater(inflater) => inflater.is_done(),
    };
    let result = Object::new(ctx.clone())?;
    result.set_prototype(None)?;
    // An array is shorter than 2^32.
    result.set("read", read as u32)?;
    result.set("more", written == PIECE && !done)?;
    result.set("done", done)?;
    if written > 0 {
        result.set("bytes", bytes::new_bytes(&ctx, &piece[..written])?)?;
    }
    Ok(result)
}

/// The most bytes that one step gives.
const PIECE: usize = 64 * 1024;

/// Bytes of a compressor: its window, its hash chains, its codes and a block of output.
const DEFLATER: usize = 384 << 10;

/// Bytes of a decompressor: its window and its tables.
const INFLATER: usize = 48 << 10;
