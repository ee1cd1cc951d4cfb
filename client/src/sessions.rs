//! Does what the [`Policy`] says: opens and closes sessions, starts calls on them, and tells it what came of that.

use std::{
    collections::HashMap,
    future::{Future, pending},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use codemode_protocol::{ExecutorError, capnweb::Value, wire::method};
use codemode_transport::{Connection, PendingCall};
use futures_util::future::{Either, FutureExt, select};
use http::HeaderMap;
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};

use crate::{
    failure,
    options::RemoteOptions,
    policy::{Action, CallId, Cancellation, EndpointId, Kind, Policy, Rules, SessionId},
    session,
};

/// The sessions of one executor, and the calls that they carry or that wait for one.
pub(crate) struct Sessions {
    urls: Vec<String>,
    headers: HeaderMap,
    options: RemoteOptions,
    /// Where sessions live, whoever polls the calls.
    runtime: Handle,
    epoch: Instant,
    state: Mutex<State>,
    /// Closed once every socket is.
    gone: watch::Receiver<()>,
}

struct State {
    policy: Policy,
    sessions: HashMap<SessionId, Slot>,
    waiters: HashMap<CallId, Waiter>,
    /// Cloned into every session; taken away by dispose.
    alive: Option<watch::Sender<()>>,
}

enum Slot {
    /// Dropping the sender stops the attempt.
    Opening {
        _stop: oneshot::Sender<()>,
    },
    Open(Connection),
}

/// Takes the session that its call is to be made on. Runs under the lock, so that calls, and whoever cancels them, keep
/// their order.
type Waiter = Box<dyn FnOnce(Result<&Connection, ExecutorError>) + Send>;

/// An attempt that is to begin.
struct Attempt {
    session: SessionId,
    endpoint: EndpointId,
    at: Duration,
    stop: oneshot::Receiver<()>,
    alive: watch::Sender<()>,
}

/// How a call comes to the policy.
pub(crate) enum Arrival {
    /// The call that opens the first session.
    Connect,
    New {
        kind: Kind,
        name: Option<String>,
    },
    /// Again, because the server turned it away unstarted.
    Refused(ExecutorError),
}

impl Sessions {
    /// # Panics
    /// Outside of a tokio runtime.
    pub(crate) fn new(urls: Vec<String>, headers: HeaderMap, options: RemoteOptions) -> Arc<Self> {
        let rules = Rules {
            rotate_after: options.rotate_after_executions,
            attempts: options.reconnect.map_or(1, |reconnect| reconnect.retries.saturating_add(1)),
            backoff: options.reconnect.map_or(Duration::ZERO, |reconnect| reconnect.backoff),
            endpoints: urls.len(),
        };
        let (alive, gone) = watch::channel(());
        let state =
            State { policy: Policy::new(rules), sessions: HashMap::new(), waiters: HashMap::new(), alive: Some(alive) };
        Arc::new(Self {
            urls,
            headers,
            options,
            runtime: Handle::current(),
            epoch: Instant::now(),
            state: Mutex::new(state),
            gone,
        })
    }

    pub(crate) fn urls(&self) -> &[String] {
        &self.urls
    }

    pub(crate) fn is_disposed(&self) -> bool {
        self.state().policy.is_disposed()
    }

    /// A call that is about to arrive.
    pub(crate) fn ticket(self: &Arc<Self>) -> Ticket {
        Ticket { sessions: self.clone(), call: None }
    }

    /// Closes everything. Ready when every peer has been told.
    pub(crate) fn dispose(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let alive = self.input(|state, _| {
            state.policy.dispose();
            state.alive.take()
        });
        drop(alive);
        let mut gone = self.gone.clone();
        // An error says that no socket is left, which is what we wait for.
        async move { while gone.changed().await.is_ok() {} }
    }

    /// Tells the policy something and does what it says.
    fn input<R>(self: &Arc<Self>, arrival: impl FnOnce(&mut State, Duration) -> R) -> R {
        let mut attempts = Vec::new();
        let answer = {
            let mut state = self.state();
            let answer = arrival(&mut state, self.epoch.elapsed());
            state.obey(&mut attempts);
            answer
        };
        // A runtime that has shut down drops the task here and now, and its last act takes the lock.
        for attempt in attempts {
            let report = Report { sessions: Some(self.clone()), session: attempt.session };
            self.runtime.spawn(run(self.clone(), attempt, report));
        }
        answer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What may panic under the lock is a caller's waker, and the state is consistent around that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn obey(&mut self, attempts: &mut Vec<Attempt>) {
        while let Some(action) = self.policy.poll_action() {
            match action {
                Action::Open { session, endpoint, at } => {
                    // Nothing is opened after dispose.
                    let Some(alive) = self.alive.clone() else { continue };
                    let (stop, stopped) = oneshot::channel();
                    self.sessions.insert(session, Slot::Opening { _stop: stop });
                    attempts.push(Attempt { session, endpoint, at, stop: stopped, alive });
                }
                Action::Start { call, session } => {
                    if let Some(waiter) = self.waiters.remove(&call)
                        && let Some(Slot::Open(connection)) = self.sessions.get(&session)
                    {
                        waiter(Ok(connection));
                    }
                }
                Action::Fail { call, error } => {
                    if let Some(waiter) = self.waiters.remove(&call) {
                        waiter(Err(error));
                    }
                }
                Action::Close { session } => {
                    if let Some(Slot::Open(connection)) = self.sessions.remove(&session) {
                        connection.close();
                    }
                }
            }
        }
    }

    /// Notices that the session which would take the next call is dead.
    fn check_current(&mut self, now: Duration) {
        if let Some(current) = self.policy.current()
            && let Some(Slot::Open(connection)) = self.sessions.get(&current)
            && connection.is_closed()
        {
            self.policy.broke(current, now);
        }
    }
}

/// A call's place in the policy; dropping it ends the call.
pub(crate) struct Ticket {
    sessions: Arc<Sessions>,
    call: Option<CallId>,
}

impl Ticket {
    /// Has the call made on the session that takes it, at once or when there is one.
    ///
    /// # Errors
    /// Nothing was sent: no session came about, or the executor is closed.
    pub(crate) async fn submit<T: Send + 'static>(
        &mut self,
        arrival: Arrival,
        make: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Result<T, ExecutorError> {
        let (waiter, made) = waiter(make);
        let call = self.sessions.input(|state, now| {
            state.check_current(now);
            // The waiter is there before the policy's answer is carried out.
            let call = match (arrival, self.call) {
                (Arrival::Connect, _) => state.policy.connect(now),
                (Arrival::New { kind, name }, _) => state.policy.call(kind, name, now),
                (Arrival::Refused(error), Some(call)) => {
                    state.policy.refused(call, error, now);
                    call
                }
                (Arrival::Refused(error), None) => {
                    waiter(Err(error));
                    return None;
                }
            };
            state.waiters.insert(call, waiter);
            Some(call)
        });
        self.call = call;
        made.await
    }

    /// The call carries the run of that id from now on.
    pub(crate) fn name(&self, name: Option<String>) {
        if let Some(call) = self.call {
            self.sessions.input(|state, _| state.policy.name(call, name));
        }
    }

    /// Whether the executor is closed.
    pub(crate) fn is_disposed(&self) -> bool {
        self.sessions.is_disposed()
    }

    /// Has the run `name` cancelled by the session that carries it. A run that waits for one is cancelled here; the
    /// flag says whether there was one.
    pub(crate) async fn cancel(&mut self, name: &str) -> Result<Either<bool, PendingCall>, ExecutorError> {
        let id = Value::from(name);
        let (waiter, made) = waiter(move |connection| connection.call(&connection.main(), &[method::CANCEL], vec![id]));
        let cancellation = self.sessions.input(|state, now| {
            let cancellation = state.policy.cancel(name, now);
            if let Cancellation::Asked(call) = cancellation {
                state.waiters.insert(call, waiter);
            }
            cancellation
        });
        match cancellation {
            Cancellation::Unknown => Ok(Either::Left(false)),
            Cancellation::Withdrawn => Ok(Either::Left(true)),
            Cancellation::Asked(call) => {
                self.call = Some(call);
                made.await.map(Either::Right)
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(call) = self.call else { return };
        let waiter = self.sessions.input(|state, now| {
            state.policy.ended(call, now);
            state.waiters.remove(&call)
        });
        // What it holds may be anything of the caller's, so it is dropped without the lock.
        drop(waiter);
    }
}

fn waiter<T: Send + 'static>(
    make: impl FnOnce(&Connection) -> T + Send + 'static,
) -> (Waiter, impl Future<Output = Result<T, ExecutorError>> + Send) {
    let (reply, made) = oneshot::channel();
    let waiter = move |session: Result<&Connection, ExecutorError>| {
        // A caller that is gone drops what was made for it.
        let _ = reply.send(session.map(make));
    };
    // The waiter is dropped unused by nobody but the caller's own ticket.
    (Box::new(waiter), made.map(|made| made.unwrap_or_else(|_| Err(failure::closed()))))
}

/// Carries out one attempt, until it is told to stop.
async fn run(sessions: Arc<Sessions>, attempt: Attempt, report: Report) {
    let Attempt { endpoint, at, stop, alive, .. } = attempt;
    let opening = async {
        match sessions.epoch.checked_add(at) {
            Some(instant) => sleep_until(instant).await,
            None => pending().await,
        }
        let url = &sessions.urls[endpoint.0];
        session::open(url, sessions.headers.clone(), &sessions.options, alive).await
    };
    if let Either::Left((opened, _)) = select(pin!(opening), stop).await {
        report.send(opened);
    }
}

/// What an attempt owes: an answer also when it is dropped half-way, or never begins.
struct Report {
    sessions: Option<Arc<Sessions>>,
    session: SessionId,
}

impl Report {
    fn send(mut self, opened: Result<Connection, ExecutorError>) {
        let Some(sessions) = self.sessions.take() else { return };
        sessions.input(|state, now| match opened {
            Ok(connection) => {
                if !state.policy.opened(self.session) {
                    connection.close();
                    return;
                }
                state.sessions.insert(self.session, Slot::Open(connection));
            }
            Err(error) => {
                state.sessions.remove(&self.session);
                state.policy.not_opened(self.session, error, now);
            }
        });
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(sessions) = self.sessions.take() {
            sessions.input(|state, _| {
                state.sessions.remove(&self.session);
                state.policy.abandoned(self.session);
            });
        }
    }
}
