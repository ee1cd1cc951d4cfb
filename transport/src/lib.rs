//! Runs a Cap'n Web [`Session`](codemode_protocol::capnweb::Session) over a WebSocket, or over a pair in memory.
//!
//! [`start`] joins a [`Socket`], our main object and the bounds; it gives a [`Connection`], whose clones make calls,
//! and the future that drives the session. One task owns the session. Handles, pending calls, running targets and
//! dropped stubs send it commands through one mailbox, and one loop over a closed set of events does what the session
//! says. Nothing here knows what a call means.
//!
//! - **Order.** Our calls are sent in the order in which they were made. The peer's calls are first polled in the order
//!   in which they came, within that one task; what is still pending then runs in a task of its own. A panic rejects
//!   that call with `INTERNAL` and a log id.
//! - **Bounds.** What waits to be written is bounded in bytes: beyond it our calls, and the answers of calls that took
//!   their time, wait where they are. Reading pauses only when what reading itself produced at once piles up, so that
//!   two ends that are busy with large results do not wait for each other. A peer that takes nothing for
//!   [`TransportOptions::write_stall`] loses its session, and so does one that pings without reading the answers. What
//!   waits to be sent at all is bounded by [`TransportOptions::queued_bytes`].
//! - **Life.** Any byte is a sign of it; a silent peer is pinged and then given up.
//! - **End.** Every pending call fails by [`CallError::Broken`], which says whether its frame had been written. When we
//!   end a session, the peer gets our reasons first: the abort with its code, then the close frame.
//!
//! The ends: [`connect`] opens a WebSocket, [`ServerSocket`] takes one from axum, [`memory::pair`] makes two that can be
//! broken at will.

mod client;
mod closing;
mod connection;
mod driver;
mod invoke;
mod liveness;
mod mailbox;
pub mod memory;
mod meter;
mod options;
mod outbound;
mod server;
mod socket;
mod tls;
mod weight;

pub use client::{ClientSocket, ConnectError, ConnectOptions, connect};
pub use codemode_protocol::capnweb::CloseOrigin;
pub use connection::{CallError, CallTracker, Closed, Connection, Crowd, PendingCall, Refused, Sent};
pub use driver::start;
pub use invoke::after_answer;
pub use meter::{Meter, Metered, Traffic};
pub use options::{STALL_STEP, TransportOptions};
pub use rustls::pki_types::CertificateDer;
pub use server::{ServerSocket, bounded};
pub use socket::{Frame, Socket, SocketError, Text};
pub use tls::certificates_from_pem;
