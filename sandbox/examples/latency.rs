//! How long a trivial run and one with calls take through a pool; how many trivial ones there are in a second, and what each
//! costs in CPU and page faults; what memory an idle sandbox holds:
//! `cargo run --release -p codemode-sandbox --example latency [SECONDS]`.
//!
//! To compare two revisions, copy this file into a work tree of the other one, build both, and let the two programs take
//! turns.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_protocol::{Dispatch, ExecuteRequest, Executor, Host, HostCall, HostCallError, ProviderDescriptor};
use codemode_sandbox::{PoolExecutor, PoolOptions};
use futures_util::future::{BoxFuture, ready};

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

        report_idle(&pool)?;
        percentiles("2 ms between runs", paced(&pool, ExecuteRequest::new("async () => 1")).await?, None)?;
        let codemode = ProviderDescriptor { name: "codemode".into(), ..ProviderDescriptor::default() };
        let ordinary = ExecuteRequest { providers: vec![codemode], ..ExecuteRequest::new(ORDINARY) };
        percentiles("2 ms between runs with two calls", paced(&pool, ordinary).await?, None)?;
        for in_flight in [1, 2, 8, 32] {
            let (before, faults_before) = (cpu(&pool), faults(&pool));
            let (times, took) = saturate(&pool, in_flight, Duration::from_secs(seconds)).await;
            let runs = times.len().max(1) as u64;
            percentiles(&format!("{in_flight} in flight"), times, Some(took))?;
            let [own, zygote, children] = std::array::from_fn(|at| (cpu(&pool)[at] - before[at]) * 10_000 / runs);
            let faults = (faults(&pool) - faults_before) / runs;
            writeln!(
                io::stdout(),
                "    a run: CPU of pool {own} µs, zygote {zygote} µs, child {children} µs; {faults} page faults of the child"
            )?;
        }
        pool.dispose().await;
        Ok(())
    })
}

/// What programs do that models write: they call tools and shape what comes back.
const ORDINARY: &str = r#"
async () => {
  const pages = await Promise.all([1, 2].map((page) => codemode.list({ page, tags: ["a", "b"] })));
  const sizes = new Map();
  for (const { name, size } of pages.flatMap((page) => page.items).filter((item) => item.size > 10)) {
    const key = name.trim().toLowerCase();
    sizes.set(key, (sizes.get(key) ?? 0) + size);
  }
  console.log(`found ${sizes.size}`, Object.fromEntries(sizes));
  return { names: [...sizes.keys()].sort(), text: JSON.stringify([...sizes]), at: new Date(0) };
}
"#;

/// A host whose tools all answer the same.
struct Lister;

impl Dispatch for Lister {
    fn call(&self, _: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let items = r#"[{"name":" Alpha","size":12},{"name":"beta","size":40},{"name":"gamma","size":3.5}]"#;
        Box::pin(ready(Ok(format!(r#"{{"result":{{"items":{items}}}}}"#))))
    }
}

/// How long runs take that never have to wait for a sandbox.
async fn paced(pool: &PoolExecutor, request: ExecuteRequest) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    for _ in 0..500 {
        let host = Host { dispatch: Some(Arc::new(Lister)), ..Host::default() };
        let began = Instant::now();
        let outcome = pool.execute(request.clone(), host).await?;
        times.push(began.elapsed());
        if outcome.result.is_none() {
            return Err(format!("the program failed: {outcome:?}").into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(times)
}

/// Page faults of children that have ended.
fn faults(pool: &PoolExecutor) -> u64 {
    let zygote = pool.status().zygote.unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{zygote}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    fields.split(' ').nth(8).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Memory of the sandboxes that wait: each one's own, and its share of what it has in common with others.
fn report_idle(pool: &PoolExecutor) -> io::Result<()> {
    let zygote = pool.status().zygote.unwrap_or_default();
    let children = std::fs::read_to_string(format!("/proc/{zygote}/task/{zygote}/children")).unwrap_or_default();
    let mut sizes = [Vec::new(), Vec::new()];
    for child in children.split_whitespace() {
        let rollup = std::fs::read_to_string(format!("/proc/{child}/smaps_rollup")).unwrap_or_default();
        let kib = |name: &str| {
            rollup.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix("kB")?.trim().parse().ok())
        };
        let (pss, private): (Option<u64>, Option<u64>) = (kib("Pss:"), kib("Private_Dirty:"));
        sizes[0].extend(pss);
        sizes[1].extend(private);
    }
    let [pss, private] = sizes.map(|mut sizes| {
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied().unwrap_or(0)
    });
    writeln!(io::stdout(), "an idle sandbox: {pss} KiB PSS, {private} KiB of its own")
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
