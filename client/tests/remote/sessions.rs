//! Rotation, reopening, and what happens to calls meanwhile.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use codemode_client::{Reconnect, RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, Host, Started, capnweb::Value};
use futures_util::{
    future::{FutureExt, join_all},
    poll,
};

use crate::{
    breaks::{cut, runs, spawn, through_a_proxy},
    support::{
        Daemon, answering,
        programs::Programs,
        proxy::{Flow, Proxy},
        tools,
    },
};

pub(crate) fn rotating(after: u64) -> RemoteOptions {
    RemoteOptions { rotate_after_executions: NonZeroU64::new(after).unwrap(), ..RemoteOptions::default() }
}

/// Retries that come fast.
pub(crate) fn retrying(retries: u32) -> RemoteOptions {
    let reconnect = Some(Reconnect { retries, backoff: Duration::from_millis(2) });
    RemoteOptions { reconnect, ..RemoteOptions::default() }
}

async fn connect(daemon: &Daemon, options: RemoteOptions) -> Arc<RemoteExecutor> {
    Arc::new(daemon.try_connect(options).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_waits_for_the_same_attempt() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    for round in 1..=3 {
        proxy.flow_of_new(Flow::Frozen);
        cut(&proxy, &programs, &executor).await;
        let mut runs: Vec<_> = (0..60).map(|n| spawn(&executor, &format!("{round} {n}"))).collect();
        proxy.accepts(round + 1).await;
        // Some lose patience, the first of all among them.
        for run in runs.iter().step_by(3) {
            run.abort();
        }
        proxy.flow(Flow::Open);
        for (n, run) in runs.drain(..).enumerate() {
            match run.await {
                Ok(outcome) => {
                    let result = outcome.unwrap().result.unwrap().decode().unwrap();
                    assert_eq!(result, Value::from(format!("{round} {n}")));
                }
                Err(aborted) => assert!(aborted.is_cancelled() && n % 3 == 0),
            }
        }
        assert_eq!(proxy.accepted(), round + 1, "one attempt for all");
    }
    // Three witnesses of cuts, and those of the impatient that were started before they were dropped.
    assert!((123..=183).contains(&programs.begun()));
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_waits_is_never_submitted() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    proxy.flow_of_new(Flow::Frozen);
    cut(&proxy, &programs, &executor).await;
    {
        let dropped = executor.execute(ExecuteRequest::new("dropped"), Host::default());
        tokio::pin!(dropped);
        assert!(poll!(&mut dropped).is_pending());
        proxy.accepts(2).await;
    }
    proxy.flow(Flow::Open);
    runs(&executor, "kept").await;
    assert_eq!((proxy.accepted(), programs.begun()), (2, 2), "the attempt went on for whoever came next");
}

#[tokio::test]
async fn dropping_a_run_cancels_it_on_the_session_that_carries_it() {
    let (daemon, programs) = Programs::serve().await;
    let executor = connect(&daemon, rotating(1)).await;
    let held = spawn(&executor, "hold");
    assert_eq!(programs.event().await, "begin hold");
    runs(&executor, "rotates").await;
    runs(&executor, "elsewhere").await;
    assert_eq!(daemon.opened(), 2);
    held.abort();
    assert_eq!(programs.event().await, "cancelled hold");
}

#[tokio::test(flavor = "multi_thread")]
async fn rotation_under_load_loses_nothing() {
    let (mut daemon, programs) = Programs::serve().await;
    let executor = connect(&daemon, rotating(5)).await;
    let workers = (0..16).map(|worker| {
        let executor = executor.clone();
        tokio::spawn(async move {
            for n in 0..40 {
                let code = format!("{worker}: {n}, with a call");
                let outcome = executor.execute(ExecuteRequest::new(code.as_str()), tools()).await.unwrap();
                assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from(code));
            }
        })
    });
    for worker in join_all(workers).await {
        worker.unwrap();
    }
    assert_eq!(programs.begun(), 640, "each once");
    executor.dispose().await;
    let sessions = daemon.opened();
    assert!(sessions > 10, "{sessions} sessions");
    for _ in 0..sessions {
        let closed = daemon.ends.recv().await.unwrap();
        assert_eq!((closed.code, closed.error_code()), (3000, None), "every session ends cleanly");
    }
}

#[tokio::test]
async fn a_retired_session_closes_when_its_last_call_has_settled() {
    let (mut daemon, programs) = Programs::serve().await;
    let executor = connect(&daemon, rotating(3)).await;
    let slow = spawn(&executor, "hold");
    assert_eq!(programs.event().await, "begin hold");
    // Calls that are no executions do not count.
    for _ in 0..5 {
        executor.info().await.unwrap();
    }
    for code in ["one", "two", "three"] {
        runs(&executor, code).await;
    }
    assert_eq!(daemon.opened(), 1);
    runs(&executor, "on the next").await;
    assert_eq!(daemon.opened(), 2);
    assert!(daemon.ends.recv().now_or_never().is_none(), "the first one still carries a call");
    programs.release();
    slow.await.unwrap().unwrap();
    assert_eq!(daemon.ends.recv().await.unwrap().code, 3000);
    runs(&executor, "still there").await;
    assert_eq!(daemon.opened(), 2);
}

#[tokio::test]
async fn failures_count_for_rotation_like_successes() {
    let daemon = Daemon::serve(|_| async { Err(Value::from("no")) }).await;
    let executor = connect(&daemon, rotating(2)).await;
    for _ in 0..4 {
        executor.execute(ExecuteRequest::new("x"), Host::default()).await.unwrap_err();
    }
    assert_eq!(daemon.opened(), 2);
}

#[tokio::test]
async fn a_cancel_goes_to_the_session_that_carries_the_run() {
    let (daemon, programs) = Programs::serve().await;
    let executor = connect(&daemon, rotating(1)).await;
    let slow = tokio::spawn({
        let (executor, id) = (executor.clone(), Some("e1".into()));
        async move { executor.execute(ExecuteRequest { id, ..ExecuteRequest::new("hold") }, Host::default()).await }
    });
    assert_eq!(programs.event().await, "begin hold");
    runs(&executor, "rotates").await;
    assert!(executor.cancel("E1").await.unwrap());
    assert_eq!(programs.event().await, "asked to cancel E1");
    assert_eq!(daemon.opened(), 1, "no session was opened for the question");
    programs.release();
    slow.await.unwrap().unwrap();
    assert!(!executor.cancel("e1").await.unwrap());
}

#[tokio::test]
async fn a_run_that_waits_for_a_session_can_be_cancelled() {
    let (proxy, programs, executor) = through_a_proxy(rotating(1)).await;
    runs(&executor, "rotates").await;
    proxy.flow_of_new(Flow::Frozen);
    let run = executor.execute(ExecuteRequest { id: Some("w".into()), ..ExecuteRequest::new("x") }, Host::default());
    tokio::pin!(run);
    assert!(poll!(&mut run).is_pending());
    assert!(executor.cancel("w").await.unwrap());
    let error = run.await.unwrap_err();
    assert_eq!((error.code, error.started), (ErrorCode::Cancelled, Some(Started::No)));
    assert_eq!(programs.begun(), 1);
}

#[tokio::test]
async fn a_daemon_that_comes_back_is_found() {
    let (mut proxy, programs, executor) = through_a_proxy(retrying(1000)).await;
    cut(&proxy, &programs, &executor).await;
    proxy.stop().await;
    let waiting: Vec<_> = (0..5).map(|n| spawn(&executor, &n.to_string())).collect();
    tokio::time::sleep(Duration::from_millis(10)).await;
    proxy.restart().await;
    for run in waiting {
        run.await.unwrap().unwrap();
    }
    assert_eq!((proxy.accepted(), programs.begun()), (1, 6));
}

#[tokio::test]
async fn attempts_are_bounded_and_fail_everybody_alike() {
    let cases =
        [(retrying(3), 4), (retrying(0), 1), (RemoteOptions { reconnect: None, ..RemoteOptions::default() }, 1)];
    for (options, attempts) in cases {
        let (proxy, programs, executor) = through_a_proxy(options).await;
        cut(&proxy, &programs, &executor).await;
        proxy.point_to(answering("503 Service Unavailable").await);
        let calls = (0..10).map(|n| executor.execute(ExecuteRequest::new(n.to_string()), Host::default()));
        for result in join_all(calls).await {
            let error = result.unwrap_err();
            assert_eq!((error.code, error.retryable), (ErrorCode::ConnectionRejected, true));
            assert_eq!(error.message, format!("Failed to open WebSocket to {}", proxy.url()));
            assert_eq!(error.cause.as_deref(), Some("the server answered 503 Service Unavailable"));
        }
        assert_eq!(proxy.accepted(), 1 + attempts);
    }
}

#[tokio::test]
async fn what_never_heals_is_not_tried_again() {
    let other_version = Daemon::serve_version(Value::from(2), |_| async { Ok(Value::Null) }).await;
    let cases = [
        (answering("401 Unauthorized").await, ErrorCode::Unauthorized),
        (other_version.address, ErrorCode::ProtocolMismatch),
    ];
    for (server, code) in cases {
        let (proxy, programs, executor) = through_a_proxy(retrying(3)).await;
        cut(&proxy, &programs, &executor).await;
        proxy.point_to(server);
        let error = executor.execute(ExecuteRequest::new("x"), Host::default()).await.unwrap_err();
        assert_eq!((&error.code, error.retryable), (&code, false));
        assert_eq!(proxy.accepted(), 2);
        // Once it was mended, the next call finds it so.
        let (daemon, _programs) = Programs::serve().await;
        proxy.point_to(daemon.address);
        runs(&executor, "next").await;
    }
}

#[tokio::test]
async fn connecting_is_a_single_attempt() {
    let proxy = Proxy::to(answering("503 Service Unavailable").await).await;
    let error = RemoteExecutor::connect(proxy.url(), retrying(3)).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::ConnectionRejected, true));
    let server = answering("401 Unauthorized").await;
    let error = RemoteExecutor::connect(format!("ws://{server}/"), retrying(3)).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::Unauthorized, false));
    assert_eq!(proxy.accepted(), 1);
}

#[test]
fn a_call_after_its_runtime_is_gone_fails_and_does_not_hang() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (_daemon, executor) = runtime.block_on(async {
        let (daemon, _programs) = Programs::serve().await;
        let executor = daemon.connect().await;
        (daemon, executor)
    });
    runtime.shutdown_timeout(Duration::from_secs(60));
    let next = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = next.block_on(executor.execute(ExecuteRequest::new("x"), Host::default())).unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionRejected);
    next.block_on(executor.dispose());
}
