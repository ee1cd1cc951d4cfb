//! Who waits, who is refused, and that nothing stays when a pool goes.

use std::{sync::Arc, time::Duration};

use codemode_protocol::{ErrorCode, Executor, Host, Limits};
use codemode_sandbox::{Level, PoolError, PoolExecutor, PoolOptions};

use crate::common::{children, exists, options, pool, pool_with, request, run, start, text as result, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_the_permits_runs_queue_and_beyond_the_queue_they_are_refused() {
    let limits = Limits { max_concurrent: 1, queue: 1, queue_wait_ms: 300, warm_children: 1, ..Limits::default() };
    let pool = Arc::new(pool_with(limits).await);
    let first = start(&pool, request("async () => { for (;;) {} }"), Host::default());
    until("it runs", || pool.status().running == 1).await;
    let second = start(&pool, request("async () => 2"), Host::default());
    until("the second waits", || pool.status().queued == 1).await;
    let third = pool.execute(request("async () => 3"), Host::default()).await.unwrap_err();
    assert_eq!((third.code, third.retryable), (ErrorCode::Overloaded, true));
    assert!(third.retry_after_ms.is_some_and(|after| after >= 50));
    let second = second.await.unwrap().unwrap_err();
    assert_eq!(second.code, ErrorCode::Overloaded, "its wait bound is over");
    first.abort();
    until("it is gone", || pool.status().running == 0).await;
    let waited = run(&pool, "async () => 4").await;
    assert_eq!(result(&waited), "4");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_beyond_the_warm_children_is_forked_on_request() {
    let pool =
        Arc::new(pool_with(Limits { max_concurrent: 40, warm_children: 1, queue: 0, ..Limits::default() }).await);
    let runs: Vec<_> = (0..40).map(|_| start(&pool, request("async () => 1"), Host::default())).collect();
    for run in runs {
        assert_eq!(result(&run.await.unwrap().unwrap()), "1");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dispose_ends_every_run_and_every_process() {
    let pool = Arc::new(pool().await);
    until("children are warm", || pool.status().warm == 2).await;
    let spinning = start(&pool, request("async () => { console.log('on'); for (;;) {} }"), Host::default());
    until("it runs", || pool.status().running == 1).await;
    let zygote = pool.status().zygote.unwrap();
    let all = [vec![zygote], children(zygote)].concat();
    assert!(all.len() >= 3);
    pool.dispose().await;
    assert_eq!(all.iter().copied().filter(|pid| exists(*pid)).collect::<Vec<_>>(), [0_u32; 0]);
    assert_eq!(spinning.await.unwrap().unwrap_err().code, ErrorCode::Cancelled);
    let late = pool.execute(request("async () => 1"), Host::default()).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::ShuttingDown);
    assert!(!pool.status().ready);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_pool_leaves_no_process() {
    let pool = pool().await;
    until("children are warm", || pool.status().warm == 2).await;
    let zygote = pool.status().zygote.unwrap();
    let all = [vec![zygote], children(zygote)].concat();
    drop(pool);
    until("all are gone", || !all.iter().any(|pid| exists(*pid))).await;
}

#[tokio::test]
async fn a_pool_says_what_is_missing() {
    let no_program = PoolExecutor::new(PoolOptions { zygote: Some("/nonexistent".into()), ..options() }).await;
    let error = no_program.unwrap_err();
    assert!(matches!(error, PoolError::NoZygote { .. }) && error.to_string().contains("run_if_zygote"), "{error}");
    // This very test never called `run_if_zygote`, so it must not be started again.
    let not_opted_in = PoolExecutor::new(PoolOptions::default()).await.unwrap_err();
    assert!(matches!(not_opted_in, PoolError::NoZygote { .. }), "{not_opted_in}");
    let no_zygote = PoolExecutor::new(PoolOptions { zygote: Some("/bin/true".into()), ..options() }).await;
    let error = no_zygote.unwrap_err();
    assert!(matches!(error, PoolError::NotAZygote { .. }) && error.to_string().contains("/bin/true"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_level_that_this_machine_reaches_may_be_required() {
    let reached = pool().await.status().confinement.level;
    println!("this machine reaches {reached}");
    let pool = PoolExecutor::new(PoolOptions { require_confinement: reached, ..options() }).await.unwrap();
    pool.dispose().await;
    if reached < Level::Layered {
        let error =
            PoolExecutor::new(PoolOptions { require_confinement: Level::Layered, ..options() }).await.unwrap_err();
        assert!(matches!(error, PoolError::Confinement { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_can_be_given_up() {
    let limits = Limits { max_concurrent: 1, warm_children: 1, ..Limits::default() };
    let pool = Arc::new(pool_with(limits).await);
    let first = start(&pool, request("async () => { for (;;) {} }"), Host::default());
    until("it runs", || pool.status().running == 1).await;
    let waiting = pool.execute(request("async () => 2"), Host::default());
    assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
    assert_eq!(pool.status().queued, 0);
    first.abort();
    assert_eq!(result(&run(&pool, "async () => 3").await), "3");
    pool.dispose().await;
}
