//! Failures of the infrastructure: the program never ran, or nobody can know whether it ran (PROTOCOL.md, "Errors").
//!
//! A program that failed is no error: that is an [`Outcome`](crate::Outcome) with its `error` set.

use std::fmt;

use crate::{LogLine, Stats};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident $text:literal $retryable:literal;)+) => {
        /// The stable code of an [`ExecutorError`]. Codes are never renamed and never reused.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ $variant,)+
            /// A code that this version does not know, kept as it came; empty when the peer sent none.
            Other(String),
        }

        impl ErrorCode {
            /// Every code of the contract.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)+];

            /// The code's text on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// The code that `text` names; an unknown one is kept.
            pub fn from_text(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }

            fn retryable_by_default(&self) -> bool {
                match self {
                    $(Self::$variant => $retryable,)+
                    Self::Other(_) => false,
                }
            }
        }
    };
}

codes! {
    /// No session: the socket could not be opened, was refused, or the handshake failed.
    ConnectionRejected "CONNECTION_REJECTED" false;
    /// Client and server speak different versions.
    ProtocolMismatch "PROTOCOL_MISMATCH" false;
    /// The session died. [`ExecutorError::started`] says whether the program may have run.
    ConnectionBroken "CONNECTION_BROKEN" true;
    /// Credentials are missing or wrong.
    Unauthorized "UNAUTHORIZED" false;
    /// A field of the request breaks a rule; the message names both.
    InvalidRequest "INVALID_REQUEST" false;
    /// No permit within the queue's bounds; try again after `retry_after_ms`.
    Overloaded "OVERLOADED" true;
    /// The executor is draining; the program was never started.
    ShuttingDown "SHUTTING_DOWN" true;
    /// The caller cancelled the run.
    Cancelled "CANCELLED" false;
    /// No such retained execution, or no such handle in it.
    HandleNotFound "HANDLE_NOT_FOUND" false;
    /// The sandbox process died other than by our kill.
    SandboxCrashed "SANDBOX_CRASHED" false;
    /// A peer broke a bound of the wire.
    LimitExceeded "LIMIT_EXCEEDED" false;
    /// A bug here. The message carries a log id; the detail stays in the log.
    Internal "INTERNAL" false;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a broken call had reached its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// The frame was never written: the call may be repeated.
    No,
    /// A host call of the program had arrived.
    Yes,
    /// The frame was written and nothing came back.
    Unknown,
}

impl Started {
    /// The text on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Yes => "yes",
            Self::Unknown => "unknown",
        }
    }

    /// The variant that `text` names.
    pub fn from_text(text: &str) -> Option<Self> {
        [Self::No, Self::Yes, Self::Unknown].into_iter().find(|started| started.as_str() == text)
    }
}

/// The infrastructure failed. On the wire an Error with these members as own properties.
#[derive(Clone, Debug)]
pub struct ExecutorError {
    /// What kind of failure; decides what the caller does next.
    pub code: ErrorCode,
    /// What happened, which bound, what to do.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// For `OVERLOADED`: when to try again, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// For `CONNECTION_BROKEN`: whether the program may have run.
    pub started: Option<Started>,
    /// Log lines that had arrived before the failure.
    pub logs: Vec<LogLine>,
    /// Figures that had arrived before the failure.
    pub stats: Option<Stats>,
    /// The text of the failure beneath, if there is one.
    pub cause: Option<String>,
}

impl ExecutorError {
    /// An error with the code's usual `retryable` and nothing else set.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let retryable = code.retryable_by_default();
        Self {
            code,
            message: message.into(),
            retryable,
            retry_after_ms: None,
            started: None,
            logs: Vec::new(),
            stats: None,
            cause: None,
        }
    }

    /// `INVALID_REQUEST` for `field`, which breaks `rule`.
    pub fn invalid(field: impl fmt::Display, rule: impl fmt::Display) -> Self {
        Self::new(ErrorCode::InvalidRequest, format!("{field}: {rule}"))
    }

    /// The same error with the failure beneath it.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// The same error, retryable or not.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// The same error with what is known of the program's start.
    #[must_use]
    pub fn with_started(mut self, started: Started) -> Self {
        self.started = Some(started);
        self
    }

    /// The same error with the log lines that had arrived.
    #[must_use]
    pub fn with_logs(mut self, logs: Vec<LogLine>) -> Self {
        self.logs = logs;
        self
    }
}

impl fmt::Display for ExecutorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.cause {
            Some(cause) => write!(f, " (cause: {cause})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ExecutorError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_its_text() {
        for code in ErrorCode::ALL {
            assert_eq!(&ErrorCode::from_text(code.as_str()), code);
        }
        assert_eq!(ErrorCode::from_text("NEW_CODE"), ErrorCode::Other("NEW_CODE".into()));
    }
}
