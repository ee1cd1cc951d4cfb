//! Codes and texts that the session engine puts on the wire, in one place. Codes are stable.

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
