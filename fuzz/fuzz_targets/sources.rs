//! Sources and JSON texts of programs, in which what failed is looked for.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest"]
mod guest {
    /// Memory of a run that is never short of it.
    pub mod alloc {
        #[derive(Debug)]
        pub struct Charge;

        impl Charge {
            pub fn of(_: usize) -> Self {
                Self
            }
        }

        pub fn has_room(_: usize) -> bool {
            true
        }
    }

    pub mod faults {
        mod calls;
        mod json_syntax;
        pub mod seeds;
        mod table;
        mod words;
    }
}
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|text: &str| {
    guest::faults::seeds::hold(text);
});
