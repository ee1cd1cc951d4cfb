//! When timers are due. No clock of its own: every method that needs the time is told it.

use std::collections::BTreeMap;
use std::time::Duration;

/// Names one timer for as long as its queue lives; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerId(pub(crate) u32);

/// Timers by the moment at which they are due, all counted from one origin. Timers of one moment fire in the order in
/// which they were set.
#[derive(Debug, Default)]
pub(crate) struct TimerQueue {
    /// The order of firing: moment, then a sequence number.
    order: BTreeMap<(Duration, u64), TimerId>,
    timers: BTreeMap<TimerId, Timer>,
    next_id: u32,
    next_sequence: u64,
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    due: Duration,
    sequence: u64,
    /// Set for an interval.
    every: Option<Duration>,
}

impl TimerQueue {
    /// Sets a timer that is due `delay` after `now`; `every` makes it come back until it is cleared.
    pub(crate) fn set(&mut self, now: Duration, delay: Duration, every: Option<Duration>) -> TimerId {
        // Ids start at 1 because programs test them for truth. Four billion timers do not fit in any run.
        self.next_id = self.next_id.wrapping_add(1).max(1);
        let id = TimerId(self.next_id);
        self.insert(id, now.saturating_add(delay), every);
        id
    }

    /// Forgets a timer; an unknown id is fine.
    pub(crate) fn clear(&mut self, id: TimerId) {
        if let Some(timer) = self.timers.remove(&id) {
            self.order.remove(&(timer.due, timer.sequence));
        }
    }

    /// When the next timer is due; `None` when nothing is pending.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.order.keys().next().map(|(due, _)| *due)
    }

    /// Takes the first timer that is due at `now`. An interval is set again, one period after `now`, before it fires,
    /// so that its callback can clear it.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<TimerId> {
        let (key, id) = self.order.first_key_value().map(|(key, id)| (*key, *id))?;
        if key.0 > now {
            return None;
        }
        self.order.remove(&key);
        if let Some(Timer { every: Some(every), .. }) = self.timers.remove(&id) {
            self.insert(id, now.saturating_add(every), Some(every));
        }
        Some(id)
    }

    fn insert(&mut self, id: TimerId, due: Duration, every: Option<Duration>) {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.order.insert((due, sequence), id);
        self.timers.insert(id, Timer { due, sequence, every });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn timers_of_one_moment_fire_in_the_order_they_were_set() {
        let mut queue = TimerQueue::default();
        let late = queue.set(ms(0), ms(10), None);
        let first = queue.set(ms(5), ms(0), None);
        let second = queue.set(ms(0), ms(5), None);
        assert_eq!(queue.next_due(), Some(ms(5)));
        assert_eq!(queue.take_due(ms(4)), None);
        assert_eq!(queue.take_due(ms(5)), Some(first));
        assert_eq!(queue.take_due(ms(5)), Some(second));
        assert_eq!(queue.take_due(ms(5)), None);
        assert_eq!(queue.take_due(ms(50)), Some(late));
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn an_interval_comes_back_one_period_after_it_fired_and_can_be_cleared() {
        let mut queue = TimerQueue::default();
        let id = queue.set(ms(0), ms(10), Some(ms(10)));
        assert_eq!(queue.take_due(ms(35)), Some(id));
        assert_eq!(queue.take_due(ms(35)), None, "periods that were missed are not made up for");
        assert_eq!(queue.next_due(), Some(ms(45)));
        queue.clear(id);
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn clearing_an_unknown_or_fired_timer_changes_nothing() {
        let mut queue = TimerQueue::default();
        let id = queue.set(ms(0), ms(1), None);
        let other = queue.set(ms(0), ms(1), None);
        assert_eq!(queue.take_due(ms(1)), Some(id));
        queue.clear(id);
        queue.clear(TimerId(99));
        assert_eq!(queue.take_due(ms(1)), Some(other));
    }

    #[test]
    fn the_far_future_saturates() {
        let mut queue = TimerQueue::default();
        queue.set(Duration::MAX, ms(1), None);
        assert_eq!(queue.next_due(), Some(Duration::MAX));
    }
}
