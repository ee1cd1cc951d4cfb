//! What must hold of `data:` URLs, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::data_url::{percent_decode, read};

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
    // SplitMix64.
    let mut state = seed;
    let mut below = |count: usize| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    };
    (0..below(12)).map(|_| PIECES[below(PIECES.len())]).collect()
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
