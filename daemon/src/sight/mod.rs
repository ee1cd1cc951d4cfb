//! What an operator sees of a daemon: metrics, and the page at `/` with its last minutes.
//!
//! Nothing here tells what a program was, what it was given or what it returned, and nothing can be changed through it.

mod history;
mod metrics;
mod page;

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use codemode_protocol::{ErrorCode, Event, ExecutorError, Gauges, Observer, Outcome, Stats};
use codemode_transport::Meter;
use serde_json::{Value, json};

use self::{
    history::{History, STEP},
    metrics::{Metrics, Now},
};
pub(crate) use page::{page, script};

/// How a daemon's runs went. To be given to [`Config`](crate::Config), and to the pool of sandboxes as its observer.
pub struct Sight {
    began: Instant,
    metrics: Metrics,
    past: Mutex<Past>,
    traffic: Mutex<Traffic>,
}

#[derive(Default)]
struct Past {
    history: History,
    /// Newest last.
    recent: VecDeque<Ended>,
}

/// A run or a call that ended, as the page lists it.
struct Ended {
    at: Instant,
    /// A termination, or the code of an error.
    how: String,
    wall_ms: f64,
    cpu_ms: f64,
    host_calls: u64,
}

#[derive(Default)]
struct Traffic {
    next: u64,
    open: HashMap<u64, Meter>,
    /// Bytes read and written by sessions that have ended.
    ended: (u64, u64),
}

/// A session that is counted as open until this is dropped.
pub(crate) struct Open {
    sight: Arc<Sight>,
    number: u64,
}

/// What the daemon says of itself when it is asked.
pub(crate) struct Present {
    pub(crate) node: String,
    pub(crate) version: String,
    pub(crate) running: u64,
    pub(crate) draining: bool,
    /// Why a program sent now would not run, if it would not.
    pub(crate) unready: Option<String>,
    /// None for an executor without sandboxes of its own.
    pub(crate) pool: Option<Gauges>,
}

/// Ends that the page lists.
const RECENT: usize = 30;

impl Sight {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            metrics: Metrics::new(env!("CARGO_PKG_VERSION")),
            past: Mutex::default(),
            traffic: Mutex::default(),
        }
    }

    /// Notes how a run ended.
    pub(crate) fn ended(&self, outcome: &Outcome) {
        self.metrics.run(outcome);
        let took = Duration::try_from_secs_f64(outcome.stats.wall_ms / 1000.0).unwrap_or_default();
        let now = self.began.elapsed();
        let mut past = self.past();
        past.history.record(now, took);
        past.note(outcome.termination.as_str(), &outcome.stats);
    }

    /// Notes that a call failed that was to be a run, or was one whose end nobody can know.
    pub(crate) fn failed(&self, error: &ExecutorError) {
        self.metrics.error(&error.code);
        self.past().note(metrics::label(&error.code), error.stats.as_ref().unwrap_or(&Stats::default()));
    }

    /// Counts what was refused or ended without having been a run: whoever was not let in, a peer that broke a rule.
    pub(crate) fn refused(&self, code: &ErrorCode) {
        self.metrics.error(code);
    }

    /// Counts a session whose bytes `meter` counts.
    pub(crate) fn opened(self: &Arc<Self>, meter: Meter) -> Open {
        self.metrics.session();
        let mut traffic = self.traffic();
        let number = traffic.next;
        traffic.next += 1;
        traffic.open.insert(number, meter);
        drop(traffic);
        Open { sight: self.clone(), number }
    }

    /// Everything that is counted, in Prometheus' text format.
    pub(crate) fn metrics(&self, present: &Present) -> String {
        let traffic = self.traffic();
        let (sessions, bytes) = (traffic.open.len() as u64, traffic.total());
        drop(traffic);
        self.metrics.render(&Now {
            sessions,
            running: present.running,
            ready: present.unready.is_none(),
            draining: present.draining,
            traffic: bytes,
            pool: present.pool.as_ref(),
        })
    }

    /// What the page shows.
    pub(crate) fn status(&self, present: &Present) -> Value {
        let sessions = self.traffic().open.len();
        let mut past = self.past();
        let now = self.began.elapsed();
        let points = past.history.points(now).into_iter().map(|point| {
            json!({
                "secondsAgo": point.steps_ago * STEP.as_secs(),
                "runs": point.runs,
                "p50": point.p50,
                "p95": point.p95,
                "p99": point.p99,
            })
        });
        let points: Vec<_> = points.collect();
        let recent = past.recent.iter().rev().map(|end| {
            json!({
                "secondsAgo": end.at.elapsed().as_secs(),
                "how": end.how,
                "wallMs": end.wall_ms,
                "cpuMs": end.cpu_ms,
                "hostCalls": end.host_calls,
            })
        });
        let pool = present.pool.as_ref().map(|pool| {
            json!({
                "warm": pool.warm,
                "running": pool.running,
                "queued": pool.queued,
                "leased": pool.leased,
                "retained": pool.retained,
                "permits": pool.permits,
                "reservedMemory": pool.reserved_memory,
                "reservableMemory": pool.reservable_memory,
                "forks": pool.forks,
                "kills": pool.kills,
            })
        });
        json!({
            "node": present.node,
            "version": present.version,
            "upSeconds": now.as_secs(),
            "unready": present.unready,
            "draining": present.draining,
            "sessions": sessions,
            "running": present.running,
            "pool": pool,
            "stepSeconds": STEP.as_secs(),
            "history": points,
            "recent": recent.collect::<Vec<_>>(),
        })
    }

    /// Keeps what is collected for Prometheus small while nobody reads it; never ends.
    pub(crate) async fn tidy(&self) -> Infallible {
        loop {
            tokio::time::sleep(STEP).await;
            self.metrics.tidy();
        }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        // Consistent between any two statements that can panic, as is the traffic.
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Past {
    fn note(&mut self, how: &str, stats: &Stats) {
        let (wall_ms, cpu_ms, host_calls) = (stats.wall_ms, stats.cpu_ms, stats.host_calls);
        self.recent.push_back(Ended { at: Instant::now(), how: how.to_owned(), wall_ms, cpu_ms, host_calls });
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }
}

impl Traffic {
    fn total(&self) -> (u64, u64) {
        self.open.values().fold(self.ended, |(read, written), meter| {
            let bytes = meter.traffic();
            (read + bytes.read, written + bytes.written)
        })
    }
}

impl Observer for Sight {
    fn observe(&self, event: Event) {
        match event {
            Event::Admitted { wait } => self.metrics.admitted(wait),
            Event::Refused { wait, by } => {
                self.metrics.admitted(wait);
                self.metrics.refused(by);
            }
            Event::Crashed(how) => self.metrics.crashed(how),
            _ => {}
        }
    }
}

impl Default for Sight {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sight").finish_non_exhaustive()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut traffic = self.sight.traffic();
        if let Some(meter) = traffic.open.remove(&self.number) {
            let bytes = meter.traffic();
            traffic.ended.0 += bytes.read;
            traffic.ended.1 += bytes.written;
        }
    }
}
