//! Functions in results, called later.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use codemode_protocol::{
    ErrorCode, ExecuteRequest, Executor, ExecutorError, HANDLE_TAG, Host, InvokeOptions, Limits, Outcome, Termination,
    TimeBound, text,
};
use codemode_sandbox::{PoolExecutor, PoolOptions};
use tokio::sync::Notify;

use crate::common::{
    children, exists, host, kill, options, pool, pool_with, quick_host, request, text as result, until,
};

fn retaining(code: &str) -> ExecuteRequest {
    ExecuteRequest { retain_handles: true, ..request(code) }
}

async fn retain(pool: &PoolExecutor, code: &str) -> Outcome {
    let outcome = pool.execute(retaining(code), quick_host()).await.unwrap();
    assert_eq!(outcome.error, None);
    outcome
}

fn execution(outcome: &Outcome) -> &str {
    outcome.execution_id.as_deref().expect("the result holds handles")
}

/// The handles in a result, in order.
fn handles(outcome: &Outcome) -> Vec<String> {
    let tag = format!("{{\"{HANDLE_TAG}\":\"");
    let parts = result(outcome).split(&tag).skip(1);
    parts.map(|part| part.split('"').next().unwrap_or_default().to_owned()).collect()
}

async fn call(pool: &PoolExecutor, of: &Outcome, handle: usize, args: &str) -> Result<Outcome, ExecutorError> {
    let handle = handles(of)[handle].clone();
    pool.invoke_handle(execution(of), &handle, args, quick_host(), InvokeOptions::default()).await
}

fn assert_gone(answer: Result<Outcome, ExecutorError>, execution: &str) {
    let error = answer.unwrap_err();
    assert_eq!((error.code, error.message), (ErrorCode::HandleNotFound, text::execution_not_found(execution)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_of_a_result_are_called_with_state_logs_and_figures_of_their_own() {
    let pool = pool().await;
    let code = "async () => {
        let count = 0;
        const add = async (by = 1) => { console.log('add', by); return count += by };
        return { add, again: [add], make: () => (x) => x * 2, bytes: (b) => b.length, fail() { throw new TypeError('no') } };
    }";
    let outcome = retain(&pool, code).await;
    let ids = handles(&outcome);
    assert_eq!((ids.len(), &ids[0]), (5, &ids[1]), "a function is one handle wherever it occurs");
    assert_eq!((pool.status().running, pool.status().retained), (0, 1));

    let added = call(&pool, &outcome, 0, "[5]").await.unwrap();
    assert_eq!((result(&added), added.logs.len(), added.logs[0].message.as_str()), ("5", 1, "add 5"));
    assert!(added.stats.wall_ms > 0.0 && added.stats.host_calls == 0);
    assert_eq!(result(&call(&pool, &outcome, 1, "").await.unwrap()), "6");

    let made = call(&pool, &outcome, 2, "[]").await.unwrap();
    assert_eq!(made.execution_id, outcome.execution_id);
    assert_eq!(result(&call(&pool, &made, 0, "[21]").await.unwrap()), "42");

    let bytes = "[{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AAEC\"}]";
    assert_eq!(result(&call(&pool, &outcome, 3, bytes).await.unwrap()), "3");

    let failed = call(&pool, &outcome, 4, "[]").await.unwrap();
    assert_eq!((failed.termination, failed.error.as_deref()), (Termination::Threw, Some("no")));
    assert_eq!(result(&call(&pool, &outcome, 0, "[1]").await.unwrap()), "7", "a failure ends nothing");

    pool.close_handles(execution(&outcome)).await.unwrap();
    pool.close_handles(execution(&outcome)).await.unwrap();
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));
    assert_eq!(pool.status().retained, 0);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_without_functions_retains_nothing() {
    let pool = pool().await;
    for code in ["async () => ({ a: 1 })", "async () => { throw () => 1 }", "async () => [Symbol(), () => 1]"] {
        let outcome = pool.execute(retaining(code), quick_host()).await.unwrap();
        assert_eq!((outcome.execution_id, outcome.handles_refused), (None, false), "{code}");
    }
    let looks_like_one = format!("async () => ({{ {HANDLE_TAG}: 'mine' }})");
    assert_eq!(retain(&pool, &looks_like_one).await.execution_id, None);
    assert_eq!(pool.status().retained, 0);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_use_the_host_of_their_own_and_run_one_at_a_time_in_order() {
    let pool = Arc::new(pool().await);
    let outcome = retain(&pool, "async () => async (n) => { await api.enter(n); await api.leave(n); return n }").await;
    let (seen, go) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
    let calls: Vec<_> = (0..3)
        .map(|n| {
            let (seen, go, told) = (seen.clone(), go.clone(), seen.clone());
            let lent = host(move |call| {
                let (seen, go) = (seen.clone(), go.clone());
                async move {
                    seen.lock().unwrap().push(format!("{n} {} {}", call.tool, call.args_json));
                    if call.tool == "enter" && n == 0 {
                        go.notified().await;
                    }
                    Ok("{}".to_owned())
                }
            });
            let (pool, id, handle) = (pool.clone(), execution(&outcome).to_owned(), handles(&outcome)[0].clone());
            let task = tokio::spawn(async move {
                pool.invoke_handle(&id, &handle, &format!("[{n}]"), lent, InvokeOptions::default()).await
            });
            (task, told)
        })
        .collect();
    // The first has the execution once its tool is at work; the others wait in line, in whatever order they came.
    until("a call is at work", || !seen.lock().unwrap().is_empty()).await;
    go.notify_one();
    for (n, (call, _)) in calls.into_iter().enumerate() {
        go.notify_one();
        assert_eq!(result(&call.await.unwrap().unwrap()), n.to_string());
    }
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 6);
    for pair in seen.chunks(2) {
        assert_eq!(pair[0].replace("enter", "leave"), pair[1], "{seen:?}");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_began_goes_on_only_inside_a_call() {
    let pool = pool().await;
    let code = "async () => {
        let late = 'not yet';
        const never = api.get().then((value) => { late = value });
        return { late: () => late, wait: () => never };
    }";
    let outcome = pool.execute(retaining(code), host(|_| std::future::pending())).await.unwrap();
    assert_eq!(result(&call(&pool, &outcome, 0, "[]").await.unwrap()), "\"not yet\"");
    let stalled = call(&pool, &outcome, 1, "[]").await.unwrap();
    assert_eq!(stalled.termination, Termination::Stalled, "the answer of a run that has ended is nobody's");
    assert_eq!(result(&call(&pool, &outcome, 0, "[]").await.unwrap()), "\"not yet\"");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_has_a_clock_of_its_own_and_one_that_runs_out_ends_the_execution() {
    let pool = pool().await;
    let outcome =
        retain(&pool, "async () => ({ f: () => 1, spin() { for (;;) new Promise(() => { for (;;); }) } })").await;
    let options = InvokeOptions { timeout: TimeBound::Milliseconds(200), ..InvokeOptions::default() };
    let spin = pool.invoke_handle(execution(&outcome), &handles(&outcome)[1], "[]", Host::default(), options).await;
    let spin = spin.unwrap();
    assert_eq!((spin.termination, spin.error), (Termination::Timeout, Some(text::timed_out(200))));
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));
    assert_eq!(pool.status().retained, 0);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_ends_the_execution() {
    let pool = Arc::new(pool().await);
    let outcome = retain(&pool, "async () => ({ f: () => 1, wait: () => api.get() })").await;
    let arrived = Arc::new(Notify::new());
    let lent = {
        let arrived = arrived.clone();
        host(move |_| {
            arrived.notify_one();
            std::future::pending()
        })
    };
    let task = {
        let (pool, id, handle) = (pool.clone(), execution(&outcome).to_owned(), handles(&outcome)[1].clone());
        tokio::spawn(async move { pool.invoke_handle(&id, &handle, "[]", lent, InvokeOptions::default()).await })
    };
    arrived.notified().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_is_closed_expires_or_dies_is_gone() {
    let limits = Limits { warm_children: 0, handle_ttl_ms: 100, ..Limits::default() };
    let pool = pool_with(limits).await;
    let zygote = pool.status().zygote.unwrap();
    let outcome = retain(&pool, "async () => () => 1").await;
    let [child] = children(zygote)[..] else { panic!("more than the retained child") };
    until("it has expired", || pool.status().retained == 0 && !exists(child)).await;
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));
    pool.dispose().await;

    let pool = pool_with(Limits { warm_children: 0, ..Limits::default() }).await;
    let zygote = pool.status().zygote.unwrap();
    let outcome = retain(&pool, "async () => () => 1").await;
    let [child] = children(zygote)[..] else { panic!("more than the retained child") };
    kill(child);
    until("its end is known", || pool.status().retained == 0).await;
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));

    let outcome = retain(&pool, "async () => () => 1").await;
    let [child] = children(zygote)[..] else { panic!("more than the retained child") };
    pool.dispose().await;
    assert!(!exists(child));
    assert_gone(call(&pool, &outcome, 0, "[]").await, execution(&outcome));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_under_a_call_ends_it_as_not_found() {
    let pool = Arc::new(pool().await);
    let outcome = retain(&pool, "async () => () => api.get()").await;
    let arrived = Arc::new(Notify::new());
    let lent = {
        let arrived = arrived.clone();
        host(move |_| {
            arrived.notify_one();
            std::future::pending()
        })
    };
    let handle = handles(&outcome)[0].clone();
    let calling = pool.invoke_handle(execution(&outcome), &handle, "[]", lent, InvokeOptions::default());
    let closing = async {
        arrived.notified().await;
        pool.close_handles(execution(&outcome)).await
    };
    let (called, closed) = tokio::join!(calling, closing);
    closed.unwrap();
    assert_gone(called, execution(&outcome));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_the_bound_functions_are_null_and_the_run_counts() {
    let pool = pool_with(Limits { warm_children: 1, max_retained: 1, ..Limits::default() }).await;
    let first = retain(&pool, "async () => () => 1").await;
    let code = "async () => ({ f: () => 1, list: [Math.max, 'x'], text: '{\"__codemode_handle__\":\"1\"}' })";
    let second = pool.execute(retaining(code), Host::default()).await.unwrap();
    assert_eq!((second.execution_id.as_deref(), second.handles_refused), (None, true));
    let text = r#""{\"__codemode_handle__\":\"1\"}""#;
    assert_eq!(result(&second), format!("{{\"f\":null,\"list\":[[null,\"x\"]],\"text\":{text}}}"));
    pool.close_handles(execution(&first)).await.unwrap();
    let third = retain(&pool, "async () => () => 3").await;
    assert_eq!(result(&call(&pool, &third, 0, "[]").await.unwrap()), "3");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_ids_and_arguments_are_named() {
    let pool = PoolExecutor::new(PoolOptions { node: Some("east.1".into()), ..options() }).await.unwrap();
    let outcome = retain(&pool, "async () => () => 1").await;
    assert!(execution(&outcome).starts_with("east.1."));
    let uuid = execution(&outcome).rsplit_once('.').unwrap().1.to_owned();
    let handle = handles(&outcome)[0].clone();
    let invoke = async |execution: &str, handle: &str, args: &str| {
        let answer = pool.invoke_handle(execution, handle, args, Host::default(), InvokeOptions::default()).await;
        answer.map(|outcome| result(&outcome).to_owned()).map_err(|error| (error.code, error.message))
    };
    let here = execution(&outcome).to_owned();
    let elsewhere = format!("west.{uuid}");
    let other = handle.replace(".1", ".2");
    let missing = |text: String| Err((ErrorCode::HandleNotFound, text));
    let cases = [
        (here.as_str(), handle.as_str(), Ok("1".to_owned())),
        (here.as_str(), other.as_str(), missing(text::handle_not_found(&here, &other))),
        (here.as_str(), "1", missing(text::handle_not_found(&here, "1"))),
        (elsewhere.as_str(), handle.as_str(), missing(text::execution_elsewhere(&elsewhere, "west", "east.1"))),
        ("nonsense", handle.as_str(), missing(text::execution_not_found("nonsense"))),
        (here.as_str(), handle.as_str(), Ok("1".to_owned())),
    ];
    for (execution, handle, expected) in cases {
        assert_eq!(invoke(execution, handle, "[]").await, expected, "{execution} {handle}");
    }
    let (code, message) = invoke(&here, &handle, "[1,").await.unwrap_err();
    assert_eq!(code, ErrorCode::InvalidRequest);
    assert!(message.starts_with("argsJson: "), "{message}");
    let closed = pool.close_handles(&elsewhere).await.unwrap_err();
    assert_eq!(closed.code, ErrorCode::HandleNotFound);
    pool.close_handles("nonsense").await.unwrap();
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retained_executions_hold_no_permit() {
    let pool = pool_with(Limits { warm_children: 1, max_concurrent: 1, ..Limits::default() }).await;
    let mut kept = Vec::new();
    for _ in 0..4 {
        kept.push(retain(&pool, "async () => () => 1").await);
    }
    assert_eq!(result(&crate::common::run(&pool, "async () => 2").await), "2");
    for outcome in &kept {
        let answer = tokio::time::timeout(Duration::from_secs(20), call(&pool, outcome, 0, "[]")).await;
        assert_eq!(result(&answer.unwrap().unwrap()), "1");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timers_go_on_inside_calls_only() {
    let pool = pool().await;
    let code = "async () => {
        const seen = [];
        setTimeout(() => { seen.push('left behind'); console.log('fired') }, 1);
        return { look: () => seen.length, wait: async (ms) => { await scheduler.wait(ms); return seen } };
    }";
    let outcome = retain(&pool, code).await;
    assert!(outcome.logs.is_empty());
    assert_eq!(result(&call(&pool, &outcome, 0, "[]").await.unwrap()), "0");
    let waited = call(&pool, &outcome, 1, "[5]").await.unwrap();
    assert_eq!((result(&waited), waited.logs.len()), ("[[\"left behind\"]]", 1));
    pool.dispose().await;
}
