//! What `fetch` and its types need of addresses, and searching in bytes.

use rquickjs::{Ctx, Function, Object, Result, String as Text, Value};

use super::super::{address, codec, data_url};
use super::bytes;
use super::url::COPIES;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("networkOff", codemode_protocol::text::NETWORK_OFF)?;
    natives.set("address", Function::new(ctx.clone(), absolute)?)?;
    natives.set("dataUrl", Function::new(ctx.clone(), read_data_url)?)?;
    natives.set("findBytes", Function::new(ctx.clone(), find_bytes)?)
}

/// `address(input, base) -> {href, scheme, origin, hash, credentials} | undefined`: an absolute URL, if it is one. An
/// empty base is none.
fn absolute<'js>(ctx: Ctx<'js>, input: Text<'js>, base: Text<'js>) -> Result<Option<Object<'js>>> {
    let parsed = bytes::with_text(&ctx, input, COPIES, |input| {
        bytes::with_text(&ctx, base, COPIES, |base| address::parse(input, (!base.is_empty()).then_some(base)))
    })??;
    let Some(address) = parsed else { return Ok(None) };
    let parts = Object::new(ctx)?;
    parts.set_prototype(None)?;
    parts.set("href", address.href())?;
    parts.set("scheme", address.scheme())?;
    parts.set("origin", address.origin())?;
    parts.set("hash", address.fragment().map(|fragment| format!("#{fragment}")).unwrap_or_default())?;
    parts.set("credentials", address.has_credentials())?;
    Ok(Some(parts))
}

/// `dataUrl(href) -> {type, body: Uint8Array} | undefined`: the "data: URL processor" of Fetch. The type is as written;
/// undefined for a URL without a comma or with malformed base64.
fn read_data_url<'js>(ctx: Ctx<'js>, href: Text<'js>) -> Result<Option<Object<'js>>> {
    let Some((kind, body)) = bytes::with_text(&ctx, href, DATA_COPIES, data_url::read)? else { return Ok(None) };
    let result = Object::new(ctx.clone())?;
    result.set_prototype(None)?;
    result.set("type", kind)?;
    result.set("body", bytes::new_bytes(&ctx, &body)?)?;
    Ok(Some(result))
}

/// How many times its size a `data:` URL takes while it is read: the text, its bytes, what they stand for, and that once
/// more for the program.
const DATA_COPIES: usize = 4;

/// `findBytes(buffer, offset, length, needle) -> index | -1`, counted from `offset`.
fn find_bytes<'js>(ctx: Ctx<'js>, buffer: Value<'js>, offset: f64, length: f64, needle: String) -> Result<f64> {
    // The table of a needle's borders takes a word for each byte.
    bytes::charge(&ctx, needle.len().saturating_mul(8))?;
    let found = bytes::with_bytes(&buffer, offset, length, |bytes| codec::find(bytes, needle.as_bytes(), 0, 1, false));
    Ok(found.map_or(-1.0, |at| at as f64))
}
