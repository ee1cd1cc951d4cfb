//! What callers are told when networks break.

use std::{sync::Arc, time::Duration};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Outcome, Started, capnweb::Value};
use codemode_transport::TransportOptions;
use futures_util::poll;
use tokio::task::JoinHandle;

use crate::support::{
    programs::Programs,
    proxy::{Direction, Flow, Proxy, Snap, Trap},
    tools,
};

pub(crate) type Running = JoinHandle<Result<Outcome, ExecutorError>>;

/// Starts `code` in a task of its own.
pub(crate) fn spawn(executor: &Arc<RemoteExecutor>, code: &str) -> Running {
    let (executor, request) = (executor.clone(), ExecuteRequest::new(code));
    tokio::spawn(async move { executor.execute(request, tools()).await })
}

/// Runs `code`, which is its own result.
pub(crate) async fn runs(executor: &RemoteExecutor, code: &str) {
    let outcome = executor.execute(ExecuteRequest::new(code), Host::default()).await.unwrap();
    assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from(code));
}

#[track_caller]
fn is_broken(error: &ExecutorError, started: Started) {
    assert_eq!((&error.code, error.retryable), (&ErrorCode::ConnectionBroken, true), "{error}");
    assert_eq!(error.message, "Executor connection broke during execution");
    assert_eq!(error.started, Some(started));
    assert!(error.cause.as_ref().is_some_and(|cause| !cause.is_empty()));
}

/// Cuts the connection of the current session, and waits until the client has seen it.
pub(crate) async fn cut(proxy: &Proxy, programs: &Programs, executor: &Arc<RemoteExecutor>) {
    let witness = spawn(executor, "hold until cut");
    assert_eq!(programs.event().await, "begin hold until cut");
    proxy.cut();
    is_broken(&witness.await.unwrap().unwrap_err(), Started::Unknown);
    // The daemon may see it a little later.
    assert_eq!(programs.event().await, "cancelled hold until cut");
}

pub(crate) async fn through_a_proxy(options: RemoteOptions) -> (Proxy, Programs, Arc<RemoteExecutor>) {
    let (daemon, programs) = Programs::serve().await;
    let proxy = Proxy::to(daemon.address).await;
    let executor = RemoteExecutor::connect(proxy.url(), options).await.unwrap();
    (proxy, programs, Arc::new(executor))
}

#[tokio::test]
async fn a_cut_fails_what_is_under_way_and_the_next_call_opens_a_session() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    let unknown = spawn(&executor, "hold");
    assert_eq!(programs.event().await, "begin hold");
    let yes = spawn(&executor, "hold after a call");
    assert_eq!(programs.event().await, "begin hold after a call");
    proxy.cut();
    is_broken(&unknown.await.unwrap().unwrap_err(), Started::Unknown);
    is_broken(&yes.await.unwrap().unwrap_err(), Started::Yes);
    runs(&executor, "next").await;
    assert_eq!((proxy.accepted(), programs.begun()), (2, 3), "nothing is run twice");
}

#[tokio::test]
async fn an_end_of_either_direction_is_the_end_of_the_session() {
    for direction in [Direction::ToClient, Direction::ToServer] {
        let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
        let run = spawn(&executor, "hold");
        assert_eq!(programs.event().await, "begin hold");
        proxy.flow_of_open(Flow::HalfClosed(direction));
        is_broken(&run.await.unwrap().unwrap_err(), Started::Unknown);
        runs(&executor, "next").await;
        assert_eq!((proxy.accepted(), programs.begun()), (2, 2));
    }
}

#[tokio::test]
async fn a_frozen_peer_is_found_by_its_silence() {
    let transport = TransportOptions {
        ping_interval: Duration::from_millis(20),
        pong_deadline: Duration::from_secs(2),
        ..RemoteOptions::default().transport
    };
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions { transport, ..RemoteOptions::default() }).await;
    let run = spawn(&executor, "hold");
    assert_eq!(programs.event().await, "begin hold");
    proxy.flow_of_open(Flow::Frozen);
    let error = run.await.unwrap().unwrap_err();
    is_broken(&error, Started::Unknown);
    assert!(error.cause.unwrap().contains("no answer to a ping within 2000 ms"));
    runs(&executor, "next").await;
    assert_eq!(proxy.accepted(), 2);
}

#[tokio::test]
async fn delays_and_dribbling_bytes_change_nothing() {
    let (daemon, programs) = Programs::serve().await;
    let proxy = Proxy::to(daemon.address).await;
    proxy.flow(Flow::Trickling);
    let executor = Arc::new(RemoteExecutor::connect(proxy.url(), RemoteOptions::default()).await.unwrap());
    let run = spawn(&executor, "hold after a call");
    assert_eq!(programs.event().await, "begin hold after a call");
    proxy.flow(Flow::Frozen);
    programs.release();
    let delayed = executor.execute(ExecuteRequest::new("delayed"), Host::default());
    tokio::pin!(delayed);
    for _ in 0..100 {
        assert!(poll!(&mut delayed).is_pending());
        tokio::task::yield_now().await;
    }
    assert!(!run.is_finished());
    proxy.flow(Flow::Trickling);
    run.await.unwrap().unwrap();
    delayed.await.unwrap();
    assert_eq!((proxy.accepted(), programs.begun()), (1, 2));
}

#[tokio::test]
async fn a_call_whose_frame_never_left_was_not_started() {
    let (daemon, programs) = Programs::serve().await;
    let proxy = Proxy::to(daemon.address).await;
    // Far into the first request, far before its end.
    proxy.trap(Trap { direction: Direction::ToServer, after: 1 << 20, then: Snap::Freeze });
    let executor = Arc::new(RemoteExecutor::connect(proxy.url(), RemoteOptions::default()).await.unwrap());
    let half_sent = spawn(&executor, &"x".repeat(30 << 20));
    proxy.snaps(1).await;
    let queued = executor.execute(ExecuteRequest::new("queued"), Host::default());
    tokio::pin!(queued);
    assert!(poll!(&mut queued).is_pending());
    // The session takes the call before it learns of the cut.
    tokio::task::yield_now().await;
    proxy.cut();
    is_broken(&half_sent.await.unwrap().unwrap_err(), Started::Unknown);
    is_broken(&queued.await.unwrap_err(), Started::No);
    runs(&executor, "next").await;
    assert_eq!(programs.begun(), 1);
}

#[tokio::test]
async fn a_cut_at_any_byte_is_a_typed_error_or_no_error() {
    let (daemon, programs) = Programs::serve().await;
    for direction in [Direction::ToClient, Direction::ToServer] {
        let mut after = 0;
        loop {
            let proxy = Proxy::to(daemon.address).await;
            proxy.trap(Trap { direction, after, then: Snap::Cut });
            let before = programs.begun();
            let options = RemoteOptions { reconnect: None, ..RemoteOptions::default() };
            let connected = RemoteExecutor::connect(proxy.url(), options).await;
            let outcome = match &connected {
                Ok(executor) => executor.execute(ExecuteRequest::new("call"), tools()).await,
                Err(error) => Err(error.clone()),
            };
            assert!(programs.begun() - before <= 1, "nothing is run twice");
            match outcome {
                Ok(outcome) => {
                    assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from("call"));
                    // A cut between two calls goes unnoticed.
                    if proxy.accepted() == 1 {
                        break;
                    }
                }
                Err(error) if connected.is_ok() => {
                    assert_eq!(error.code, ErrorCode::ConnectionBroken, "{direction:?} {after}: {error}");
                    assert!(error.started != Some(Started::No) || programs.begun() == before);
                }
                Err(error) => assert_eq!(error.code, ErrorCode::ConnectionRejected, "{direction:?} {after}: {error}"),
            }
            after += 13;
        }
        assert!(after > 100, "{direction:?}: the conversation has more than {after} bytes");
    }
}
