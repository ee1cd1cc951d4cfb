//! Those who wait for admission, in the order in which they are served: tenants take turns, then the sessions of each,
//! and within a session who came first is first. So whoever floods the queue waits for itself alone.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use codemode_protocol::Caller;

use super::machine::Ticket;

/// The name of a tenant; absent for all who have none.
pub(crate) type Tenant = Option<Arc<str>>;

/// One who waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) ticket: Ticket,
    pub(crate) caller: Caller,
    /// Bytes that it wants.
    pub(crate) memory: u64,
    /// What it wants them for.
    pub(crate) wish: Wish,
    /// Until when it waits.
    pub(crate) deadline: Duration,
}

/// What a permit is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A run, which then waits for a child.
    Run,
    /// A lease.
    Lease,
}

/// Whether one who waits may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It may.
    Fits,
    /// Not now: the next one may be looked at.
    Not,
    /// Not now, and nobody may pass.
    Blocks,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    tenants: BTreeMap<Tenant, Line>,
    /// Those for whom somebody waits; the first has the next turn.
    turns: VecDeque<Tenant>,
    places: BTreeMap<Ticket, Place>,
    deadlines: BTreeSet<(Duration, Ticket)>,
}

/// Those who wait for one tenant.
#[derive(Debug, Default)]
struct Line {
    sessions: BTreeMap<u64, VecDeque<Waiting>>,
    turns: VecDeque<u64>,
    length: usize,
}

#[derive(Debug)]
struct Place {
    caller: Caller,
    deadline: Duration,
}

impl FairQueue {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn contains(&self, ticket: Ticket) -> bool {
        self.places.contains_key(&ticket)
    }

    /// How many wait for one tenant.
    pub(crate) fn len_of(&self, tenant: &Tenant) -> usize {
        self.tenants.get(tenant).map_or(0, |line| line.length)
    }

    /// The first deadline.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        let Waiting { ticket, ref caller, deadline, .. } = waiting;
        self.places.insert(ticket, Place { caller: caller.clone(), deadline });
        self.deadlines.insert((deadline, ticket));
        let line = self.tenants.entry(caller.tenant.clone()).or_default();
        if line.length == 0 {
            self.turns.push_back(caller.tenant.clone());
        }
        line.length += 1;
        let session = caller.session;
        let queue = line.sessions.entry(session).or_default();
        if queue.is_empty() {
            line.turns.push_back(session);
        }
        queue.push_back(waiting);
    }

    /// Takes the first in turn that `fit` lets go. Those who are passed over keep their turns.
    pub(crate) fn pop(&mut self, mut fit: impl FnMut(&Waiting) -> Fit) -> Option<Waiting> {
        for turn in 0..self.turns.len() {
            let tenant = self.turns.get(turn)?.clone();
            let line = self.tenants.get_mut(&tenant)?;
            for at in 0..line.turns.len() {
                let session = *line.turns.get(at)?;
                let queue = line.sessions.get_mut(&session)?;
                match fit(queue.front()?) {
                    Fit::Blocks => return None,
                    Fit::Not => continue,
                    Fit::Fits => {}
                }
                let waiting = queue.pop_front()?;
                let more = !queue.is_empty();
                line.turns.remove(at);
                if more {
                    line.turns.push_back(session);
                } else {
                    line.sessions.remove(&session);
                }
                line.length -= 1;
                self.turns.remove(turn);
                if line.length > 0 {
                    self.turns.push_back(tenant);
                } else {
                    self.tenants.remove(&tenant);
                }
                self.forget(&waiting);
                return Some(waiting);
            }
        }
        None
    }

    /// Takes out one who does not want to wait any more.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Waiting> {
        let caller = self.places.get(&ticket)?.caller.clone();
        let line = self.tenants.get_mut(&caller.tenant)?;
        let queue = line.sessions.get_mut(&caller.session)?;
        let at = queue.iter().position(|waiting| waiting.ticket == ticket)?;
        let waiting = queue.remove(at)?;
        if queue.is_empty() {
            line.sessions.remove(&caller.session);
            line.turns.retain(|session| *session != caller.session);
        }
        line.length -= 1;
        if line.length == 0 {
            self.tenants.remove(&caller.tenant);
            self.turns.retain(|tenant| *tenant != caller.tenant);
        }
        self.forget(&waiting);
        Some(waiting)
    }

    /// Takes out one whose deadline is over.
    pub(crate) fn pop_late(&mut self, now: Duration) -> Option<Waiting> {
        let (deadline, ticket) = *self.deadlines.first()?;
        if deadline > now { None } else { self.remove(ticket) }
    }

    /// Who is to go when there is one too many, and `newcomer` came last: the newest of the session that has most
    /// waiting, of the tenant that has most. Among equals it is the newcomer, so that nobody goes in vain.
    pub(crate) fn superfluous(&self, newcomer: &Caller) -> Option<Ticket> {
        let most = self.tenants.values().map(|line| line.length).max()?;
        let is_longest = |tenant: &Tenant| self.len_of(tenant) == most;
        let tenant = if is_longest(&newcomer.tenant) {
            &newcomer.tenant
        } else {
            self.tenants.keys().find(|tenant| is_longest(tenant))?
        };
        self.superfluous_of(tenant, newcomer)
    }

    /// The same, of one tenant.
    pub(crate) fn superfluous_of(&self, tenant: &Tenant, newcomer: &Caller) -> Option<Ticket> {
        let line = self.tenants.get(tenant)?;
        let most = line.sessions.values().map(VecDeque::len).max()?;
        let own = line.sessions.get(&newcomer.session).filter(|_| newcomer.tenant == *tenant);
        let longest = own.filter(|queue| queue.len() == most);
        let longest = longest.or_else(|| line.sessions.values().find(|queue| queue.len() == most))?;
        longest.back().map(|waiting| waiting.ticket)
    }

    fn forget(&mut self, waiting: &Waiting) {
        if let Some(place) = self.places.remove(&waiting.ticket) {
            self.deadlines.remove(&(place.deadline, waiting.ticket));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(tenant: &str, session: u64) -> Caller {
        Caller { tenant: Some(tenant.into()), session }
    }

    fn queue(places: &[(&str, u64)]) -> FairQueue {
        let mut queue = FairQueue::default();
        for (ticket, (tenant, session)) in (0..).zip(places) {
            let deadline = Duration::from_millis(100 + ticket);
            let (ticket, caller) = (Ticket(ticket), caller(tenant, *session));
            queue.push(Waiting { ticket, caller, memory: 1, wish: Wish::Run, deadline });
        }
        queue
    }

    fn order(mut queue: FairQueue) -> Vec<u64> {
        std::iter::from_fn(|| queue.pop(|_| Fit::Fits)).map(|waiting| waiting.ticket.0).collect()
    }

    #[test]
    fn tenants_take_turns_then_their_sessions_and_a_session_is_served_in_order() {
        // Four of a's first session, one of its second, two of b's.
        let queue = queue(&[("a", 1), ("a", 1), ("a", 1), ("a", 1), ("a", 2), ("b", 3), ("b", 3)]);
        assert_eq!(order(queue), [0, 5, 4, 6, 1, 2, 3]);
    }

    #[test]
    fn one_who_is_passed_over_keeps_its_turn() {
        let mut queue = queue(&[("a", 1), ("b", 2), ("b", 2), ("a", 1)]);
        let passed = |waiting: &Waiting| if waiting.ticket == Ticket(0) { Fit::Not } else { Fit::Fits };
        assert_eq!(queue.pop(passed).unwrap().ticket, Ticket(1));
        assert_eq!(order(queue), [0, 2, 3]);
    }

    #[test]
    fn nobody_passes_one_who_blocks() {
        let mut queue = queue(&[("a", 1), ("b", 2)]);
        assert!(queue.pop(|_| Fit::Blocks).is_none());
        assert_eq!(queue.len(), 2);
    }

    #[test]
    fn whoever_leaves_takes_its_turn_and_its_deadline_along() {
        let mut queue = queue(&[("a", 1), ("a", 2), ("b", 3)]);
        assert_eq!(queue.remove(Ticket(0)).unwrap().ticket, Ticket(0));
        assert!(queue.remove(Ticket(0)).is_none());
        assert_eq!((queue.len(), queue.len_of(&Some("a".into()))), (2, 1));
        assert_eq!(queue.deadline(), Some(Duration::from_millis(101)));
        assert!(queue.pop_late(Duration::from_millis(100)).is_none());
        assert_eq!(queue.pop_late(Duration::from_millis(101)).unwrap().ticket, Ticket(1));
        assert_eq!(order(queue), [2]);
    }

    #[test]
    fn the_newest_of_the_longest_goes_and_among_equals_the_newcomer() {
        let cases: &[(&[(&str, u64)], u64)] = &[
            // A flood of one session gives way to another tenant, or to another session of its own.
            (&[("a", 1), ("a", 1), ("b", 2)], 1),
            (&[("a", 1), ("a", 1), ("a", 2)], 1),
            // Nobody has more than the newcomer.
            (&[("a", 1), ("b", 2)], 1),
            (&[("a", 1), ("b", 2), ("a", 1), ("b", 2)], 3),
            (&[("b", 2), ("a", 1), ("a", 3)], 2),
        ];
        for (places, expected) in cases {
            let (tenant, session) = places[places.len() - 1];
            assert_eq!(queue(places).superfluous(&caller(tenant, session)), Some(Ticket(*expected)), "{places:?}");
        }
    }
}
