//! Names and values of application/x-www-form-urlencoded (URL, section 5), and percent-decoding. Knows nothing of the
//! engine.

use url::form_urlencoded;

/// The text that a name or a value stands for.
pub(crate) fn decode(text: &str) -> String {
    String::from_utf8_lossy(&percent_decode(text.replace('+', " ").as_bytes())).into_owned()
}

/// A text as a name or a value.
pub(crate) fn encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Infra's percent-decoding.
pub(crate) fn percent_decode(text: &[u8]) -> Vec<u8> {
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
