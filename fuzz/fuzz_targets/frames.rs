//! Frames of a peer into one session.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_protocol::capnweb::fuzz::frames(data));
