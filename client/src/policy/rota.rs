//! Which endpoint is asked next.

use std::{collections::VecDeque, time::Duration};

use super::EndpointId;

/// The order of the endpoints, and which of them failed lately.
///
/// A new session goes to the endpoint after the one that answered last, so that rotation goes round. One that failed
/// is asked last for [`UNFIT`], and is an endpoint like the others after that.
#[derive(Debug)]
pub(super) struct Rota {
    /// When each endpoint failed, if it has not answered since.
    failed: Vec<Option<Duration>>,
    next: usize,
}

/// How long an endpoint that failed is asked after the others.
pub(super) const UNFIT: Duration = Duration::from_secs(30);

impl Rota {
    pub(super) fn new(endpoints: usize) -> Self {
        Self { failed: vec![None; endpoints], next: 0 }
    }

    /// Every endpoint once: those that are fit, in turn, then the others, the one that failed first before those that
    /// failed later.
    pub(super) fn round(&self, now: Duration) -> VecDeque<EndpointId> {
        let count = self.failed.len();
        let turn = (0..count).map(|step| (self.next + step) % count);
        let (mut round, mut unfit): (Vec<_>, Vec<_>) = turn.partition(|&endpoint| self.is_fit(endpoint, now));
        unfit.sort_by_key(|&endpoint| self.failed[endpoint]);
        round.append(&mut unfit);
        round.into_iter().map(EndpointId).collect()
    }

    /// Whether there is an endpoint that did not fail lately.
    pub(super) fn any_fit(&self, now: Duration) -> bool {
        (0..self.failed.len()).any(|endpoint| self.is_fit(endpoint, now))
    }

    pub(super) fn answered(&mut self, endpoint: EndpointId) {
        self.failed[endpoint.0] = None;
        self.next = (endpoint.0 + 1) % self.failed.len();
    }

    pub(super) fn failed(&mut self, endpoint: EndpointId, now: Duration) {
        self.failed[endpoint.0] = Some(now);
    }

    fn is_fit(&self, endpoint: usize, now: Duration) -> bool {
        self.failed[endpoint].is_none_or(|failed| now >= failed + UNFIT)
    }
}
