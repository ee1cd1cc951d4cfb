//! Compressed data as programs pass it.
#![no_main]

#[path = "../../sandbox/src/guest/web/deflate.rs"]
mod deflate;
#[path = "../../sandbox/tests/web/packing.rs"]
#[allow(dead_code)]
mod hold;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
