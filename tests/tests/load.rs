//! A program that spins ends in time and does not hold up the others. On its own, because it measures.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_client::RemoteExecutor;
use codemode_protocol::{Executor, Host, Termination};
use codemode_tests::{
    daemon::Daemon,
    programs::{program, program_for},
};
use futures_util::future::join_all;

const BOUND: Duration = Duration::from_millis(300);

/// What the contract allows over the bound.
const ALLOWANCE: Duration = Duration::from_millis(150);

const SPIN: &str = "async () => { for (;;) {} }";

/// No interrupt reaches this one: only the kill from outside ends it.
const SPIN_IN_A_BUILTIN: &str = "async () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })";

/// How often as many spinners as there are cores are started.
const ROUNDS: usize = 5;

#[tokio::test(flavor = "multi_thread")]
async fn spinners_end_in_time_and_others_go_on() {
    let daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    trivial_runs(&executor, || false, 50).await; // warms up
    let calm = trivial_runs(&executor, || false, 500).await;

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let spinning = AtomicBool::new(true);
    let spinners = async {
        let mut over = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (code, over) in [SPIN, SPIN_IN_A_BUILTIN].into_iter().zip(&mut over) {
                let round = (0..cores).map(|_| async {
                    let start = Instant::now();
                    let request = program_for(BOUND.as_millis() as u64, code);
                    let outcome = executor.execute(request, Host::default()).await.unwrap();
                    assert_eq!(outcome.termination, Termination::Timeout);
                    start.elapsed().saturating_sub(BOUND)
                });
                over.extend(join_all(round).await);
            }
        }
        spinning.store(false, Ordering::Relaxed);
        over
    };
    let (mut over, loaded) =
        futures_util::join!(spinners, trivial_runs(&executor, || spinning.load(Ordering::Relaxed), 0));

    over.iter_mut().for_each(|over| over.sort());
    let (calm_p99, loaded_p99) = (quantile(&calm, 0.99), quantile(&loaded, 0.99));
    for (how, over) in ["interrupted", "killed from outside"].iter().zip(&over) {
        println!(
            "{} spinners, {how}: over their bound by {:?} at the median, {:?} at most",
            over.len(),
            quantile(over, 0.5),
            quantile(over, 1.0)
        );
    }
    println!(
        "trivial runs: p50 {:?}, p99 {calm_p99:?} when calm; p50 {:?}, p99 {loaded_p99:?} beside the spinners",
        quantile(&calm, 0.5),
        quantile(&loaded, 0.5)
    );
    // One of twenty may meet a machine that does something else; a kill takes most of the allowance by itself.
    assert!(quantile(&over[0], 0.95) <= ALLOWANCE, "{over:?}");
    assert!(quantile(&over[1], 0.5) <= ALLOWANCE, "{over:?}");
    // Broken, not busy: with one lane blocked the others would wait for a whole bound.
    assert!(quantile(&loaded, 0.5) < BOUND / 3, "trivial runs took {:?} beside spinners", quantile(&loaded, 0.5));
}

/// The sorted times of trivial runs, one after the other: `count` of them, then on `while_`.
async fn trivial_runs(executor: &RemoteExecutor, while_: impl Fn() -> bool, count: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    while times.len() < count || while_() {
        let start = Instant::now();
        let outcome = executor.execute(program("async () => 42"), Host::default()).await;
        assert_eq!(outcome.map(|outcome| outcome.termination).ok(), Some(Termination::Completed));
        times.push(start.elapsed());
    }
    times.sort();
    times
}

/// The quantile of sorted times.
fn quantile(sorted: &[Duration], quantile: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * quantile).round() as usize]
}
