//! Admission and supply, purely: who gets which child when, who waits, who is refused, when to fork and when to start
//! the zygote again. Arrivals and the time go in, [`Action`]s come out; drivers only obey.
//!
//! A run passes three stations: the queue until it has a permit, then the line for a child, then running. Only the
//! queue is bounded, because permits bound the other two. Waiting in either ends with the wait bound.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use crate::zygote::ChildId;

/// Names a run at admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// What the machine is told once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// Permits.
    pub(crate) max_concurrent: usize,
    /// Children that stand ready beyond those that run.
    pub(crate) warm: usize,
    /// Places in the queue.
    pub(crate) queue: usize,
    /// How long a run may wait for its start.
    pub(crate) wait: Duration,
}

/// Why a run does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No place in the queue; try again after this time.
    QueueFull(Duration),
    /// Not started within the wait bound; try again after this time.
    Waited(Duration),
    /// The pool is disposed.
    Disposed,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Start a zygote and report [`Machine::zygote_up`] or [`Machine::zygote_down`].
    StartZygote,
    /// Fork `count` children with ids from `first` on; report each.
    Fork {
        /// The first id.
        first: ChildId,
        /// How many.
        count: u32,
    },
    /// The run has this child; report [`Machine::finished`] in the end.
    Assign {
        /// The run.
        ticket: Ticket,
        /// Its child.
        child: ChildId,
    },
    /// The run does not start.
    Reject {
        /// The run.
        ticket: Ticket,
        /// Why.
        refusal: Refusal,
    },
    /// Nobody will use this child.
    Kill(ChildId),
    /// The zygote does not answer: kill it and report [`Machine::zygote_down`].
    KillZygote,
}

#[derive(Clone, Copy, Debug)]
enum Zygote {
    Starting,
    Up {
        since: Duration,
    },
    /// It is being killed.
    Condemned {
        since: Duration,
    },
    Down {
        retry_at: Duration,
    },
    Gone,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    ticket: Ticket,
    deadline: Duration,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Machine {
    capacity: Capacity,
    zygote: Zygote,
    /// Starts that failed, or were followed by an early end, in a row.
    zygote_failures: u32,
    /// Children that died before they had a run, in a row.
    child_failures: u32,
    no_fork_before: Duration,
    /// Bursts of forks that failed, in a row.
    fork_failures: u32,
    fork_retry_at: Duration,
    /// Forks of lower ids belong to a burst whose failure is counted.
    counted_below: ChildId,
    next_child: u64,
    /// Forks without an answer, and when they were asked for.
    forking: BTreeMap<ChildId, Duration>,
    /// When a fork was last answered.
    answered: Duration,
    /// When the zygote last said anything.
    heard: Duration,
    /// Since when a child is asked for while there is none.
    dry_since: Option<Duration>,
    /// Oldest first: the one that has had most time to warm up.
    idle: VecDeque<ChildId>,
    queue: VecDeque<Waiting>,
    line: VecDeque<Waiting>,
    running: usize,
    /// A sliding mean of how long runs hold their permit.
    usual_run: Duration,
    actions: VecDeque<Action>,
}

/// What stands where, for status and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    /// Children without a run.
    pub(crate) idle: usize,
    /// Runs with a child.
    pub(crate) running: usize,
    /// Runs that wait for a permit or a child.
    pub(crate) waiting: usize,
    /// Whether there is a zygote, and children come when they are asked for.
    pub(crate) supplied: bool,
}

impl Machine {
    /// A machine without a zygote; its first action is to start one.
    pub(crate) fn new(capacity: Capacity) -> Self {
        Self {
            capacity: Capacity { max_concurrent: capacity.max_concurrent.max(1), ..capacity },
            zygote: Zygote::Starting,
            zygote_failures: 0,
            child_failures: 0,
            no_fork_before: Duration::ZERO,
            fork_failures: 0,
            fork_retry_at: Duration::ZERO,
            counted_below: ChildId(0),
            next_child: 0,
            forking: BTreeMap::new(),
            answered: Duration::ZERO,
            heard: Duration::ZERO,
            dry_since: None,
            idle: VecDeque::new(),
            queue: VecDeque::new(),
            line: VecDeque::new(),
            running: 0,
            usual_run: FIRST_GUESS,
            actions: VecDeque::from([Action::StartZygote]),
        }
    }

    /// The next thing to do.
    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// A run wants to start.
    pub(crate) fn arrive(&mut self, ticket: Ticket, now: Duration) {
        let waiting = Waiting { ticket, deadline: now + self.capacity.wait };
        if let Zygote::Gone = self.zygote {
            self.reject(ticket, Refusal::Disposed);
        } else if self.permits() < self.capacity.max_concurrent {
            self.line.push_back(waiting);
            self.serve(now);
        } else if self.queue.len() < self.capacity.queue {
            self.queue.push_back(waiting);
        } else {
            let refusal = Refusal::QueueFull(self.retry_after());
            self.reject(ticket, refusal);
        }
    }

    /// A run that waits is not wanted any more.
    pub(crate) fn abandon(&mut self, ticket: Ticket, now: Duration) {
        self.queue.retain(|waiting| waiting.ticket != ticket);
        self.line.retain(|waiting| waiting.ticket != ticket);
        self.serve(now);
    }

    /// A run that was assigned has ended after `held`, whatever became of it.
    pub(crate) fn finished(&mut self, held: Duration, now: Duration) {
        self.running = self.running.saturating_sub(1);
        self.child_failures = 0;
        self.usual_run = (self.usual_run * 7 + held) / 8;
        self.serve(now);
        self.supply(now);
    }

    /// The child of an assignment was dead before it could be told anything: the run takes the next one.
    pub(crate) fn reassign(&mut self, ticket: Ticket, now: Duration) {
        self.running = self.running.saturating_sub(1);
        self.line.push_front(Waiting { ticket, deadline: now + self.capacity.wait });
        self.serve(now);
    }

    /// A child is there. One that was given up is taken all the same, if there is use for it.
    pub(crate) fn forked(&mut self, child: ChildId, now: Duration) {
        let asked = self.fork_answered(child, now);
        if !asked && self.idle.len() >= self.wanted() {
            self.actions.push_back(Action::Kill(child));
            return;
        }
        self.fork_failures = 0;
        self.dry_since = None;
        self.idle.push_back(child);
        self.serve(now);
    }

    /// A child could not be made, or not be handed over.
    pub(crate) fn fork_failed(&mut self, child: ChildId, now: Duration) {
        if self.fork_answered(child, now) {
            self.count_fork_failure(child, now);
        }
    }

    /// The zygote has said something, whatever it was.
    pub(crate) fn heard(&mut self, now: Duration) {
        self.heard = now;
    }

    /// A child has ended that [`Machine::forked`] was told of.
    pub(crate) fn exited(&mut self, child: ChildId, now: Duration) {
        let before = self.idle.len();
        self.idle.retain(|idle| *idle != child);
        if self.idle.len() < before {
            self.child_failed(now);
            self.supply(now);
        } else if self.fork_failures > 0 {
            // What it held may be what the next fork needs.
            self.fork_failures = 0;
            self.fork_retry_at = now;
            self.supply(now);
        }
    }

    /// The zygote is ready.
    pub(crate) fn zygote_up(&mut self, now: Duration) {
        if let Zygote::Gone = self.zygote {
            return;
        }
        self.zygote = Zygote::Up { since: now };
        self.dry_since = None;
        self.supply(now);
    }

    /// The zygote did not come up, or has ended and its children with it. Those that run notice by themselves.
    pub(crate) fn zygote_down(&mut self, now: Duration) {
        if let Zygote::Gone = self.zygote {
            return;
        }
        if let Zygote::Up { since } | Zygote::Condemned { since } = self.zygote
            && now.saturating_sub(since) >= STABLE_AFTER
        {
            self.zygote_failures = 0;
        }
        let retry_at = now + backoff(self.zygote_failures);
        self.zygote_failures += 1;
        self.zygote = Zygote::Down { retry_at };
        self.idle.clear();
        self.forking.clear();
        self.advance(now);
    }

    /// Does what is due at `now`.
    pub(crate) fn advance(&mut self, now: Duration) {
        if let Zygote::Down { retry_at } = self.zygote
            && retry_at <= now
        {
            self.zygote = Zygote::Starting;
            self.actions.push_back(Action::StartZygote);
        }
        self.look_at_forks(now);
        let late = |waiting: &Waiting| waiting.deadline <= now;
        let expired: Vec<_> = self.line.iter().chain(&self.queue).filter(|waiting| late(waiting)).copied().collect();
        self.line.retain(|waiting| !late(waiting));
        self.queue.retain(|waiting| !late(waiting));
        for waiting in expired {
            let refusal = Refusal::Waited(self.retry_after());
            self.reject(waiting.ticket, refusal);
        }
        self.serve(now);
        self.supply(now);
    }

    /// When [`Machine::advance`] has something to do next.
    pub(crate) fn next_deadline(&self, now: Duration) -> Option<Duration> {
        let zygote = match self.zygote {
            Zygote::Down { retry_at } => Some(retry_at),
            Zygote::Up { .. } => {
                let fork = self.no_fork_before.max(self.fork_retry_at);
                let fork = (fork > now && self.missing() > 0).then_some(fork);
                fork.into_iter().chain(self.forks_due()).min()
            }
            Zygote::Starting | Zygote::Condemned { .. } | Zygote::Gone => None,
        };
        // Those in the queue came in this order and wait equally long.
        let waiting = self.line.iter().chain(self.queue.front()).map(|waiting| waiting.deadline).min();
        zygote.into_iter().chain(waiting).min()
    }

    /// Ends it all: refuses those who wait, gives up the children without a run.
    pub(crate) fn dispose(&mut self) {
        self.zygote = Zygote::Gone;
        for waiting in self.line.drain(..).chain(self.queue.drain(..)) {
            self.actions.push_back(Action::Reject { ticket: waiting.ticket, refusal: Refusal::Disposed });
        }
        self.actions.extend(self.idle.drain(..).map(Action::Kill));
    }

    /// What stands where.
    pub(crate) fn census(&self, now: Duration) -> Census {
        Census {
            idle: self.idle.len(),
            running: self.running,
            waiting: self.line.len() + self.queue.len(),
            supplied: matches!(self.zygote, Zygote::Up { .. }) && !self.is_dry(now),
        }
    }

    fn permits(&self) -> usize {
        self.running + self.line.len()
    }

    /// Gives free permits to the queue and children to the line.
    fn serve(&mut self, now: Duration) {
        while self.permits() < self.capacity.max_concurrent
            && let Some(waiting) = self.queue.pop_front()
        {
            self.line.push_back(waiting);
        }
        while !self.line.is_empty()
            && let Some(child) = self.idle.pop_front()
            && let Some(Waiting { ticket, .. }) = self.line.pop_front()
        {
            self.running += 1;
            self.actions.push_back(Action::Assign { ticket, child });
        }
        // Supply waits for the end of a run, so that a fork does not compete with the run that made room for it,
        // unless children run short.
        if !self.line.is_empty() || self.idle.len() < self.capacity.warm.div_ceil(2) {
            self.supply(now);
        }
    }

    fn supply(&mut self, now: Duration) {
        let missing = self.missing();
        if missing == 0
            || now < self.no_fork_before.max(self.fork_retry_at)
            || !matches!(self.zygote, Zygote::Up { .. })
        {
            return;
        }
        let first = ChildId(self.next_child);
        self.next_child += missing as u64;
        self.forking.extend((first.0..self.next_child).map(|child| (ChildId(child), now)));
        if self.idle.is_empty() {
            self.dry_since.get_or_insert(now);
        }
        let count = u32::try_from(missing).unwrap_or(u32::MAX);
        self.actions.push_back(Action::Fork { first, count });
    }

    fn missing(&self) -> usize {
        self.wanted().saturating_sub(self.idle.len() + self.forking.len())
    }

    fn wanted(&self) -> usize {
        self.capacity.warm + self.line.len()
    }

    /// Whether children that are asked for have not come for some time.
    fn is_dry(&self, now: Duration) -> bool {
        let long = self.dry_since.is_some_and(|since| now.saturating_sub(since) >= DRY_AFTER);
        long && self.idle.is_empty() && self.wanted() > 0
    }

    /// Whether `child` was asked for. The zygote answers in order, so that one before it without an answer has failed.
    fn fork_answered(&mut self, child: ChildId, now: Duration) -> bool {
        self.answered = now;
        let later = self.forking.split_off(&child);
        let lost = std::mem::replace(&mut self.forking, later);
        for lost in lost.into_keys() {
            self.count_fork_failure(lost, now);
        }
        self.forking.remove(&child).is_some()
    }

    /// When the oldest fork without an answer is given up.
    fn forks_due(&self) -> Option<Duration> {
        self.forking.values().next().map(|asked| self.answered.max(*asked) + FORK_BOUND)
    }

    /// A zygote that answers no fork has lost them; one that says nothing at all is of no use.
    fn look_at_forks(&mut self, now: Duration) {
        let Zygote::Up { since } = self.zygote else { return };
        if self.forks_due().is_none_or(|due| due > now) {
            return;
        }
        let asked = self.forking.values().next().copied().unwrap_or_default();
        if self.heard > asked.max(self.answered) {
            for lost in std::mem::take(&mut self.forking).into_keys() {
                self.count_fork_failure(lost, now);
            }
        } else {
            self.zygote = Zygote::Condemned { since };
            // They end with it.
            self.idle.clear();
            self.forking.clear();
            self.actions.push_back(Action::KillZygote);
        }
    }

    /// Counts one failure for all forks that were asked for until now.
    fn count_fork_failure(&mut self, child: ChildId, now: Duration) {
        if child >= self.counted_below {
            self.counted_below = ChildId(self.next_child);
            self.fork_failures += 1;
            self.fork_retry_at = now + backoff(self.fork_failures);
        }
    }

    fn child_failed(&mut self, now: Duration) {
        if now < self.no_fork_before {
            return;
        }
        self.child_failures += 1;
        if self.child_failures > TOLERATED_FAILURES {
            self.no_fork_before = now + backoff(self.child_failures - TOLERATED_FAILURES);
        }
    }

    fn retry_after(&self) -> Duration {
        let ahead = u32::try_from(self.queue.len() + self.line.len() + 1).unwrap_or(u32::MAX);
        let permits = u32::try_from(self.capacity.max_concurrent).unwrap_or(u32::MAX);
        (self.usual_run.saturating_mul(ahead) / permits).clamp(LEAST_RETRY, self.capacity.wait.max(LEAST_RETRY))
    }

    fn reject(&mut self, ticket: Ticket, refusal: Refusal) {
        self.actions.push_back(Action::Reject { ticket, refusal });
    }
}

/// The first wait is none, then it doubles from [`FIRST_BACKOFF`] to [`LAST_BACKOFF`].
fn backoff(failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_BACKOFF.saturating_mul(1 << doublings.min(16)).min(LAST_BACKOFF),
    }
}

const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LAST_BACKOFF: Duration = Duration::from_secs(5);

/// A zygote that lived so long did not fail at its start.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// Children may be killed from outside now and then; only a series says that forking is of no use.
const TOLERATED_FAILURES: u32 = 8;

/// How long a zygote may take for its next answer while it is asked for forks; it needs a millisecond or so.
const FORK_BOUND: Duration = Duration::from_secs(5);

/// How long there may be no child, while some are asked for, until that counts as a lack.
const DRY_AFTER: Duration = Duration::from_secs(2);

/// How long a run holds its permit, before any has ended.
const FIRST_GUESS: Duration = Duration::from_millis(100);

/// Asking again sooner than this never helps.
const LEAST_RETRY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
