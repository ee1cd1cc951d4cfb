//! The child's own copy of the run's clocks: the polite way to end. The pool keeps its own and does not rely on these.

use std::cell::Cell;

/// Which clock ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The run clock.
    Run,
    /// Plain wall time.
    Wall,
    /// The CPU clock.
    Cpu,
}

/// The bounds of a run, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) run: u64,
    pub(super) wall: u64,
    pub(super) cpu: u64,
    /// The run clock goes on while the program waits on host calls.
    pub(super) count_host_waits: bool,
}

impl Bounds {
    /// No bound at all, for the warm-up program.
    pub(super) const NONE: Self = Self { run: u64::MAX, wall: u64::MAX, cpu: u64::MAX, count_host_waits: false };
}

/// The clocks of one run. The run clock stands still between [`Clock::wait`] and [`Clock::resume`].
#[derive(Debug)]
pub(super) struct Clock {
    bounds: Cell<Bounds>,
    started: Cell<u64>,
    cpu_started: Cell<u64>,
    waited: Cell<u64>,
    over: Cell<Option<Bound>>,
}

impl Clock {
    pub(super) const fn new() -> Self {
        Self {
            bounds: Cell::new(Bounds::NONE),
            started: Cell::new(0),
            cpu_started: Cell::new(0),
            waited: Cell::new(0),
            over: Cell::new(None),
        }
    }

    /// Starts all clocks.
    pub(super) fn start(&self, bounds: Bounds) {
        self.bounds.set(bounds);
        self.started.set(monotonic());
        self.cpu_started.set(cpu());
        self.waited.set(0);
        self.over.set(None);
    }

    /// The first bound that ran out; once one did, the answer stays.
    pub(super) fn check(&self) -> Option<Bound> {
        if self.over.get().is_none() {
            self.over.set(self.find());
        }
        self.over.get()
    }

    /// The bound that an earlier check found over, without looking at a clock.
    pub(super) fn found(&self) -> Option<Bound> {
        self.over.get()
    }

    fn find(&self) -> Option<Bound> {
        let bounds = self.bounds.get();
        let wall = monotonic().saturating_sub(self.started.get());
        if wall.saturating_sub(self.waited.get()) >= bounds.run {
            Some(Bound::Run)
        } else if wall >= bounds.wall {
            Some(Bound::Wall)
        } else if bounds.cpu != u64::MAX && cpu().saturating_sub(self.cpu_started.get()) >= bounds.cpu {
            Some(Bound::Cpu)
        } else {
            None
        }
    }

    /// Begins a wait on the host: how long it may last, nanoseconds, and the token that ends it.
    pub(super) fn wait(&self) -> (u64, Waiting) {
        let bounds = self.bounds.get();
        let now = monotonic();
        let wall = now.saturating_sub(self.started.get());
        let mut left = bounds.wall.saturating_sub(wall);
        if bounds.count_host_waits {
            left = left.min(bounds.run.saturating_sub(wall));
        }
        (left, Waiting { since: now })
    }

    /// How much of the clocks is left, nanoseconds, when they all run.
    pub(super) fn left(&self) -> u64 {
        let bounds = self.bounds.get();
        let wall = monotonic().saturating_sub(self.started.get());
        let run = bounds.run.saturating_sub(wall.saturating_sub(self.waited.get()));
        run.min(bounds.wall.saturating_sub(wall))
    }

    /// Ends a wait.
    pub(super) fn resume(&self, waiting: Waiting) {
        if !self.bounds.get().count_host_waits {
            self.waited.set(self.waited.get() + monotonic().saturating_sub(waiting.since));
        }
    }

    /// Milliseconds since the run began.
    pub(super) fn elapsed_ms(&self) -> f64 {
        monotonic().saturating_sub(self.started.get()) as f64 / 1e6
    }
}

/// A wait under way.
pub(super) struct Waiting {
    since: u64,
}

/// Nanoseconds of the monotonic clock.
pub(super) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of CPU that this process has used.
fn cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the answer; these clocks always exist on Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}
