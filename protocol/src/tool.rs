//! Two failures whose text both sides compose.

use crate::text;

/// A call to a tool that its provider does not have, or to a provider without a handler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", text::tool_not_found(tool))]
pub struct ToolNotFoundError {
    /// The tool's name, as the program called it.
    pub tool: String,
}

impl ToolNotFoundError {
    /// The error for `tool`.
    pub fn new(tool: impl Into<String>) -> Self {
        Self { tool: tool.into() }
    }
}

/// A run over its run clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", text::timed_out(*timeout_ms))]
pub struct ExecutionTimeoutError {
    /// The bound, in milliseconds.
    pub timeout_ms: u64,
}

impl ExecutionTimeoutError {
    /// Whether `message` is the text of this error: its whole first sentence is tested, so that a program that throws
    /// `Execution timed out waiting for the vendor` keeps its own message.
    pub fn matches(message: &str) -> bool {
        let Some(rest) = message.strip_prefix(text::TIMEOUT_MESSAGE).and_then(|rest| rest.strip_prefix(" at its "))
        else {
            return false;
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0
            && rest[digits..].strip_prefix(" ms bound.").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_recognised_by_its_whole_first_sentence() {
        let cases = [
            ("Execution timed out at its 300 ms bound. Do less work per run.", true),
            ("Execution timed out at its 300 ms bound.", true),
            ("Execution timed out", false),
            ("Execution timed out waiting for the vendor API", false),
            ("Execution timed out at its  ms bound.", false),
            ("Execution timed out at its 300 ms bound", false),
            ("Execution timed out at its 300 ms bound.x", false),
            ("Error: Execution timed out at its 300 ms bound.", false),
        ];
        for (message, expected) in cases {
            assert_eq!(ExecutionTimeoutError::matches(message), expected, "{message}");
        }
        assert!(ExecutionTimeoutError::matches(&ExecutionTimeoutError { timeout_ms: 7 }.to_string()));
    }

    #[test]
    fn a_missing_tool_is_named() {
        assert_eq!(ToolNotFoundError::new("a\"b").to_string(), "Tool \"a\"b\" not found");
    }
}
