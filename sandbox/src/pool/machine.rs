//! Who gets which child when, when to fork and when to start the zygote again, purely. Arrivals and the time go in,
//! [`Action`]s come out; drivers only obey. Who is admitted, [`Admission`] decides.
//!
//! A run passes three stations: the queue until it has a permit, then the line for a child, then running. Only the
//! queue is bounded, because permits bound the other two. Waiting in either ends with the wait bound. A lease has a
//! permit and is in no line until its run begins.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use super::{
    admission::{Admission, Arrival, Bounds, Holdings, Refusal, Rest, Ruling},
    queue::Wish,
};
use crate::zygote::ChildId;

/// Names a run at admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// What the machine is told once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// What is shared out.
    pub(crate) admission: Bounds,
    /// Children that stand ready beyond those that run.
    pub(crate) warm: usize,
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
    /// The lease is held: report [`Machine::begin`] or [`Machine::abandon`]. Unused, it ends by itself.
    Lease(Ticket),
    /// The run does not start, or the lease is not given.
    Reject {
        /// The run or lease.
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

/// A run with a permit and without a child.
#[derive(Clone, Copy, Debug)]
struct InLine {
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
    admission: Admission,
    line: VecDeque<InLine>,
    counts: Counts,
    actions: VecDeque<Action>,
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) forks: u64,
    pub(crate) failed_forks: u64,
    pub(crate) zygotes: u64,
}

/// What stands where, for status and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    /// Children without a run.
    pub(crate) idle: usize,
    /// Runs with a child.
    pub(crate) running: usize,
    /// Runs and leases that wait for a permit, and runs that wait for a child.
    pub(crate) waiting: usize,
    /// Permits that are held for a run to come.
    pub(crate) leased: usize,
    /// Executions that keep their memory after their run.
    pub(crate) retained: usize,
    /// Bytes that the limits of all of them add up to.
    pub(crate) memory: u64,
    /// Whether there is a zygote, and children come when they are asked for.
    pub(crate) supplied: bool,
}

impl Machine {
    /// A machine without a zygote; its first action is to start one.
    pub(crate) fn new(capacity: Capacity) -> Self {
        Self {
            capacity,
            admission: Admission::new(capacity.admission),
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
            line: VecDeque::new(),
            counts: Counts::default(),
            actions: VecDeque::from([Action::StartZygote]),
        }
    }

    /// The next thing to do.
    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// A run or a lease wants to be admitted.
    pub(crate) fn arrive(&mut self, arrival: Arrival, now: Duration) {
        self.admission.arrive(arrival, now);
        self.serve(now);
    }

    /// The run of a lease wants its child, with the permit that the lease holds. False when the lease has expired.
    pub(crate) fn begin(&mut self, ticket: Ticket, now: Duration) -> bool {
        let begins = self.admission.begin(ticket);
        if begins {
            self.line.push_back(self.in_line(ticket, now));
            self.serve(now);
        }
        begins
    }

    /// A run that waits, or a lease, is not wanted any more, or memory that was retained is free.
    pub(crate) fn abandon(&mut self, ticket: Ticket, now: Duration) {
        self.line.retain(|waiting| waiting.ticket != ticket);
        self.admission.withdraw(ticket, now);
        self.serve(now);
        self.supply(now);
    }

    /// A run that was assigned has ended after `held`, whatever became of it.
    pub(crate) fn finished(&mut self, ticket: Ticket, held: Duration, rest: Rest, now: Duration) {
        self.child_failures = 0;
        self.admission.end(ticket, held, rest, now);
        self.serve(now);
        self.supply(now);
    }

    /// Whether an execution that was just retained is not one too many of its tenant's.
    pub(crate) fn may_retain(&self, ticket: Ticket) -> bool {
        self.admission.may_retain(ticket)
    }

    /// The child of an assignment was dead before it could be told anything: the run takes the next one.
    pub(crate) fn reassign(&mut self, ticket: Ticket, now: Duration) {
        if let Zygote::Gone = self.zygote {
            self.admission.withdraw(ticket, now);
            self.actions.push_back(Action::Reject { ticket, refusal: Refusal::Closed });
            return;
        }
        self.line.push_front(self.in_line(ticket, now));
        self.serve(now);
    }

    /// A child is there. It is taken if there is use for it: a fork that was given up may be wanted all the same, and
    /// the run that one was asked for may have left the line.
    pub(crate) fn forked(&mut self, child: ChildId, now: Duration) {
        self.fork_answered(child, now);
        self.counts.forks += 1;
        self.fork_failures = 0;
        self.dry_since = None;
        if self.idle.len() >= self.wanted() {
            self.actions.push_back(Action::Kill(child));
            return;
        }
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
        self.counts.zygotes += 1;
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
        let late = |waiting: &InLine| waiting.deadline <= now;
        let expired: Vec<_> = self.line.iter().filter(|waiting| late(waiting)).copied().collect();
        self.line.retain(|waiting| !late(waiting));
        for InLine { ticket, .. } in expired {
            self.admission.withdraw(ticket, now);
            let refusal = Refusal::NoChild(self.admission.retry_after(&None, now));
            self.actions.push_back(Action::Reject { ticket, refusal });
        }
        self.admission.advance(now);
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
        let waiting = self.line.iter().map(|waiting| waiting.deadline).min();
        zygote.into_iter().chain(waiting).chain(self.admission.next_deadline()).min()
    }

    /// Refuses those who wait for a permit and those who come from now on, and takes back what is leased. What has a
    /// permit goes on.
    pub(crate) fn drain(&mut self, now: Duration) {
        self.admission.close(now);
        self.serve(now);
    }

    /// Ends it all: refuses those who wait, gives up the children without a run.
    pub(crate) fn dispose(&mut self, now: Duration) {
        self.zygote = Zygote::Gone;
        self.admission.close(now);
        for InLine { ticket, .. } in std::mem::take(&mut self.line) {
            self.admission.withdraw(ticket, now);
            self.actions.push_back(Action::Reject { ticket, refusal: Refusal::Closed });
        }
        self.serve(now);
        self.actions.extend(self.idle.drain(..).map(Action::Kill));
    }

    /// What stands where.
    pub(crate) fn census(&self, now: Duration) -> Census {
        let Holdings { runs, leases, retained, memory, waiting } = self.admission.holdings();
        Census {
            idle: self.idle.len(),
            running: runs - self.line.len(),
            waiting: self.line.len() + waiting,
            leased: leases,
            retained,
            memory,
            supplied: matches!(self.zygote, Zygote::Up { .. }) && !self.is_dry(now),
        }
    }

    /// What has happened so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    fn in_line(&self, ticket: Ticket, now: Duration) -> InLine {
        InLine { ticket, deadline: now.saturating_add(self.capacity.admission.wait) }
    }

    /// Gives permits to the line and children to those in it.
    fn serve(&mut self, now: Duration) {
        while let Some(ruling) = self.admission.poll() {
            match ruling {
                Ruling::Granted { ticket, wish: Wish::Run } => self.line.push_back(self.in_line(ticket, now)),
                Ruling::Granted { ticket, wish: Wish::Lease } => self.actions.push_back(Action::Lease(ticket)),
                Ruling::Refused { ticket, refusal } => self.actions.push_back(Action::Reject { ticket, refusal }),
            }
        }
        while !self.line.is_empty()
            && let Some(child) = self.idle.pop_front()
            && let Some(InLine { ticket, .. }) = self.line.pop_front()
        {
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

    /// Whether `child` was asked for and not given up. The zygote answers in order, so that one before it without an
    /// answer has failed.
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
        self.counts.failed_forks += 1;
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

#[cfg(test)]
mod tests;
