//! Every way in which a call or a connect fails, as the contract's error (PROTOCOL.md, "Errors").

use std::fmt;

use codemode_protocol::{ErrorCode, ExecutorError, Started, text, wire::rehydrate};
use codemode_transport::{CallError, Closed, ConnectError, Refused, Sent};
use http::StatusCode;

/// What was under way when a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A run, and whether one of its host calls had arrived.
    Execution {
        /// Whether a host call had arrived.
        host_call: bool,
    },
    /// Anything else.
    Other,
}

/// No session came about.
pub(crate) fn rejected(url: &str, cause: impl fmt::Display) -> ExecutorError {
    ExecutorError::new(ErrorCode::ConnectionRejected, text::open_failed(url)).caused_by(cause)
}

/// The WebSocket was not opened.
pub(crate) fn not_opened(url: &str, error: &ConnectError) -> ExecutorError {
    match error {
        ConnectError::Refused(StatusCode::UNAUTHORIZED, _) => unauthorized(url, error),
        _ => rejected(url, error).with_retryable(error.is_transient()),
    }
}

/// The server does not take our credentials.
pub(crate) fn unauthorized(url: &str, cause: impl fmt::Display) -> ExecutorError {
    ExecutorError::new(ErrorCode::Unauthorized, text::open_failed(url)).caused_by(cause)
}

/// The runtime that sessions live on has shut down.
pub(crate) fn abandoned() -> ExecutorError {
    const WHY: &str = "The runtime that RemoteExecutor was connected on is gone, and no session can be opened";
    ExecutorError::new(ErrorCode::ConnectionRejected, WHY)
}

/// A run that was cancelled while it waited for a session.
pub(crate) fn cancelled() -> ExecutorError {
    ExecutorError::new(ErrorCode::Cancelled, text::CANCELLED_UNSUBMITTED).with_started(Started::No)
}

/// A call has no result. `disposed` says whether that is our own doing.
pub(crate) fn failed(call: Call, error: CallError, disposed: bool) -> ExecutorError {
    match error {
        CallError::Thrown(thrown) => rehydrate(thrown),
        CallError::Refused(why @ Refused::Unencodable(_)) => ExecutorError::invalid("request", why),
        CallError::Refused(why @ Refused::Crowded(_)) => ExecutorError::new(ErrorCode::Overloaded, why.to_string()),
        CallError::Broken { closed, sent } => {
            let message = match call {
                _ if disposed => text::REMOTE_CLOSED,
                Call::Execution { .. } => text::BROKE_DURING_EXECUTION,
                Call::Other => text::BROKE_DURING_CALL,
            };
            let started = match (sent, call) {
                (Sent::No, _) => Started::No,
                (Sent::Yes, Call::Execution { host_call: true }) => Started::Yes,
                (Sent::Yes, _) => Started::Unknown,
            };
            let error = ExecutorError::new(ErrorCode::ConnectionBroken, message).with_retryable(!disposed);
            error.with_started(started).caused_by(cause(&closed))
        }
    }
}

/// A call after dispose. No later call on this executor can succeed, so it is not to be tried again.
pub(crate) fn closed() -> ExecutorError {
    let error = ExecutorError::new(ErrorCode::ConnectionBroken, text::REMOTE_CLOSED);
    error.with_started(Started::No).with_retryable(false)
}

/// The original failure, its code included if it has one.
fn cause(closed: &Closed) -> String {
    match closed.error_code() {
        Some(code) => format!("{code}: {closed}"),
        None => closed.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use codemode_protocol::capnweb::{ErrorValue, Value};
    use codemode_transport::CloseOrigin;

    use super::*;

    fn broken(sent: Sent) -> CallError {
        let closed = Closed {
            error: Value::from(ErrorValue::new("Error", "draining").with_code("SHUTTING_DOWN")),
            code: 3000,
            reason: "draining".into(),
            origin: CloseOrigin::Peer,
        };
        CallError::Broken { closed: Arc::new(closed), sent }
    }

    #[test]
    fn a_broken_call_says_what_is_known_of_its_start() {
        let execution = |host_call| Call::Execution { host_call };
        let cases = [
            (execution(false), Sent::No, false, text::BROKE_DURING_EXECUTION, Started::No),
            (execution(false), Sent::Yes, false, text::BROKE_DURING_EXECUTION, Started::Unknown),
            (execution(true), Sent::Yes, false, text::BROKE_DURING_EXECUTION, Started::Yes),
            (Call::Other, Sent::Yes, false, text::BROKE_DURING_CALL, Started::Unknown),
            (execution(true), Sent::Yes, true, text::REMOTE_CLOSED, Started::Yes),
        ];
        for (call, sent, disposed, message, started) in cases {
            let error = failed(call, broken(sent), disposed);
            assert_eq!(error.code, ErrorCode::ConnectionBroken);
            assert_eq!((error.message.as_str(), error.started), (message, Some(started)), "{call:?} {sent:?}");
            assert_eq!(error.retryable, !disposed, "a retry on a closed executor would spin");
            assert_eq!(error.cause.as_deref(), Some("SHUTTING_DOWN: draining"));
        }
    }

    #[test]
    fn a_refused_connect_is_retryable_when_it_may_pass() {
        let (rejected, unauthorized) = (ErrorCode::ConnectionRejected, ErrorCode::Unauthorized);
        let cases = [
            (ConnectError::Refused(StatusCode::SERVICE_UNAVAILABLE, String::new()), &rejected, true),
            (ConnectError::Refused(StatusCode::NOT_FOUND, String::new()), &rejected, false),
            (ConnectError::Refused(StatusCode::UNAUTHORIZED, String::new()), &unauthorized, false),
            (ConnectError::Unreachable(std::io::ErrorKind::ConnectionRefused.into()), &rejected, true),
            (ConnectError::Handshake("no WebSocket".into()), &rejected, false),
            (ConnectError::Tls("not trusted".into()), &rejected, false),
        ];
        for (error, code, retryable) in cases {
            let error = not_opened("ws://h:1/", &error);
            assert_eq!(error.message, "Failed to open WebSocket to ws://h:1/");
            assert_eq!((&error.code, error.retryable), (code, retryable));
        }
    }
}
