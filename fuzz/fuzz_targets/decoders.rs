//! Bytes as programs have them decoded.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/decoder.rs"]
mod decoder;
#[path = "../../sandbox/tests/web/decoders.rs"]
mod hold;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;
#[path = "../../sandbox/src/guest/web/wtf8.rs"]
mod wtf8;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
