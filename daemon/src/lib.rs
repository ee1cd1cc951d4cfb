//! The daemon: offers an [`Executor`] by URL, over Cap'n Web on a WebSocket.
//!
//! [`run`] takes a bound listener and serves until its shutdown future resolves and the drain that follows is over.
//! Beside the WebSocket at `/` there are `/healthz` (the process answers) and `/readyz` (a program sent now would run).
//!
//! There is no authentication in this version, so whoever connects is trusted, and three rules keep others out: only
//! loopback addresses are listened on, only requests whose `Host` is a loopback name are answered, and an upgrade that
//! carries an `Origin` is refused.
//!
//! ```
//! use codemode_daemon::{Config, run};
//! use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Outcome};
//! use tokio::net::TcpListener;
//!
//! /// A pool of sandboxes in earnest.
//! struct Closed;
//!
//! impl Executor for Closed {
//!     async fn execute(&self, _: ExecuteRequest, _: Host) -> Result<Outcome, ExecutorError> {
//!         Err(ExecutorError::new(ErrorCode::Overloaded, "closed today"))
//!     }
//!
//!     async fn dispose(&self) {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! // Ends at once; in earnest this future waits for a signal.
//! let shutdown = async {};
//! run(Config::default(), listener, Closed, shutdown).await?;
//! # Ok(())
//! # }
//! ```

mod codemode;
mod daemon;
mod dispatch;
mod guard;
mod http;
mod interface;
mod lease;
mod session;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use codemode_protocol::{ErrorCode, Executor, LOCAL_NODE, Limits, capnweb::ErrorValue, text};
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use tracing::{info, warn};

use crate::daemon::Daemon;

/// Whether programs sent now would run; the error says why not.
pub type Readiness = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What a daemon is and which bounds it applies.
#[derive(Clone)]
pub struct Config {
    /// The contract's bounds. They must be those of the executor, because requests are checked against them.
    pub limits: Limits,
    /// The server's name in `info()`.
    pub server: String,
    /// The server's version in `info()`.
    pub version: String,
    /// The node's name in `info()`.
    pub node: String,
    /// Names of the confinement layers that are on, for `info()`.
    pub confinement: Vec<String>,
    /// What is offered beyond the minimum, for `info()`.
    pub features: Vec<String>,
    /// Asked by `/readyz`.
    pub readiness: Readiness,
    /// How long a connection may take from its accept until it is answered or a session. Each carries one request.
    pub header_timeout: Duration,
    /// Connections at once that are not sessions, at least 1; a further one takes the place of the oldest.
    pub max_connections: usize,
    /// Sessions at once; further upgrades get 503.
    pub max_sessions: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            server: "codemoded".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            node: LOCAL_NODE.into(),
            confinement: Vec::new(),
            features: Vec::new(),
            readiness: Arc::new(|| Ok(())),
            header_timeout: Duration::from_secs(10),
            max_connections: 256,
            max_sessions: 1024,
        }
    }
}

/// Why a daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listener is on an address that others can reach.
    #[error(
        "refusing to listen on {0}: there is no authentication in this version, so only loopback addresses \
         (127.0.0.1, [::1]) may be listened on"
    )]
    NotLoopback(SocketAddr),
    /// The listener has no address.
    #[error("the listener is unusable: {0}")]
    Listener(#[from] io::Error),
}

/// Refuses an address that others can reach; for checking one before a listener is bound to it.
///
/// # Errors
/// [`ServeError::NotLoopback`].
pub fn check_listen_address(addr: SocketAddr) -> Result<(), ServeError> {
    if guard::may_listen_on(addr) { Ok(()) } else { Err(ServeError::NotLoopback(addr)) }
}

/// Serves `executor` on `listener` until `shutdown` resolves, then drains: `/readyz` and upgrades answer 503, new runs
/// and those that wait get `SHUTTING_DOWN`, running ones have `drain_timeout` to finish and are cancelled after it, sessions are told why
/// they end, and the executor is disposed. Dropping the future stops accepting at once and leaves sessions to the
/// runtime's end.
///
/// # Errors
/// When the listener is not on a loopback address.
pub async fn run<E: Executor>(
    config: Config,
    listener: TcpListener,
    executor: E,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let addr = listener.local_addr()?;
    check_listen_address(addr)?;
    let places = Arc::new(Semaphore::new(config.max_sessions));
    let all_places = u32::try_from(config.max_sessions).unwrap_or(u32::MAX);
    let daemon = Arc::new(Daemon::new(executor, config));
    info!(%addr, "serving");
    let work = async {
        shutdown.await;
        drain(&daemon).await;
        for connection in daemon.connections() {
            let why = ErrorValue::new("Error", text::SESSION_SHUT_DOWN).with_code(ErrorCode::ShuttingDown.as_str());
            connection.abort(why);
        }
        if timeout(SESSION_END, places.acquire_many(all_places)).await.is_err() {
            warn!("some sessions did not end in time");
        }
        daemon.executor().dispose().await;
        info!("stopped");
    };
    tokio::select! {
        never = http::accept(&listener, daemon.clone(), places.clone()) => match never {},
        () = work => Ok(()),
    }
}

/// Refuses new runs and waits for those under way.
async fn drain<E: Executor>(daemon: &Daemon<E>) {
    daemon.drain();
    daemon.executor().drain();
    let bound = Duration::from_millis(daemon.limits().drain_timeout_ms);
    info!(running = daemon.running(), "draining");
    if timeout(bound, daemon.idle()).await.is_ok() {
        return;
    }
    warn!(running = daemon.running(), "the drain is over; what still runs is cancelled");
    daemon.stop_runs();
    if timeout(SESSION_END, daemon.idle()).await.is_err() {
        warn!(running = daemon.running(), "some runs did not end in time");
    }
}

/// How long sessions and cancelled runs may take to end when the daemon stops.
const SESSION_END: Duration = Duration::from_secs(2);
