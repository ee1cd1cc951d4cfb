//! Several daemons, and daemons that shut down.

use std::{sync::Arc, time::Duration};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, Host, Started};
use futures_util::future::join_all;

use crate::{
    breaks::{cut, runs, spawn},
    sessions::{retrying, rotating},
    support::{
        answering,
        programs::Programs,
        proxy::{Flow, Proxy},
        tools,
    },
};

#[tokio::test]
async fn a_session_goes_to_the_first_endpoint_that_answers() {
    let (daemon, _programs) = Programs::serve().await;
    let stopped = Proxy::to(daemon.address).await;
    stopped.stop().await;
    let unready = format!("ws://{}/", answering("503 Service Unavailable").await);
    let urls = vec![stopped.url(), unready.clone(), daemon.url()];
    let executor = RemoteExecutor::connect(urls.clone(), RemoteOptions::default()).await.unwrap();
    runs(&executor, "x").await;
    assert_eq!(executor.urls(), urls);
    // With none that answers, the last one says why.
    let error = RemoteExecutor::connect([stopped.url(), unready.clone()], RemoteOptions::default()).await.unwrap_err();
    assert_eq!(error.message, format!("Failed to open WebSocket to {unready}"));
}

#[tokio::test]
async fn rotation_goes_round() {
    let daemons = join_all((0..3).map(|_| Programs::serve())).await;
    let urls: Vec<_> = daemons.iter().map(|(daemon, _)| daemon.url()).collect();
    let executor = RemoteExecutor::connect(&urls[..], rotating(2)).await.unwrap();
    for n in 0..12 {
        runs(&executor, &n.to_string()).await;
    }
    for (daemon, programs) in &daemons {
        assert_eq!((daemon.opened(), programs.begun()), (2, 4));
    }
}

#[tokio::test]
async fn an_endpoint_that_does_not_answer_is_passed_over_for_a_while() {
    let (daemon, _programs) = Programs::serve().await;
    let frozen = Proxy::to(daemon.address).await;
    frozen.flow(Flow::Frozen);
    let options = RemoteOptions { connect_timeout: Duration::from_millis(500), ..rotating(1) };
    let live = Proxy::to(daemon.address).await;
    let executor = RemoteExecutor::connect([frozen.url(), live.url()], options).await.unwrap();
    for n in 0..5 {
        runs(&executor, &n.to_string()).await;
    }
    assert_eq!((frozen.accepted(), live.accepted()), (1, 5));
}

#[tokio::test]
async fn a_killed_daemon_costs_what_it_carried_and_nothing_else() {
    let (daemon, programs) = Programs::serve().await;
    let (first, second) = (Proxy::to(daemon.address).await, Proxy::to(daemon.address).await);
    let executor = RemoteExecutor::connect([first.url(), second.url()], RemoteOptions::default()).await.unwrap();
    let executor = Arc::new(executor);
    let carried: Vec<_> = (0..10).map(|n| spawn(&executor, &format!("hold {n}"))).collect();
    for _ in 0..10 {
        programs.event().await;
    }
    first.stop().await;
    for run in carried {
        let error = run.await.unwrap().unwrap_err();
        assert_eq!((error.code, error.started), (ErrorCode::ConnectionBroken, Some(Started::Unknown)));
    }
    runs(&executor, "next").await;
    assert_eq!((second.accepted(), programs.begun()), (1, 11));
}

#[tokio::test]
async fn a_drained_daemon_finishes_what_it_has_and_new_runs_go_to_the_other() {
    let (mut draining, old) = Programs::serve().await;
    let (other, new) = Programs::serve().await;
    let executor = RemoteExecutor::connect([draining.url(), other.url()], RemoteOptions::default()).await.unwrap();
    let executor = Arc::new(executor);
    let finishing = spawn(&executor, "hold");
    assert_eq!(old.event().await, "begin hold");
    old.drain(true);
    let moved: Vec<_> = (0..10).map(|n| spawn(&executor, &format!("{n} with a call"))).collect();
    for run in moved {
        run.await.unwrap().unwrap();
    }
    assert_eq!((old.begun(), new.begun(), other.opened()), (1, 10, 1));
    old.release();
    finishing.await.unwrap().unwrap();
    assert_eq!(draining.ends.recv().await.unwrap().code, 3000, "the session was retired");
}

#[tokio::test]
async fn a_run_that_is_refused_everywhere_hears_so_when_its_attempts_are_spent() {
    for (endpoints, retries) in [(1, 2), (2, 2), (3, 0)] {
        let (daemon, programs) = Programs::serve().await;
        let urls = vec![daemon.url(); endpoints];
        let executor = RemoteExecutor::connect(urls, retrying(retries)).await.unwrap();
        programs.drain(true);
        let error = executor.execute(ExecuteRequest::new("x"), Host::default()).await.unwrap_err();
        assert_eq!((&error.code, error.message.as_str()), (&ErrorCode::ShuttingDown, "not started"));
        assert!(error.retryable);
        assert_eq!(programs.refused(), 1 + retries as usize);
        // It was a matter of time.
        programs.drain(false);
        runs(&executor, "x").await;
        assert_eq!(programs.begun(), 1);
    }
}

#[tokio::test]
async fn a_restarted_daemon_gets_the_run_that_it_refused() {
    let (daemon, programs) = Programs::serve().await;
    let proxy = Proxy::to(daemon.address).await;
    let executor = Arc::new(RemoteExecutor::connect(proxy.url(), retrying(100)).await.unwrap());
    programs.drain(true);
    proxy.point_to(answering("503 Service Unavailable").await);
    let run = spawn(&executor, "x");
    // The first connection was for the session that refused, the next ones are told to come later.
    proxy.accepts(3).await;
    let (restarted, fresh) = Programs::serve().await;
    proxy.point_to(restarted.address);
    run.await.unwrap().unwrap();
    assert_eq!((programs.begun(), programs.refused(), fresh.begun()), (0, 1, 1));
}

#[tokio::test]
async fn a_refusal_after_a_host_call_is_no_reason_to_run_again() {
    let (daemon, programs) = Programs::serve().await;
    let executor = daemon.connect().await;
    let error = executor.execute(ExecuteRequest::new("late"), tools()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ShuttingDown);
    assert_eq!(programs.refused(), 1);
}

#[tokio::test]
async fn after_a_break_the_next_endpoint_is_asked_first() {
    let (daemon, programs) = Programs::serve().await;
    let (first, second) = (Proxy::to(daemon.address).await, Proxy::to(daemon.address).await);
    let executor = RemoteExecutor::connect([first.url(), second.url()], RemoteOptions::default()).await.unwrap();
    let executor = Arc::new(executor);
    cut(&first, &programs, &executor).await;
    runs(&executor, "x").await;
    assert_eq!((first.accepted(), second.accepted()), (1, 1));
}
