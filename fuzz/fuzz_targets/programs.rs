//! Bodies of programs, and the stacks that they make.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest"]
mod guest {
    mod body;
    pub mod hold;
    mod stack;
}
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|text: &str| guest::hold::hold(text));
