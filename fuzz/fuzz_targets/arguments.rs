//! Arguments of host calls as programs pass them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_protocol::fuzz::arguments(data));
