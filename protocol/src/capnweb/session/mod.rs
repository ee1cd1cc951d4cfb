//! One end of one Cap'n Web connection.

mod answer;
mod calls;
mod cells;
mod end;
mod evaluate;
mod exports;
mod imports;
mod memory;
mod message;
mod pipeline;
pub(crate) mod plan;
mod queue;
mod receive;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use self::cells::Cells;
use self::exports::Exports;
use self::imports::Imports;
use self::memory::{Charge, Gauge};
use self::pipeline::{Job, JobId};
use self::plan::CellId;
use self::queue::Queue;
use super::cancel::CancelSource;
use super::expression::DecodeError;
use super::limits::WireLimits;
use super::stub::{Shared, Stub};
use super::target::{IncomingCall, Target};
use super::text;
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
    /// The session is over: close the socket. All calls have settled before; only calls that are made on a closed
    /// session still settle after it.
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
///
/// Feed it with `receive` and `handle_timeout`, ask it for calls with `call`, then do what `poll_output` says until it
/// says `None`. All its tables are its own; stubs that live elsewhere only leave a note when they are dropped.
pub struct Session {
    shared: Arc<Shared>,
    /// The peer's main object.
    main: Stub,
    /// Our main object.
    own_main: Arc<dyn Target>,
    limits: WireLimits,
    now: Duration,
    exports: Exports,
    imports: Imports,
    cells: Cells,
    /// Jobs that wait for inputs, and those that no longer do.
    jobs: BTreeMap<JobId, Job>,
    last_job: u64,
    ready: VecDeque<Job>,
    running: BTreeMap<InvocationId, Running>,
    last_invocation: u64,
    /// Calls of ours that were answered with something that is not known yet.
    settling: BTreeMap<CallId, CellId>,
    queue: Queue,
    held: Gauge,
    retained: Gauge,
    running_memory: Gauge,
    /// What everything was rejected with, once the session is over.
    closed: Option<Value>,
}

/// A call of the peer that the application runs.
struct Running {
    result: CellId,
    cancel: CancelSource,
    _charge: Charge,
}

/// Why the peer loses its session.
#[derive(Debug)]
pub(crate) enum Fault {
    Decode(DecodeError),
    Illegal(&'static str),
}

impl Session {
    /// A fresh session. `now` is the time since any fixed moment, on a clock that never goes back.
    pub fn new(config: SessionConfig, now: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        Self {
            main: Stub::new(&shared, 0, 0),
            shared,
            own_main: config.main,
            limits: config.limits,
            now,
            exports: Exports::default(),
            imports: Imports::default(),
            cells: Cells::default(),
            jobs: BTreeMap::new(),
            last_job: 0,
            ready: VecDeque::new(),
            running: BTreeMap::new(),
            last_invocation: 0,
            settling: BTreeMap::new(),
            queue: Queue::default(),
            held: Gauge::default(),
            retained: Gauge::default(),
            running_memory: Gauge::default(),
            closed: None,
        }
    }

    /// Sets who is woken when a dropped [`Stub`] left work for [`Session::poll_output`].
    pub fn set_waker(&mut self, waker: Waker) {
        self.shared.set_waker(waker);
    }

    /// The peer's main object.
    pub fn main(&self) -> Stub {
        self.main.clone()
    }

    /// The bounds of this session.
    pub fn limits(&self) -> &WireLimits {
        &self.limits
    }

    /// Whether the session has ended; outputs may be left.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Bytes of frames that wait in [`Session::poll_output`], estimated where they are not written yet.
    pub fn outbound_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// How much the session holds.
    pub fn stats(&self) -> TableSizes {
        TableSizes {
            calls: self.imports.calls() + self.settling.len(),
            imports: self.imports.objects(),
            peer_calls: self.exports.calls(),
            exports: self.exports.objects(),
            running: self.running.len(),
            parked: self.jobs.len(),
            results: self.cells.len(),
            held_bytes: self.held.bytes(),
            retained_bytes: self.retained.bytes(),
            running_bytes: self.running_memory.bytes(),
        }
    }
}

impl Fault {
    fn limit(bound: &'static str, limit: usize) -> Self {
        Fault::Decode(DecodeError::Limit { bound, limit: limit as u64 })
    }

    /// What the peer is told. It names the rule and repeats nothing of what the peer sent.
    fn error(&self) -> ErrorValue {
        let (message, code) = match self {
            Fault::Decode(error @ DecodeError::Limit { .. }) => (error.to_string(), text::CODE_LIMIT_EXCEEDED),
            Fault::Decode(error) => (error.to_string(), text::CODE_PROTOCOL_VIOLATION),
            Fault::Illegal(problem) => ((*problem).to_owned(), text::CODE_PROTOCOL_VIOLATION),
        };
        ErrorValue::new("Error", message).with_code(code)
    }
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        Fault::Decode(error)
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Send(text) => f.debug_tuple("Send").field(text).finish(),
            Output::Invoke { id, call, .. } => f.debug_struct("Invoke").field("id", id).field("call", call).finish(),
            Output::Settled { call, result } => {
                f.debug_struct("Settled").field("call", call).field("result", result).finish()
            }
            Output::Closed(reason) => f.debug_tuple("Closed").field(reason).finish(),
        }
    }
}

impl CloseReason {
    /// The property `code` of the error.
    pub fn code(&self) -> Option<&str> {
        self.error.as_error().and_then(ErrorValue::code)
    }
}
