//! Addresses, patterns and values of forms as programs pass them.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/address/mod.rs"]
mod address;
#[path = "../../sandbox/src/guest/web/form.rs"]
mod form;
#[path = "../../sandbox/tests/web/urls.rs"]
mod hold;
#[path = "../../sandbox/src/guest/web/pattern.rs"]
mod pattern;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(&String::from_utf8_lossy(data)));
