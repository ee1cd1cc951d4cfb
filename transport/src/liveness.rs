//! When to ping a silent peer, and when to give it up. Pure: times are since the connection's start.

use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Liveness {
    interval: Duration,
    deadline: Duration,
    heard: Duration,
    ping: Ping,
    /// Bytes of ours that the peer's host had taken at the last look.
    taken: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ping {
    /// Not needed: the peer was heard within the interval.
    None,
    /// In our queue. A queue that does not move is the write stall's business, not a sign of death.
    Queued,
    /// With the network since then, as the last of so many bytes.
    Sent(Duration, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing to do.
    Fine,
    /// Queue a ping.
    Ping,
    /// The peer is dead.
    Dead,
}

impl Liveness {
    pub(crate) fn new(interval: Duration, deadline: Duration, now: Duration) -> Self {
        Self { interval, deadline, heard: now, ping: Ping::None, taken: 0 }
    }

    /// Any frame of the peer is a sign of life.
    pub(crate) fn heard(&mut self, now: Duration) {
        self.heard = now;
        self.ping = Ping::None;
    }

    /// Whether a ping waits in our queue.
    pub(crate) fn is_queued(&self) -> bool {
        self.ping == Ping::Queued
    }

    /// Everything queued has been handed to the network, which makes `written` bytes.
    pub(crate) fn flushed(&mut self, now: Duration, written: u64) {
        if self.ping == Ping::Queued {
            self.ping = Ping::Sent(now, written);
        }
    }

    /// The peer's host has taken so many of our bytes. That is no life of the peer itself, but until it has taken the
    /// ping, each step towards it starts the deadline anew.
    pub(crate) fn taken(&mut self, now: Duration, taken: u64) {
        if let Ping::Sent(at, end) = &mut self.ping
            && self.taken < *end
            && self.taken < taken
        {
            *at = now;
        }
        self.taken = taken;
    }

    /// When [`Liveness::check`] has something to say.
    pub(crate) fn due(&self) -> Option<Duration> {
        match self.ping {
            Ping::None => Some(self.heard + self.interval),
            Ping::Queued => None,
            Ping::Sent(at, _) => Some(at + self.deadline),
        }
    }

    pub(crate) fn check(&mut self, now: Duration) -> Verdict {
        if self.due().is_none_or(|due| now < due) {
            return Verdict::Fine;
        }
        match self.ping {
            Ping::None => {
                self.ping = Ping::Queued;
                Verdict::Ping
            }
            Ping::Queued => Verdict::Fine,
            Ping::Sent(..) => Verdict::Dead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn liveness() -> Liveness {
        Liveness::new(at(20), at(10), at(0))
    }

    #[test]
    fn a_silent_peer_is_pinged_once_and_then_given_up() {
        let mut peer = liveness();
        assert_eq!(peer.check(at(19)), Verdict::Fine);
        assert_eq!(peer.check(at(20)), Verdict::Ping);
        peer.flushed(at(20), 0);
        assert_eq!(peer.check(at(29)), Verdict::Fine);
        assert_eq!(peer.check(at(30)), Verdict::Dead);
    }

    #[test]
    fn any_frame_is_life() {
        let mut peer = liveness();
        assert_eq!(peer.check(at(20)), Verdict::Ping);
        peer.flushed(at(21), 0);
        peer.heard(at(29));
        assert_eq!(peer.check(at(31)), Verdict::Fine);
        assert_eq!(peer.due(), Some(at(49)));
    }

    #[test]
    fn a_ping_that_waits_behind_a_large_message_starts_no_deadline() {
        let mut peer = liveness();
        assert_eq!(peer.check(at(20)), Verdict::Ping);
        assert_eq!(peer.due(), None);
        assert_eq!(peer.check(at(100)), Verdict::Fine);
        peer.flushed(at(100), 0);
        assert_eq!(peer.due(), Some(at(110)));
    }

    #[test]
    fn a_ping_behind_bytes_that_move_has_the_deadline_from_when_it_arrived() {
        let mut peer = liveness();
        peer.taken(at(0), 100);
        assert_eq!(peer.check(at(20)), Verdict::Ping);
        peer.flushed(at(20), 400);
        for (second, taken) in [(25, 200), (34, 300), (40, 400)] {
            peer.taken(at(second), taken);
            assert_eq!(peer.due(), Some(at(second + 10)));
        }
        // What came after the ping says nothing about it.
        peer.taken(at(45), 500);
        assert_eq!(peer.due(), Some(at(50)));
        assert_eq!(peer.check(at(50)), Verdict::Dead);
    }
}
