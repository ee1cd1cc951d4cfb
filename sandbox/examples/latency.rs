//! How long a trivial run takes through a pool, and how many there are in a second:
//! `cargo run --release -p codemode-sandbox --example latency [SECONDS]`.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_protocol::{ExecuteRequest, Executor, Host};
use codemode_sandbox::{PoolExecutor, PoolOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    codemode_sandbox::run_if_zygote();
    let seconds = std::env::args().nth(1).map_or(Ok(2), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let began = Instant::now();
        let pool = Arc::new(PoolExecutor::new(PoolOptions::default()).await?);
        report("cold start", began.elapsed())?;
        pool.execute(ExecuteRequest::new("async () => 1"), Host::default()).await?;
        tokio::time::sleep(Duration::from_millis(200)).await;

        let mut paced = Vec::new();
        for _ in 0..500 {
            let began = Instant::now();
            pool.execute(ExecuteRequest::new("async () => 1"), Host::default()).await?;
            paced.push(began.elapsed());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        percentiles("2 ms between runs", paced, None)?;
        for in_flight in [1, 2, 8, 32] {
            let before = cpu(&pool);
            let (times, took) = saturate(&pool, in_flight, Duration::from_secs(seconds)).await;
            let runs = times.len().max(1) as u64;
            percentiles(&format!("{in_flight} in flight"), times, Some(took))?;
            let [own, zygote, children] = std::array::from_fn(|at| (cpu(&pool)[at] - before[at]) * 10_000 / runs);
            writeln!(io::stdout(), "    CPU a run: pool {own} µs, zygote {zygote} µs, child {children} µs")?;
        }
        pool.dispose().await;
        Ok(())
    })
}

/// Hundredths of a second that pool, zygote and ended children have used so far.
fn cpu(pool: &PoolExecutor) -> [u64; 3] {
    let fields = |pid: &str| -> Vec<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        rest.skip(11).take(4).filter_map(|field| field.parse().ok()).collect()
    };
    let (own, zygote) = (fields("self"), fields(&pool.status().zygote.unwrap_or_default().to_string()));
    [own.iter().take(2).sum(), zygote.iter().take(2).sum(), zygote.iter().skip(2).sum()]
}

async fn saturate(pool: &Arc<PoolExecutor>, in_flight: usize, time: Duration) -> (Vec<Duration>, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let workers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (pool, stop) = (pool.clone(), stop.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    if pool.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.is_ok() {
                        times.push(began.elapsed());
                    }
                }
                times
            })
        })
        .collect();
    tokio::time::sleep(time).await;
    stop.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await.unwrap_or_default());
    }
    (times, began.elapsed())
}

fn percentiles(what: &str, mut times: Vec<Duration>, took: Option<Duration>) -> io::Result<()> {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    let micros = |time: Option<&Duration>| time.map_or(0, Duration::as_micros);
    let rate = took.map_or(String::new(), |took| format!(", {:.0} runs/s", times.len() as f64 / took.as_secs_f64()));
    let (p50, p90, p99) = (micros(at(50)), micros(at(90)), micros(at(99)));
    writeln!(io::stdout(), "{what}: p50 {p50} µs, p90 {p90} µs, p99 {p99} µs{rate}")
}

fn report(what: &str, time: Duration) -> io::Result<()> {
    writeln!(io::stdout(), "{what}: {} µs", time.as_micros())
}
