//! Bytes and text as programs pass them to Buffer.
#![no_main]

#[path = "../../sandbox/src/guest/web/codec.rs"]
mod codec;
#[path = "../../sandbox/tests/web/buffers.rs"]
mod hold;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
