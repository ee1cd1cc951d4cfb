//! How a client reaches its daemon.

use std::time::Duration;

use codemode_transport::TransportOptions;

/// Options of [`RemoteExecutor::connect`](crate::RemoteExecutor::connect).
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// Sent with the upgrade request, such as `Authorization`; name and value.
    pub headers: Vec<(String, String)>,
    /// From resolving the name to the compared versions.
    pub connect_timeout: Duration,
    /// The bounds of the connection.
    pub transport: TransportOptions,
}

impl Default for RemoteOptions {
    /// The contract's bounds. A client is called by its own runs, so it takes as many calls as [`RUNS`] runs may have
    /// in flight.
    fn default() -> Self {
        let mut transport = TransportOptions::default();
        let calls = RUNS * codemode_protocol::Limits::default().calls_in_flight as usize;
        transport.limits.running_calls = calls;
        transport.limits.peer_calls += calls;
        Self { headers: Vec::new(), connect_timeout: Duration::from_secs(10), transport }
    }
}

/// Runs of one session that the default bounds on inbound calls are made for.
pub const RUNS: usize = 1024;
