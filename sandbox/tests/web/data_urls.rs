//! What must hold of `data:` URLs, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::data_url::read;
use crate::form::percent_decode;
use crate::seeded::Random;

/// The text as an address, and its bytes written as one in both ways.
pub fn hold(text: &str) {
    if let Some((kind, body)) = read(text) {
        assert!(text.contains(&kind) && body.len() <= text.len());
    }
    let bytes = text.as_bytes();
    let encoded = STANDARD.encode(bytes);
    assert_eq!(read(&format!("data:a/b;base64,{encoded}")), Some(("a/b".to_owned(), bytes.to_vec())));
    let unpadded = encoded.trim_end_matches('=');
    assert_eq!(read(&format!("data:a/b; BASE64,{unpadded}#f")), Some(("a/b".to_owned(), bytes.to_vec())));
    assert_eq!(read(&format!("data:;base64,{unpadded}A=")).is_some(), (unpadded.len() + 2).is_multiple_of(4));
    let escaped: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(percent_decode(escaped.as_bytes()), bytes);
    assert_eq!(read(&format!("data:,{escaped}")), Some((String::new(), bytes.to_vec())));
}

/// A text for [`hold`], the same for a seed everywhere.
pub fn generated(seed: u64) -> String {
    Random::of(seed).text(PIECES, 12)
}

const PIECES: &[&str] = &[
    "data:",
    "data:,",
    ";base64",
    ";",
    "base64,",
    ",",
    "BASE64",
    " ",
    "\t",
    "=",
    "==",
    "A",
    "AA",
    "AAAA",
    "+/",
    "-_",
    "%",
    "%4",
    "%41",
    "%zz",
    "%3d",
    "#",
    "text/html",
    "charset=x",
    "\u{e9}",
    "\u{1F600}",
    "\0",
];
