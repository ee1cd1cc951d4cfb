//! `data:` URLs as programs fetch them.
#![no_main]

#[path = "../../sandbox/src/guest/web/data_url.rs"]
mod data_url;
#[path = "../../sandbox/tests/web/data_urls.rs"]
#[allow(dead_code)]
mod hold;

libfuzzer_sys::fuzz_target!(|text: &str| hold::hold(text));
