//! Two daemons behind the balancer of `deploy/`: restarted in turn under load, and one killed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, Executor, ExecutorError, Termination};
use codemode_tests::{
    daemon::Daemon,
    haproxy::{self, HaProxy},
    processes,
    programs::{Tools, program},
};
use futures_util::future::join_all;
use tokio::task::{JoinHandle, block_in_place};

const CLIENTS: usize = 4;
const CALLS: usize = 4;

/// Calls that must have completed before the next thing happens to a daemon.
const PROGRESS: u64 = 100;

/// How long the balancer may take to see a daemon come or go, and calls to get through.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_behind_a_balancer_are_restarted_in_turn_without_a_loss_and_a_killed_one_loses_what_it_ran() {
    let Some(program) = haproxy::installed() else {
        println!(
            "skipped: no haproxy on this machine (`cargo xtask test` unpacks Debian's; else install it, or name one \
             by CODEMODE_HAPROXY)"
        );
        return;
    };
    let mut a = Daemon::start();
    let mut b = Daemon::start();
    let (at_a, at_b) = (address(&a), address(&b));
    let balancer = block_in_place(|| HaProxy::start(&program, [&at_a, &at_b]));
    let load = Load::start(&balancer.url()).await;
    load.progress().await;

    // Each in turn: told to stop, awaited, started anew where it was.
    for (daemon, address) in [(&mut a, &at_a), (&mut b, &at_b)] {
        daemon.terminate();
        assert!(block_in_place(|| daemon.wait()).success(), "a drain ends well");
        load.progress().await;
        *daemon = Daemon::start_at(address, &[]);
        wait_for_sessions(daemon, &load).await;
    }
    assert_eq!(load.broken(), 0, "a restart in turn loses nothing");

    b.kill();
    load.progress().await;
    let broken = load.broken();
    assert!(broken <= (CLIENTS * CALLS) as u64, "{broken} calls broke, more than the killed daemon had");
    let completed = load.finish().await;
    println!("{completed} calls completed, {broken} were under way on the killed daemon and reported broken");
}

/// Calls without a pause, through sessions that are opened anew now and then, so that both daemons get some.
struct Load {
    over: Arc<AtomicBool>,
    completed: Arc<AtomicU64>,
    broken: Arc<AtomicU64>,
    workers: Vec<JoinHandle<()>>,
}

impl Load {
    async fn start(url: &str) -> Self {
        let options =
            RemoteOptions { rotate_after_executions: 20.try_into().expect("not zero"), ..RemoteOptions::default() };
        let clients = join_all((0..CLIENTS).map(|_| RemoteExecutor::connect(url, options.clone()))).await;
        let mut load =
            Self { over: Arc::default(), completed: Arc::default(), broken: Arc::default(), workers: Vec::new() };
        for client in clients {
            let client = Arc::new(client.expect("the balancer has daemons"));
            for _ in 0..CALLS {
                load.workers.push(tokio::spawn(load.worker(client.clone())));
            }
        }
        load
    }

    fn worker(&self, client: Arc<RemoteExecutor>) -> impl Future<Output = ()> + use<> {
        let (over, completed, broken) = (self.over.clone(), self.completed.clone(), self.broken.clone());
        async move {
            let tools = Tools::default();
            while !over.load(Ordering::Relaxed) {
                match client.execute(program("async () => await api.echo(1)"), tools.host()).await {
                    Ok(outcome) => {
                        assert_eq!(outcome.termination, Termination::Completed, "{:?}", outcome.error);
                        completed.fetch_add(1, Ordering::Relaxed)
                    }
                    Err(ExecutorError { code: ErrorCode::ConnectionBroken, .. }) => {
                        broken.fetch_add(1, Ordering::Relaxed)
                    }
                    Err(error) => panic!("a call is lost: {error:?}"),
                };
            }
        }
    }

    /// Resolves when more calls have completed.
    async fn progress(&self) {
        let enough = self.completed.load(Ordering::Relaxed) + PROGRESS;
        let there = async {
            while self.completed.load(Ordering::Relaxed) < enough {
                assert!(!self.workers.iter().any(JoinHandle::is_finished), "a worker gave up");
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, there).await.expect("calls get through");
    }

    fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    async fn finish(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        for worker in self.workers {
            worker.await.expect("no call is lost");
        }
        self.completed.load(Ordering::Relaxed)
    }
}

/// Resolves when the balancer has sent this daemon a session: more is open than its listener and one health check.
async fn wait_for_sessions(daemon: &Daemon, load: &Load) {
    let process = daemon.process();
    let has_sessions = || (process.tcp_sockets() > 2).then_some(());
    let seen = block_in_place(|| processes::eventually(PATIENCE, has_sessions));
    assert!(seen.is_some(), "the balancer sends a restarted daemon no session; {} calls broke", load.broken());
    load.progress().await;
}

fn address(daemon: &Daemon) -> String {
    daemon.url().strip_prefix("ws://").expect("a WebSocket URL").to_owned()
}
