//! When to ping a silent peer, and when to give it up. Pure: times are since the connection's start.

use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Liveness {
    interval: Duration,
    deadline: Duration,
    heard: Duration,
    ping: Ping,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ping {
    /// Not needed: the peer was heard within the interval.
    None,
    /// In our queue. A queue that does not move is the write stall's business, not a sign of death.
    Queued,
    /// With the socket since then.
    Sent(Duration),
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
        Self { interval, deadline, heard: now, ping: Ping::None }
    }

    /// Any frame of the peer is a sign of life.
    pub(crate) fn heard(&mut self, now: Duration) {
        self.heard = now;
        self.ping = Ping::None;
    }

    /// Everything queued has been handed to the network.
    pub(crate) fn flushed(&mut self, now: Duration) {
        if self.ping == Ping::Queued {
            self.ping = Ping::Sent(now);
        }
    }

    /// When [`Liveness::check`] has something to say.
    pub(crate) fn due(&self) -> Option<Duration> {
        match self.ping {
            Ping::None => Some(self.heard + self.interval),
            Ping::Queued => None,
            Ping::Sent(at) => Some(at + self.deadline),
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
            Ping::Sent(_) => Verdict::Dead,
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
        peer.flushed(at(20));
        assert_eq!(peer.check(at(29)), Verdict::Fine);
        assert_eq!(peer.check(at(30)), Verdict::Dead);
    }

    #[test]
    fn any_frame_is_life() {
        let mut peer = liveness();
        assert_eq!(peer.check(at(20)), Verdict::Ping);
        peer.flushed(at(21));
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
        peer.flushed(at(100));
        assert_eq!(peer.due(), Some(at(110)));
    }
}
