//! Compressed data as programs pass it.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/deflate.rs"]
mod deflate;
#[path = "../../sandbox/tests/web/packing.rs"]
mod hold;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
