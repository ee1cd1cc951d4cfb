//! Programs run on a daemon through the Rust client.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{
    ErrorCode, ExecuteRequest, Executor, HANDLE_TAG, Host, InvokeOptions, Outcome, Started, Termination, TimeBound,
    capnweb::Value, text,
};
use codemode_tests::{
    daemon::Daemon,
    processes,
    programs::{Tools, program, program_for},
};
use futures_util::future::join_all;

fn value(outcome: &Outcome) -> Value {
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.termination, Termination::Completed);
    outcome.result.as_ref().expect("a run that completed has a result").decode().expect("the client checked it")
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_in_sequence_and_at_once() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let code = "async () => {
        let sum = 0;
        for (let i = 0; i < 10; i++) sum += await api.echo(i);
        const all = await Promise.all(Array.from({ length: 10 }, (_, i) => api.echo(i)));
        return [sum, all.length, await api.fail('no luck').catch((error) => error.message)];
    }";
    let outcome = executor.execute(program(code), Tools::default().host()).await.unwrap();
    let expected = Value::Array(vec![Value::Number(45.0), Value::Number(10.0), Value::from("no luck")]);
    assert_eq!(value(&outcome), expected);
    assert_eq!(outcome.stats.host_calls, 21);
    executor.dispose().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_runs_at_once_get_twenty_random_numbers() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let run = || async {
        let outcome =
            executor.execute(ExecuteRequest::new("async () => Math.random()"), Host::default()).await.unwrap();
        value(&outcome).as_number().unwrap().to_bits()
    };
    let numbers: BTreeSet<u64> = join_all((0..20).map(|_| run())).await.into_iter().collect();
    assert_eq!(numbers.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_run_leaves_behind_is_seen_by_the_next() {
    let daemon = Daemon::start_with(&["--warm", "1", "--max-concurrent", "1"]);
    let executor = daemon.connect().await;
    let code = "async () => {
        const seen = [typeof globalThis.left, [].left, Math.abs(-1), JSON.stringify({ a: 1 })];
        globalThis.left = 1;
        Object.prototype.left = Array.prototype.left = 2;
        Math.abs = () => 'mine';
        JSON.stringify = () => 'mine';
        return seen.map(String);
    }";
    for _ in 0..5 {
        let outcome = executor.execute(ExecuteRequest::new(code), Host::default()).await.unwrap();
        let expected = ["undefined", "undefined", "1", "{\"a\":1}"].map(Value::from).to_vec();
        assert_eq!(value(&outcome), Value::Array(expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_ends_the_program() {
    let daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    let run = tokio::spawn({
        let executor = executor.clone();
        async move { executor.execute(program("async () => { for (;;) {} }"), Host::default()).await }
    });
    let sandbox = tokio::task::block_in_place(|| daemon.spinning_sandbox());
    run.abort();
    assert_eq!(tokio::task::block_in_place(|| processes::survivors(&[sandbox], Duration::from_secs(2))), []);
    // The session goes on.
    let outcome = executor.execute(program("async () => 1"), Host::default()).await.unwrap();
    assert_eq!(value(&outcome), Value::Number(1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_ends_its_programs() {
    let daemon = Daemon::start();
    let executor = Arc::new(daemon.connect().await);
    let run = tokio::spawn({
        let executor = executor.clone();
        async move { executor.execute(program("async () => { for (;;) {} }"), Host::default()).await }
    });
    let sandbox = tokio::task::block_in_place(|| daemon.spinning_sandbox());
    executor.dispose().await;
    assert_eq!(tokio::task::block_in_place(|| processes::survivors(&[sandbox], Duration::from_secs(2))), []);
    let error = run.await.unwrap().unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::ConnectionBroken, text::REMOTE_CLOSED));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_sees_that_its_run_timed_out() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let tools = Tools::default();
    let request = ExecuteRequest { count_host_waits: true, ..program_for(200, "async () => await api.hold()") };
    let outcome = executor.execute(request, tools.host()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Timeout);
    assert_eq!(outcome.error.as_deref(), Some(text::timed_out(200).as_str()));
    tools.cancellation().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_a_tool_does_not_use_up_the_time_limit() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let tools = Tools::default();
    let run = executor.execute(program_for(100, "async () => await api.hold()"), tools.host());
    let release = async {
        tools.arrival().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        tools.release();
    };
    let (outcome, ()) = futures_util::join!(run, release);
    assert_eq!(value(&outcome.unwrap()), Value::from("released"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_dies_breaks_its_calls_and_says_whether_they_had_started() {
    let mut daemon = Daemon::start();
    let executor = daemon.connect().await;
    let tools = Tools::default();
    let run = executor.execute(program("async () => await api.hold()"), tools.host());
    let kill = async {
        tools.arrival().await;
        daemon.kill();
    };
    let (result, ()) = futures_util::join!(run, kill);
    let error = result.unwrap_err();
    assert_eq!((error.code, error.started), (ErrorCode::ConnectionBroken, Some(Started::Yes)));
    assert_eq!(error.message, text::BROKE_DURING_EXECUTION);
    assert!(error.retryable);
    // What comes afterwards is never sent: there is nobody to send it to.
    let error = executor.execute(program("async () => 1"), Host::default()).await.unwrap_err();
    match error.code {
        ErrorCode::ConnectionRejected => assert_eq!(error.started, None),
        code => assert_eq!((code, error.started), (ErrorCode::ConnectionBroken, Some(Started::No))),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_not_there_rejects_the_connection() {
    let mut daemon = Daemon::start();
    daemon.kill();
    let error = RemoteExecutor::connect(daemon.url(), RemoteOptions::default()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ConnectionRejected);
    assert!(error.retryable);
    assert!(error.message.starts_with(&text::open_failed(daemon.url())), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_over_its_bounds_is_refused_before_any_sandbox() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let cases = [
        (ExecuteRequest::new(format!("async () => '{}'", "x".repeat(1 << 20))), "code"),
        (ExecuteRequest { timeout: TimeBound::Milliseconds(0), ..program("async () => 1") }, "timeout"),
        (ExecuteRequest { id: Some("seven".into()), ..program("async () => 1") }, "id"),
    ];
    for (request, field) in cases {
        let error = executor.execute(request, Host::default()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidRequest);
        assert!(error.message.starts_with(field), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_come_with_the_request() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    let modules =
        [("lib/a.js", "import { b } from './b.js'; export const a = b + 1"), ("lib/b.js", "export const b = 1")];
    let modules = modules.map(|(specifier, source)| (specifier.to_owned(), source.to_owned())).into();
    let request = ExecuteRequest {
        modules: Some(modules),
        ..program("import { a } from 'lib/a.js';\nasync () => [a, (await import('lib/b.js')).b]")
    };
    let outcome = executor.execute(request, Host::default()).await.unwrap();
    assert_eq!(value(&outcome), Value::Array(vec![Value::Number(2.0), Value::Number(1.0)]));
    executor.dispose().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retained_function_is_called_by_any_session_until_it_is_closed() {
    let daemon = Daemon::start();
    let (executor, other) = (daemon.connect().await, daemon.connect().await);
    let code = "async () => { let n = 0; return { step: async (by) => { n += by; return [n, await api.echo(n)] } } }";
    let request = ExecuteRequest { retain_handles: true, ..program(code) };
    let outcome = executor.execute(request, Tools::default().host()).await.unwrap();
    let execution = outcome.execution_id.clone().expect("a function was returned");
    assert!(execution.starts_with("local."));
    let Value::Object(members) = value(&outcome) else { panic!("no object") };
    let handle = members.get("step").and_then(Value::as_object).and_then(|step| step.get(HANDLE_TAG));
    let handle = handle.and_then(Value::as_str).expect("a handle").to_owned();
    executor.dispose().await;

    let pair = |n: f64| Value::Array(vec![Value::Number(n), Value::Number(n)]);
    for n in [2.0, 4.0] {
        let options = InvokeOptions::default();
        let step = other.invoke_handle(&execution, &handle, "[2]", Tools::default().host(), options).await.unwrap();
        assert_eq!(value(&step), pair(n));
    }
    other.close_handles(&execution).await.unwrap();
    let gone = other.invoke_handle(&execution, &handle, "[2]", Host::default(), InvokeOptions::default()).await;
    assert_eq!(gone.unwrap_err().code, ErrorCode::HandleNotFound);
    other.dispose().await;
}
