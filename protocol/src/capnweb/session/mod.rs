//! One end of one Cap'n Web connection.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::expression::EncodeError;
use super::limits::WireLimits;
use super::stub::{Shared, Stub};
use super::target::{IncomingCall, PathKey, Target};
use super::value::{ErrorValue, Value};

/// What a session is made of.
pub struct SessionConfig {
    /// The object that the peer sees as our main object.
    pub main: Arc<dyn Target>,
    /// The bounds.
    pub limits: WireLimits,
}

/// A call of ours that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) i64);

/// A call of the peer that the application runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationId(pub(crate) u64);

/// Whether the result of a call is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// The result arrives as [`Output::Settled`].
    Pull,
    /// The call runs at the peer, and its result is dropped there.
    Forget,
}

/// What the driver has to do.
pub enum Output {
    /// Send one text frame.
    Send(String),
    /// Run a call of the peer, first polled before the next output is fetched, and answer with [`Session::respond`].
    Invoke {
        /// Names the call in [`Session::respond`].
        id: InvocationId,
        /// The object called.
        target: Arc<dyn Target>,
        /// The call.
        call: IncomingCall,
    },
    /// A call of ours ended. Each call settles exactly once, unless it was cancelled or forgotten: then never.
    Settled {
        /// The call.
        call: CallId,
        /// The result, or what the peer's function threw.
        result: Result<Value, Value>,
    },
    /// The session is over: close the socket. The last output; all calls have settled before.
    Closed(CloseReason),
}

/// Why and how a session ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CloseReason {
    /// What every unsettled call was rejected with, normally an error.
    pub error: Value,
    /// The WebSocket close code to close with, or the one that the peer closed with.
    pub close_code: u16,
    /// The WebSocket close reason, at most 123 bytes.
    pub close_reason: String,
    /// Who ended it.
    pub origin: CloseOrigin,
}

/// Who ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseOrigin {
    /// We did: [`Session::abort`], [`Session::close`], or the peer broke the protocol or a bound.
    Local,
    /// The peer sent `abort`.
    Peer,
    /// The connection ended.
    Transport,
}

/// How many entries a session holds. All are zero when both sides have released everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSizes {
    /// Calls of ours without an answer yet.
    pub calls: usize,
    /// Objects and promises of the peer that we hold, without its main object.
    pub imports: usize,
    /// Results of the peer's calls that it has not released.
    pub peer_calls: usize,
    /// Objects of ours that the peer holds, without our main object.
    pub exports: usize,
    /// Calls of the peer that the application runs.
    pub running: usize,
    /// Calls of the peer that wait for a promise or another result.
    pub parked: usize,
    /// Results and promises that something still refers to.
    pub results: usize,
    /// Memory of what the peer sent and only we hold, in bytes.
    pub held_bytes: usize,
    /// Memory of results of ours that the peer has not released, in bytes.
    pub retained_bytes: usize,
    /// Memory of the arguments of running calls, in bytes.
    pub running_bytes: usize,
}

/// One end of one connection: decides everything, does nothing by itself.
pub struct Session {
    shared: Arc<Shared>,
    main: Stub,
    config: SessionConfig,
}

impl Session {
    /// A fresh session. `now` is the time since any fixed moment, on a clock that never goes back.
    pub fn new(config: SessionConfig, now: Duration) -> Self {
        let _ = now;
        let shared = Arc::new(Shared::default());
        Self { main: Stub::new(&shared, 0, 0), shared, config }
    }

    /// Sets who is woken when a dropped [`Stub`] left work for [`Session::poll_output`].
    pub fn set_waker(&mut self, waker: Waker) {
        self.shared.set_waker(waker);
    }

    /// Takes one text frame. Stop calling it while [`Session::outbound_bytes`] is over the driver's bound: that is the
    /// only backpressure a peer feels.
    pub fn receive(&mut self, text: &str, now: Duration) {
        let _ = (text, now, &self.config);
    }

    /// Takes a binary frame: a protocol error.
    pub fn receive_binary(&mut self, now: Duration) {
        let _ = now;
    }

    /// The connection ended; 1006 and an empty reason if it did so without a close frame.
    pub fn transport_closed(&mut self, code: u16, reason: &str) {
        let _ = (code, reason);
    }

    /// Does what was due at [`Session::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Duration) {
        let _ = now;
    }

    /// When [`Session::handle_timeout`] wants to be called, on the clock of [`Session::new`].
    pub fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    /// The peer's main object.
    pub fn main(&self) -> Stub {
        self.main.clone()
    }

    /// Calls an object of the peer, or reads a property when `args` is `None`. On `Err` nothing was sent, and the
    /// session goes on. On a closed session the call settles with the close error.
    pub fn call(
        &mut self,
        target: &Stub,
        path: Vec<PathKey>,
        args: Option<Vec<Value>>,
        mode: CallMode,
    ) -> Result<CallId, EncodeError> {
        let _ = (target, path, args, mode);
        Ok(CallId(1))
    }

    /// Calls the result of a call that has not settled yet.
    pub fn call_pipelined(
        &mut self,
        on: CallId,
        path: Vec<PathKey>,
        args: Option<Vec<Value>>,
        mode: CallMode,
    ) -> Result<CallId, EncodeError> {
        let _ = (on, path, args, mode);
        Ok(CallId(1))
    }

    /// Releases a call before its answer: it does not settle any more, and a peer like ours cancels it. Does nothing
    /// when the call has settled.
    pub fn cancel_call(&mut self, call: CallId) {
        let _ = call;
    }

    /// The application finished a call of the peer. Drop what the call held first: stubs released by then are released
    /// on the wire before the answer.
    pub fn respond(&mut self, invocation: InvocationId, result: Result<Value, Value>) {
        let _ = (invocation, result);
    }

    /// Ends the session with `["abort", error]`.
    pub fn abort(&mut self, error: ErrorValue) {
        let _ = error;
    }

    /// Ends the session cleanly, without an abort frame.
    pub fn close(&mut self) {}

    /// The next thing to do, or `None` until something else happens.
    pub fn poll_output(&mut self) -> Option<Output> {
        None
    }

    /// Whether the session has ended; outputs may be left.
    pub fn is_closed(&self) -> bool {
        false
    }

    /// Bytes of frames that wait in [`Session::poll_output`], estimated where they are not written yet.
    pub fn outbound_bytes(&self) -> usize {
        0
    }

    /// How much the session holds.
    pub fn stats(&self) -> TableSizes {
        TableSizes::default()
    }
}

impl CloseReason {
    /// The property `code` of the error.
    pub fn code(&self) -> Option<&str> {
        self.error.as_error().and_then(ErrorValue::code)
    }
}
