//! A driver without sockets: it does what a session says, polls calls in order, and passes frames between two peers.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use codemode_protocol::capnweb::{
    CallId, CallMode, CloseReason, IncomingCall, InvocationId, Object, Output, PathKey, Session, SessionConfig, Stub,
    TableSizes, Target, Value, WireLimits, target_fn,
};
use futures_util::future::BoxFuture;

pub(crate) type CallResult = Result<Value, Value>;

/// One end with its application.
pub(crate) struct Peer {
    pub(crate) session: Session,
    pub(crate) caller: Caller,
    pub(crate) sent: VecDeque<String>,
    pub(crate) closed: Option<CloseReason>,
    pub(crate) now: Duration,
    tasks: Vec<(InvocationId, BoxFuture<'static, CallResult>)>,
    waiting: BTreeMap<CallId, Slot>,
}

type Slot = Arc<Mutex<Option<CallResult>>>;

enum Command {
    Call { target: Stub, path: Vec<PathKey>, args: Vec<Value>, slot: Slot },
    Cancel(Slot),
}

/// Makes calls from inside the application's futures.
#[derive(Clone, Default)]
pub(crate) struct Caller(Arc<Mutex<VecDeque<Command>>>);

/// A call that is on its way. Dropping it cancels it.
pub(crate) struct Pending {
    slot: Slot,
    caller: Caller,
}

impl Caller {
    pub(crate) fn call(&self, target: &Stub, method: &str, args: Vec<Value>) -> Pending {
        let path = if method.is_empty() { Vec::new() } else { vec![method.into()] };
        let slot = Slot::default();
        self.0.lock().unwrap().push_back(Command::Call { target: target.clone(), path, args, slot: Arc::clone(&slot) });
        Pending { slot, caller: self.clone() }
    }
}

impl Pending {
    pub(crate) fn is_settled(&self) -> bool {
        self.slot.lock().unwrap().is_some()
    }

    pub(crate) fn result(&self) -> Option<CallResult> {
        self.slot.lock().unwrap().take()
    }
}

impl Future for Pending {
    type Output = CallResult;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<CallResult> {
        // The harness polls everything after every frame, so nobody needs waking.
        self.result().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.caller.0.lock().unwrap().push_back(Command::Cancel(Arc::clone(&self.slot)));
    }
}

impl Peer {
    pub(crate) fn new(main: Arc<dyn Target>) -> Self {
        Self::with_limits(main, WireLimits::default())
    }

    pub(crate) fn with_limits(main: Arc<dyn Target>, limits: WireLimits) -> Self {
        Self::with_caller(Caller::default(), main, limits)
    }

    pub(crate) fn with_caller(caller: Caller, main: Arc<dyn Target>, limits: WireLimits) -> Self {
        Self {
            session: Session::new(SessionConfig { main, limits }, Duration::ZERO),
            caller,
            sent: VecDeque::new(),
            closed: None,
            now: Duration::ZERO,
            tasks: Vec::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Feeds frames and returns the ones that are answered.
    pub(crate) fn feed(&mut self, frames: &[&str]) -> Vec<String> {
        for frame in frames {
            self.session.receive(frame, self.now);
            self.work();
        }
        self.sent.drain(..).collect()
    }

    pub(crate) fn frames(&mut self) -> Vec<String> {
        self.work();
        self.sent.drain(..).collect()
    }

    /// Does everything that can be done without the other side.
    pub(crate) fn work(&mut self) {
        loop {
            let mut progress = self.outputs();
            progress |= self.commands();
            progress |= self.poll_tasks();
            if !progress {
                return;
            }
        }
    }

    fn outputs(&mut self) -> bool {
        let mut progress = false;
        while let Some(output) = self.session.poll_output() {
            progress = true;
            match output {
                Output::Send(text) => self.sent.push_back(text),
                Output::Invoke { id, target, call } => self.first_poll(id, target, call),
                Output::Settled { call, result } => {
                    if let Some(slot) = self.waiting.remove(&call) {
                        *slot.lock().unwrap() = Some(result);
                    }
                }
                Output::Closed(reason) => {
                    assert!(self.closed.replace(reason).is_none(), "closed twice");
                }
            }
        }
        progress
    }

    fn first_poll(&mut self, id: InvocationId, target: Arc<dyn Target>, call: IncomingCall) {
        let mut future = target.call(call);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => {
                drop(future);
                self.session.respond(id, result);
            }
            Poll::Pending => self.tasks.push((id, future)),
        }
    }

    fn commands(&mut self) -> bool {
        let commands = std::mem::take(&mut *self.caller.0.lock().unwrap());
        let progress = !commands.is_empty();
        for command in commands {
            match command {
                Command::Call { target, path, args, slot } => {
                    match self.session.call(&target, path, Some(args), CallMode::Pull) {
                        Ok(call) => drop(self.waiting.insert(call, slot)),
                        Err(error) => *slot.lock().unwrap() = Some(Err(Value::error(error.to_string()))),
                    }
                }
                Command::Cancel(slot) => {
                    let call = self.waiting.iter().find(|(_, other)| Arc::ptr_eq(other, &slot)).map(|(call, _)| *call);
                    if let Some(call) = call {
                        self.waiting.remove(&call);
                        self.session.cancel_call(call);
                    }
                }
            }
        }
        progress
    }

    fn poll_tasks(&mut self) -> bool {
        let mut progress = false;
        for (id, mut future) in std::mem::take(&mut self.tasks) {
            match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(result) => {
                    progress = true;
                    drop(future);
                    self.session.respond(id, result);
                }
                Poll::Pending => self.tasks.push((id, future)),
            }
        }
        progress
    }

    pub(crate) fn running_tasks(&self) -> usize {
        self.tasks.len()
    }
}

/// Two peers, joined.
pub(crate) struct Pair {
    pub(crate) a: Peer,
    pub(crate) b: Peer,
}

impl Pair {
    pub(crate) fn new(a: Arc<dyn Target>, b: Arc<dyn Target>) -> Self {
        Self { a: Peer::new(a), b: Peer::new(b) }
    }

    /// Passes frames until both sides rest.
    pub(crate) fn run(&mut self) {
        loop {
            self.a.work();
            self.b.work();
            let (to_b, to_a) = (self.a.sent.pop_front(), self.b.sent.pop_front());
            if to_a.is_none() && to_b.is_none() {
                return;
            }
            if let Some(frame) = to_b {
                self.b.session.receive(&frame, self.b.now);
            }
            if let Some(frame) = to_a {
                self.a.session.receive(&frame, self.a.now);
            }
        }
    }

    /// Calls the main object of `b` from `a` and waits for the result.
    pub(crate) fn call(&mut self, method: &str, args: Vec<Value>) -> CallResult {
        let main = self.a.session.main();
        let pending = self.a.caller.call(&main, method, args);
        self.run();
        pending.result().expect("the call settles")
    }

    pub(crate) fn pass_time(&mut self, time: Duration) {
        for peer in [&mut self.a, &mut self.b] {
            peer.now += time;
            peer.session.handle_timeout(peer.now);
        }
        self.run();
    }

    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        assert_eq!(self.a.session.stats(), TableSizes::default(), "side a");
        assert_eq!(self.b.session.stats(), TableSizes::default(), "side b");
    }
}

/// A main object that nobody calls.
pub(crate) fn nobody() -> Arc<dyn Target> {
    target_fn(|call| async move { Err(not_a_function(&call.path)) })
}

/// A main object whose `echo` answers its first argument.
pub(crate) fn echo() -> Arc<dyn Target> {
    target_fn(|call| async move {
        if call.method() != Some("echo") || call.args.is_none() {
            return Err(not_a_function(&call.path));
        }
        Ok(call.args.into_iter().flatten().next().unwrap_or_default())
    })
}

pub(crate) fn not_a_function(path: &[PathKey]) -> Value {
    codemode_protocol::capnweb::ErrorValue::new("TypeError", codemode_protocol::capnweb::text::not_a_function(path))
        .into()
}

pub(crate) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().collect::<Object>().into()
}

/// A frame as data. Surrogate escapes, which only lone ones are written as, are kept as text.
pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(&text.replace("\\ud", "\\\\ud")).expect("JSON")
}
