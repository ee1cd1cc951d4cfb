//! What Prometheus reads. Names and units follow its conventions, and every label has a fixed set of values.

use std::time::Duration;

use codemode_protocol::{Crash, ErrorCode, Gauges, Outcome, RefusedBy, Termination};
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// The metrics of one daemon, in a registry of its own.
pub(crate) struct Metrics {
    registry: PrometheusHandle,
    runs: Vec<(Termination, Counter)>,
    errors: Vec<(ErrorCode, Counter)>,
    /// Codes that are none of the contract's.
    other_errors: Counter,
    run_seconds: Histogram,
    cpu_seconds: Histogram,
    queue_seconds: Histogram,
    refused: Vec<(RefusedBy, Counter)>,
    crashes: Vec<(Crash, Counter)>,
    host_calls: Counter,
    host_wait_seconds: Histogram,
    sessions_opened: Counter,
    moment: Moment,
}

/// What is read when it is asked for.
struct Moment {
    sessions: Gauge,
    running: Gauge,
    ready: Gauge,
    draining: Gauge,
    received: Counter,
    sent: Counter,
    pool: Vec<(Counter, ReadGauge)>,
    pool_now: Vec<(Gauge, ReadGauge)>,
}

/// One number of the pool's.
type ReadGauge = fn(&Gauges) -> u64;

/// A name, what it says, and where its number is read.
type Described = (&'static str, &'static str, ReadGauge);

/// What the metrics of a moment are taken from.
pub(crate) struct Now<'a> {
    pub(crate) sessions: u64,
    pub(crate) running: u64,
    pub(crate) ready: bool,
    pub(crate) draining: bool,
    /// Bytes read from and written to sessions since the start.
    pub(crate) traffic: (u64, u64),
    /// None for an executor without sandboxes of its own.
    pub(crate) pool: Option<&'a Gauges>,
}

const SECONDS: [f64; 16] =
    [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0];

impl Metrics {
    pub(crate) fn new(version: &str) -> Self {
        let recorder =
            PrometheusBuilder::new().set_buckets(&SECONDS).expect("the list of buckets is not empty").build_recorder();
        let make = Maker(&recorder);
        make.gauge_with(
            "codemode_build_info",
            "The daemon's version; always 1.",
            vec![Label::new("version", version.to_owned())],
        )
        .set(1.0);
        let runs = "Runs, by how they ended.";
        let errors = "Calls that failed although their program did not, requests refused, and sessions that the daemon ended, \
                      by code.";
        let refused = "Runs and leases that were not admitted, by the bound that refused them.";
        let crashes = "Sandboxes lost under their run, by how.";
        Self {
            runs: Termination::ALL
                .iter()
                .map(|ended| (*ended, make.counter_with("codemode_runs_total", runs, "termination", ended.as_str())))
                .collect(),
            errors: ErrorCode::ALL
                .iter()
                .map(|code| (code.clone(), make.counter_with("codemode_errors_total", errors, "code", code.as_str())))
                .collect(),
            other_errors: make.counter_with("codemode_errors_total", errors, "code", OTHER),
            run_seconds: make
                .histogram("codemode_run_duration_seconds", "Wall time of runs, waits for host calls included."),
            cpu_seconds: make.histogram("codemode_run_cpu_seconds", "CPU time of runs."),
            queue_seconds: make.histogram(
                "codemode_queue_wait_seconds",
                "How long runs and leases waited until they were admitted or refused.",
            ),
            refused: RefusedBy::ALL
                .iter()
                .map(|by| (*by, make.counter_with("codemode_refused_total", refused, "reason", by.as_str())))
                .collect(),
            crashes: Crash::ALL
                .iter()
                .map(|how| (*how, make.counter_with("codemode_sandbox_crashes_total", crashes, "cause", how.as_str())))
                .collect(),
            host_calls: make
                .counter("codemode_host_calls_total", "Calls of tools and requests that callers performed."),
            host_wait_seconds: make.histogram("codemode_host_wait_seconds", "How long runs waited for their callers."),
            sessions_opened: make.counter("codemode_sessions_opened_total", "Sessions opened."),
            moment: Moment::new(&make),
            registry: recorder.handle(),
        }
    }

    /// Counts a run that took place.
    pub(crate) fn run(&self, outcome: &Outcome) {
        count(&self.runs, &outcome.termination);
        let stats = &outcome.stats;
        self.run_seconds.record(stats.wall_ms / 1000.0);
        self.cpu_seconds.record(stats.cpu_ms / 1000.0);
        self.host_calls.increment(stats.host_calls);
        self.host_wait_seconds.record(stats.host_wait_ms / 1000.0);
    }

    /// Counts a failure.
    pub(crate) fn error(&self, code: &ErrorCode) {
        if !count(&self.errors, code) {
            self.other_errors.increment(1);
        }
    }

    /// Counts an admission.
    pub(crate) fn admitted(&self, wait: Duration) {
        self.queue_seconds.record(wait);
    }

    /// Counts a refusal.
    pub(crate) fn refused(&self, by: RefusedBy) {
        count(&self.refused, &by);
    }

    /// Counts a sandbox that was lost.
    pub(crate) fn crashed(&self, how: Crash) {
        count(&self.crashes, &how);
    }

    /// Counts a session.
    pub(crate) fn session(&self) {
        self.sessions_opened.increment(1);
    }

    /// Everything, in Prometheus' text format.
    pub(crate) fn render(&self, now: &Now<'_>) -> String {
        self.moment.set(now);
        self.registry.render()
    }

    /// Sorts away what was recorded; to be called now and then, because between two readings it is only collected.
    pub(crate) fn tidy(&self) {
        self.registry.run_upkeep();
    }
}

impl Moment {
    fn new(make: &Maker<'_>) -> Self {
        let counted: [Described; 4] = [
            ("codemode_sandbox_forks_total", "Sandboxes forked.", |pool| pool.forks),
            ("codemode_sandbox_fork_failures_total", "Forks that failed or were lost.", |pool| pool.failed_forks),
            ("codemode_sandbox_kills_total", "Sandboxes killed because they outlived a bound.", |pool| pool.kills),
            ("codemode_zygotes_total", "Zygotes that came up; more than one says that some have ended.", |pool| {
                pool.zygotes
            }),
        ];
        let held: [Described; 7] = [
            ("codemode_sandboxes_warm", "Sandboxes that wait for a run.", |pool| pool.warm),
            ("codemode_queue_depth", "Runs and leases that wait to be admitted.", |pool| pool.queued),
            ("codemode_leases", "Permits held for a run to come.", |pool| pool.leased),
            ("codemode_executions_retained", "Executions retained for calls of their functions.", |pool| pool.retained),
            ("codemode_permits", "Runs that may take place at once.", |pool| pool.permits),
            (
                "codemode_memory_reserved_bytes",
                "What the memory limits of runs and retained executions add up to.",
                |pool| pool.reserved_memory,
            ),
            ("codemode_memory_reservable_bytes", "What they may add up to.", |pool| pool.reservable_memory),
        ];
        Self {
            sessions: make.gauge("codemode_sessions", "Sessions open."),
            running: make.gauge("codemode_runs_in_flight", "Runs under way, those that wait included."),
            ready: make.gauge("codemode_ready", "1 when a program sent now would run."),
            draining: make.gauge("codemode_draining", "1 when no new programs are taken."),
            received: make
                .counter("codemode_received_bytes_total", "Bytes read from sessions, their upgrades included."),
            sent: make.counter("codemode_sent_bytes_total", "Bytes written to sessions, their upgrades included."),
            pool: counted.into_iter().map(|(name, about, of)| (make.counter(name, about), of)).collect(),
            pool_now: held.into_iter().map(|(name, about, of)| (make.gauge(name, about), of)).collect(),
        }
    }

    fn set(&self, now: &Now<'_>) {
        self.sessions.set(now.sessions as f64);
        self.running.set(now.running as f64);
        self.ready.set(f64::from(u8::from(now.ready)));
        self.draining.set(f64::from(u8::from(now.draining)));
        self.received.absolute(now.traffic.0);
        self.sent.absolute(now.traffic.1);
        let Some(pool) = now.pool else { return };
        for (counter, of) in &self.pool {
            counter.absolute(of(pool));
        }
        for (gauge, of) in &self.pool_now {
            gauge.set(of(pool) as f64);
        }
    }
}

/// The code, if it is one of the contract's: others are no label, because there could be any number.
pub(crate) fn label(code: &ErrorCode) -> &str {
    if matches!(code, ErrorCode::Other(_)) { OTHER } else { code.as_str() }
}

const OTHER: &str = "other";

fn count<T: PartialEq>(counters: &[(T, Counter)], which: &T) -> bool {
    let counter = counters.iter().find(|(known, _)| known == which);
    counter.inspect(|(_, counter)| counter.increment(1)).is_some()
}

/// Registers metrics, each with its description.
struct Maker<'a>(&'a PrometheusRecorder);

impl Maker<'_> {
    fn counter(&self, name: &'static str, about: &'static str) -> Counter {
        self.0.describe_counter(name.into(), None, about.into());
        self.0.register_counter(&Key::from_static_name(name), &METADATA)
    }

    fn counter_with(&self, name: &'static str, about: &'static str, key: &'static str, value: &str) -> Counter {
        self.0.describe_counter(name.into(), None, about.into());
        self.0.register_counter(&Key::from_parts(name, vec![Label::new(key, value.to_owned())]), &METADATA)
    }

    fn gauge(&self, name: &'static str, about: &'static str) -> Gauge {
        self.gauge_with(name, about, Vec::new())
    }

    fn gauge_with(&self, name: &'static str, about: &'static str, labels: Vec<Label>) -> Gauge {
        self.0.describe_gauge(name.into(), None, about.into());
        self.0.register_gauge(&Key::from_parts(name, labels), &METADATA)
    }

    fn histogram(&self, name: &'static str, about: &'static str) -> Histogram {
        self.0.describe_histogram(name.into(), None, about.into());
        self.0.register_histogram(&Key::from_static_name(name), &METADATA)
    }
}

const METADATA: Metadata<'static> = Metadata::new(module_path!(), Level::INFO, None);
