//! Host calls of a run over the wire: each is a pulled call on the dispatch stub that the caller lent.
//!
//! The pulled calls are kept in one place per run and not in the futures that wait for them, because when the run ends
//! their releases must stand in a fixed order to the answer of `execute` (CONTRACT section 5): before it when the run
//! timed out or was cancelled, after it when the program ended and left calls behind.

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use codemode_protocol::{
    CancelSource, Dispatch, HostCall, HostCallError,
    capnweb::{Stub, Value},
    text, wire,
};
use codemode_transport::{CallError, Connection, PendingCall};
use futures_util::future::{BoxFuture, FutureExt};

/// Answers host calls by calls on the peer's dispatch stub.
pub(crate) struct RemoteDispatch {
    connection: Connection,
    calls: Arc<HostCalls>,
}

/// The dispatch stub of one run and its calls that have no answer yet.
pub(crate) struct HostCalls {
    state: Mutex<State>,
    /// Raised at the end of the run, for the futures whose calls were taken away.
    ended: CancelSource,
}

struct State {
    /// Absent once the run has ended.
    stub: Option<Stub>,
    next: u64,
    pending: HashMap<u64, PendingCall>,
}

/// Calls that a program left behind; dropping them releases them, which tells the peer that nobody wants the answers.
#[must_use = "dropping the calls releases them"]
pub(crate) struct LeftBehind(HashMap<u64, PendingCall>);

impl LeftBehind {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl RemoteDispatch {
    /// Host calls go to `stub`, over `connection`.
    pub(crate) fn new(connection: Connection, stub: Stub) -> Self {
        let state = State { stub: Some(stub), next: 0, pending: HashMap::new() };
        Self { connection, calls: Arc::new(HostCalls { state: Mutex::new(state), ended: CancelSource::new() }) }
    }

    /// The calls, for whoever ends the run.
    pub(crate) fn calls(&self) -> Arc<HostCalls> {
        self.calls.clone()
    }
}

impl HostCalls {
    /// Ends the run: no further call starts, the stub is given back, and the calls without an answer are handed over.
    pub(crate) fn end(&self) -> LeftBehind {
        let mut state = self.state();
        let (stub, pending) = (state.stub.take(), std::mem::take(&mut state.pending));
        drop(state);
        drop(stub);
        self.ended.cancel();
        LeftBehind(pending)
    }

    fn start(&self, connection: &Connection, args: Vec<Value>) -> Option<u64> {
        let mut state = self.state();
        let call = connection.call(state.stub.as_ref()?, &[], args);
        let id = state.next;
        state.next += 1;
        state.pending.insert(id, call);
        Some(id)
    }

    fn poll(&self, id: u64, cx: &mut Context<'_>) -> Poll<Result<Value, CallError>> {
        let mut state = self.state();
        let Some(call) = state.pending.get_mut(&id) else {
            return Poll::Pending;
        };
        let answer = Pin::new(call).poll(cx);
        if answer.is_ready() {
            state.pending.remove(&id);
        }
        answer
    }

    /// Forgets one call, which releases it.
    fn release(&self, id: u64) {
        let call = self.state().pending.remove(&id);
        drop(call);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two statements that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatch for RemoteDispatch {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let name = format!("{}.{}", call.provider, call.tool);
        // Sent now and not at the first poll: calls reach the host in the order in which the program made them.
        let args = wire::dispatch_arguments(call.provider, call.tool, call.args_json);
        let Some(id) = self.calls.start(&self.connection, args) else {
            return std::future::ready(Err(HostCallError::new(text::ALREADY_COMPLETED))).boxed();
        };
        let calls = self.calls.clone();
        async move {
            let mut over = [call.cancel.cancelled(), calls.ended.token().cancelled()];
            poll_fn(|cx| {
                if over.iter_mut().any(|over| over.poll_unpin(cx).is_ready()) {
                    calls.release(id);
                    // Nobody reads it: the run is over.
                    return Poll::Ready(Err(HostCallError::new(text::ALREADY_COMPLETED)));
                }
                calls.poll(id, cx).map(|answer| read_answer(&name, answer))
            })
            .await
        }
        .boxed()
    }
}

fn read_answer(name: &str, answer: Result<Value, CallError>) -> Result<String, HostCallError> {
    match answer {
        Ok(Value::String(envelope)) => match envelope.as_str() {
            Some(envelope) => Ok(envelope.to_owned()),
            None => Err(HostCallError::new(text::malformed_envelope(name))),
        },
        Ok(_) => Err(HostCallError::new(text::malformed_envelope(name))),
        Err(CallError::Thrown(thrown)) => Err(HostCallError::new(wire::rehydrate(thrown).message)),
        Err(CallError::Refused(reason)) => Err(HostCallError::new(format!("{name}: {reason}"))),
        Err(CallError::Broken { .. }) => Err(HostCallError::new(text::BROKE_DURING_CALL)),
    }
}
