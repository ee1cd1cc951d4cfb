//! The last ten minutes of runs, in steps: how many there were and how long they took.

use std::{collections::VecDeque, time::Duration};

/// How much time one step covers.
pub(crate) const STEP: Duration = Duration::from_secs(5);

/// Steps that are kept.
const STEPS: usize = 120;

/// Durations are counted in classes, each a quarter of a doubling wide; the first holds all that took less than this.
const LEAST_MS: f64 = 0.05;
const PER_DOUBLING: f64 = 4.0;

/// Enough classes for an hour; the last one holds all that took longer.
const CLASSES: usize = 106;

/// Durations of runs over time.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Oldest first; steps without a run are left out.
    steps: VecDeque<Step>,
}

#[derive(Debug)]
struct Step {
    /// Counted since the clock began.
    number: u64,
    classes: [u32; CLASSES],
}

/// One step, as the page draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// How long ago the step began, in whole steps.
    pub(crate) steps_ago: u64,
    pub(crate) runs: u64,
    /// Milliseconds, at most 19 % too high: the upper end of a class.
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
}

impl History {
    /// Notes that a run ended at `now`, by a clock of the caller's, and took so long.
    pub(crate) fn record(&mut self, now: Duration, took: Duration) {
        let number = step_of(now);
        if self.steps.back().is_none_or(|step| step.number < number) {
            self.steps.push_back(Step { number, classes: [0; CLASSES] });
        }
        self.forget(number);
        if let Some(step) = self.steps.back_mut() {
            let count = &mut step.classes[class_of(took)];
            *count = count.saturating_add(1);
        }
    }

    /// The steps with runs, oldest first.
    pub(crate) fn points(&mut self, now: Duration) -> Vec<Point> {
        let number = step_of(now);
        self.forget(number);
        self.steps.iter().map(|step| step.point(number)).collect()
    }

    fn forget(&mut self, now: u64) {
        while self.steps.front().is_some_and(|step| step.number + STEPS as u64 <= now) {
            self.steps.pop_front();
        }
    }
}

impl Step {
    fn point(&self, now: u64) -> Point {
        let runs = self.classes.iter().map(|count| u64::from(*count)).sum();
        let at = |share: f64| self.quantile((runs as f64 * share).ceil() as u64);
        Point { steps_ago: now.saturating_sub(self.number), runs, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    }

    /// The upper end of the class that holds the run of this rank, counted from 1.
    fn quantile(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        upper_end(class.unwrap_or(CLASSES - 1))
    }
}

fn step_of(now: Duration) -> u64 {
    now.as_secs() / STEP.as_secs()
}

fn class_of(took: Duration) -> usize {
    let doublings = (took.as_secs_f64() * 1000.0 / LEAST_MS).log2();
    // What is below the first class is negative, and a cast brings it to 0.
    ((doublings * PER_DOUBLING).ceil() as usize).min(CLASSES - 1)
}

fn upper_end(class: usize) -> f64 {
    LEAST_MS * (class as f64 / PER_DOUBLING).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn quantiles_are_those_of_the_step_and_at_most_a_class_too_high() {
        let mut history = History::default();
        for ms in 1..=100 {
            history.record(STEP, ms * MS);
        }
        let [point] = history.points(STEP)[..] else { panic!("one step had runs") };
        assert_eq!((point.steps_ago, point.runs), (0, 100));
        for (found, exact) in [(point.p50, 50.0), (point.p95, 95.0), (point.p99, 99.0)] {
            assert!((exact..exact * 1.19).contains(&found), "{found} is about {exact}");
        }
    }

    #[test]
    fn steps_are_told_apart_and_the_old_are_forgotten() {
        let mut history = History::default();
        history.record(Duration::ZERO, MS);
        history.record(STEP * 2, MS);
        history.record(STEP * 2 + MS, MS);
        let found: Vec<_> = history.points(STEP * 3).iter().map(|point| (point.steps_ago, point.runs)).collect();
        assert_eq!(found, [(3, 1), (1, 2)]);
        assert_eq!(history.points(STEP * (STEPS as u32 + 1)).len(), 1);
        assert_eq!(history.points(STEP * (STEPS as u32 + 2)), []);
        history.record(STEP * (STEPS as u32 + 9), MS);
        assert_eq!(history.steps.len(), 1);
    }

    #[test]
    fn the_shortest_and_the_longest_have_a_class() {
        for (took, least) in [(Duration::ZERO, 0.0), (Duration::from_nanos(1), 0.0), (Duration::MAX, 3_600_000.0)] {
            let mut history = History::default();
            history.record(Duration::ZERO, took);
            assert!(history.points(Duration::ZERO)[0].p50 >= least);
        }
    }
}
