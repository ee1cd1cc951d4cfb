//! Codes and texts that the session engine puts on the wire, in one place. Codes are stable.

use super::target::PathKey;
use super::value::ErrorValue;

/// Code of the abort after a peer went over a bound.
pub const CODE_LIMIT_EXCEEDED: &str = "LIMIT_EXCEEDED";
/// Code of the abort after a peer broke the protocol.
pub const CODE_PROTOCOL_VIOLATION: &str = "PROTOCOL_VIOLATION";
/// Code of a call that was rejected because too much is going on in its session.
pub const CODE_OVERLOADED: &str = "OVERLOADED";
/// Code of a call that uses a part of the protocol that this implementation does not have.
pub const CODE_UNSUPPORTED: &str = "UNSUPPORTED";

/// WebSocket close code for every end that the session decides.
pub const CLOSE_CODE: u16 = 3000;
/// Close code that stands for "the connection died without a close frame".
pub const CLOSE_CODE_ABNORMAL: u16 = 1006;
/// Longest close reason that WebSocket allows, in bytes.
pub const CLOSE_REASON_BYTES: usize = 123;
/// Close reason of a clean end, the text that JavaScript uses.
pub const CLEAN_CLOSE: &str = "RPC session was shut down by disposing the main stub";

/// What a job is told whose input is gone; it cannot happen.
pub(crate) const LOST_RESULT: &str = "the result of an earlier call is gone";
/// A result of ours that its own application encoded wrongly.
pub(crate) const BROKEN_RESULT: &str = "the result of an earlier call cannot be read";
/// A result that was sent and not kept.
pub(crate) const FORGOTTEN_RESULT: &str = "the result was not kept: too many results are waiting to be released";
/// A binary frame.
pub(crate) const BINARY_FRAME: &str = "messages are text, not binary";
/// Stands in for an error of ours that is too large to send.
pub(crate) const UNSENDABLE_ERROR: &str = "the error could not be sent";
/// What an unsettled promise of the peer becomes.
pub(crate) const PROMISE_OVERDUE: &str = "the promise was not settled in time";

/// What JavaScript says when a call leads to something else.
pub fn not_a_function(path: &[PathKey]) -> String {
    let path: Vec<String> = path.iter().map(PathKey::to_string).collect();
    format!("'{}' is not a function.", path.join("."))
}

/// What JavaScript says when a path leads on from `undefined`.
pub fn cannot_read(key: &PathKey) -> String {
    format!("Cannot read properties of undefined (reading '{key}')")
}

pub(crate) fn unsupported(what: &str) -> ErrorValue {
    ErrorValue::new("TypeError", format!("{what} are not supported by this peer")).with_code(CODE_UNSUPPORTED)
}

pub(crate) fn too_many_calls(limit: usize) -> String {
    format!("more than {limit} calls are running in this session: wait for one")
}

pub(crate) fn too_many_bytes(limit: usize) -> String {
    format!("the arguments of the running calls exceed {limit} bytes: wait for one, or send less")
}

pub(crate) fn peer_closed(code: u16, reason: &str) -> String {
    format!("Peer closed WebSocket: {code} {reason}")
}
