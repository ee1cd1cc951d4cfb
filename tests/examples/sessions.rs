//! What many sessions cost a daemon, and how evenly they are served:
//! `cargo run --release -p codemode-tests --example sessions [SECONDS]`.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use codemode_client::RemoteExecutor;
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, Host};
use codemode_tests::daemon::Daemon;
use futures_util::future::join_all;
use tokio::time::sleep;

/// Sessions that do nothing.
const IDLE: usize = 1000;

/// Sessions that compete, and how many runs each has in flight.
const BUSY: usize = 200;
const IN_FLIGHT: usize = 8;

/// Until every session has had a turn.
const SETTLING: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let seconds = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    idle().await?;
    // All wait their turn, then most of them have to come again.
    let places = (BUSY * IN_FLIGHT).to_string();
    compete("with a place in the queue for each run", &["--queue", &places, "--queue-wait", "60s"], seconds).await?;
    compete("with 256 places, trying again as told", &[], seconds).await
}

async fn idle() -> anyhow::Result<()> {
    let daemon = Daemon::start_with(&["--max-sessions", "2000"]);
    let first = daemon.connect().await;
    first.execute(ExecuteRequest::new("async () => 1"), Host::default()).await?;
    let before = daemon.process().resident_bytes();
    let sessions = connect(&daemon, IDLE).await;
    let grown = daemon.process().resident_bytes().saturating_sub(before);
    let (mib, each) = (grown as f64 / f64::from(1 << 20), grown / IDLE as u64 / 1024);
    writeln!(io::stdout(), "{IDLE} idle sessions: {mib:.1} MiB of the daemon's memory, {each} KiB each")?;
    drop(sessions);
    Ok(())
}

async fn connect(daemon: &Daemon, count: usize) -> Vec<Arc<RemoteExecutor>> {
    let mut sessions = Vec::with_capacity(count);
    while sessions.len() < count {
        let some = join_all((0..50.min(count - sessions.len())).map(|_| daemon.connect())).await;
        sessions.extend(some.into_iter().map(Arc::new));
    }
    sessions
}

async fn compete(what: &str, options: &[&str], seconds: u64) -> anyhow::Result<()> {
    let daemon = Daemon::start_with(options);
    let sessions = connect(&daemon, BUSY).await;
    let stop = Arc::new(AtomicBool::new(false));
    let done: Vec<_> = sessions.iter().map(|_| Arc::new(AtomicU64::new(0))).collect();
    let refused = Arc::new(AtomicU64::new(0));
    let mut runs = Vec::new();
    for (session, done) in sessions.iter().zip(&done) {
        for _ in 0..IN_FLIGHT {
            let (session, done, stop, refused) = (session.clone(), done.clone(), stop.clone(), refused.clone());
            runs.push(tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    match session.execute(ExecuteRequest::new("async () => 1"), Host::default()).await {
                        Ok(_) => done.fetch_add(1, Ordering::Relaxed),
                        Err(error) if error.code == ErrorCode::Overloaded => {
                            sleep(Duration::from_millis(error.retry_after_ms.unwrap_or(1000))).await;
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                        Err(error) => return Err(error),
                    };
                }
                Ok(())
            }));
        }
    }
    let count = || -> Vec<_> { done.iter().map(|done| done.load(Ordering::Relaxed)).collect() };
    // Who came first had all permits to begin with.
    sleep(SETTLING).await;
    let before = count();
    sleep(Duration::from_secs(seconds)).await;
    let mut counts: Vec<_> = count().iter().zip(&before).map(|(after, before)| after - before).collect();
    stop.store(true, Ordering::Relaxed);
    for run in runs {
        run.await??;
    }
    counts.sort_unstable();
    let all: u64 = counts.iter().sum();
    let (least, median, most) = (counts[0], counts[counts.len() / 2], counts[counts.len() - 1]);
    writeln!(
        io::stdout(),
        "{BUSY} sessions with {IN_FLIGHT} runs each, {what}, {seconds} s: {all} runs; by session {least} at least, \
         {median} in the middle, {most} at most; {} refused",
        refused.load(Ordering::Relaxed)
    )?;
    Ok(())
}
