//! Module specifiers of programs, and the keys of modules.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../../sandbox/src/guest"]
mod guest {
    pub mod modules {
        mod builtins;
        mod graph;
        pub mod hold;
    }

    /// Names of the programs in stacks.
    pub mod program {
        pub const FILE: &std::ffi::CStr = c"program.js";
        pub const PROXY_FILE: &std::ffi::CStr = c"proxy.js";
    }

    /// Some of the builtin modules.
    pub mod web {
        pub const NODE_MODULES: &[&str] = &["node:buffer", "node:path", "node:path/posix"];
    }
}
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;

libfuzzer_sys::fuzz_target!(|text: &str| guest::modules::hold::hold(text));
