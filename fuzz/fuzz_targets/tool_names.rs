//! What tools are called.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| codemode_adapter::fuzz::tool_names(data));
