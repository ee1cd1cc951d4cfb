//! The daemon: offers an [`Executor`] by URL, over Cap'n Web on a WebSocket.
//!
//! [`run`] takes a bound listener and serves until its shutdown future resolves and the drain that follows is over.
//! Beside the WebSocket at `/` there are `/healthz` (the process answers), `/readyz` (a program sent now would run), `/metrics`
//! for Prometheus, and a page at `/` for whoever opens it in a browser.
//!
//! With [`Config::tokens`] nothing runs without one: at the upgrade, or in the session by `authenticate`. Without them
//! whoever connects is trusted, and rules keep others out: only loopback addresses are listened on, unless
//! [`Config::insecure`] says otherwise, and only requests whose `Host` names one are answered. An upgrade that carries an
//! `Origin` is refused in either case, unless the origin is allowed. [`Config::tls`] keeps what crosses private.
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
mod credentials;
mod daemon;
mod dispatch;
mod gate;
mod guard;
mod http;
mod interface;
mod lease;
mod outbound;
mod payloads;
mod places;
mod session;
mod sight;
mod tls;
mod tokens;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use codemode_protocol::{ErrorCode, Executor, Gauges, LOCAL_NODE, Limits, capnweb::ErrorValue, text};
use tokio::{net::TcpListener, time::timeout};
use tracing::{Span, info, warn};

use crate::{daemon::Daemon, places::Places};
pub use crate::{
    gate::STRANGERS,
    guard::{HostName, Origin},
    outbound::{
        MOST_REQUESTS_AT_ONCE, OutboundClient, OutboundError, OutboundOptions, OutboundOrigin, Resolver, SystemResolver,
    },
    sight::Sight,
    tls::{Tls, TlsError},
    tokens::{TokenList, Tokens, TokensError, token_line},
};

/// What an executor's pool of sandboxes holds at the moment.
pub type PoolGauges = Arc<dyn Fn() -> Gauges + Send + Sync>;

/// Makes a run's span the child of the one that a request's `traceparent` names.
pub type TraceParent = Arc<dyn Fn(&Span, &str) + Send + Sync>;

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
    /// Where it is noted how runs went; the pool's observer, if there is a pool.
    pub sight: Arc<Sight>,
    /// Asked for metrics and by the page; `None` for an executor without sandboxes of its own.
    pub pool_gauges: Option<PoolGauges>,
    /// How spans are joined to a caller's; `None`: the field `traceparent` alone tells.
    pub trace_parent: Option<TraceParent>,
    /// Whether programs, the arguments and answers of their calls, and results are logged. They hold what users say.
    pub log_payloads: bool,
    /// How long a connection may take from its accept until it is answered or a session. Each carries one request.
    pub header_timeout: Duration,
    /// Connections at once that are not sessions, at least 1; a further one takes the place of the oldest.
    pub max_connections: usize,
    /// Sessions at once; further upgrades get 503. Those that have yet to authenticate do not count.
    pub max_sessions: usize,
    /// Sessions of one address at once (of one network of 2^64 addresses for IPv6); further upgrades get 429.
    pub max_sessions_per_address: usize,
    /// Who may do anything; `None`: whoever connects.
    pub tokens: Option<Tokens>,
    /// How long a session may take to authenticate.
    pub authentication_timeout: Duration,
    /// TLS on the listener; `None`: what crosses is in the clear.
    pub tls: Option<Tls>,
    /// Web pages that may open sessions.
    pub allowed_origins: Vec<Origin>,
    /// Names that a `Host` may have beside `localhost` and addresses. With tokens any name may be there.
    pub allowed_hosts: Vec<HostName>,
    /// Whether to listen on an address that others can reach without tokens.
    pub insecure: bool,
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
            sight: Arc::default(),
            pool_gauges: None,
            trace_parent: None,
            log_payloads: false,
            header_timeout: Duration::from_secs(10),
            max_connections: 256,
            max_sessions: 1024,
            max_sessions_per_address: usize::MAX,
            tokens: None,
            authentication_timeout: Duration::from_secs(10),
            tls: None,
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            insecure: false,
        }
    }
}

/// Why a daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listener is on an address that others can reach, and whoever connects is trusted.
    #[error(
        "refusing to listen on {0}: others can reach it, and without tokens whoever connects may run programs. Listen on a \
         loopback address (127.0.0.1, [::1]), give a list of tokens, or say `insecure` where the network keeps others out"
    )]
    NotLoopback(SocketAddr),
    /// The listener has no address.
    #[error("the listener is unusable: {0}")]
    Listener(#[from] io::Error),
}

impl Config {
    /// Refuses an address that others can reach, unless they need a token; for checking one before a listener is bound
    /// to it.
    ///
    /// # Errors
    /// [`ServeError::NotLoopback`].
    pub fn check_listen_address(&self, addr: SocketAddr) -> Result<(), ServeError> {
        if self.insecure || self.tokens.is_some() || guard::is_private(addr) {
            return Ok(());
        }
        Err(ServeError::NotLoopback(addr))
    }
}

/// Serves `executor` on `listener` until `shutdown` resolves, then drains: `/readyz` and upgrades answer 503, new runs
/// and those that wait get `SHUTTING_DOWN`, running ones have `drain_timeout` to finish and are cancelled after it, sessions are told why
/// they end, and the executor is disposed. Dropping the future stops accepting at once and leaves sessions to the
/// runtime's end.
///
/// # Errors
/// When the listener is on an address that others can reach, without tokens.
pub async fn run<E: Executor>(
    config: Config,
    listener: TcpListener,
    executor: E,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let addr = listener.local_addr()?;
    config.check_listen_address(addr)?;
    if !guard::is_private(addr) && config.tokens.is_none() {
        warn!(%addr, "whoever reaches this address may run programs: there are no tokens");
    }
    if !guard::is_private(addr) && config.tls.is_none() {
        warn!(%addr, "what crosses the network is in the clear, tokens among it: TLS is off");
    }
    let places = Places::new(config.max_sessions, config.max_sessions_per_address);
    let (tokens, tls) = (config.tokens.is_some(), config.tls.is_some());
    let daemon = Arc::new(Daemon::new(executor, config, addr));
    info!(%addr, tokens, tls, "serving");
    let work = async {
        shutdown.await;
        drain(&daemon).await;
        // Whoever asks for a run now is told that it goes elsewhere, and goes. A call that crosses the end of its session
        // cannot be told whether it ran.
        let _ = timeout(FAREWELL, places.all_free()).await;
        for connection in daemon.connections() {
            let why = ErrorValue::new("Error", text::SESSION_SHUT_DOWN).with_code(ErrorCode::ShuttingDown.as_str());
            connection.abort(why);
        }
        if timeout(SESSION_END, places.all_free()).await.is_err() {
            warn!("some sessions did not end in time");
        }
        daemon.executor().dispose().await;
        info!("stopped");
    };
    tokio::select! {
        never = http::accept(&listener, daemon.clone(), places.clone()) => match never {},
        () = work => Ok(()),
        never = daemon.config().sight.tidy() => match never {},
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

/// How long sessions have to leave by themselves once the last run has ended.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long sessions and cancelled runs may take to end when the daemon stops.
const SESSION_END: Duration = Duration::from_secs(2);
