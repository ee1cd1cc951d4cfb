//! Programs, whose imports are taken off.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_protocol::fuzz::imports(data));
