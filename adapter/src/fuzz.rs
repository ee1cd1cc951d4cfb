//! Fuzz functions: what must hold whatever a model writes, and whatever a tool is called.
//!
//! They panic when something does not hold. Ordinary tests drive them from a seeded generator, `fuzz/` by coverage.

use codemode_protocol::{JAVASCRIPT_RESERVED_WORDS, is_identifier};

use crate::{normalize::is_one_function, normalize_code, sanitize_tool_name};

/// One text, as a model's output: what runs in its place is there, and where it is one function it is a fixed point.
/// Whether it is one is told.
pub fn normalizer(data: &[u8]) -> bool {
    let code = String::from_utf8_lossy(data);
    let normalized = normalize_code(&code);
    assert!(!normalized.is_empty(), "{code:?} became nothing");
    // What breaks out of its wrap may parse as something else, and fails in the sandbox.
    let is_function = is_one_function(&normalized);
    if is_function {
        assert_eq!(normalize_code(&normalized), normalized, "{code:?}");
    }
    is_function
}

/// Names of tools, one a line: each becomes an identifier that a program can bind, once and for all.
pub fn tool_names(data: &[u8]) {
    for name in String::from_utf8_lossy(data).split('\n') {
        let identifier = sanitize_tool_name(name);
        assert!(is_identifier(&identifier), "{name:?} became {identifier:?}");
        // The dialect leaves `async` as it is, which is no reserved word.
        assert!(identifier == "async" || !JAVASCRIPT_RESERVED_WORDS.contains(&identifier.as_str()), "{name:?}");
        assert_eq!(sanitize_tool_name(&identifier), identifier, "{name:?}");
    }
}
