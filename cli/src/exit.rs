//! How the process ends.

use std::process::ExitCode;

use codemode_protocol::{ErrorCode, ExecutorError};

/// The exit status, by what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All went well.
    Success,
    /// The program failed.
    Program,
    /// A flag, a file or a request breaks a rule.
    Usage,
    /// The program never ran, or nobody can know.
    Infrastructure,
    /// The user ended it.
    Interrupted,
}

impl Status {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Program => 1,
            Self::Usage => 2,
            Self::Infrastructure => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status.code())
    }
}

/// A failure that the user is told of: what to say and how to end.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Failure {
    /// Something that the user gave breaks a rule; the message names both.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { status: Status::Usage, message: message.into() }
    }

    /// The same as an error of the contract.
    pub(crate) fn into_error(self) -> ExecutorError {
        let code = match self.status {
            Status::Usage => ErrorCode::InvalidRequest,
            Status::Interrupted => ErrorCode::Cancelled,
            Status::Success | Status::Program | Status::Infrastructure => ErrorCode::Internal,
        };
        ExecutorError::new(code, self.message)
    }

    /// Something that the user depends on does not work.
    pub(crate) fn infrastructure(message: impl Into<String>) -> Self {
        Self { status: Status::Infrastructure, message: message.into() }
    }
}
