//! The bounds of one connection.

use std::time::Duration;

use codemode_protocol::capnweb::WireLimits;

/// Bounds of a connection; `Default` is the contract's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportOptions {
    /// The bounds of the session.
    pub limits: WireLimits,
    /// How long the peer may be silent before it is pinged.
    pub ping_interval: Duration,
    /// How long after a ping any frame may take before the peer counts as dead.
    pub pong_deadline: Duration,
    /// How long a peer may take nothing of what waits for it before the session is aborted. On a socket that shows
    /// no bytes, a message in transit earns the same time again for every [`STALL_STEP`] bytes of it.
    pub write_stall: Duration,
    /// Bytes that may wait to be written. Over it our own calls and answers wait in their places; over it in what
    /// reading alone produced, reading waits too.
    pub outbound_bytes: usize,
    /// Calls of ours that may wait for the session, with nothing of them sent. More are refused.
    pub queued_calls: usize,
    /// Bytes of our calls that may wait for the session and for the socket together. A call beyond is refused, unless
    /// it would be the only one.
    pub queued_bytes: usize,
    /// Pings of the peer, of at most 131 bytes each, whose answers it has not taken. One more aborts the session. At
    /// least 64: so many may be read before an answer is written.
    pub unanswered_pings: usize,
    /// How long the end of a session may take to tell the peer why.
    pub close_wait: Duration,
}

impl Default for TransportOptions {
    fn default() -> Self {
        Self {
            limits: WireLimits::default(),
            ping_interval: Duration::from_secs(20),
            pong_deadline: Duration::from_secs(10),
            write_stall: Duration::from_secs(30),
            outbound_bytes: 64 << 20,
            queued_calls: 100_000,
            queued_bytes: 1 << 30,
            unanswered_pings: 1000,
            close_wait: Duration::from_secs(5),
        }
    }
}

/// The size of message, in bytes, that a slow but living peer gets [`TransportOptions::write_stall`] for, where
/// [`Socket::traffic`](crate::Socket::traffic) shows nothing: progress is then by the message, not by the byte.
pub const STALL_STEP: usize = 8 << 20;
