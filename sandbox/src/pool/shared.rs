//! The pool's state: the machine that decides, and what it decides about. Every change takes the same steps: lock, tell
//! the machine, obey its actions. No lock is held across an await.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_protocol::{Caller, Event, Limits, Observer};
use tokio::sync::{Notify, oneshot};

use super::{
    admission::{Arrival, Bounds, Refusal, Rest, TenantBounds},
    child::{ChildEnd, ForkedChild},
    machine::{Action, Capacity, Census, Counts, Machine, Ticket},
    options::TenantCeilings,
    queue::Wish,
    retained::Retained,
    supply::Link,
};
use crate::{
    confinement::ConfinementReport,
    zygote::{ChildId, Request},
};

/// What a run or a lease gets in the end.
type Admission = Result<Admitted, Refusal>;

/// What one that is admitted gets.
#[derive(Debug)]
enum Admitted {
    /// A run: its child.
    Child(Arc<ForkedChild>),
    /// A lease: its permit.
    Lease,
}

/// A run's child, or why it has none.
pub(super) type Child = Result<Arc<ForkedChild>, Refusal>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) epoch: Instant,
    pub(super) limits: Limits,
    observer: Option<Arc<dyn Observer>>,
    /// Executions whose functions may be called.
    pub(super) retained: Arc<Retained>,
    /// Wakes the director to look at its deadlines and wishes again.
    pub(super) director: Notify,
    /// What each tenant may have.
    pub(super) tenant: TenantCeilings,
    closed: AtomicBool,
    disposed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    machine: Machine,
    last_ticket: u64,
    waiting: HashMap<Ticket, oneshot::Sender<Admission>>,
    /// All children that are not known to have ended.
    children: HashMap<ChildId, Arc<ForkedChild>>,
    link: Option<Link>,
    zygote_wanted: bool,
    /// The machine wants the zygote killed.
    zygote_condemned: bool,
    /// What the director sleeps until.
    looks_at: Option<Duration>,
    confinement: ConfinementReport,
}

impl Shared {
    pub(super) fn new(
        limits: Limits,
        tenant: TenantCeilings,
        observer: Option<Arc<dyn Observer>>,
        node: String,
    ) -> Self {
        let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
        let ceiling = |ceiling: Option<u64>| ceiling.map_or(usize::MAX, size);
        let admission = Bounds {
            permits: size(limits.max_concurrent),
            memory: reservable(&limits),
            queue: size(limits.queue),
            wait: Duration::from_millis(limits.queue_wait_ms),
            lease: Duration::from_millis(limits.lease_ms),
            tenant: TenantBounds {
                permits: ceiling(tenant.concurrent).max(1),
                queue: ceiling(tenant.queue),
                retained: ceiling(tenant.retained),
            },
        };
        let capacity = Capacity { admission, warm: size(limits.warm_children) };
        let state = State {
            machine: Machine::new(capacity),
            last_ticket: 0,
            waiting: HashMap::new(),
            children: HashMap::new(),
            link: None,
            zygote_wanted: false,
            zygote_condemned: false,
            looks_at: None,
            confinement: ConfinementReport::new(Vec::new()),
        };
        let shared = Self {
            epoch: Instant::now(),
            retained: Arc::new(Retained::new(node, &limits)),
            limits,
            observer,
            director: Notify::new(),
            tenant,
            closed: AtomicBool::new(false),
            disposed: AtomicBool::new(false),
            state: Mutex::new(state),
        };
        shared.change(|_, _| ());
        shared
    }

    /// The pool's time.
    pub(super) fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    pub(super) fn is_disposed(&self) -> bool {
        self.disposed.load(Ordering::Acquire)
    }

    /// Whether nobody is admitted any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Tells whoever observes the pool.
    pub(super) fn observe(&self, event: Event) {
        if let Some(observer) = &self.observer {
            observer.observe(event);
        }
    }

    pub(super) fn census(&self) -> Census {
        self.lock().machine.census(self.now())
    }

    pub(super) fn counts(&self) -> Counts {
        self.lock().machine.counts()
    }

    pub(super) fn confinement(&self) -> ConfinementReport {
        self.lock().confinement.clone()
    }

    pub(super) fn zygote(&self) -> Option<u32> {
        self.lock().link.as_ref().map(|link| link.pid)
    }

    /// Waits for a child. Dropping the future gives up the place.
    pub(super) async fn admit(&self, caller: Caller, memory: u64) -> (Ticket, Child) {
        let (ticket, admission) = self.enter(caller, memory, Wish::Run).await;
        (ticket, admission.and_then(Admitted::into_child))
    }

    /// Waits for a permit. Dropping the future gives up the place, and dropping the lease gives up the permit.
    pub(super) async fn lease(self: &Arc<Self>, caller: Caller, memory: u64) -> Result<Leased, Refusal> {
        let (ticket, admission) = self.enter(caller, memory, Wish::Lease).await;
        admission.map(|_| Leased(Reservation::new(self, ticket)))
    }

    /// Waits for the child of a lease's run. None when the lease has expired.
    pub(super) async fn begin(&self, lease: Leased) -> Option<(Ticket, Child)> {
        let (ticket, entered) = {
            let mut state = self.lock();
            let ticket = lease.0.hand_over();
            let now = self.now();
            if !state.machine.begin(ticket, now) {
                return None;
            }
            (ticket, self.entered(&mut state, ticket))
        };
        Some((ticket, entered.outcome().await.and_then(Admitted::into_child)))
    }

    /// The child of an assignment was dead already: the same run takes another.
    pub(super) async fn admit_again(&self, ticket: Ticket) -> Child {
        let entered = {
            let mut state = self.lock();
            let now = self.now();
            state.machine.reassign(ticket, now);
            self.entered(&mut state, ticket)
        };
        entered.outcome().await.and_then(Admitted::into_child)
    }

    async fn enter(&self, caller: Caller, memory: u64, wish: Wish) -> (Ticket, Admission) {
        let (ticket, entered) = {
            let mut state = self.lock();
            state.last_ticket += 1;
            let ticket = Ticket(state.last_ticket);
            let now = self.now();
            state.machine.arrive(Arrival { ticket, caller, memory, wish }, now);
            (ticket, self.entered(&mut state, ticket))
        };
        (ticket, entered.outcome().await)
    }

    /// Does what the machine wants now that the ticket has come to it.
    fn entered(&self, state: &mut State, ticket: Ticket) -> Entered<'_> {
        match self.obey(state, Some(ticket)) {
            Some(admission) => Entered::Decided(admission),
            None => {
                let (sender, admission) = oneshot::channel();
                state.waiting.insert(ticket, sender);
                Entered::Waits(Place { shared: self, ticket, admission: Some(admission) })
            }
        }
    }

    /// A run that was admitted has ended.
    pub(super) fn finished(&self, ticket: Ticket, held: Duration, rest: Rest) {
        self.change(|machine, now| machine.finished(ticket, held, rest, now));
    }

    /// Whether an execution that was just retained is not one too many of its tenant's.
    pub(super) fn may_retain(&self, reservation: &Reservation) -> bool {
        self.lock().machine.may_retain(reservation.ticket)
    }

    pub(super) fn advance(&self) {
        self.change(|machine, now| machine.advance(now));
    }

    /// Until when the director may sleep; it is woken when that comes to be sooner.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let mut state = self.lock();
        state.looks_at = state.machine.next_deadline(self.now());
        state.looks_at
    }

    /// Lets a child have less of the CPU.
    pub(super) fn renice(&self, child: ChildId) {
        self.request(Request::Renice { child });
    }

    fn request(&self, request: Request) {
        if let Some(link) = &mut self.lock().link
            && link.send(request)
        {
            self.director.notify_one();
        }
    }

    /// Refuses those who wait and those who come from now on. What runs goes on.
    pub(super) fn drain(&self) {
        self.closed.store(true, Ordering::Release);
        self.change(Machine::drain);
    }

    /// Refuses everybody from now on, kills every child and lets the director end the zygote.
    pub(super) fn dispose(&self) {
        self.closed.store(true, Ordering::Release);
        self.disposed.store(true, Ordering::Release);
        self.change(Machine::dispose);
        self.retained.close_all();
        self.lock().children.values().for_each(|child| child.kill());
        self.director.notify_one();
    }

    pub(super) fn forked(&self, child: Arc<ForkedChild>) {
        let mut state = self.lock();
        if self.is_disposed() {
            child.kill();
        }
        let (id, now) = (child.id, self.now());
        state.children.insert(id, child);
        state.machine.forked(id, now);
        self.obey(&mut state, None);
    }

    pub(super) fn fork_failed(&self, child: ChildId) {
        self.change(|machine, now| machine.fork_failed(child, now));
    }

    /// A child was forked, but there was no descriptor free to take it by. The zygote, which alone knows it, ends it.
    pub(super) fn lost(&self, child: ChildId) {
        self.request(Request::Kill { child });
        self.fork_failed(child);
    }

    /// The zygote has said something.
    pub(super) fn heard(&self) {
        let now = self.now();
        self.lock().machine.heard(now);
    }

    pub(super) fn exited(&self, child: ChildId, end: ChildEnd) {
        let mut state = self.lock();
        // One that was lost is no news to the machine: its fork has failed.
        let Some(ended) = state.children.remove(&child) else { return };
        // Set only here, and a child leaves the map only once.
        let _ = ended.end.set(end);
        drop(ended);
        let now = self.now();
        state.machine.exited(child, now);
        self.obey(&mut state, None);
    }

    pub(super) fn zygote_up(&self, link: Link, confinement: ConfinementReport) {
        let mut state = self.lock();
        state.link = Some(link);
        state.confinement = confinement;
        let now = self.now();
        state.machine.zygote_up(now);
        self.obey(&mut state, None);
    }

    /// The zygote did not come up or has ended. Its children got their parent-death signal; those that were between
    /// fork and asking for it are killed here.
    pub(super) fn zygote_down(&self) {
        let mut state = self.lock();
        state.link = None;
        state.zygote_condemned = false;
        for (_, child) in state.children.drain() {
            child.kill();
            // As in `exited`.
            let _ = child.end.set(ChildEnd::Orphaned);
        }
        let now = self.now();
        state.machine.zygote_down(now);
        self.obey(&mut state, None);
    }

    pub(super) fn drop_link(&self) {
        self.lock().link = None;
    }

    /// Sends what the zygote had no room for; `true` when there still is something.
    pub(super) fn flush_link(&self) -> bool {
        self.lock().link.as_mut().is_some_and(Link::flush)
    }

    /// Whether a zygote is to be started; asking takes the wish.
    pub(super) fn take_zygote_wish(&self) -> bool {
        std::mem::take(&mut self.lock().zygote_wanted)
    }

    /// Whether the zygote is to be killed; asking takes the wish.
    pub(super) fn take_condemnation(&self) -> bool {
        std::mem::take(&mut self.lock().zygote_condemned)
    }

    fn change(&self, change: impl FnOnce(&mut Machine, Duration)) {
        let mut state = self.lock();
        let now = self.now();
        change(&mut state.machine, now);
        self.obey(&mut state, None);
    }

    /// Does what the machine wants; returns what became of `own`, if that is decided.
    fn obey(&self, state: &mut State, own: Option<Ticket>) -> Option<Admission> {
        let mut admission = None;
        while let Some(action) = state.machine.poll_action() {
            let (ticket, decided) = match action {
                Action::StartZygote => {
                    state.zygote_wanted = true;
                    self.director.notify_one();
                    continue;
                }
                Action::KillZygote => {
                    state.zygote_condemned = true;
                    self.director.notify_one();
                    continue;
                }
                Action::Fork { first, count } => {
                    if let Some(link) = &mut state.link
                        && link.send(Request::Fork { first, count })
                    {
                        self.director.notify_one();
                    }
                    continue;
                }
                Action::Kill(child) => {
                    if let Some(child) = state.children.get(&child) {
                        child.kill();
                    }
                    continue;
                }
                Action::Lease(ticket) => (ticket, Ok(Admitted::Lease)),
                Action::Assign { ticket, child } => match state.children.get(&child) {
                    Some(child) => (ticket, Ok(Admitted::Child(child.clone()))),
                    None => {
                        // The machine forgets a child in the same step in which it leaves the map.
                        tracing::error!(?child, "a child was assigned that is not there");
                        let now = self.now();
                        state.machine.reassign(ticket, now);
                        continue;
                    }
                },
                Action::Reject { ticket, refusal } => (ticket, Err(refusal)),
            };
            if own == Some(ticket) {
                admission = Some(decided);
            } else if let Some(waiting) = state.waiting.remove(&ticket) {
                // A place that was given up takes back what it was sent: see its destructor.
                let _ = waiting.send(decided);
            }
        }
        let due = state.machine.next_deadline(self.now());
        if due.is_some_and(|due| state.looks_at.is_none_or(|looks_at| due < looks_at)) {
            state.looks_at = due;
            self.director.notify_one();
        }
        admission
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The machine is told of a change before it is obeyed, and obeying does not panic; should a bug make it, the
        // state is still better than none.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that the limits of all who hold some may add up to.
pub(super) fn reservable(limits: &Limits) -> u64 {
    limits.memory_budget.saturating_mul(limits.memory_overcommit.max(1))
}

impl Admitted {
    fn into_child(self) -> Child {
        match self {
            Self::Child(child) => Ok(child),
            // A run is never given a lease instead.
            Self::Lease => Err(Refusal::Closed),
        }
    }
}

/// What a ticket holds at the machine, until this is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    shared: Weak<Shared>,
    ticket: Ticket,
}

impl Reservation {
    pub(super) fn new(shared: &Arc<Shared>, ticket: Ticket) -> Self {
        Self { shared: Arc::downgrade(shared), ticket }
    }

    /// The ticket, which somebody else holds from now on.
    fn hand_over(mut self) -> Ticket {
        self.shared = Weak::new();
        self.ticket
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            let ticket = self.ticket;
            shared.change(|machine, now| machine.abandon(ticket, now));
        }
    }
}

/// A permit and memory for a run to come.
#[derive(Debug)]
pub(super) struct Leased(Reservation);

/// What became of a ticket that came to the machine.
enum Entered<'a> {
    Decided(Admission),
    Waits(Place<'a>),
}

impl Entered<'_> {
    async fn outcome(self) -> Admission {
        match self {
            Self::Decided(admission) => admission,
            Self::Waits(place) => place.wait().await,
        }
    }
}

/// A place among those who wait. Dropping it gives it up.
struct Place<'a> {
    shared: &'a Shared,
    ticket: Ticket,
    admission: Option<oneshot::Receiver<Admission>>,
}

impl Place<'_> {
    async fn wait(mut self) -> Admission {
        let admission = match &mut self.admission {
            // The sender is dropped unused only with the pool.
            Some(admission) => admission.await.unwrap_or(Err(Refusal::Closed)),
            None => Err(Refusal::Closed),
        };
        self.admission = None;
        admission
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(mut admission) = self.admission.take() else { return };
        let mut state = self.shared.lock();
        state.waiting.remove(&self.ticket);
        let now = self.shared.now();
        if let Ok(Ok(Admitted::Child(child))) = admission.try_recv() {
            child.kill();
        }
        state.machine.abandon(self.ticket, now);
        self.shared.obey(&mut state, None);
    }
}
