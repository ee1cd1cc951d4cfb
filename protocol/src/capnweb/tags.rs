//! What the operands of data tags may be: exactly what a JavaScript peer accepts without losing its session, minus
//! what no peer sends.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::value::BytesKind;

/// Written without padding, read with or without it, as JavaScript peers do.
static BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(crate) const BAD_BIGINT: &str = "a BigInt that is not decimal";
pub(crate) const BAD_BASE64: &str = "bytes that are not base64";
pub(crate) const BAD_LENGTH: &str = "bytes whose length does not fit their kind";
pub(crate) const BAD_KIND: &str = "bytes of an unknown kind";
pub(crate) const BAD_URL: &str = "a URL that does not parse";
pub(crate) const BAD_HEADER: &str = "a header that is not allowed in Headers";

/// Decimal digits with an optional sign; how many characters, or `None`. JavaScript peers count the sign against their
/// bound on digits, and drop their session above it.
pub(crate) fn bigint_digits(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then_some(text.len())
}

/// The canonical form: no leading zeros, no negative zero.
pub(crate) fn canonical_bigint(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}"),
    }
}

pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    // The crate is laxer about padding than browsers are.
    base64_shape(text.as_bytes())?;
    BASE64.decode(text).ok()
}

pub(crate) fn encode_base64(bytes: &[u8], out: &mut String) {
    BASE64.encode_string(bytes, out);
}

/// The decoded length of base64 text, or `None` if it is not: the verdict of [`decode_base64`] without its memory.
pub(crate) fn base64_length(text: &str) -> Option<usize> {
    let (digits, length) = base64_shape(text.as_bytes())?;
    let is_digit = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/');
    // Without an early end, so that the compiler can look at many at once.
    digits.iter().fold(true, |good, byte| good & is_digit(byte)).then_some(length)
}

/// The digits without padding, and the decoded length, if digits and padding are of a number that can be.
fn base64_shape(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let padding = bytes.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let digits = &bytes[..bytes.len() - padding];
    let needed = match digits.len() % 4 {
        0 => 0,
        1 => return None,
        rest => 4 - rest,
    };
    let length = digits.len() / 4 * 3 + (digits.len() % 4).saturating_sub(1);
    (padding == 0 || padding == needed).then_some((digits, length))
}

pub(crate) fn fits_kind(length: usize, kind: BytesKind) -> bool {
    length.is_multiple_of(kind.element_size())
}

/// Whether JavaScript's `new URL(href)` accepts it.
pub(crate) fn is_url(href: &str) -> bool {
    url::Url::parse(href).is_ok()
}

/// Whether JavaScript's `new Headers` accepts the pair.
pub(crate) fn is_header(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    // Values are byte strings: no code point above 0xFF, and nothing that would end the line.
    let byte = |scalar: char| scalar <= '\u{FF}' && !matches!(scalar, '\0' | '\r' | '\n');
    !name.is_empty() && name.bytes().all(token) && value.chars().all(byte)
}

/// JavaScript dates reach this many milliseconds around 1970; what is further is an invalid date.
pub(crate) fn clip_date(ms: f64) -> f64 {
    if ms.abs() <= 8.64e15 { ms } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_base64_is_known_without_decoding() {
        for text in [
            "", "AQ", "AQ==", "AQI", "AQI=", "AQID", "A", "AQ=", "AQ===", "AQID=", "A*", "====", "=", "AQ_-", "AR",
            "AQ=I",
        ] {
            assert_eq!(base64_length(text), decode_base64(text).map(|bytes| bytes.len()), "{text}");
        }
    }

    #[test]
    fn a_bigint_is_decimal_and_canonical() {
        assert_eq!(bigint_digits("-0012"), Some(5));
        assert_eq!(bigint_digits("0012"), Some(4));
        for bad in ["", "-", "0x10", "1n", "+1", " 1", "1.0", "--1"] {
            assert_eq!(bigint_digits(bad), None, "{bad}");
        }
        assert_eq!(canonical_bigint("-000"), "0");
        assert_eq!(canonical_bigint("-0012"), "-12");
    }

    #[test]
    fn headers_are_judged_as_fetch_judges_them() {
        assert!(is_header("X-a", "b \u{e9}"));
        for (name, value) in [("", "x"), ("a b", "x"), ("a", "x\n"), ("a", "\u{100}"), ("ä", "x")] {
            assert!(!is_header(name, value), "{name:?}: {value:?}");
        }
    }
}
