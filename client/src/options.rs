//! How a client reaches its daemon.

use std::{num::NonZeroU64, time::Duration};

use codemode_transport::TransportOptions;

/// Options of [`RemoteExecutor::connect`](crate::RemoteExecutor::connect).
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// Sent with the upgrade request, such as `Authorization`; name and value.
    pub headers: Vec<(String, String)>,
    /// From resolving the name to the compared versions, for each endpoint that is tried.
    pub connect_timeout: Duration,
    /// What a call does that finds no live session. `None`: a single attempt.
    pub reconnect: Option<Reconnect>,
    /// Settled executions, successes and failures alike, after which the session is replaced by a new one.
    pub rotate_after_executions: NonZeroU64,
    /// The bounds of the connection.
    pub transport: TransportOptions,
}

/// How often opening a session is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// Attempts after the first one. An attempt asks every endpoint until one answers.
    pub retries: u32,
    /// Waited once before the first retry, twice before the second and so on.
    pub backoff: Duration,
}

impl Default for Reconnect {
    /// The contract's numbers.
    fn default() -> Self {
        Self { retries: 3, backoff: Duration::from_millis(250) }
    }
}

impl Default for RemoteOptions {
    /// The contract's bounds. A client is called by its own runs, so it takes as many calls as [`RUNS`] runs may have
    /// in flight.
    fn default() -> Self {
        let mut transport = TransportOptions::default();
        let calls = RUNS * codemode_protocol::Limits::default().calls_in_flight as usize;
        transport.limits.running_calls = calls;
        transport.limits.peer_calls += calls;
        Self {
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            reconnect: Some(Reconnect::default()),
            rotate_after_executions: ROTATE_AFTER,
            transport,
        }
    }
}

/// Runs of one session that the default bounds on inbound calls are made for.
pub const RUNS: usize = 1024;

const ROTATE_AFTER: NonZeroU64 = NonZeroU64::new(10_000).expect("it is not zero");
