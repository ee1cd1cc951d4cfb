//! The pool's state: the machine that decides, and what it decides about. Every change takes the same steps: lock, tell
//! the machine, obey its actions. No lock is held across an await.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_protocol::Limits;
use tokio::sync::{Notify, oneshot};

use super::{
    child::{ChildEnd, ForkedChild},
    machine::{Action, Capacity, Census, Machine, Refusal, Ticket},
    retained::Retained,
    supply::Link,
};
use crate::{
    confinement::ConfinementReport,
    zygote::{ChildId, Request},
};

/// What a run gets in the end: a child, or a refusal.
type Admission = Result<Arc<ForkedChild>, Refusal>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) epoch: Instant,
    pub(super) limits: Limits,
    /// Executions whose functions may be called.
    pub(super) retained: Arc<Retained>,
    /// Wakes the director to look at its deadlines and wishes again.
    pub(super) director: Notify,
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
    pub(super) fn new(limits: Limits, node: String) -> Self {
        let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
        let capacity = Capacity {
            max_concurrent: size(limits.max_concurrent),
            warm: size(limits.warm_children),
            queue: size(limits.queue),
            wait: Duration::from_millis(limits.queue_wait_ms),
        };
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
            director: Notify::new(),
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

    pub(super) fn census(&self) -> Census {
        self.lock().machine.census(self.now())
    }

    pub(super) fn confinement(&self) -> ConfinementReport {
        self.lock().confinement.clone()
    }

    pub(super) fn zygote(&self) -> Option<u32> {
        self.lock().link.as_ref().map(|link| link.pid)
    }

    /// Waits for a child. Dropping the future gives up the place.
    pub(super) async fn admit(&self) -> (Ticket, Admission) {
        let place = {
            let mut state = self.lock();
            state.last_ticket += 1;
            let ticket = Ticket(state.last_ticket);
            let now = self.now();
            state.machine.arrive(ticket, now);
            match self.obey(&mut state, Some(ticket)) {
                Some(admission) => return (ticket, admission),
                None => self.wait(&mut state, ticket),
            }
        };
        place.wait().await
    }

    /// The child of an assignment was dead already: the same run takes another.
    pub(super) async fn admit_again(&self, ticket: Ticket) -> Admission {
        let place = {
            let mut state = self.lock();
            let now = self.now();
            state.machine.reassign(ticket, now);
            match self.obey(&mut state, Some(ticket)) {
                Some(admission) => return admission,
                None => self.wait(&mut state, ticket),
            }
        };
        place.wait().await.1
    }

    /// A run that was admitted has ended.
    pub(super) fn finished(&self, held: Duration) {
        self.change(|machine, now| machine.finished(held, now));
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

    /// Refuses everybody from now on, kills every child and lets the director end the zygote.
    pub(super) fn dispose(&self) {
        self.disposed.store(true, Ordering::Release);
        self.change(|machine, _| machine.dispose());
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
                Action::Assign { ticket, child } => match state.children.get(&child) {
                    Some(child) => (ticket, Ok(child.clone())),
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

    fn wait(&self, state: &mut State, ticket: Ticket) -> Place<'_> {
        let (sender, admission) = oneshot::channel();
        state.waiting.insert(ticket, sender);
        Place { shared: self, ticket, admission: Some(admission) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The machine is told of a change before it is obeyed, and obeying does not panic; should a bug make it, the
        // state is still better than none.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those who wait. Dropping it gives it up.
struct Place<'a> {
    shared: &'a Shared,
    ticket: Ticket,
    admission: Option<oneshot::Receiver<Admission>>,
}

impl Place<'_> {
    async fn wait(mut self) -> (Ticket, Admission) {
        let admission = match &mut self.admission {
            // The sender is dropped unused only with the pool.
            Some(admission) => admission.await.unwrap_or(Err(Refusal::Disposed)),
            None => Err(Refusal::Disposed),
        };
        self.admission = None;
        (self.ticket, admission)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(mut admission) = self.admission.take() else { return };
        let mut state = self.shared.lock();
        state.waiting.remove(&self.ticket);
        let now = self.shared.now();
        match admission.try_recv() {
            Ok(Ok(child)) => {
                child.kill();
                state.machine.finished(Duration::ZERO, now);
            }
            Ok(Err(_)) => {}
            Err(_) => state.machine.abandon(self.ticket, now),
        }
        self.shared.obey(&mut state, None);
    }
}
