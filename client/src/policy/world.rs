//! A world that obeys a policy, as far as a test lets it, and checks that what it says can be obeyed.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Two retries, 100 ms apart at first, one endpoint, rotation after three executions.
pub(super) const RULES: Rules =
    Rules { rotate_after: NonZeroU64::new(3).unwrap(), attempts: 3, backoff: Duration::from_millis(100), endpoints: 1 };

/// The state of the world.
pub(super) struct World {
    pub(super) policy: Policy,
    pub(super) now: Duration,
    pub(super) said: Vec<String>,
    pub(super) opening: Option<SessionId>,
    /// Open sessions and the calls on them.
    pub(super) open: BTreeMap<SessionId, BTreeSet<CallId>>,
    /// Calls that arrived and were neither started nor failed, and calls that run.
    pub(super) waiting: BTreeSet<CallId>,
    pub(super) running: BTreeMap<CallId, SessionId>,
    pub(super) submissions: BTreeMap<CallId, u32>,
    /// Whether what starts is a question to the session of a run.
    asking: bool,
}

impl World {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            policy: Policy::new(rules),
            now: Duration::ZERO,
            said: Vec::new(),
            opening: None,
            open: BTreeMap::new(),
            waiting: BTreeSet::new(),
            running: BTreeMap::new(),
            submissions: BTreeMap::new(),
            asking: false,
        }
    }

    /// A world in which the first session is open, and nothing is under way.
    pub(super) fn connected(rules: Rules) -> Self {
        let mut world = Self::new(rules);
        let connect = world.policy.connect(world.now);
        world.waiting.insert(connect);
        world.opened();
        world.end(connect);
        world.says("open s1 at e0 after 0, start c1 on s1");
        world
    }

    pub(super) fn call(&mut self, kind: Kind) -> CallId {
        self.named(kind, None)
    }

    pub(super) fn named(&mut self, kind: Kind, name: Option<&str>) -> CallId {
        let call = self.policy.call(kind, name.map(str::to_owned), self.now);
        self.waiting.insert(call);
        self.obey();
        call
    }

    pub(super) fn run(&mut self) -> CallId {
        self.call(Kind::Execution)
    }

    /// Runs one execution to its end on the session that is there.
    pub(super) fn run_through(&mut self) {
        let call = self.run();
        assert!(self.running.contains_key(&call));
        self.end(call);
    }

    pub(super) fn end(&mut self, call: CallId) {
        self.policy.ended(call, self.now);
        self.waiting.remove(&call);
        if let Some(session) = self.running.remove(&call)
            && let Some(calls) = self.open.get_mut(&session)
        {
            calls.remove(&call);
        }
        self.obey();
    }

    pub(super) fn refuse(&mut self, call: CallId) {
        let session = self.running.remove(&call).expect("only what runs can be refused");
        if let Some(calls) = self.open.get_mut(&session) {
            calls.remove(&call);
        }
        self.waiting.insert(call);
        self.policy.refused(call, error(ErrorCode::ShuttingDown), self.now);
        self.obey();
    }

    pub(super) fn opened(&mut self) {
        self.obey();
        let session = self.opening.take().expect("a session is being opened");
        self.open.insert(session, BTreeSet::new());
        assert!(self.policy.opened(session));
        self.obey();
    }

    pub(super) fn not_opened(&mut self, code: ErrorCode) {
        self.obey();
        let session = self.opening.take().expect("a session is being opened");
        self.policy.not_opened(session, error(code), self.now);
        self.obey();
    }

    pub(super) fn broke(&mut self) {
        if let Some(current) = self.policy.current() {
            self.policy.broke(current, self.now);
        }
        self.obey();
    }

    pub(super) fn cancel(&mut self, name: &str) -> Cancellation {
        let cancellation = self.policy.cancel(name, self.now);
        if let Cancellation::Asked(call) = cancellation {
            self.waiting.insert(call);
        }
        self.asking = true;
        self.obey();
        self.asking = false;
        cancellation
    }

    pub(super) fn dispose(&mut self) {
        self.policy.dispose();
        self.obey();
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn obey(&mut self) {
        while let Some(action) = self.policy.poll_action() {
            self.said.push(match action {
                Action::Open { session, endpoint, at } => {
                    assert_eq!(self.opening.replace(session), None, "one attempt at a time");
                    assert!(at >= self.now || at == Duration::ZERO);
                    format!("open s{} at e{} after {}", session.0, endpoint.0, at.saturating_sub(self.now).as_millis())
                }
                Action::Start { call, session } => {
                    assert!(self.waiting.remove(&call), "{call:?} starts once");
                    self.open.get_mut(&session).expect("calls start on open sessions").insert(call);
                    assert!(self.asking || self.policy.current() == Some(session), "only the current one takes calls");
                    self.running.insert(call, session);
                    *self.submissions.entry(call).or_default() += 1;
                    format!("start c{} on s{}", call.0, session.0)
                }
                Action::Fail { call, error } => {
                    assert!(self.waiting.remove(&call), "only what waits fails here");
                    format!("fail c{} with {}", call.0, error.code)
                }
                Action::Close { session } => {
                    if self.opening == Some(session) {
                        self.opening = None;
                    } else {
                        let calls = self.open.remove(&session).expect("only what is open is closed");
                        assert!(calls.is_empty() || self.policy.is_disposed(), "{session:?} still carries {calls:?}");
                    }
                    format!("close s{}", session.0)
                }
            });
        }
        let idle = self.open.iter().filter(|(_, calls)| calls.is_empty()).map(|(session, _)| *session);
        assert!(idle.into_iter().all(|session| self.policy.current() == Some(session)), "an idle session is current");
        assert!(self.waiting.is_empty() || self.opening.is_some(), "nobody waits for nothing");
    }

    #[track_caller]
    pub(super) fn says(&mut self, expected: &str) {
        self.obey();
        assert_eq!(std::mem::take(&mut self.said).join(", "), expected);
    }
}

pub(super) fn error(code: ErrorCode) -> ExecutorError {
    ExecutorError::new(code, "on purpose")
}
