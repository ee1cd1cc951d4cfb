//! How fast permits come back, measured while somebody waits for one: what "try again later" is computed from.

use std::time::Duration;

/// See the module. Figures fade with the time that they stand for, so that a burst weighs as much as it lasted.
#[derive(Debug)]
pub(super) struct Rate {
    permits: usize,
    /// Permits that came back while somebody waited, faded.
    returns: f64,
    /// Seconds during which somebody waited, faded.
    waited: f64,
    /// Up to when those are counted, while somebody waits.
    since: Option<Duration>,
    /// A sliding mean of how long runs hold their permit, in seconds.
    usual_run: f64,
}

impl Rate {
    pub(super) fn new(permits: usize) -> Self {
        Self { permits, returns: 0.0, waited: 0.0, since: None, usual_run: FIRST_GUESS }
    }

    /// Whether somebody waits from `now` on.
    pub(super) fn waiting(&mut self, waiting: bool, now: Duration) {
        match (waiting, self.since) {
            (true, None) => self.since = Some(now),
            (false, Some(_)) => {
                self.count(now);
                self.since = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// A permit came back.
    pub(super) fn returned(&mut self, now: Duration) {
        if self.since.is_some() {
            self.count(now);
            self.returns += 1.0;
        }
    }

    /// A run has ended that held its permit for so long.
    pub(super) fn ran(&mut self, held: Duration) {
        self.usual_run += (held.as_secs_f64() - self.usual_run) / 8.0;
    }

    /// How long it takes until `place` permits have come back, from 1 on.
    pub(super) fn time_for(&self, place: usize, now: Duration) -> Duration {
        let idle = self.since.map_or(0.0, |since| now.saturating_sub(since).as_secs_f64());
        let guess = self.usual_run / self.permits as f64;
        // As if one had come back at the guessed pace: there may be no figures yet.
        let interval = (self.waited + idle + guess) / (self.returns + 1.0);
        bounded(interval * place as f64)
    }

    /// The same when only `permits` of all take part.
    pub(super) fn time_for_part(&self, place: usize, permits: usize, now: Duration) -> Duration {
        self.time_for(place, now).max(bounded(self.usual_run * place as f64 / permits.max(1) as f64))
    }

    fn count(&mut self, now: Duration) {
        let Some(since) = self.since.replace(now) else { return };
        let passed = now.saturating_sub(since).as_secs_f64();
        let kept = (-passed / MEMORY).exp();
        self.returns *= kept;
        self.waited = self.waited * kept + passed;
    }
}

fn bounded(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(LEAST_RETRY.as_secs_f64(), MOST_RETRY.as_secs_f64()))
}

/// How long a run holds its permit, before any has ended, in seconds.
const FIRST_GUESS: f64 = 0.1;

/// Seconds after which a figure counts for a third.
const MEMORY: f64 = 5.0;

/// Asking again sooner than this never helps.
const LEAST_RETRY: Duration = Duration::from_millis(50);

/// What is estimated beyond this is no better than a guess.
const MOST_RETRY: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_steady_pace_is_found_whether_permits_come_back_one_by_one_or_in_bursts() {
        for burst in [1_u32, 10] {
            let mut rate = Rate::new(10);
            rate.waiting(true, ms(0));
            // One every 10 ms on average, for ten seconds.
            for step in 1..=1000 / u64::from(burst) {
                (0..burst).for_each(|_| rate.returned(ms(step * 10 * u64::from(burst))));
            }
            let expected = rate.time_for(100, ms(10_000)).as_secs_f64();
            assert!((0.95..1.05).contains(&expected), "{burst}: {expected}");
        }
    }

    #[test]
    fn time_in_which_nobody_waits_does_not_count_and_a_standstill_does() {
        let mut rate = Rate::new(1);
        rate.waiting(true, ms(0));
        (1..=100).for_each(|step| rate.returned(ms(step * 10)));
        rate.waiting(false, ms(1000));
        let before = rate.time_for(10, ms(1000));
        rate.waiting(true, ms(60_000));
        assert_eq!(rate.time_for(10, ms(60_000)), before);
        assert!(rate.time_for(10, ms(90_000)) > before * 10, "nothing has come back for half a minute");
    }

    #[test]
    fn a_hint_is_never_nothing_and_never_beyond_a_minute() {
        let mut rate = Rate::new(1_000_000);
        assert_eq!(rate.time_for(1, ms(0)), LEAST_RETRY);
        rate.ran(Duration::from_secs(1_000_000));
        assert_eq!(rate.time_for_part(usize::MAX, 0, ms(0)), MOST_RETRY);
    }

    #[test]
    fn a_part_of_the_permits_is_slower() {
        let mut rate = Rate::new(100);
        (0..100).for_each(|_| rate.ran(Duration::from_secs(1)));
        assert!(rate.time_for(10, ms(0)) < ms(200));
        assert!(rate.time_for_part(10, 1, ms(0)) > ms(9_000));
    }
}
