//! Host calls of one run, requests among them: each in a task of its own, so that a slow tool holds up neither the others nor the program.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use codemode_protocol::{CallAddress, CancelSource, Host, HostCall, HostCallError, Limits, text};
use futures_util::{FutureExt, future::BoxFuture};
use tokio::{
    runtime::Handle,
    sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc},
};

use super::{
    conversation::{Call, What, weight},
    fetching::Fetching,
};
use crate::frame::{OutboundSpec, ToChild};

/// A call's answer, as the child is told it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: u32,
    pub(super) frame: ToChild,
    /// Held until the answer is on its way to the child.
    pub(super) _permit: Option<OwnedSemaphorePermit>,
}

impl Answer {
    fn new(id: u32, frame: ToChild) -> Self {
        Self { id, frame, _permit: None }
    }
}

/// See the module.
pub(super) struct Calls {
    host: Host,
    runtime: Handle,
    bounds: CallBounds,
    /// Of the calls without an answer. A source that is dropped cancels nothing.
    sources: HashMap<u32, Source>,
    answers: mpsc::UnboundedSender<Answer>,
    answered: mpsc::UnboundedReceiver<Answer>,
    load: Arc<Load>,
    /// Present when the pool's own client performs the requests: their turns.
    own_requests: Option<Arc<Semaphore>>,
}

/// How a call is told that its answer is of no use any more.
#[derive(Debug)]
struct Source {
    cancel: CancelSource,
    is_request: bool,
}

/// Requests of one run that the pool's own client performs at once; further ones wait. It bounds what their responses
/// take before the child has them.
const OWN_REQUESTS: usize = 6;

/// What the calls that the host has not answered yet hold, about.
#[derive(Debug, Default)]
pub(super) struct Load {
    bytes: AtomicU64,
    lighter: Notify,
}

impl Load {
    /// Whether so much is held that no further call is to come.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Acquire) >= ARGUMENTS_HELD
    }

    /// Waits until less is held.
    pub(super) async fn lighter(&self) {
        self.lighter.notified().await;
    }
}

/// The part of one call, until this is dropped.
#[derive(Debug)]
pub(super) struct Share {
    load: Arc<Load>,
    bytes: u64,
}

impl Share {
    fn new(load: &Arc<Load>, bytes: u64) -> Self {
        load.bytes.fetch_add(bytes, Ordering::AcqRel);
        Self { load: load.clone(), bytes }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.load.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        // Kept for the one who waits, if that is later.
        self.load.lighter.notify_one();
    }
}

/// Bytes of what a run asks of the host, beyond which no large call is read until the host has answered some of it. The
/// last one may go beyond it.
const ARGUMENTS_HELD: u64 = 64 << 20;

/// Bounds of each call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallBounds {
    pub(super) timeout: Duration,
    envelope_bytes: u64,
    pub(super) body_bytes: u64,
}

impl CallBounds {
    pub(super) fn of(limits: &Limits) -> Self {
        Self {
            timeout: Duration::from_millis(limits.host_call_timeout_ms),
            envelope_bytes: limits.call_result_bytes,
            body_bytes: limits.outbound_body_bytes,
        }
    }
}

impl Calls {
    /// `outbound` says whose function the host's outbound function is.
    pub(super) fn new(host: Host, runtime: Handle, bounds: CallBounds, outbound: OutboundSpec) -> Self {
        let (answers, answered) = mpsc::unbounded_channel();
        let own_requests = (outbound == OutboundSpec::Executor).then(|| Arc::new(Semaphore::new(OWN_REQUESTS)));
        let (sources, load) = (HashMap::new(), Arc::default());
        Self { host, runtime, bounds, sources, answers, answered, load, own_requests }
    }

    /// What the calls that are under way hold.
    pub(super) fn load(&self) -> &Arc<Load> {
        &self.load
    }

    /// Starts a call on the host before it returns; the answer comes from [`Calls::next`].
    pub(super) fn start(&mut self, call: Call) {
        let id = call.id;
        let share = Share::new(&self.load, weight(&call));
        match call.what {
            What::Tool { provider, tool, args_json } => {
                let Some(dispatch) = &self.host.dispatch else {
                    let outcome = Err(text::tool_not_found(&tool));
                    return self.answer(Answer::new(id, ToChild::Reply { call: id, outcome }));
                };
                let source = CancelSource::new();
                let address = CallAddress::of(&provider, &tool, &args_json);
                let host_call = HostCall { provider, tool, args_json, cancel: source.token() };
                // A handler that panics fails its call; it must not take the run's caller with it.
                let future = catch_unwind(AssertUnwindSafe(|| dispatch.call(host_call)));
                let (cancel, answers) = (source.clone(), self.answers.clone());
                let task = Task { id, address, bounds: self.bounds, cancel, answers, share: Some(share) };
                self.sources.insert(id, Source { cancel: source, is_request: false });
                match future {
                    Ok(future) => drop(self.runtime.spawn(task.run(future))),
                    Err(_) => task.answer(Err(HostCallError::new(task.panicked()))),
                }
            }
            What::Fetch(request) => {
                let Some(outbound) = &self.host.outbound else {
                    let outcome = Err(text::NETWORK_OFF.to_owned());
                    return self.answer(Answer::new(id, ToChild::FetchReply { call: id, outcome }));
                };
                let source = CancelSource::new();
                let turns = self.own_requests.clone();
                let fetching =
                    Fetching::new(id, &request, self.bounds, source.token(), self.answers.clone(), share, turns);
                self.sources.insert(id, Source { cancel: source, is_request: true });
                match catch_unwind(AssertUnwindSafe(|| outbound.fetch(request))) {
                    Ok(future) => drop(self.runtime.spawn(fetching.run(future))),
                    Err(_) => fetching.panicked(),
                }
            }
        }
    }

    /// Gives a request up, which answers it.
    pub(super) fn abort(&mut self, id: u32) {
        match self.sources.remove(&id) {
            Some(source) => source.cancel.cancel(),
            // It was not started yet.
            None => {
                let outcome = Err(text::REQUEST_GIVEN_UP.to_owned());
                self.answer(Answer::new(id, ToChild::FetchReply { call: id, outcome }));
            }
        }
    }

    fn answer(&self, answer: Answer) {
        // The receiver is in this very struct.
        let _ = self.answers.send(answer);
    }

    /// The next answer; never, when no call is under way.
    pub(super) async fn next(&mut self) -> Answer {
        match self.answered.recv().await {
            Some(answer) => {
                self.sources.remove(&answer.id);
                answer
            }
            // This struct holds a sender itself.
            None => std::future::pending().await,
        }
    }

    /// The program ended by itself, so that its tools go on, and requests that the caller performs; the pool's own
    /// client works for nobody any more.
    pub(super) fn end_own_requests(&self) {
        if self.own_requests.is_some() {
            self.sources.values().filter(|source| source.is_request).for_each(|source| source.cancel.cancel());
        }
    }

    /// Tells every tool that is at work that its answer is of no use any more.
    pub(super) fn cancel(&mut self) {
        for (_, source) in self.sources.drain() {
            source.cancel.cancel();
        }
    }
}

struct Task {
    id: u32,
    address: CallAddress,
    bounds: CallBounds,
    cancel: CancelSource,
    answers: mpsc::UnboundedSender<Answer>,
    /// Given back with the answer.
    share: Option<Share>,
}

impl Task {
    async fn run(mut self, future: BoxFuture<'static, Result<String, HostCallError>>) {
        let mut future = AssertUnwindSafe(future).catch_unwind();
        match tokio::time::timeout(self.bounds.timeout, &mut future).await {
            Ok(Ok(outcome)) => self.answer(outcome),
            Ok(Err(_)) => self.answer(Err(HostCallError::new(self.panicked()))),
            Err(_) => {
                let bound = u64::try_from(self.bounds.timeout.as_millis()).unwrap_or(u64::MAX);
                self.answer(Err(HostCallError::new(text::host_call_timed_out(&self.address.to_string(), bound))));
                self.share = None;
                self.cancel.cancel();
                // A tool is run to its end, also when nobody waits for it any more.
                let _ = future.await;
            }
        }
    }

    fn answer(&self, outcome: Result<String, HostCallError>) {
        let outcome = match outcome {
            Ok(envelope) if envelope.len() as u64 > self.bounds.envelope_bytes => {
                let size = envelope.len() as u64;
                Err(text::call_result_too_large(&self.address.to_string(), size, self.bounds.envelope_bytes))
            }
            Ok(envelope) => Ok(envelope),
            Err(error) if error.message.len() as u64 > self.bounds.envelope_bytes => {
                let size = error.message.len() as u64;
                Err(text::call_result_too_large(&self.address.to_string(), size, self.bounds.envelope_bytes))
            }
            Err(error) => Err(error.message),
        };
        // A run that has ended discards the answer.
        let _ = self.answers.send(Answer::new(self.id, ToChild::Reply { call: self.id, outcome }));
    }

    fn panicked(&self) -> String {
        text::handler_panicked(&self.address.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_calls_hold_counts_until_they_are_answered() {
        let load = Arc::new(Load::default());
        let shares = [1, ARGUMENTS_HELD - 1].map(|bytes| Share::new(&load, bytes));
        assert!(load.is_full());
        let [small, _large] = shares;
        drop(small);
        load.lighter().await;
        assert!(!load.is_full());
    }
}
