//! What a child that has run a program sends to the pool.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/frame/mod.rs"]
mod frame;
#[path = "../../sandbox/src/pool"]
mod pool {
    mod conversation;
    #[path = "conversation/hold.rs"]
    pub mod hold;
}
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pool::hold::hold(data));
