//! The thread that enforces bounds from outside: a child that outlives one by the grace is killed, whatever the
//! runtime's threads are busy with.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    child::ForkedChild,
    clock::{Duty, RENICE_AFTER, RunClock},
};
use crate::zygote::ChildId;

/// A run under watch.
#[derive(Debug)]
pub(super) struct Watched {
    child: Arc<ForkedChild>,
    clock: Mutex<RunClock>,
    /// The child's CPU when the run began: the fork and its warm-up.
    cpu_before: Duration,
}

impl Watched {
    pub(super) fn new(child: Arc<ForkedChild>, clock: RunClock) -> Self {
        let cpu_before = child.cpu().unwrap_or_default();
        Self { child, clock: Mutex::new(clock), cpu_before }
    }

    /// The run's clocks.
    pub(super) fn clock(&self) -> MutexGuard<'_, RunClock> {
        // Clocks are plain numbers, so a panic elsewhere leaves nothing half-done in them.
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The CPU that the run has used; `None` once the child is gone.
    pub(super) fn cpu(&self) -> Option<Duration> {
        self.child.cpu().map(|cpu| self.since_start(cpu))
    }

    /// That part of the CPU of the child's life which belongs to the run.
    pub(super) fn since_start(&self, whole: Duration) -> Duration {
        whole.saturating_sub(self.cpu_before)
    }
}

/// Hands a child that computes to whoever can lower its priority.
pub(super) type Renice = Box<dyn Fn(ChildId) + Send>;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Watchdog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    epoch: Instant,
    /// Children killed so far.
    kills: AtomicU64,
    watch: Mutex<Watch>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Watch {
    runs: HashMap<ChildId, Arc<Watched>>,
    /// The thread sleeps until it is woken.
    parked: bool,
    stopped: bool,
}

impl Watchdog {
    /// Starts the thread. `grace` bounds how long it may sleep: no bound of a run that begins or goes on at some moment
    /// is enforced sooner than a grace after it, so nobody needs to wake a thread that looks as often as that.
    pub(super) fn start(epoch: Instant, grace: Duration, renice: Renice) -> io::Result<Self> {
        let shared =
            Arc::new(Shared { epoch, kills: AtomicU64::new(0), watch: Mutex::default(), wake: Condvar::new() });
        let nap = grace.min(RENICE_AFTER).max(Duration::from_millis(1));
        let watching = shared.clone();
        thread::Builder::new()
            .name("codemode-watchdog".to_owned())
            .spawn(move || watching.run(nap, renice))
            .map(|_| Self { shared })
    }

    /// How many children it has killed.
    pub(super) fn kills(&self) -> u64 {
        self.shared.kills.load(Ordering::Relaxed)
    }

    /// Watches over a run until [`Watchdog::release`].
    pub(super) fn watch(&self, run: Arc<Watched>) {
        let mut watch = self.shared.lock();
        watch.runs.insert(run.child.id, run);
        if watch.parked {
            self.shared.wake.notify_one();
        }
    }

    /// The run is over.
    pub(super) fn release(&self, child: ChildId) {
        self.shared.lock().runs.remove(&child);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watch> {
        // Only insertions and removals happen under this lock, so it is whole after a panic.
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, nap: Duration, renice: Renice) {
        let mut idle = 0;
        loop {
            let runs: Vec<_> = self.lock().runs.values().cloned().collect();
            let wake_at = runs.iter().map(|run| self.look(run, &renice)).min();
            idle = if runs.is_empty() { idle + 1 } else { 0 };
            drop(runs);
            let now = self.epoch.elapsed();
            let nap = wake_at.map_or(nap, |wake_at| nap.min(wake_at.saturating_sub(now)));
            let mut watch = self.lock();
            if watch.stopped {
                return;
            }
            if idle > NAPS_BEFORE_PARKING && watch.runs.is_empty() {
                watch.parked = true;
                // A wake-up without a reason only costs a look.
                watch = self.wake.wait(watch).unwrap_or_else(PoisonError::into_inner);
                watch.parked = false;
                idle = 0;
            } else {
                drop(self.wake.wait_timeout(watch, nap));
            }
        }
    }

    /// Does what is due for a run; returns when to look again.
    fn look(&self, run: &Watched, renice: &Renice) -> Duration {
        loop {
            let cpu = run.cpu().unwrap_or_default();
            let duty = run.clock().check(self.epoch.elapsed(), cpu);
            match duty {
                Duty::Wait(until) => return until,
                Duty::Rest => return Duration::MAX,
                Duty::Renice => renice(run.child.id),
                Duty::Kill(_) => {
                    self.kills.fetch_add(1, Ordering::Relaxed);
                    run.child.kill();
                }
            }
        }
    }
}

/// After so many looks at nothing the thread sleeps until it is woken, which costs the next run a system call.
const NAPS_BEFORE_PARKING: u32 = 20;
