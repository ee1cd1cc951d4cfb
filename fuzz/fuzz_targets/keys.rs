//! Keys as programs import them, and what they encrypt by them.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest/web/base64url.rs"]
mod base64url;
#[path = "../../sandbox/src/guest/web/gcm.rs"]
mod gcm;
#[path = "../../sandbox/tests/web/keys.rs"]
mod hold;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
