//! What a model wrote.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    codemode_adapter::fuzz::normalizer(data);
});
