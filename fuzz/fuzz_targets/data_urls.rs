//! `data:` URLs as programs fetch them.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/data_url.rs"]
mod data_url;
#[path = "../../sandbox/src/guest/web/form.rs"]
mod form;
#[path = "../../sandbox/tests/web/data_urls.rs"]
mod hold;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|text: &str| hold::hold(text));
