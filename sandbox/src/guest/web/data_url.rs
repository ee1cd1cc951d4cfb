//! Reading `data:` URLs (the "data: URL processor" of Fetch).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::form::percent_decode;

/// The type as written and the body; `None` without a comma or with malformed base64.
pub(crate) fn read(href: &str) -> Option<(String, Vec<u8>)> {
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

/// Infra's "forgiving-base64 decode", after it took whitespace out: padding counts only where it makes the length whole.
fn forgiving_base64(text: &[u8]) -> Option<Vec<u8>> {
    let whole = text.len().is_multiple_of(4);
    let unpadded = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).filter(|_| whole);
    UNPADDED.decode(unpadded.unwrap_or(text)).ok()
}

const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);
