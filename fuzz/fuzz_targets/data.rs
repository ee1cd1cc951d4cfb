//! One text as a data expression.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_protocol::capnweb::fuzz::data(data));
