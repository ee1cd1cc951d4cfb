//! The handles of a connection, and how its calls end.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use codemode_protocol::capnweb::{CloseOrigin, CloseReason, ErrorValue, PathKey, Stub, TableSizes, Value, text};
use futures_util::FutureExt;
use tokio::sync::oneshot;

use crate::{
    mailbox::{Call, Command, Ending, Mailbox, Place, Refusal},
    weight::weight,
};

/// A handle of the task that owns a session. Clones are handles of the same one.
///
/// The session ends cleanly when the last handle is gone, pending calls included. Whoever must live as long as its
/// peer keeps a handle, for instance in its own main object; that is no leak, because the session's end drops the main
/// object.
#[derive(Clone)]
pub struct Connection(Arc<Handle>);

struct Handle {
    mailbox: Arc<Mailbox>,
    main: Stub,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.mailbox.end(Ending::Close);
    }
}

impl Connection {
    pub(crate) fn new(mailbox: Arc<Mailbox>, main: Stub) -> Self {
        Self(Arc::new(Handle { mailbox, main }))
    }

    /// The peer's main object.
    pub fn main(&self) -> Stub {
        self.0.main.clone()
    }

    /// Calls an object of the peer. The call is sent at once, after all calls that were made before it; dropping the
    /// returned future before it is ready releases the call, upon which a peer like ours cancels it.
    pub fn call(&self, target: &Stub, path: &[&str], args: Vec<Value>) -> PendingCall {
        self.call_tracked(target, path, args, CallTracker::default())
    }

    /// The same as [`Connection::call`] for whoever must know, while the peer's frames are handled, whether this call
    /// has been answered.
    pub fn call_tracked(&self, target: &Stub, path: &[&str], args: Vec<Value>, tracker: CallTracker) -> PendingCall {
        self.send(target, path, Some(args), tracker)
    }

    /// Reads a property of an object of the peer, in the same order as calls.
    pub fn read(&self, target: &Stub, path: &[&str]) -> PendingCall {
        self.send(target, path, None, CallTracker::default())
    }

    fn send(&self, target: &Stub, path: &[&str], args: Option<Vec<Value>>, tracker: CallTracker) -> PendingCall {
        let (reply, answer) = oneshot::channel();
        let place = Place::default();
        let bytes = args.as_deref().map_or(0, weight);
        let (target, path) = (target.clone(), keys(path));
        let call = Call { target, path, args, bytes, reply, place: place.clone(), tracker };
        if let Err((Command::Call(call), refusal)) = self.0.mailbox.push(Command::Call(call)) {
            // The receiver is in our hands, so it takes the answer.
            let _ = call.reply.send(Err(match refusal {
                Refusal::Closed(closed) => CallError::not_sent(&closed),
                Refusal::Full(crowd) => CallError::Refused(Refused::Crowded(crowd)),
            }));
        }
        PendingCall { answer, place, connection: self.clone(), done: false }
    }

    /// Calls an object of the peer for its effect: the result is never fetched, and a failure is not seen.
    pub fn notify(&self, target: &Stub, path: &[&str], args: Vec<Value>) {
        let bytes = weight(&args);
        let command = Command::Notify { target: target.clone(), path: keys(path), args, bytes };
        if let Err((_, Refusal::Full(crowd))) = self.0.mailbox.push(command) {
            tracing::warn!("a notification was dropped: {crowd}");
        }
    }

    /// Resolves when every call that was made before is on its way to the peer, or when the session has ended. Until
    /// then, dropping such a call keeps it from being made at all.
    pub fn passed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.tables().map(drop)
    }

    /// What the session's tables hold once every call that was made before is on its way; `None` when the session has
    /// ended.
    pub fn tables(&self) -> impl Future<Output = Option<TableSizes>> + Send + use<> {
        let (waiting, passed) = oneshot::channel();
        // A session that has ended drops the sender, which resolves the receiver too.
        let _ = self.0.mailbox.push(Command::Passed(waiting));
        passed.map(Result::ok)
    }

    /// Tells the peer why (put the code into `error.props`), then ends the session. What was asked for before is sent
    /// first.
    pub fn abort(&self, error: ErrorValue) {
        self.0.mailbox.end(Ending::Abort(error));
    }

    /// Ends the session cleanly. What was asked for before is sent first.
    pub fn close(&self) {
        self.0.mailbox.end(Ending::Close);
    }

    /// Resolves when the session has ended, whoever ended it.
    pub fn closed(&self) -> impl Future<Output = Arc<Closed>> + Send + use<> {
        let mut watch = self.0.mailbox.watch();
        async move {
            match watch.wait_for(Option::is_some).await.ok().and_then(|closed| closed.clone()) {
                Some(closed) => closed,
                // Unreachable while the driver announces every end, its own drop included.
                None => Arc::new(Closed::abandoned()),
            }
        }
    }

    /// Whether the session has ended.
    pub fn is_closed(&self) -> bool {
        self.0.mailbox.closed().is_some()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("closed", &self.0.mailbox.closed()).finish_non_exhaustive()
    }
}

fn keys(path: &[&str]) -> Vec<PathKey> {
    path.iter().map(|&name| PathKey::from(name)).collect()
}

/// The answer to a call, on its way.
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    answer: oneshot::Receiver<Result<Value, CallError>>,
    place: Place,
    connection: Connection,
    done: bool,
}

impl Future for PendingCall {
    type Output = Result<Value, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(Pin::new(&mut self.answer).poll(cx));
        self.done = true;
        Poll::Ready(answer.unwrap_or_else(|_| {
            // The driver was dropped with the call in its hands.
            let closed = self.connection.0.mailbox.closed().unwrap_or_else(|| Arc::new(Closed::abandoned()));
            Err(CallError::Broken { closed, sent: Sent::Yes })
        }))
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if !self.done {
            // First, so that a driver that has the call in hand sees that nobody waits.
            self.answer.close();
            // A closed session has nothing to cancel.
            let _ = self.connection.0.mailbox.push(Command::Cancel(self.place.clone()));
        }
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall").field("call", &OnceLock::get(&self.place)).finish_non_exhaustive()
    }
}

/// Whether one call has been answered by the peer, in step with its frames: what a later frame sets off sees `true`,
/// what an earlier one set off sees `false`. A session's end is no answer.
#[derive(Clone, Debug, Default)]
pub struct CallTracker(Arc<AtomicBool>);

impl CallTracker {
    /// Whether the peer's answer has arrived.
    pub fn is_answered(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn answered(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The peer's function rejected with this, normally a [`Value::Error`].
    #[error("the peer rejected the call: {0:?}")]
    Thrown(Value),
    /// Nothing was sent, and the session goes on.
    #[error("the call was not sent: {0}")]
    Refused(Refused),
    /// The session ended first.
    #[error("the connection ended before the answer: {closed}")]
    Broken {
        /// Its end.
        closed: Arc<Closed>,
        /// Whether the peer may have seen the call.
        sent: Sent,
    },
}

impl CallError {
    pub(crate) fn not_sent(closed: &Arc<Closed>) -> Self {
        Self::Broken { closed: closed.clone(), sent: Sent::No }
    }
}

/// Why a call was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// An argument cannot be encoded, or is over a bound.
    #[error("{0}")]
    Unencodable(String),
    /// So much waits already: the peer does not keep up.
    #[error("{0}")]
    Crowded(Crowd),
}

/// The bound that is reached by what waits for the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Crowd {
    /// On calls.
    #[error("{0} calls already wait for the connection")]
    Calls(usize),
    /// On their bytes.
    #[error("calls of {0} bytes in all may wait for the connection, and this one would be too much")]
    Bytes(usize),
}

/// Whether the frame of a call was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Not a byte of it: the call may be repeated.
    No,
    /// At least in part.
    Yes,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// What every unsettled call was rejected with, normally an error; its property `code` is for the machine.
    pub error: Value,
    /// The WebSocket close code.
    pub code: u16,
    /// The WebSocket close reason, at most 123 bytes.
    pub reason: String,
    /// Who ended it.
    pub origin: CloseOrigin,
}

impl Closed {
    /// The error's message: the original failure in words.
    pub fn message(&self) -> String {
        match &self.error {
            Value::Error(error) => error.message.clone(),
            other => format!("{other:?}"),
        }
    }

    /// The property `code` of the error.
    pub fn error_code(&self) -> Option<&str> {
        self.error.as_error().and_then(ErrorValue::code)
    }

    /// The driver was dropped, by a runtime that shut down for instance.
    pub(crate) fn abandoned() -> Self {
        const REASON: &str = "The task of the connection is gone";
        Self {
            error: Value::error(REASON),
            code: text::CLOSE_CODE_ABNORMAL,
            reason: REASON.to_owned(),
            origin: CloseOrigin::Local,
        }
    }
}

impl From<CloseReason> for Closed {
    fn from(reason: CloseReason) -> Self {
        Self { error: reason.error, code: reason.close_code, reason: reason.close_reason, origin: reason.origin }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}
