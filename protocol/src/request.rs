//! What a caller asks for (PROTOCOL.md, "Interface").

use std::collections::BTreeMap;

use crate::{ExecutorError, Limits, ProviderDescriptor, text, validate_providers};

/// A bound in milliseconds that a caller may leave to the executor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeBound {
    /// Absent: the executor's default.
    #[default]
    Default,
    /// `null`: the executor's maximum for `timeout`, the run's effective timeout for `cpu_time`.
    Ceiling,
    /// So many milliseconds, at least 1; more than the maximum is clamped to it.
    Milliseconds(u64),
}

/// Where the program's `fetch` goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutboundMode {
    /// The executor's configured policy.
    #[default]
    Default,
    /// Nowhere.
    Blocked,
    /// To the function that the caller lends.
    Stub,
}

impl OutboundMode {
    /// The text on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Blocked => "blocked",
            Self::Stub => "stub",
        }
    }

    /// The variant that `text` names.
    pub fn from_text(text: &str) -> Option<Self> {
        [Self::Default, Self::Blocked, Self::Stub].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// How the result travels to the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultEncoding {
    /// As a Cap'n Web value in the outcome.
    #[default]
    Value,
    /// As one string in `resultText`, in the same encoding; no peer on the way touches it.
    Text,
}

impl ResultEncoding {
    /// The text on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Text => "text",
        }
    }

    /// The variant that `text` names.
    pub fn from_text(text: &str) -> Option<Self> {
        [Self::Value, Self::Text].into_iter().find(|encoding| encoding.as_str() == text)
    }
}

/// One program to run once. Every field but `code` may be left at its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteRequest {
    /// One arrow-function expression, optionally preceded by static `import` declarations.
    pub code: String,
    /// The program's namespaces.
    pub providers: Vec<ProviderDescriptor>,
    /// Module sources by specifier; absent means the executor's default.
    pub modules: Option<BTreeMap<String, String>>,
    /// The run clock.
    pub timeout: TimeBound,
    /// Whether the run clock goes on while the program waits only on host calls.
    pub count_host_waits: bool,
    /// Where `fetch` goes.
    pub outbound: OutboundMode,
    /// Memory in bytes, at least [`LEAST_MEMORY_BYTES`], clamped to the maximum.
    pub memory_limit: Option<u64>,
    /// Stack in bytes, at least [`LEAST_STACK_BYTES`], clamped to the maximum.
    pub stack_limit: Option<u64>,
    /// The CPU clock.
    pub cpu_time: TimeBound,
    /// Whether a function inside the result vanishes instead of ending the run.
    pub drop_functions: bool,
    /// Whether functions in the result become handles.
    pub retain_handles: bool,
    /// How the result travels.
    pub result_encoding: ResultEncoding,
    /// Names the run for `cancel` and the logs: a UUID; absent means that the executor makes one.
    pub id: Option<String>,
    /// W3C trace context, carried into spans and logs.
    pub traceparent: Option<String>,
}

/// A request's bounds after defaults and clamping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBounds {
    /// The run clock, in milliseconds.
    pub timeout_ms: u64,
    /// The CPU clock, in milliseconds.
    pub cpu_ms: u64,
    /// Wall time that ends the run, host waits included, in milliseconds.
    pub max_wall_ms: u64,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Stack, in bytes.
    pub stack_bytes: u64,
}

impl ExecuteRequest {
    /// A request for `code` with every other field at its default.
    pub fn new(code: impl Into<String>) -> Self {
        Self { code: code.into(), ..Self::default() }
    }

    /// Checks names and sizes before any sandbox is touched.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming the field and the rule.
    pub fn validate(&self, limits: &Limits) -> Result<(), ExecutorError> {
        validate_code(&self.code, limits)?;
        validate_modules(self.modules.as_ref(), limits)?;
        for (field, bound) in [("timeout", self.timeout), ("cpuTime", self.cpu_time)] {
            if bound == TimeBound::Milliseconds(0) {
                return Err(ExecutorError::invalid(field, "0 ms; at least 1 is needed"));
            }
        }
        for (field, bound, least) in [
            ("memoryLimit", self.memory_limit, LEAST_MEMORY_BYTES),
            ("stackLimit", self.stack_limit, LEAST_STACK_BYTES),
        ] {
            if let Some(bytes) = bound.filter(|bytes| *bytes < least) {
                return Err(ExecutorError::invalid(field, text::limit_too_small(bytes, least)));
            }
        }
        validate_id(self.id.as_deref())?;
        validate_providers(&self.providers, limits)
    }

    /// The bounds that this request runs under.
    pub fn bounds(&self, limits: &Limits) -> RunBounds {
        let timeout_ms = match self.timeout {
            TimeBound::Default => limits.timeout_ms,
            TimeBound::Ceiling => limits.max_timeout_ms,
            TimeBound::Milliseconds(ms) => ms.min(limits.max_timeout_ms),
        };
        let cpu_ms = match self.cpu_time {
            TimeBound::Default => limits.cpu_time_ms,
            TimeBound::Ceiling => timeout_ms,
            TimeBound::Milliseconds(ms) => ms.min(limits.max_cpu_time_ms),
        };
        RunBounds {
            timeout_ms,
            cpu_ms,
            max_wall_ms: limits.max_wall_ms,
            memory_bytes: self.memory_limit.unwrap_or(limits.memory_limit).min(limits.max_memory_limit),
            stack_bytes: self.stack_limit.unwrap_or(limits.stack_limit).min(limits.max_stack_limit),
        }
    }
}

/// The least memory limit that a request or an operator may name, in bytes: under it not even the engine's own start
/// is sure to fit, and its failure would read as the program's.
pub const LEAST_MEMORY_BYTES: u64 = 2 << 20;

/// The least stack limit that a request may name, in bytes: under it the engine has no room for its own frames.
pub const LEAST_STACK_BYTES: u64 = 64 << 10;

/// Checks the size of a program.
pub(crate) fn validate_code(code: &str, limits: &Limits) -> Result<(), ExecutorError> {
    validate_size("code", code.len(), limits.code_bytes)
}

/// Checks the sizes of modules.
pub(crate) fn validate_modules(
    modules: Option<&BTreeMap<String, String>>,
    limits: &Limits,
) -> Result<(), ExecutorError> {
    for (specifier, source) in modules.into_iter().flatten() {
        validate_size(&format!("modules[{specifier:?}]"), source.len(), limits.module_bytes)?;
    }
    // Specifiers count, or their number would be bounded by nothing.
    let all = modules.into_iter().flatten().map(|(specifier, source)| specifier.len() + source.len());
    validate_size("modules", all.sum(), limits.modules_bytes)
}

/// Checks the name of a run.
pub(crate) fn validate_id(id: Option<&str>) -> Result<(), ExecutorError> {
    match id {
        Some(id) if !is_uuid(id) => {
            Err(ExecutorError::invalid("id", "must be a UUID such as 123e4567-e89b-12d3-a456-426614174000"))
        }
        _ => Ok(()),
    }
}

fn validate_size(field: &str, size: usize, bound: u64) -> Result<(), ExecutorError> {
    if size as u64 <= bound {
        return Ok(());
    }
    Err(ExecutorError::invalid(field, text::field_too_large(size as u64, bound)))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_bounds_take_the_default_and_large_ones_the_maximum() {
        let limits = Limits::default();
        let bounds = ExecuteRequest::new("").bounds(&limits);
        assert_eq!((bounds.timeout_ms, bounds.cpu_ms, bounds.memory_bytes), (60_000, 30_000, 128 << 20));
        let request = ExecuteRequest {
            timeout: TimeBound::Ceiling,
            cpu_time: TimeBound::Ceiling,
            memory_limit: Some(u64::MAX),
            stack_limit: Some(4096),
            ..ExecuteRequest::new("")
        };
        let bounds = request.bounds(&limits);
        assert_eq!((bounds.timeout_ms, bounds.cpu_ms), (300_000, 300_000));
        assert_eq!((bounds.memory_bytes, bounds.stack_bytes), (512 << 20, 4096));
    }

    #[test]
    fn a_null_cpu_time_is_the_effective_timeout() {
        let request = ExecuteRequest {
            timeout: TimeBound::Milliseconds(250),
            cpu_time: TimeBound::Ceiling,
            ..ExecuteRequest::new("")
        };
        assert_eq!(request.bounds(&Limits::default()).cpu_ms, 250);
    }

    #[test]
    fn a_bad_field_is_named_with_its_rule() {
        let limits = Limits { code_bytes: 4, module_bytes: 4, ..Limits::default() };
        let base = || ExecuteRequest::new("ok");
        let cases = [
            (ExecuteRequest::new("12345"), "code: takes 5 bytes; at most 4 are allowed. Send less in one request."),
            (
                ExecuteRequest { modules: Some([("a".into(), "12345".into())].into()), ..base() },
                "modules[\"a\"]: takes 5 bytes; at most 4 are allowed. Send less in one request.",
            ),
            (ExecuteRequest { timeout: TimeBound::Milliseconds(0), ..base() }, "timeout: 0 ms; at least 1 is needed"),
            (ExecuteRequest { cpu_time: TimeBound::Milliseconds(0), ..base() }, "cpuTime: 0 ms; at least 1 is needed"),
            (
                ExecuteRequest { memory_limit: Some(2_097_151), ..base() },
                "memoryLimit: 2097151 bytes; at least 2097152 bytes are needed. Ask for more, or leave it off for the default.",
            ),
            (
                ExecuteRequest { stack_limit: Some(0), ..base() },
                "stackLimit: 0 bytes; at least 65536 bytes are needed. Ask for more, or leave it off for the default.",
            ),
            (
                ExecuteRequest { id: Some("x".into()), ..base() },
                "id: must be a UUID such as 123e4567-e89b-12d3-a456-426614174000",
            ),
        ];
        for (request, expected) in cases {
            assert_eq!(request.validate(&limits).unwrap_err().message, expected);
        }
        let least =
            ExecuteRequest { memory_limit: Some(LEAST_MEMORY_BYTES), stack_limit: Some(LEAST_STACK_BYTES), ..base() };
        assert!(least.validate(&limits).is_ok() && base().validate(&limits).is_ok());
    }
}
