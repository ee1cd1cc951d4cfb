//! Operations of two joined peers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_protocol::capnweb::fuzz::peers(data));
