//! What `fetch` and its types need of addresses, and searching in bytes.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rquickjs::{Ctx, Function, Object, Result, String as Text, Value};

use super::super::address;
use super::bytes;
use super::url::COPIES;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("networkOff", codemode_protocol::text::NETWORK_OFF)?;
    natives.set("address", Function::new(ctx.clone(), absolute)?)?;
    natives.set("dataUrl", Function::new(ctx.clone(), data_url)?)?;
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
fn data_url<'js>(ctx: Ctx<'js>, href: Text<'js>) -> Result<Option<Object<'js>>> {
    let Some((kind, body)) = bytes::with_text(&ctx, href, DATA_COPIES, read_data_url)? else { return Ok(None) };
    let result = Object::new(ctx.clone())?;
    result.set_prototype(None)?;
    result.set("type", kind)?;
    result.set("body", bytes::new_bytes(&ctx, &body)?)?;
    Ok(Some(result))
}

fn read_data_url(href: &str) -> Option<(String, Vec<u8>)> {
    let rest = href.strip_prefix("data:").unwrap_or(href);
    let rest = rest.split('#').next().unwrap_or(rest);
    let (mime, body) = rest.split_once(',')?;
    let mime = mime.trim_matches(|c: char| c.is_ascii_whitespace());
    let mut body = percent_decode(body.as_bytes());
    let Some(kind) = strip_base64(mime) else { return Some((mime.to_owned(), body)) };
    body.retain(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C));
    Some((kind.to_owned(), forgiving_base64(&body)?))
}

/// What stands before `; base64` at the end, spaces allowed between the two.
fn strip_base64(mime: &str) -> Option<&str> {
    let (at, tail) = (mime.len().checked_sub(6)?, mime.get(mime.len().checked_sub(6)?..)?);
    tail.eq_ignore_ascii_case("base64").then_some(())?;
    mime[..at].trim_end_matches(' ').strip_suffix(';')
}

/// The "forgiving-base64 decode" of Infra, after it took whitespace out: padding only where it fills up the last four.
fn forgiving_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut digits = text;
    if text.len().is_multiple_of(4) {
        digits = digits.strip_suffix(b"=").unwrap_or(digits);
        digits = if digits.len() < text.len() { digits.strip_suffix(b"=").unwrap_or(digits) } else { digits };
    }
    FORGIVING.decode(digits).ok()
}

/// Infra's percent-decoding.
pub(super) fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

/// How many times its size a `data:` URL takes while it is read: the text, its bytes, what they stand for, and that once
/// more for the program.
const DATA_COPIES: usize = 4;

/// `findBytes(buffer, offset, length, needle) -> index | -1`, counted from `offset`.
fn find_bytes<'js>(buffer: Value<'js>, offset: f64, length: f64, needle: String) -> f64 {
    bytes::with_bytes(&buffer, offset, length, |bytes| {
        let needle = needle.as_bytes();
        let found = bytes.windows(needle.len().max(1)).position(|window| window == needle);
        found.map_or(-1.0, |at| at as f64)
    })
}

/// Digits without padding, whose last bits may be anything.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);
