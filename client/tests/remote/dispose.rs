//! Dispose at every moment: nothing hangs, nothing stays open, nobody gets anything but a result or the one error.

use std::{pin::pin, sync::Arc, time::Duration};

use codemode_client::{Reconnect, RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Started, capnweb::Value};
use codemode_transport::TransportOptions;
use futures_util::{
    future::{Either, join_all, pending, select},
    join, poll,
};
use tokio::sync::mpsc;

use crate::{
    breaks::{cut, runs, spawn, through_a_proxy},
    sessions::rotating,
    support::{
        Daemon, answering,
        programs::Programs,
        proxy::{Direction, Flow, Proxy, Snap, Trap},
    },
};

const CLOSED: &str = "RemoteExecutor is closed";

#[track_caller]
fn is_closed(error: &ExecutorError, started: Started) {
    assert_eq!((&error.code, error.message.as_str()), (&ErrorCode::ConnectionBroken, CLOSED));
    assert_eq!(error.started, Some(started));
    assert!(!error.retryable, "a loop that tries again would spin");
}

#[tokio::test]
async fn during_an_attempt_whose_upgrade_is_not_answered() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    proxy.flow_of_new(Flow::Frozen);
    cut(&proxy, &programs, &executor).await;
    let waiting = spawn(&executor, "waiting");
    proxy.accepts(2).await;
    executor.dispose().await;
    is_closed(&waiting.await.unwrap().unwrap_err(), Started::No);
    proxy.flow(Flow::Open);
    proxy.idle().await;
    assert_eq!((proxy.accepted(), programs.begun()), (2, 1));
}

#[tokio::test]
async fn during_an_attempt_whose_version_is_not_told() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    cut(&proxy, &programs, &executor).await;
    // A daemon that takes sessions and does not answer; it is told that they end.
    let (asked, mut questions) = mpsc::unbounded_channel();
    let mut silent = Daemon::serve_all(move |call| {
        asked.send(call.method).unwrap();
        pending()
    })
    .await;
    proxy.point_to(silent.address);
    let waiting = spawn(&executor, "waiting");
    assert_eq!(questions.recv().await.unwrap(), "protocolVersion");
    executor.dispose().await;
    is_closed(&waiting.await.unwrap().unwrap_err(), Started::No);
    assert_eq!(silent.ends.recv().await.unwrap().code, 3000);
    proxy.idle().await;
}

#[tokio::test]
async fn during_the_wait_between_attempts() {
    let reconnect = Some(Reconnect { retries: 3, backoff: Duration::from_secs(3600) });
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions { reconnect, ..RemoteOptions::default() }).await;
    cut(&proxy, &programs, &executor).await;
    proxy.point_to(answering("503 Service Unavailable").await);
    let waiting = spawn(&executor, "waiting");
    proxy.accepts(2).await;
    proxy.idle().await;
    executor.dispose().await;
    is_closed(&waiting.await.unwrap().unwrap_err(), Started::No);
    assert_eq!(proxy.accepted(), 2);
}

#[tokio::test]
async fn with_calls_on_the_current_session_and_on_retired_ones() {
    let (mut daemon, programs) = Programs::serve().await;
    let executor = Arc::new(daemon.try_connect(rotating(1)).await.unwrap());
    let on_retired = spawn(&executor, "hold one");
    assert_eq!(programs.event().await, "begin hold one");
    runs(&executor, "rotates").await;
    let on_current = spawn(&executor, "hold two");
    assert_eq!(programs.event().await, "begin hold two");
    join!(executor.dispose(), executor.dispose());
    for run in [on_retired, on_current] {
        is_closed(&run.await.unwrap().unwrap_err(), Started::Unknown);
    }
    for _ in 0..2 {
        assert_eq!(daemon.ends.recv().await.unwrap().code, 3000);
    }
    assert_eq!(daemon.opened(), 2);
}

#[tokio::test]
async fn every_later_call_is_told() {
    let (daemon, programs) = Programs::serve().await;
    let executor = daemon.connect().await;
    executor.dispose().await;
    is_closed(&executor.execute(ExecuteRequest::new("x"), Host::default()).await.unwrap_err(), Started::No);
    is_closed(&executor.info().await.unwrap_err(), Started::No);
    is_closed(&executor.cancel("x").await.unwrap_err(), Started::No);
    assert_eq!((daemon.opened(), programs.begun()), (1, 0));
}

#[tokio::test]
async fn dropping_the_executor_ends_an_attempt_too() {
    let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
    proxy.flow_of_new(Flow::Frozen);
    cut(&proxy, &programs, &executor).await;
    let waiting = spawn(&executor, "waiting");
    proxy.accepts(2).await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    drop(Arc::into_inner(executor).unwrap());
    proxy.flow(Flow::Open);
    proxy.idle().await;
}

#[tokio::test]
async fn a_connect_that_is_dropped_leaves_nothing() {
    let (daemon, _programs) = Programs::serve().await;
    let proxy = Proxy::to(daemon.address).await;
    proxy.flow(Flow::Frozen);
    {
        let connect = RemoteExecutor::connect(proxy.url(), RemoteOptions::default());
        tokio::pin!(connect);
        assert!(poll!(&mut connect).is_pending());
        proxy.accepts(1).await;
    }
    proxy.flow(Flow::Open);
    proxy.idle().await;
}

#[tokio::test]
async fn at_any_byte_of_a_reopening() {
    let transport = TransportOptions { close_wait: Duration::from_millis(10), ..RemoteOptions::default().transport };
    let options = RemoteOptions { transport, ..RemoteOptions::default() };
    for direction in [Direction::ToClient, Direction::ToServer] {
        let mut after = 0;
        loop {
            let (proxy, programs, executor) = through_a_proxy(options.clone()).await;
            cut(&proxy, &programs, &executor).await;
            proxy.trap(Trap { direction, after, then: Snap::Freeze });
            let calls = (0..3).map(|n| spawn(&executor, &n.to_string())).collect::<Vec<_>>();
            let calls = join_all(calls);
            let results = match select(pin!(proxy.snaps(1)), calls).await {
                Either::Left(((), calls)) => {
                    executor.dispose().await;
                    calls.await
                }
                // The conversation is shorter than that.
                Either::Right((results, _)) => {
                    assert!(results.into_iter().all(|result| result.unwrap().is_ok()));
                    break;
                }
            };
            for result in results {
                if let Err(error) = result.unwrap() {
                    assert_eq!((error.code, error.message.as_str()), (ErrorCode::ConnectionBroken, CLOSED));
                }
            }
            // What is frozen here is never passed on, but the client has closed its end.
            assert!(programs.begun() <= 4);
            after += 29;
        }
        assert!(after > 100, "{direction:?}: the conversation has more than {after} bytes");
    }
}

/// One thread, so that every number of turns is a moment of its own.
#[tokio::test]
async fn at_any_turn_of_a_reopening() {
    for turns in 0..60 {
        let (proxy, programs, executor) = through_a_proxy(RemoteOptions::default()).await;
        cut(&proxy, &programs, &executor).await;
        let calls: Vec<_> = (0..3).map(|n| spawn(&executor, &n.to_string())).collect();
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        executor.dispose().await;
        for (n, call) in calls.into_iter().enumerate() {
            match call.await.unwrap() {
                Ok(outcome) => assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from(n.to_string())),
                Err(error) => {
                    assert_eq!((error.code, error.message.as_str()), (ErrorCode::ConnectionBroken, CLOSED));
                }
            }
        }
        proxy.idle().await;
    }
}
