//! Host calls of a run over the wire: each is a pulled call on the stub that the caller lent, of tools or of requests.
//!
//! The pulled calls are kept in one place per run and not in the futures that wait for them, because when the run ends
//! their releases must stand in a fixed order to the answer of `execute` (PROTOCOL.md, "What a program sees"): before it
//! when the run timed out or was cancelled, after it when the program ended and left calls behind.

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use codemode_protocol::{
    CancelSource, Dispatch, HostCall, HostCallError, Outbound, OutboundRequest, OutboundResponse,
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

/// Performs requests by calls on the peer's outbound stub.
pub(crate) struct RemoteOutbound {
    connection: Connection,
    calls: Arc<HostCalls>,
}

/// A stub that one run was lent and its calls that have no answer yet.
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
        Self { connection, calls: HostCalls::new(stub) }
    }

    /// The calls, for whoever ends the run.
    pub(crate) fn calls(&self) -> Arc<HostCalls> {
        self.calls.clone()
    }
}

impl RemoteOutbound {
    /// Requests go to `stub`, over `connection`.
    pub(crate) fn new(connection: Connection, stub: Stub) -> Self {
        Self { connection, calls: HostCalls::new(stub) }
    }

    /// The calls, for whoever ends the run.
    pub(crate) fn calls(&self) -> Arc<HostCalls> {
        self.calls.clone()
    }
}

impl HostCalls {
    fn new(stub: Stub) -> Arc<Self> {
        let state = State { stub: Some(stub), next: 0, pending: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state), ended: CancelSource::new() })
    }

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

impl Outbound for RemoteOutbound {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        let name = format!("{} {}", request.method, request.url);
        let Some(id) = self.calls.start(&self.connection, wire::outbound_arguments(request)) else {
            return std::future::ready(Err(text::REQUEST_GIVEN_UP.to_owned())).boxed();
        };
        // A request that is not waited for any more is released.
        let under_way = UnderWay { calls: self.calls.clone(), id };
        async move {
            let calls = &under_way.calls;
            let mut ended = calls.ended.token().cancelled();
            poll_fn(|cx| {
                if ended.poll_unpin(cx).is_ready() {
                    return Poll::Ready(Err(text::REQUEST_GIVEN_UP.to_owned()));
                }
                calls.poll(id, cx).map(|answer| read_response(&name, answer))
            })
            .await
        }
        .boxed()
    }
}

/// A request whose call is released with this.
struct UnderWay {
    calls: Arc<HostCalls>,
    id: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.calls.release(self.id);
    }
}

fn read_response(name: &str, answer: Result<Value, CallError>) -> Result<OutboundResponse, String> {
    match answer {
        Ok(response) => wire::outbound_response_from_value(response)
            .map_err(|error| text::malformed_response(&text::shortened(name, NAME_BYTES), &error.message)),
        Err(CallError::Thrown(thrown)) => Err(wire::rehydrate(thrown).message),
        Err(CallError::Refused(reason)) => Err(format!("{}: {reason}", text::shortened(name, NAME_BYTES))),
        Err(CallError::Broken { .. }) => Err(text::BROKE_DURING_CALL.to_owned()),
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

/// Bytes of a request's method and address that texts show.
const NAME_BYTES: u64 = 512;
