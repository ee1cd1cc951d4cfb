//! Addresses and patterns as programs pass them.
#![no_main]

#[path = "../../sandbox/src/guest/web/address/mod.rs"]
mod address;
#[path = "../../sandbox/tests/web/urls.rs"]
mod hold;
#[path = "../../sandbox/src/guest/web/pattern.rs"]
mod pattern;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(&String::from_utf8_lossy(data)));
