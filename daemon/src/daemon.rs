//! What all sessions of one daemon share: the executor, the state of the drain, and who is connected.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use codemode_protocol::{CancelSource, CancelToken, ErrorCode, ExecutorError, Limits, text, wire::Info};
use codemode_transport::Connection;
use tokio::sync::watch;

use crate::{Config, codemode::Normalizer, gate::Strangers, guard::Rules, sight::Present};

/// State shared by the listener and every session.
pub(crate) struct Daemon<E> {
    executor: E,
    config: Config,
    normalizer: Normalizer,
    /// Where it listens.
    listener: SocketAddr,
    strangers: Strangers,
    draining: CancelSource,
    /// Raised when the drain is over and running programs have to end.
    stop: CancelSource,
    running: watch::Sender<usize>,
    sessions: Mutex<HashMap<u64, Connection>>,
    next_session: AtomicU64,
}

/// A run that the drain waits for; dropping it ends the wait.
pub(crate) struct Running {
    running: watch::Sender<usize>,
    stop: CancelToken,
}

impl<E> Daemon<E> {
    pub(crate) fn new(executor: E, config: Config, listener: SocketAddr) -> Self {
        Self {
            executor,
            config,
            normalizer: Normalizer::new(),
            listener,
            strangers: Strangers::default(),
            draining: CancelSource::new(),
            stop: CancelSource::new(),
            running: watch::Sender::new(0),
            sessions: Mutex::default(),
            next_session: AtomicU64::new(1),
        }
    }

    pub(crate) fn executor(&self) -> &E {
        &self.executor
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.config.limits
    }

    pub(crate) fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// By which rules requests are answered at all.
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules {
            listener: self.listener,
            tokens: self.config.tokens.is_some(),
            hosts: &self.config.allowed_hosts,
            origins: &self.config.allowed_origins,
        }
    }

    pub(crate) fn strangers(&self) -> &Strangers {
        &self.strangers
    }

    /// What `info()` answers.
    pub(crate) fn info(&self) -> Info {
        let mut info = Info::new(&self.config.server, &self.config.version, &self.config.node);
        info.limits = self.limits().named().map(|(name, bound)| (name.to_owned(), bound as f64)).collect();
        info.confinement.clone_from(&self.config.confinement);
        info.features.clone_from(&self.config.features);
        info
    }

    /// How many runs one session may have under way: what the executor could run or queue at all.
    pub(crate) fn runs_per_session(&self) -> u64 {
        self.limits().max_concurrent.saturating_add(self.limits().queue)
    }

    /// Why new programs would not run now, if they would not.
    pub(crate) fn unready(&self) -> Option<String> {
        if self.is_draining() {
            return Some("draining: no new programs are taken".into());
        }
        (self.config.readiness)().err()
    }

    /// What there is to see at the moment.
    pub(crate) fn present(&self) -> Present {
        Present {
            node: self.config.node.clone(),
            version: self.config.version.clone(),
            running: self.running() as u64,
            draining: self.is_draining(),
            unready: self.unready(),
            pool: self.config.pool_gauges.as_ref().map(|gauges| gauges()),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Admits one run, unless the daemon drains.
    pub(crate) fn begin_run(&self) -> Result<Running, ExecutorError> {
        // Counted first: a drain that begins after the look at its flag sees the run.
        self.running.send_modify(|running| *running += 1);
        let running = Running { running: self.running.clone(), stop: self.stop.token() };
        if self.is_draining() {
            return Err(ExecutorError::new(ErrorCode::ShuttingDown, text::NOT_STARTED_SHUTTING_DOWN));
        }
        Ok(running)
    }

    /// Refuses new runs from now on.
    pub(crate) fn drain(&self) {
        self.draining.cancel();
    }

    /// Ends every run with `CANCELLED`, in words of its own: nobody asked for it.
    pub(crate) fn stop_runs(&self) {
        self.stop.cancel();
    }

    /// Resolves when no run is under way.
    pub(crate) async fn idle(&self) {
        // An error means that the sender is gone, and `self` holds one.
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }

    /// The number of runs under way.
    pub(crate) fn running(&self) -> usize {
        *self.running.borrow()
    }

    /// The number of a new session, which names it in logs and to the executor.
    pub(crate) fn next_session(&self) -> u64 {
        self.next_session.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes a session's connection.
    pub(crate) fn enter(&self, number: u64, connection: Connection) {
        self.sessions().insert(number, connection);
    }

    /// Forgets a session.
    pub(crate) fn leave(&self, number: u64) {
        let connection = self.sessions().remove(&number);
        drop(connection);
    }

    /// The connections of all sessions.
    pub(crate) fn connections(&self) -> Vec<Connection> {
        self.sessions().values().cloned().collect()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<u64, Connection>> {
        // The map is consistent between any two statements that can panic.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Raised when the drain is over.
    pub(crate) fn stop(&self) -> CancelToken {
        self.stop.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.send_modify(|running| *running -= 1);
    }
}
