//! Bytes and text as programs pass them to Buffer.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/codec.rs"]
mod codec;
#[path = "../../sandbox/tests/web/buffers.rs"]
mod hold;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
