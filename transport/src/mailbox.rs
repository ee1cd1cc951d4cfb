//! How handles, pending calls, running targets and dropped stubs reach the task that owns the session.
//!
//! One lock, held for a push or a swap and never across an await, and one wake per parked driver.

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use codemode_protocol::capnweb::{CallId, ErrorValue, InvocationId, PathKey, Stub, TableSizes, Value};
use tokio::sync::{oneshot, watch};

use crate::connection::{CallError, CallTracker, Closed, Crowd};

/// Work for the session, in the order in which it was asked for.
pub(crate) enum Command {
    Call(Call),
    /// A call whose result nobody wants.
    Notify {
        target: Stub,
        path: Vec<PathKey>,
        args: Vec<Value>,
        bytes: usize,
    },
    /// The pending call of this place was dropped.
    Cancel(Place),
    /// A target finished.
    Respond {
        id: InvocationId,
        result: Result<Value, Value>,
    },
    /// Somebody waits until what was asked for before has been handed to the session, and learns what its tables hold.
    Passed(oneshot::Sender<TableSizes>),
}

pub(crate) struct Call {
    pub(crate) target: Stub,
    pub(crate) path: Vec<PathKey>,
    /// Absent when a property is read.
    pub(crate) args: Option<Vec<Value>>,
    /// What the arguments hold.
    pub(crate) bytes: usize,
    pub(crate) reply: oneshot::Sender<Result<Value, CallError>>,
    pub(crate) place: Place,
    pub(crate) tracker: CallTracker,
}

/// Where the driver notes the id of a call once it is sent, for whoever may cancel it.
pub(crate) type Place = Arc<OnceLock<CallId>>;

/// How we end the session.
pub(crate) enum Ending {
    /// Without an abort frame.
    Close,
    Abort(ErrorValue),
}

/// What the driver finds in the mailbox.
pub(crate) enum Mail {
    /// Commands were put into the batch.
    Commands,
    /// A dropped stub left work in the session.
    Poked,
    /// Commands were put into the batch, and the session ends after them.
    Ending(Ending),
}

/// Why a command was not taken.
pub(crate) enum Refusal {
    Closed(Arc<Closed>),
    /// So much waits already.
    Full(Crowd),
}

pub(crate) struct Mailbox {
    state: Mutex<State>,
    closed: watch::Sender<Option<Arc<Closed>>>,
    queued_calls: usize,
    queued_bytes: usize,
    /// Bytes of the calls that wait, here or in the driver's batch. Raised under the lock, lowered anywhere.
    bytes: AtomicUsize,
    /// Bytes that wait for the socket, as of the driver's last look.
    outbound: AtomicUsize,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    poked: bool,
    ending: Option<Ending>,
    parked: Option<Waker>,
}

impl Mailbox {
    pub(crate) fn new(queued_calls: usize, queued_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            closed: watch::Sender::new(None),
            queued_calls,
            queued_bytes,
            bytes: AtomicUsize::new(0),
            outbound: AtomicUsize::new(0),
        }
    }

    /// Queues a command and wakes the driver if it is parked.
    ///
    /// Only calls and notes are refused for want of room: answers and cancellations are bounded by what they belong to.
    pub(crate) fn push(&self, command: Command) -> Result<(), (Command, Refusal)> {
        let mut state = self.state();
        if let Some(closed) = self.closed() {
            return Err((command, Refusal::Closed(closed)));
        }
        let bounded = matches!(command, Command::Call(_) | Command::Notify { .. });
        if bounded && state.commands.len() >= self.queued_calls {
            return Err((command, Refusal::Full(Crowd::Calls(self.queued_calls))));
        }
        let (bytes, waiting) = (command.bytes(), self.waiting_bytes());
        if bounded && waiting > 0 && waiting.saturating_add(bytes) > self.queued_bytes {
            return Err((command, Refusal::Full(Crowd::Bytes(self.queued_bytes))));
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        state.commands.push_back(command);
        wake(state);
        Ok(())
    }

    /// The driver has a command in hand.
    pub(crate) fn taken(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// So many bytes wait for the socket.
    pub(crate) fn note_outbound(&self, bytes: usize) {
        self.outbound.store(bytes, Ordering::Relaxed);
    }

    fn waiting_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed).saturating_add(self.outbound.load(Ordering::Relaxed))
    }

    /// Asks for the end of the session, after the commands that wait. Only the first request counts.
    pub(crate) fn end(&self, ending: Ending) {
        let mut state = self.state();
        if self.closed().is_none() && state.ending.is_none() {
            state.ending = Some(ending);
            wake(state);
        }
    }

    /// Fetches what there is. Without `room`, commands stay where they are unless the session is to end.
    ///
    /// Until [`Mailbox::park`], pushing wakes nobody: the driver runs.
    pub(crate) fn fetch(&self, room: bool, batch: &mut VecDeque<Command>) -> Option<Mail> {
        let mut state = self.state();
        state.parked = None;
        if let Some(ending) = state.ending.take() {
            batch.append(&mut state.commands);
            return Some(Mail::Ending(ending));
        }
        if mem::take(&mut state.poked) {
            return Some(Mail::Poked);
        }
        if room && !state.commands.is_empty() {
            if batch.is_empty() {
                mem::swap(batch, &mut state.commands);
            } else {
                batch.append(&mut state.commands);
            }
            return Some(Mail::Commands);
        }
        None
    }

    /// Ready when there is something to fetch; else the driver is woken once there is.
    pub(crate) fn park(&self, cx: &mut Context<'_>, room: bool) -> Poll<()> {
        let mut state = self.state();
        if state.poked || state.ending.is_some() || (room && !state.commands.is_empty()) {
            return Poll::Ready(());
        }
        state.parked = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Announces the end: every call that waits, and every later one, fails by it. Only the first end counts.
    pub(crate) fn finish(&self, closed: Arc<Closed>) {
        let commands = {
            let mut state = self.state();
            if self.closed().is_some() {
                return;
            }
            self.closed.send_replace(Some(closed.clone()));
            state.parked = None;
            mem::take(&mut state.commands)
        };
        for command in commands {
            command.fail(&closed);
        }
    }

    pub(crate) fn closed(&self) -> Option<Arc<Closed>> {
        self.closed.borrow().clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<Arc<Closed>>> {
        self.closed.subscribe()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic half-way through a change, so a poisoned lock is still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a parked driver, after the lock is gone: a driver on another thread would only run into it.
fn wake(mut state: MutexGuard<'_, State>) {
    let parked = state.parked.take();
    drop(state);
    if let Some(parked) = parked {
        parked.wake();
    }
}

impl Wake for Mailbox {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    /// A dropped stub left work in the session.
    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state();
        state.poked = true;
        wake(state);
    }
}

impl Command {
    /// What the command counts for in the bound on bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Command::Call(Call { bytes, .. }) | Command::Notify { bytes, .. } => *bytes,
            Command::Cancel(_) | Command::Respond { .. } | Command::Passed(_) => 0,
        }
    }

    /// The session ended before this was sent.
    pub(crate) fn fail(self, closed: &Arc<Closed>) {
        if let Command::Call(call) = self {
            // The caller may have lost interest.
            let _ = call.reply.send(Err(CallError::not_sent(closed)));
        }
    }
}
