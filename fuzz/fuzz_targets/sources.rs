//! Sources and JSON texts of programs, in which what failed is looked for.
#![no_main]

#[path = "../../sandbox/src/guest/faults/json_syntax.rs"]
mod json_syntax;
#[path = "../../sandbox/src/guest/faults/words.rs"]
mod words;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Some(words) = words::words(text) {
        assert!(words.windows(2).all(|pair| pair[0].end <= pair[1].start), "words follow each other");
    }
    json_syntax::message(&text.encode_utf16().collect::<Vec<_>>());
});
