//! Processes of ours that die, or have to.

use std::{sync::Arc, time::Duration};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Outcome, Started, Termination};
use codemode_tests::{
    daemon::Daemon,
    processes,
    programs::{Tools, program},
};
use tokio::task::{JoinHandle, block_in_place};

const SPIN: &str = "async () => { console.log('about to spin'); for (;;) {} }";
const SPIN_IN_A_BUILTIN: &str = "async () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })";

type Running = JoinHandle<Result<Outcome, ExecutorError>>;

fn start(executor: &Arc<RemoteExecutor>, request: ExecuteRequest, host: Host) -> Running {
    let executor = executor.clone();
    tokio::spawn(async move { executor.execute(request, host).await })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_sandbox_fails_its_own_run_and_keeps_its_logs() {
    let daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    let tools = Tools::default();
    let bystander = start(&executor, program("async () => await api.hold()"), tools.host());
    tools.arrival().await;

    let crashed = start(&executor, program(SPIN), Host::default());
    block_in_place(|| daemon.spinning_sandbox()).signal(libc::SIGKILL);
    let error = crashed.await.unwrap().unwrap_err();
    assert_eq!(error.code, ErrorCode::SandboxCrashed, "{error}");
    assert!(error.retryable, "no host call had started");
    assert_eq!(error.logs.iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["about to spin"]);

    tools.release();
    assert_eq!(bystander.await.unwrap().unwrap().termination, Termination::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_idle_sandboxes_are_replaced() {
    let daemon = Daemon::start_with(&["--warm", "3"]);
    let executor = daemon.connect().await;
    let ready = || Some(daemon.sandboxes()).filter(|sandboxes| sandboxes.len() >= 3);
    for sandbox in block_in_place(|| processes::eventually(Duration::from_secs(10), ready)).expect("three are warm") {
        sandbox.signal(libc::SIGKILL);
    }
    let mut crashed = 0;
    for _ in 0..10 {
        match executor.execute(program("async () => 1"), Host::default()).await {
            Ok(outcome) => assert_eq!(outcome.termination, Termination::Completed),
            // Handed over before its death was seen; nothing had started in it.
            Err(error) => {
                assert_eq!((error.code, error.retryable), (ErrorCode::SandboxCrashed, true));
                crashed += 1;
            }
        }
    }
    assert!(crashed <= 3, "{crashed} runs failed, but only three sandboxes were killed");
    assert!(block_in_place(|| processes::eventually(Duration::from_secs(10), ready)).is_some(), "the pool refills");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_zygote_fails_its_runs_and_is_replaced() {
    let daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    let zygote = daemon.zygote();
    let crashed = start(&executor, program(SPIN), Host::default());
    block_in_place(|| daemon.spinning_sandbox());
    let before = processes::descendants(daemon.process().pid());
    zygote.signal(libc::SIGKILL);

    let error = crashed.await.unwrap().unwrap_err();
    assert_eq!(error.code, ErrorCode::SandboxCrashed, "{error}");
    assert_eq!(error.logs.len(), 1);
    let outcome = executor.execute(program("async () => 1"), Host::default()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Completed);
    assert_eq!(block_in_place(|| processes::survivors(&before, Duration::from_secs(2))), []);
    assert_ne!(daemon.zygote(), zygote);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_daemon_leaves_no_process_within_a_second() {
    for code in [SPIN, SPIN_IN_A_BUILTIN] {
        let mut daemon = Daemon::start();
        let executor = Arc::new(daemon.connect().await);
        let broken = start(&executor, program(code), Host::default());
        block_in_place(|| daemon.spinning_sandbox());
        let family = processes::descendants(daemon.process().pid());
        assert!(family.len() >= 2, "the zygote and a sandbox at least: {family:?}");
        daemon.kill();
        assert_eq!(block_in_place(|| processes::survivors(&family, Duration::from_secs(1))), [], "{code}");
        assert_eq!(broken.await.unwrap().unwrap_err().code, ErrorCode::ConnectionBroken);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_daemon_finishes_what_runs_and_leaves_nothing() {
    let mut daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    let tools = Tools::default();
    let running = start(&executor, program("async () => await api.hold()"), tools.host());
    tools.arrival().await;
    let family = processes::descendants(daemon.process().pid());
    daemon.terminate();
    // The signal may take a moment to arrive; until then programs are taken.
    let refused = loop {
        if let Err(error) = executor.execute(program("async () => 1"), Host::default()).await {
            break error;
        }
    };
    assert_eq!(refused.code, ErrorCode::ShuttingDown);
    assert!(refused.retryable);
    tools.release();
    assert_eq!(running.await.unwrap().unwrap().termination, Termination::Completed);
    assert!(block_in_place(|| daemon.wait()).success());
    assert_eq!(block_in_place(|| processes::survivors(&family, Duration::from_secs(1))), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_daemon_is_found_by_its_silence_and_the_next_one_is_asked() {
    let (frozen, other) = (Daemon::start(), Daemon::start());
    let mut options = RemoteOptions { connect_timeout: Duration::from_secs(2), ..RemoteOptions::default() };
    options.transport.ping_interval = Duration::from_millis(20);
    options.transport.pong_deadline = Duration::from_secs(2);
    let executor = Arc::new(RemoteExecutor::connect([frozen.url(), other.url()], options).await.unwrap());
    let tools = Tools::default();
    let held = start(&executor, program("async () => await api.hold()"), tools.host());
    tools.arrival().await;
    frozen.process().signal(libc::SIGSTOP);
    let error = held.await.unwrap().unwrap_err();
    assert_eq!((&error.code, error.started), (&ErrorCode::ConnectionBroken, Some(Started::Yes)), "{error}");
    assert!(error.cause.as_ref().is_some_and(|cause| cause.contains("no answer to a ping")), "{error:?}");

    let outcome = executor.execute(program("async () => 1"), Host::default()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Completed);
    // It goes on where it was stopped.
    frozen.process().signal(libc::SIGCONT);
    let outcome = frozen.connect().await.execute(program("async () => 1"), Host::default()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Completed);
}
