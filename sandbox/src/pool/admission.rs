//! Who gets a permit and memory when, who waits, and who is refused, purely.
//!
//! A permit and memory are held under a ticket, as a run, as a lease until it is used or expires, or, memory alone, as
//! an execution that is retained. Whatever is held is in one table, and leaves it by one of three ways: [`Admission::end`],
//! [`Admission::withdraw`] or time.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use codemode_protocol::Caller;

use super::{
    machine::Ticket,
    queue::{FairQueue, Fit, Tenant, Waiting, Wish},
    rate::Rate,
};

/// What is shared out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Runs and leases at once.
    pub(crate) permits: usize,
    /// Bytes that the limits of all who hold some may add up to.
    pub(crate) memory: u64,
    /// Places in the queue.
    pub(crate) queue: usize,
    /// How long one may wait there.
    pub(crate) wait: Duration,
    /// How long a lease may stay unused.
    pub(crate) lease: Duration,
    /// Of each tenant.
    pub(crate) tenant: TenantBounds,
}

/// What one tenant may have of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TenantBounds {
    pub(crate) permits: usize,
    pub(crate) queue: usize,
    pub(crate) retained: usize,
}

/// One who wants to be admitted.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) ticket: Ticket,
    pub(crate) caller: Caller,
    /// Bytes, at most the bound on them.
    pub(crate) memory: u64,
    pub(crate) wish: Wish,
}

/// Why one is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No place in the queue; try again after this time.
    QueueFull(Duration),
    /// Its place in the queue went to one whose caller had fewer.
    Displaced(Duration),
    /// No place in the queue is left for its tenant.
    TenantQueueFull(Duration),
    /// No permit within the wait bound.
    Waited(Duration),
    /// A permit, but no child within the wait bound.
    NoChild(Duration),
    /// Nobody is admitted any more.
    Closed,
}

/// What has been decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    Granted { ticket: Ticket, wish: Wish },
    Refused { ticket: Ticket, refusal: Refusal },
}

/// What becomes of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It leaves nothing.
    Nothing,
    /// Its child stays, and with it its memory.
    Retained,
}

/// How much is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Permits of runs.
    pub(crate) runs: usize,
    /// Permits of leases.
    pub(crate) leases: usize,
    /// Retained executions.
    pub(crate) retained: usize,
    /// Bytes of all of them.
    pub(crate) memory: u64,
    /// Those who wait.
    pub(crate) waiting: usize,
}

#[derive(Debug)]
struct Held {
    tenant: Tenant,
    memory: u64,
    hold: Hold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Run,
    Lease { until: Duration },
    Retained,
}

#[derive(Debug, Default)]
struct TenantUse {
    permits: usize,
    retained: usize,
}

/// One whose turn it is and for whom there is not enough memory.
#[derive(Clone, Copy, Debug)]
struct Passed {
    ticket: Ticket,
    /// How many were admitted meanwhile.
    by: usize,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Admission {
    bounds: Bounds,
    queue: FairQueue,
    held: BTreeMap<Ticket, Held>,
    leases: BTreeSet<(Duration, Ticket)>,
    tenants: BTreeMap<Tenant, TenantUse>,
    permits: usize,
    memory: u64,
    /// The part of it that no run's end gives back.
    retained_memory: u64,
    retained: usize,
    passed: Option<Passed>,
    rate: Rate,
    closed: bool,
    rulings: VecDeque<Ruling>,
}

impl Admission {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let bounds = Bounds { permits: bounds.permits.max(1), ..bounds };
        Self {
            bounds,
            queue: FairQueue::default(),
            held: BTreeMap::new(),
            leases: BTreeSet::new(),
            tenants: BTreeMap::new(),
            permits: 0,
            memory: 0,
            retained_memory: 0,
            retained: 0,
            passed: None,
            rate: Rate::new(bounds.permits),
            closed: false,
            rulings: VecDeque::new(),
        }
    }

    /// The next thing that has been decided.
    pub(crate) fn poll(&mut self) -> Option<Ruling> {
        self.rulings.pop_front()
    }

    /// Somebody wants to be admitted.
    pub(crate) fn arrive(&mut self, arrival: Arrival, now: Duration) {
        let Arrival { ticket, caller, memory, wish } = arrival;
        if self.closed {
            return self.refuse(ticket, Refusal::Closed);
        }
        // One that wants more than there is at all would never go.
        let memory = memory.min(self.bounds.memory);
        let deadline = now.saturating_add(self.bounds.wait);
        self.queue.push(Waiting { ticket, caller: caller.clone(), memory, wish, deadline });
        self.serve(now);
        let of_tenant = self.queue.len_of(&caller.tenant);
        if of_tenant > self.bounds.tenant.queue {
            let after = self.rate.time_for_part(of_tenant, self.bounds.tenant.permits, now);
            let superfluous = self.queue.superfluous_of(&caller.tenant, &caller);
            self.displace(superfluous, ticket, Refusal::TenantQueueFull(after), after);
        } else if self.queue.len() > self.bounds.queue {
            let after = self.retry_after(&caller.tenant, now);
            let superfluous = self.queue.superfluous(&caller);
            self.displace(superfluous, ticket, Refusal::QueueFull(after), after);
        }
        self.rate.waiting(!self.queue.is_empty(), now);
    }

    /// The run of a lease is about to begin. False when the lease has expired.
    pub(crate) fn begin(&mut self, ticket: Ticket) -> bool {
        let Some(Held { hold, .. }) = self.held.get_mut(&ticket) else { return false };
        let Hold::Lease { until } = *hold else { return false };
        *hold = Hold::Run;
        self.leases.remove(&(until, ticket));
        true
    }

    /// One that waits or holds a permit does not want it any more.
    pub(crate) fn withdraw(&mut self, ticket: Ticket, now: Duration) {
        self.queue.remove(ticket);
        self.let_go(ticket, now);
        self.serve(now);
    }

    /// A run has ended that held its permit for so long.
    pub(crate) fn end(&mut self, ticket: Ticket, held: Duration, rest: Rest, now: Duration) {
        self.rate.ran(held);
        match (rest, self.held.get_mut(&ticket)) {
            (Rest::Retained, Some(entry)) if entry.hold == Hold::Run => {
                entry.hold = Hold::Retained;
                self.permits -= 1;
                self.retained += 1;
                self.retained_memory += entry.memory;
                if let Some(used) = self.tenants.get_mut(&entry.tenant) {
                    used.permits -= 1;
                    used.retained += 1;
                }
                self.rate.returned(now);
            }
            _ => self.let_go(ticket, now),
        }
        self.serve(now);
    }

    /// Whether the tenant of a retained execution has no more of them than it may have, that one included.
    pub(crate) fn may_retain(&self, ticket: Ticket) -> bool {
        let used = self.held.get(&ticket).and_then(|held| self.tenants.get(&held.tenant));
        used.is_some_and(|used| used.retained <= self.bounds.tenant.retained)
    }

    /// Does what is due at `now`.
    pub(crate) fn advance(&mut self, now: Duration) {
        while let Some(late) = self.queue.pop_late(now) {
            let after = self.retry_after(&late.caller.tenant, now);
            self.refuse(late.ticket, Refusal::Waited(after));
        }
        while let Some((until, ticket)) = self.leases.first().copied()
            && until <= now
        {
            self.let_go(ticket, now);
        }
        self.serve(now);
    }

    /// When [`Admission::advance`] has something to do next.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.queue.deadline().into_iter().chain(self.leases.first().map(|(until, _)| *until)).min()
    }

    /// Admits nobody any more: refuses those who wait and takes back what is leased. What runs goes on.
    pub(crate) fn close(&mut self, now: Duration) {
        self.closed = true;
        while let Some(waiting) = self.queue.pop(|_| Fit::Fits) {
            self.refuse(waiting.ticket, Refusal::Closed);
        }
        while let Some((_, ticket)) = self.leases.first().copied() {
            self.let_go(ticket, now);
        }
        self.rate.waiting(false, now);
    }

    /// How much is held.
    pub(crate) fn holdings(&self) -> Holdings {
        let leases = self.leases.len();
        Holdings {
            runs: self.permits - leases,
            leases,
            retained: self.retained,
            memory: self.memory,
            waiting: self.queue.len(),
        }
    }

    /// What the next one that comes is told if it is refused.
    pub(crate) fn retry_after(&self, tenant: &Tenant, now: Duration) -> Duration {
        let all = self.rate.time_for(self.queue.len() + 1, now);
        match self.bounds.tenant.permits {
            permits if permits >= self.bounds.permits => all,
            permits => all.max(self.rate.time_for_part(self.queue.len_of(tenant) + 1, permits, now)),
        }
    }

    /// Grants what there is, in turn.
    fn serve(&mut self, now: Duration) {
        while self.permits < self.bounds.permits
            && let Some(Waiting { ticket, caller, memory, wish, .. }) = self.next()
        {
            match &mut self.passed {
                Some(passed) if passed.ticket == ticket => self.passed = None,
                Some(passed) => passed.by += 1,
                None => {}
            }
            let hold = match wish {
                Wish::Run => Hold::Run,
                Wish::Lease => {
                    let until = now.saturating_add(self.bounds.lease);
                    self.leases.insert((until, ticket));
                    Hold::Lease { until }
                }
            };
            self.permits += 1;
            self.memory += memory;
            self.tenants.entry(caller.tenant.clone()).or_default().permits += 1;
            self.held.insert(ticket, Held { tenant: caller.tenant, memory, hold });
            self.rulings.push_back(Ruling::Granted { ticket, wish });
        }
        self.rate.waiting(!self.queue.is_empty(), now);
    }

    /// Takes the next one in turn for whom there is enough. One that wants more memory than there is, though the end of
    /// others would give it, is passed by as many as there are permits; then everybody waits for it.
    fn next(&mut self) -> Option<Waiting> {
        let Self { bounds, tenants, memory, retained_memory, passed, queue, .. } = self;
        if passed.is_some_and(|passed| !queue.contains(passed.ticket)) {
            *passed = None;
        }
        let free = bounds.memory.saturating_sub(*memory);
        let ever_free = bounds.memory.saturating_sub(*retained_memory);
        queue.pop(|waiting| {
            let used = tenants.get(&waiting.caller.tenant).map_or(0, |used| used.permits);
            if used >= bounds.tenant.permits || waiting.memory > ever_free {
                Fit::Not
            } else if waiting.memory <= free {
                Fit::Fits
            } else {
                let first = passed.get_or_insert(Passed { ticket: waiting.ticket, by: 0 });
                if first.ticket == waiting.ticket && first.by >= bounds.permits { Fit::Blocks } else { Fit::Not }
            }
        })
    }

    /// The one who is superfluous goes: the one that has just come, for the reason given, or another in its place.
    fn displace(&mut self, superfluous: Option<Ticket>, newcomer: Ticket, reason: Refusal, after: Duration) {
        let ticket = superfluous.unwrap_or(newcomer);
        self.queue.remove(ticket);
        self.refuse(ticket, if ticket == newcomer { reason } else { Refusal::Displaced(after) });
    }

    fn refuse(&mut self, ticket: Ticket, refusal: Refusal) {
        self.rulings.push_back(Ruling::Refused { ticket, refusal });
    }

    /// Takes back what the ticket holds, if it holds anything.
    fn let_go(&mut self, ticket: Ticket, now: Duration) {
        let Some(Held { tenant, memory, hold }) = self.held.remove(&ticket) else { return };
        self.memory -= memory;
        if let Some(used) = self.tenants.get_mut(&tenant) {
            match hold {
                Hold::Run | Hold::Lease { .. } => used.permits -= 1,
                Hold::Retained => used.retained -= 1,
            }
            if used.permits == 0 && used.retained == 0 {
                self.tenants.remove(&tenant);
            }
        }
        match hold {
            Hold::Retained => {
                self.retained -= 1;
                self.retained_memory -= memory;
                return;
            }
            Hold::Lease { until } => drop(self.leases.remove(&(until, ticket))),
            Hold::Run => {}
        }
        self.permits -= 1;
        self.rate.returned(now);
    }
}

#[cfg(test)]
mod tests;
