//! How a client reaches its daemon.

use std::{fmt, num::NonZeroU64, time::Duration};

use codemode_protocol::Token;
use codemode_transport::{CertificateDer, TransportOptions};

/// Options of [`RemoteExecutor::connect`](crate::RemoteExecutor::connect).
#[derive(Clone)]
pub struct RemoteOptions {
    /// Proves who we are: sent as `Authorization: Bearer` with the upgrade request. Over `ws://` it crosses in the clear.
    pub token: Option<Token>,
    /// Sent with the upgrade request; name and value.
    pub headers: Vec<(String, String)>,
    /// Certificates that a `wss://` daemon's may be signed by, beside those of the Web's authorities;
    /// [`certificates_from_pem`](crate::certificates_from_pem) reads them.
    pub root_certificates: Vec<CertificateDer<'static>>,
    /// From resolving the name to the compared versions, for each endpoint that is tried.
    pub connect_timeout: Duration,
    /// What a call does that finds no live session. `None`: a single attempt.
    pub reconnect: Option<Reconnect>,
    /// Settled executions, successes and failures alike, after which the session is replaced by a new one.
    pub rotate_after_executions: NonZeroU64,
    /// The bounds of the connection.
    pub transport: TransportOptions,
}

impl fmt::Debug for RemoteOptions {
    /// Values of headers may be secrets and are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, headers, root_certificates, connect_timeout, reconnect, rotate_after_executions, transport } =
            self;
        f.debug_struct("RemoteOptions")
            .field("token", token)
            .field("headers", &headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("root_certificates", &root_certificates.len())
            .field("connect_timeout", connect_timeout)
            .field("reconnect", reconnect)
            .field("rotate_after_executions", rotate_after_executions)
            .field("transport", transport)
            .finish()
    }
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
            token: None,
            headers: Vec::new(),
            root_certificates: Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown() {
        let headers = vec![("X-Key".to_owned(), "hunter2".to_owned())];
        let options = RemoteOptions { token: Some(Token::new("hunter2")), headers, ..RemoteOptions::default() };
        let shown = format!("{options:?}");
        assert!(shown.contains("X-Key") && !shown.contains("hunter2"), "{shown}");
    }
}
