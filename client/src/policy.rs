//! When sessions are opened, used, retired and given up, decided without I/O.
//!
//! A call is either on a session or waits for the one attempt to open the next; it starts the moment that a session is
//! there. Arrivals come with `now`, and [`Policy::poll_action`] says what to do about them.

#[cfg(test)]
mod orders;
mod rota;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    num::NonZeroU64,
    time::Duration,
};

use codemode_protocol::{ErrorCode, ExecutorError};

use self::rota::Rota;
use crate::failure::{abandoned, cancelled, closed};

/// What the decisions go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Settled executions after which the current session is retired.
    pub(crate) rotate_after: NonZeroU64,
    /// Rounds over the endpoints that one reopening may take, and submissions that one run may take.
    pub(crate) attempts: u32,
    /// Waited once after the first failed round, twice after the second and so on.
    pub(crate) backoff: Duration,
    /// How many endpoints there are, at least one.
    pub(crate) endpoints: usize,
}

/// A call of ours, from its arrival to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallId(u64);

/// A session, from the attempt that opens it to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionId(u64);

/// The position of a URL in the caller's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndpointId(pub(crate) usize);

/// What a call is, as far as sessions are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Counts for rotation when it settles.
    Execution,
    /// Counts for nothing.
    Other,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Action {
    /// Open `session`, not before `at`. Answered by [`Policy::opened`], [`Policy::not_opened`] or
    /// [`Policy::abandoned`].
    Open { session: SessionId, endpoint: EndpointId, at: Duration },
    /// Send `call` by `session`. Answered by [`Policy::refused`] or [`Policy::ended`].
    Start { call: CallId, session: SessionId },
    /// The call is over, and nothing of it was sent since it last arrived.
    Fail { call: CallId, error: ExecutorError },
    /// Close the session, or stop opening it.
    Close { session: SessionId },
}

/// Where the cancellation of a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancellation {
    /// No run of that id is under way.
    Unknown,
    /// Nowhere: the run waited for a session, and has failed.
    Withdrawn,
    /// This call is to ask for it; it has arrived like any other, and starts on the session that carries the run.
    Asked(CallId),
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Policy {
    rules: Rules,
    rota: Rota,
    disposed: bool,
    /// Takes new calls.
    current: Option<SessionId>,
    /// Those that are open to us: the current one, and retired ones whose calls have not settled.
    sessions: BTreeMap<SessionId, Open>,
    opening: Option<Opening>,
    calls: BTreeMap<CallId, Call>,
    /// Executions that settled since the last rotation.
    settled: u64,
    call_ids: u64,
    session_ids: u64,
    actions: VecDeque<Action>,
}

#[derive(Debug)]
struct Open {
    endpoint: EndpointId,
    calls: usize,
}

/// The one attempt that everybody waits for.
#[derive(Debug)]
struct Opening {
    session: SessionId,
    endpoint: EndpointId,
    at: Duration,
    search: Search,
}

#[derive(Debug)]
struct Search {
    /// What is left of this round over the endpoints.
    round: VecDeque<EndpointId>,
    failed_rounds: u32,
    /// Rounds that it may take.
    attempts: u32,
    /// In the order of their arrival.
    waiting: BTreeSet<CallId>,
}

#[derive(Debug)]
struct Call {
    kind: Kind,
    /// The id by which a run can be cancelled.
    name: Option<String>,
    place: Place,
    refusal: Option<Refusal>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Waiting,
    On(SessionId),
}

/// A run that was turned away unstarted.
#[derive(Debug)]
struct Refusal {
    error: ExecutorError,
    /// Attempts that the run has spent: submissions, and rounds that failed while it waited.
    spent: u32,
}

impl Policy {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            rota: Rota::new(rules.endpoints),
            disposed: false,
            current: None,
            sessions: BTreeMap::new(),
            opening: None,
            calls: BTreeMap::new(),
            settled: 0,
            call_ids: 0,
            session_ids: 0,
            actions: VecDeque::new(),
        }
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The session that takes new calls, if there is one.
    pub(crate) fn current(&self) -> Option<SessionId> {
        self.current
    }

    pub(crate) fn is_disposed(&self) -> bool {
        self.disposed
    }

    /// The first opening: a single attempt, which the call waits for.
    pub(crate) fn connect(&mut self, now: Duration) -> CallId {
        self.arrive(Kind::Other, None, 1, now)
    }

    /// A call arrives; `name` is the id by which it can be cancelled.
    pub(crate) fn call(&mut self, kind: Kind, name: Option<String>, now: Duration) -> CallId {
        self.arrive(kind, name, self.rules.attempts, now)
    }

    /// The server turned a started call away because it is shutting down: it was never run, and is to be submitted
    /// elsewhere.
    pub(crate) fn refused(&mut self, id: CallId, error: ExecutorError, now: Duration) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        let Place::On(session) = call.place else { return };
        let spent = 1 + call.refusal.take().map_or(0, |refusal| refusal.spent);
        let given_up = if self.disposed {
            Some(closed())
        } else if spent >= self.rules.attempts {
            Some(error)
        } else {
            call.place = Place::Waiting;
            call.refusal = Some(Refusal { error, spent });
            None
        };
        if self.current == Some(session) {
            self.lose(session, now);
        }
        self.leave(session);
        match given_up {
            Some(error) => self.fail(id, error),
            None => {
                // A server that is still shutting down is not asked again at once; another one is.
                let at = if self.rota.any_fit(now) { now } else { self.after_waits(spent, now) };
                self.place(id, self.rules.attempts, now, at);
            }
        }
    }

    /// A call is over: answered, failed, or dropped by its caller.
    pub(crate) fn ended(&mut self, id: CallId, now: Duration) {
        let Some(call) = self.calls.remove(&id) else { return };
        match call.place {
            Place::Waiting => self.forget(id, now),
            Place::On(session) => {
                if call.kind == Kind::Execution {
                    self.settled += 1;
                    if self.settled >= self.rules.rotate_after.get() {
                        self.settled = 0;
                        self.retire();
                    }
                }
                self.leave(session);
            }
        }
    }

    /// A call that is under way carries the run `name` from now on.
    pub(crate) fn name(&mut self, call: CallId, name: Option<String>) {
        if let Some(call) = self.calls.get_mut(&call) {
            call.name = name;
        }
    }

    /// Cancels the run that was given `name`.
    pub(crate) fn cancel(&mut self, name: &str, now: Duration) -> Cancellation {
        if self.disposed {
            return Cancellation::Asked(self.call(Kind::Other, None, now));
        }
        let named = |call: &Call| call.name.as_deref().is_some_and(|other| other.eq_ignore_ascii_case(name));
        let Some((&run, call)) = self.calls.iter().find(|(_, call)| named(call)) else {
            return Cancellation::Unknown;
        };
        match call.place {
            Place::Waiting => {
                self.forget(run, now);
                self.fail(run, cancelled());
                Cancellation::Withdrawn
            }
            Place::On(session) => {
                let id = self.enter(Kind::Other, None);
                self.start(id, session);
                Cancellation::Asked(id)
            }
        }
    }

    /// The current session was found dead.
    pub(crate) fn broke(&mut self, session: SessionId, now: Duration) {
        if self.current == Some(session) {
            self.lose(session, now);
            self.close_if_idle(session);
        }
    }

    /// An attempt gave a session. `false` says that nobody wants it any more.
    #[must_use]
    pub(crate) fn opened(&mut self, session: SessionId) -> bool {
        let Some(opening) = self.opening.take_if(|opening| opening.session == session) else { return false };
        self.rota.answered(opening.endpoint);
        self.sessions.insert(session, Open { endpoint: opening.endpoint, calls: 0 });
        self.current = Some(session);
        for call in opening.search.waiting {
            self.start(call, session);
        }
        true
    }

    /// An attempt failed.
    pub(crate) fn not_opened(&mut self, session: SessionId, error: ExecutorError, now: Duration) {
        let Some(opening) = self.opening.take_if(|opening| opening.session == session) else { return };
        self.rota.failed(opening.endpoint, now);
        let mut search = opening.search;
        if is_final(&error) {
            for call in search.waiting {
                self.fail(call, error.clone());
            }
            return;
        }
        if search.waiting.is_empty() {
            return;
        }
        if let Some(next) = search.round.pop_front() {
            return self.open(next, now, search);
        }
        search.failed_rounds += 1;
        search.waiting.retain(|&call| !self.spend(call));
        if search.failed_rounds >= search.attempts {
            for call in search.waiting {
                self.give_up(call, &error);
            }
        } else if !search.waiting.is_empty() {
            let at = self.after_waits(search.failed_rounds, now);
            self.open_round(at, now, search);
        }
    }

    /// An attempt will never be answered, and none can be made.
    pub(crate) fn abandoned(&mut self, session: SessionId) {
        if let Some(opening) = self.opening.take_if(|opening| opening.session == session) {
            for call in opening.search.waiting {
                self.give_up(call, &abandoned());
            }
        }
    }

    /// Closes everything: what waits fails here, what was started fails with its session.
    pub(crate) fn dispose(&mut self) {
        self.disposed = true;
        self.current = None;
        if let Some(opening) = self.opening.take() {
            self.actions.push_back(Action::Close { session: opening.session });
            for call in opening.search.waiting {
                self.fail(call, closed());
            }
        }
        for session in std::mem::take(&mut self.sessions).into_keys() {
            self.actions.push_back(Action::Close { session });
        }
    }

    fn arrive(&mut self, kind: Kind, name: Option<String>, attempts: u32, now: Duration) -> CallId {
        let id = self.enter(kind, name);
        if self.disposed {
            self.fail(id, closed());
        } else {
            self.place(id, attempts, now, now);
        }
        id
    }

    fn enter(&mut self, kind: Kind, name: Option<String>) -> CallId {
        self.call_ids += 1;
        let id = CallId(self.call_ids);
        self.calls.insert(id, Call { kind, name, place: Place::Waiting, refusal: None });
        id
    }

    /// Starts a call on the current session, or has it wait for the next one. An attempt that has to begin for it
    /// begins at `at`.
    fn place(&mut self, call: CallId, attempts: u32, now: Duration, at: Duration) {
        if let Some(session) = self.current {
            return self.start(call, session);
        }
        if let Some(opening) = &mut self.opening {
            opening.search.waiting.insert(call);
            return;
        }
        let waiting = BTreeSet::from([call]);
        self.open_round(at, now, Search { round: VecDeque::new(), failed_rounds: 0, attempts, waiting });
    }

    fn start(&mut self, id: CallId, session: SessionId) {
        // A call that waits or arrives is in the table, and nothing starts on a session that is not.
        if let (Some(call), Some(open)) = (self.calls.get_mut(&id), self.sessions.get_mut(&session)) {
            call.place = Place::On(session);
            open.calls += 1;
            self.actions.push_back(Action::Start { call: id, session });
        }
    }

    fn open_round(&mut self, at: Duration, now: Duration, mut search: Search) {
        search.round = self.rota.round(now);
        // There is at least one endpoint.
        if let Some(first) = search.round.pop_front() {
            self.open(first, at, search);
        }
    }

    fn open(&mut self, endpoint: EndpointId, at: Duration, search: Search) {
        self.session_ids += 1;
        let session = SessionId(self.session_ids);
        self.actions.push_back(Action::Open { session, endpoint, at });
        self.opening = Some(Opening { session, endpoint, at, search });
    }

    fn after_waits(&self, waits: u32, now: Duration) -> Duration {
        now.saturating_add(self.rules.backoff.saturating_mul(waits))
    }

    /// A waiting call left. Its attempt goes on for the others, and for whoever comes next; only if it has not begun
    /// and nobody waits for it is it given up.
    fn forget(&mut self, call: CallId, now: Duration) {
        let Some(opening) = &mut self.opening else { return };
        opening.search.waiting.remove(&call);
        if opening.search.waiting.is_empty() && now < opening.at {
            self.actions.push_back(Action::Close { session: opening.session });
            self.opening = None;
        }
    }

    /// The current session takes no more calls because its server does not answer, or not for long.
    fn lose(&mut self, session: SessionId, now: Duration) {
        self.current = None;
        if let Some(open) = self.sessions.get(&session) {
            self.rota.failed(open.endpoint, now);
        }
    }

    fn retire(&mut self) {
        if let Some(session) = self.current.take() {
            self.close_if_idle(session);
        }
    }

    /// One call of `session` is over.
    fn leave(&mut self, session: SessionId) {
        if let Some(open) = self.sessions.get_mut(&session) {
            open.calls -= 1;
        }
        self.close_if_idle(session);
    }

    fn close_if_idle(&mut self, session: SessionId) {
        let idle = self.sessions.get(&session).is_some_and(|open| open.calls == 0);
        if idle && self.current != Some(session) {
            self.sessions.remove(&session);
            self.actions.push_back(Action::Close { session });
        }
    }

    /// A round failed while the call waited. `true` if it was turned away before and this was its last attempt.
    fn spend(&mut self, id: CallId) -> bool {
        let Some(refusal) = self.calls.get_mut(&id).and_then(|call| call.refusal.as_mut()) else { return false };
        refusal.spent += 1;
        if refusal.spent < self.rules.attempts {
            return false;
        }
        let error = refusal.error.clone();
        self.fail(id, error);
        true
    }

    /// No session came about. Whoever was turned away by a server hears that, others why.
    fn give_up(&mut self, id: CallId, error: &ExecutorError) {
        let refusal = self.calls.get_mut(&id).and_then(|call| call.refusal.take());
        self.fail(id, refusal.map_or_else(|| error.clone(), |refusal| refusal.error));
    }

    fn fail(&mut self, call: CallId, error: ExecutorError) {
        self.calls.remove(&call);
        self.actions.push_back(Action::Fail { call, error });
    }
}

/// Whether no later attempt can end otherwise.
fn is_final(error: &ExecutorError) -> bool {
    matches!(error.code, ErrorCode::ProtocolMismatch | ErrorCode::Unauthorized)
}
