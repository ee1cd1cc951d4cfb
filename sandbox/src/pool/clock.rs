//! The clocks of one run, purely: which bound is over at a given moment, and when to look again.
//!
//! Times are durations since any moment that is the same for all calls.

use std::time::Duration;

/// The bounds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockBounds {
    /// Of the run clock.
    pub(crate) timeout: Duration,
    /// Of the CPU clock.
    pub(crate) cpu: Duration,
    /// Of plain wall time.
    pub(crate) max_wall: Duration,
    /// How long after its bound a child may live.
    pub(crate) grace: Duration,
    /// True makes the run clock plain wall time.
    pub(crate) count_host_waits: bool,
}

/// A bound that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The run clock's.
    Run,
    /// The CPU clock's.
    Cpu,
    /// That of plain wall time.
    Wall,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Look again at this moment.
    Wait(Duration),
    /// Kill the child: it outlived this bound by the grace.
    Kill(Bound),
    /// Let the child have less of the CPU, then ask again.
    Renice,
    /// Nothing, ever: the run is over.
    Rest,
}

/// The CPU that a child may use before it gives way to others.
pub(crate) const RENICE_AFTER: Duration = Duration::from_millis(50);

/// The clocks of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunClock {
    bounds: ClockBounds,
    started: Duration,
    /// How long the run clock has stood, without the present wait.
    stood: Duration,
    standing_since: Option<Duration>,
    reniced: bool,
    killed: Option<Bound>,
    finished: bool,
}

impl RunClock {
    /// Clocks that start at `now`.
    pub(crate) fn start(bounds: ClockBounds, now: Duration) -> Self {
        Self {
            bounds,
            started: now,
            stood: Duration::ZERO,
            standing_since: None,
            reniced: false,
            killed: None,
            finished: false,
        }
    }

    /// The program waits only on host calls.
    pub(crate) fn wait(&mut self, now: Duration) {
        self.standing_since.get_or_insert(now);
    }

    /// A frame goes to the child, so it may run again.
    pub(crate) fn resume(&mut self, now: Duration) {
        if let Some(since) = self.standing_since.take() {
            self.stood += now.saturating_sub(since);
        }
    }

    /// How long the program has waited only on host calls.
    pub(crate) fn host_wait(&self, now: Duration) -> Duration {
        self.stood + self.standing_since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Plain time since the start.
    pub(crate) fn wall(&self, now: Duration) -> Duration {
        now.saturating_sub(self.started)
    }

    /// Whether a child may say that this bound has ended it: its own clocks are never ahead of these.
    pub(crate) fn is_over(&self, bound: Bound, now: Duration) -> bool {
        let (used, allowed) = match bound {
            Bound::Run => (self.run_time(now), self.bounds.timeout),
            Bound::Wall => (self.wall(now), self.bounds.max_wall),
            // One thread uses no more CPU than time passes, and a child that is gone has no clock to read any more.
            Bound::Cpu => (self.wall(now), self.bounds.cpu),
        };
        used + CLOCK_SLACK >= allowed
    }

    /// The child's last word is here, or its end; from now on nothing is killed. Returns the bound if it was.
    pub(crate) fn finish(&mut self, now: Duration) -> Option<Bound> {
        self.resume(now);
        self.finished = true;
        self.killed
    }

    /// What is to be done at `now`, when the child has used so much CPU since the start.
    pub(crate) fn check(&mut self, now: Duration, cpu: Duration) -> Duty {
        if self.finished || self.killed.is_some() {
            return Duty::Rest;
        }
        if let Some(bound) = self.outlived(now, cpu) {
            self.killed = Some(bound);
            return Duty::Kill(bound);
        }
        if !self.reniced && cpu >= RENICE_AFTER {
            self.reniced = true;
            return Duty::Renice;
        }
        Duty::Wait(self.look_again(now, cpu))
    }

    fn outlived(&self, now: Duration, cpu: Duration) -> Option<Bound> {
        let ClockBounds { timeout, max_wall, grace, .. } = self.bounds;
        if self.run_time(now) >= timeout + grace && !self.stands() {
            Some(Bound::Run)
        } else if self.wall(now) >= max_wall + grace {
            Some(Bound::Wall)
        } else if cpu >= self.bounds.cpu + grace {
            Some(Bound::Cpu)
        } else {
            None
        }
    }

    /// The earliest moment at which [`RunClock::check`] could find something: one thread uses no more CPU than time
    /// passes. A clock that stands is taken up again by [`RunClock::resume`], whose next bound is a grace away.
    fn look_again(&self, now: Duration, cpu: Duration) -> Duration {
        let ClockBounds { timeout, max_wall, grace, cpu: cpu_bound, .. } = self.bounds;
        let mut next = self.started + max_wall + grace;
        if !self.stands() {
            next = next.min(now + (timeout + grace).saturating_sub(self.run_time(now)));
        }
        next = next.min(now + (cpu_bound + grace).saturating_sub(cpu));
        if !self.reniced {
            next = next.min(now + RENICE_AFTER.saturating_sub(cpu));
        }
        next
    }

    fn run_time(&self, now: Duration) -> Duration {
        let wall = self.wall(now);
        if self.bounds.count_host_waits { wall } else { wall.saturating_sub(self.host_wait(now)) }
    }

    fn stands(&self) -> bool {
        self.standing_since.is_some() && !self.bounds.count_host_waits
    }
}

/// What two readings of the same moment by two processes may differ by.
const CLOCK_SLACK: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const BOUNDS: ClockBounds =
        ClockBounds { timeout: ms(300), cpu: ms(200), max_wall: ms(10_000), grace: ms(100), count_host_waits: false };

    fn clock(bounds: ClockBounds) -> RunClock {
        RunClock::start(bounds, ms(1000))
    }

    #[test]
    fn a_run_is_killed_a_grace_after_its_bound_and_not_before() {
        let mut clock = clock(BOUNDS);
        assert_eq!(clock.check(ms(1399), ms(0)), Duty::Wait(ms(1400)));
        assert_eq!(clock.check(ms(1400), ms(0)), Duty::Kill(Bound::Run));
        assert_eq!((clock.check(ms(1401), ms(0)), clock.finish(ms(1402))), (Duty::Rest, Some(Bound::Run)));
    }

    #[test]
    fn the_run_clock_stands_while_only_host_calls_are_awaited() {
        let mut clock = clock(BOUNDS);
        clock.wait(ms(1100));
        clock.wait(ms(1200));
        assert_eq!(clock.check(ms(5000), ms(60)), Duty::Renice);
        assert_eq!(clock.check(ms(5000), ms(60)), Duty::Wait(ms(5240)), "only CPU and wall clock go on");
        clock.resume(ms(6000));
        clock.resume(ms(6010));
        assert_eq!(clock.host_wait(ms(6010)), ms(4900));
        assert_eq!(clock.check(ms(6000), ms(0)), Duty::Wait(ms(6300)));
        assert_eq!(clock.check(ms(6300), ms(0)), Duty::Kill(Bound::Run));
    }

    #[test]
    fn counted_host_waits_make_the_run_clock_plain_wall_time() {
        let mut clock = clock(ClockBounds { count_host_waits: true, ..BOUNDS });
        clock.wait(ms(1100));
        assert_eq!(clock.check(ms(1400), ms(0)), Duty::Kill(Bound::Run));
        assert_eq!(clock.host_wait(ms(1400)), ms(300), "the statistics count the wait all the same");
    }

    #[test]
    fn waiting_for_ever_ends_at_the_wall_bound() {
        let mut clock = clock(BOUNDS);
        clock.wait(ms(1000));
        assert_eq!(clock.check(ms(11_099), ms(0)), Duty::Wait(ms(11_099) + RENICE_AFTER.min(ms(1))));
        assert_eq!(clock.check(ms(11_100), ms(0)), Duty::Kill(Bound::Wall));
    }

    #[test]
    fn cpu_is_bounded_also_where_wall_time_is_not() {
        let mut clock = clock(ClockBounds { timeout: ms(100_000), max_wall: ms(100_000), ..BOUNDS });
        assert_eq!(clock.check(ms(1010), ms(10)), Duty::Wait(ms(1050)), "to see whether it has to give way");
        assert_eq!(clock.check(ms(1050), ms(50)), Duty::Renice);
        assert_eq!(clock.check(ms(1050), ms(50)), Duty::Wait(ms(1300)));
        assert_eq!(clock.check(ms(1300), ms(299)), Duty::Wait(ms(1301)));
        assert_eq!(clock.check(ms(1301), ms(300)), Duty::Kill(Bound::Cpu));
    }

    #[test]
    fn a_finished_run_is_never_killed() {
        let mut clock = clock(BOUNDS);
        assert_eq!(clock.finish(ms(1399)), None);
        assert_eq!((clock.check(ms(9000), ms(9000)), clock.finish(ms(9000))), (Duty::Rest, None));
    }

    #[test]
    fn a_child_is_believed_about_a_bound_only_when_it_is_over() {
        let mut clock = clock(BOUNDS);
        clock.wait(ms(1100));
        clock.resume(ms(1500));
        assert!(!clock.is_over(Bound::Run, ms(1600)));
        assert!(clock.is_over(Bound::Run, ms(1700)));
        assert!(clock.is_over(Bound::Cpu, ms(1200)) && !clock.is_over(Bound::Cpu, ms(1190)));
    }
}
