//! The client against a daemon that does what the test says, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod breaks;
mod dispose;
mod endpoints;
mod leases;
mod sessions;
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{
    Dispatch, EnvelopeDispatch, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, HostCall, HostCallError,
    InvokeOptions, Outbound, OutboundMode, OutboundRequest, OutboundResponse, ResultEncoding, Started, Termination,
    TimeBound, ToolNotFoundError,
    capnweb::{ErrorValue, Value},
    wire::{
        Info, dispatch_arguments, error_to_value, invoke_call, invoke_options_from_value, outbound_arguments,
        outbound_response_from_value, request_from_value,
    },
};
use codemode_transport::CallError;
use futures_util::future::{BoxFuture, FutureExt, join_all, pending};
use support::{Call, Daemon, envelope, programs::outcome};
use tokio::{net::TcpListener, sync::mpsc};

fn request() -> ExecuteRequest {
    ExecuteRequest::new("async () => 1")
}

fn math() -> Host {
    Host::with_dispatch(EnvelopeDispatch::new().provider("math", |call| async move {
        match (call.tool.as_str(), call.args.as_slice()) {
            ("double", [Value::Number(number)]) => Ok(Value::Number(number * 2.0)),
            ("fail", _) => Err(HostCallError::new("on purpose")),
            _ => Err(ToolNotFoundError::new(call.tool).into()),
        }
    }))
}

async fn silent(_: Call) -> Result<Value, Value> {
    pending().await
}

#[tokio::test]
async fn a_run_takes_its_request_there_and_its_outcome_back() {
    let daemon = Daemon::serve(|call| async move {
        assert_eq!((call.method.as_str(), call.args.len()), ("execute", 3));
        assert_eq!((&call.args[1], &call.args[2]), (&Value::Null, &Value::Null), "no tools, no outbound function");
        let request = request_from_value(call.args[0].clone()).unwrap();
        assert_eq!(request.result_encoding, ResultEncoding::Text, "asked for always");
        Ok(outcome(Value::from(request.code)))
    })
    .await;
    let executor = daemon.connect().await;
    let outcome = executor.execute(request(), Host::default()).await.unwrap();
    assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from("async () => 1"));
    assert_eq!((outcome.logs[0].message.as_str(), outcome.stats.host_calls), ("kept", 3));
    assert_eq!(outcome.termination, Termination::Completed);
}

struct Web;

impl Outbound for Web {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        async move {
            match request.url.as_str() {
                "https://fails/" => Err("no such host".to_owned()),
                url => Ok(OutboundResponse {
                    status: 200,
                    status_text: "OK".into(),
                    headers: request.headers.clone(),
                    body: format!("{} {url}", request.method).into_bytes(),
                }),
            }
        }
        .boxed()
    }
}

#[tokio::test]
async fn requests_are_performed_in_the_callers_process_when_the_run_is_to() {
    let daemon = Daemon::serve(|call| async move {
        let Value::Stub(outbound) = call.args[2].clone() else { return Ok(outcome(Value::from("none"))) };
        let fetch = |url: &str| {
            let headers = vec![("a".to_owned(), "b".to_owned())];
            let request = OutboundRequest { method: "GET".into(), url: url.into(), headers, body: None };
            call.connection.call(&outbound, &[], outbound_arguments(request))
        };
        let response = outbound_response_from_value(fetch("https://h/").await.unwrap()).unwrap();
        assert_eq!((response.status, response.headers), (200, vec![("a".to_owned(), "b".to_owned())]));
        let Err(CallError::Thrown(thrown)) = fetch("https://fails/").await else { panic!("not thrown") };
        let error = thrown.as_error().unwrap().clone();
        assert_eq!((error.name.as_str(), error.message.as_str()), ("TypeError", "no such host"));
        Ok(outcome(Value::from(String::from_utf8(response.body).unwrap())))
    })
    .await;
    let executor = daemon.connect().await;
    for (mode, expected) in [(OutboundMode::Stub, "GET https://h/"), (OutboundMode::Default, "none")] {
        let host = Host { outbound: Some(Arc::new(Web)), ..Host::default() };
        let outcome = executor.execute(ExecuteRequest { outbound: mode, ..request() }, host).await.unwrap();
        assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from(expected));
    }
}

#[tokio::test]
async fn handles_are_called_and_closed_where_the_session_leads() {
    let daemon = Daemon::serve(|call| async move {
        if call.method == "closeHandles" {
            return match call.args[0].as_str() {
                Some("n.e") => Ok(Value::Undefined),
                _ => Err(error_to_value(ExecutorError::new(ErrorCode::HandleNotFound, "elsewhere"))),
            };
        }
        assert_eq!((call.method.as_str(), call.args.len()), ("invokeHandle", 6));
        let [execution, handle, args] = invoke_call([0, 1, 2].map(|at| call.args[at].clone())).unwrap();
        assert_eq!((execution.as_str(), handle.as_str(), args.as_str()), ("n.e", "h", "[1]"));
        let Value::Stub(dispatch) = call.args[3].clone() else { panic!("no tools") };
        let tool = dispatch_arguments("math".into(), "double".into(), "[21]".into());
        let doubled = call.connection.call(&dispatch, &[], tool).await.unwrap();
        assert_eq!((doubled, &call.args[4]), (Value::from("{\"result\":42}"), &Value::Null));
        let options = invoke_options_from_value(call.args[5].clone()).unwrap();
        assert_eq!((options.timeout, options.result_encoding), (TimeBound::Ceiling, ResultEncoding::Text));
        Ok(outcome(Value::from("called")))
    })
    .await;
    let executor = daemon.connect().await;
    let options = InvokeOptions { timeout: TimeBound::Ceiling, ..InvokeOptions::default() };
    let called = executor.invoke_handle("n.e", "h", "[1]", math(), options).await.unwrap();
    assert_eq!(called.result.unwrap().decode().unwrap(), Value::from("called"));
    executor.close_handles("n.e").await.unwrap();
    assert_eq!(executor.close_handles("m.e").await.unwrap_err().code, ErrorCode::HandleNotFound);
}

#[tokio::test]
async fn tools_are_called_in_the_callers_process() {
    let daemon = Daemon::serve(|call| async move {
        let calls = [
            call.tool("math", "double", "[21]"),
            call.tool("math", "fail", "[]"),
            call.tool("math", "missing", ""),
            call.tool("nowhere", "x", "[]"),
            call.connection.call(&call.dispatch(), &["name"], vec![]),
            call.connection.call(&call.dispatch(), &[], vec![Value::from(1)]),
        ];
        let answers = join_all(calls).await.into_iter().map(envelope).collect::<Vec<_>>();
        Ok(outcome(Value::from(answers.join("\n"))))
    })
    .await;
    let outcome = daemon.connect().await.execute(request(), math()).await.unwrap();
    let expected = [
        r#"{"result":42}"#,
        r#"{"error":"on purpose"}"#,
        r#"{"error":"Tool \"missing\" not found"}"#,
        r#"{"error":"Tool \"x\" not found"}"#,
        "thrown: dispatch is a function and has no members",
        "thrown: provider: is a number; it must be a string",
    ];
    let answers = outcome.result.unwrap().decode().unwrap();
    let answers: Vec<&str> = answers.as_str().unwrap().split('\n').collect();
    assert_eq!(answers[..5], expected[..5]);
    assert!(answers[5].starts_with("thrown: provider: "), "{answers:?}");
}

/// Tells when its calls begin, and how they end.
struct Watched(mpsc::UnboundedSender<&'static str>);

impl Dispatch for Watched {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let events = self.0.clone();
        async move {
            events.send("called").unwrap();
            match call.tool.as_str() {
                "reject" => Err(HostCallError::new("rejected")),
                _ => {
                    call.cancel.cancelled().await;
                    events.send("cancelled").unwrap();
                    Ok("{}".into())
                }
            }
        }
        .boxed()
    }
}

fn watched() -> (Host, mpsc::UnboundedReceiver<&'static str>) {
    let (events, seen) = mpsc::unbounded_channel();
    (Host::with_dispatch(Watched(events)), seen)
}

#[tokio::test]
async fn a_rejected_dispatch_is_a_thrown_error_of_its_message() {
    let daemon = Daemon::serve(|call| async move { Ok(outcome(envelope(call.tool("p", "reject", "").await).into())) });
    let daemon = daemon.await;
    let outcome = daemon.connect().await.execute(request(), watched().0).await.unwrap();
    assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from("thrown: rejected"));
}

#[tokio::test]
async fn a_host_call_released_before_the_outcome_cancels_its_tool() {
    let daemon = Daemon::serve(|call| async move {
        let waiting = call.tool("p", "wait", "");
        // The answer shows that the call before it has arrived.
        envelope(call.tool("p", "reject", "").await);
        drop(waiting);
        Ok(outcome(Value::Null))
    })
    .await;
    let (host, mut seen) = watched();
    daemon.connect().await.execute(request(), host).await.unwrap();
    assert_eq!(seen.recv().await, Some("called"));
    assert_eq!(seen.recv().await, Some("called"));
    assert_eq!(seen.recv().await, Some("cancelled"));
}

#[tokio::test]
async fn a_host_call_released_after_the_outcome_runs_on() {
    let daemon = Daemon::serve(|call| async move {
        if call.method == "info" {
            return Ok(Info::new("fake", "1.2.3", "n1").to_value());
        }
        let waiting = call.tool("p", "wait", "");
        envelope(call.tool("p", "reject", "").await);
        codemode_transport::after_answer(waiting);
        Ok(outcome(Value::Null))
    })
    .await;
    for _ in 0..50 {
        let executor = daemon.connect().await;
        let (host, mut seen) = watched();
        executor.execute(request(), host).await.unwrap();
        // Whatever the daemon sent before this answer has been handled.
        executor.info().await.unwrap();
        assert_eq!((seen.recv().await, seen.recv().await), (Some("called"), Some("called")));
        assert!(seen.try_recv().is_err(), "the release was a discard");
        executor.dispose().await;
        // The session's end is no release either: the run was answered.
        assert!(seen.recv().now_or_never().is_none_or(|event| event.is_none()));
    }
}

#[tokio::test]
async fn dropping_the_future_cancels_the_run() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let daemon = Daemon::serve(move |call| {
        let events = events.clone();
        async move {
            events.send("started").unwrap();
            call.cancel.cancelled().await;
            events.send("cancelled").unwrap();
            Err(Value::Null)
        }
    })
    .await;
    let executor = daemon.connect().await;
    let run = tokio::spawn({
        let executor = Arc::new(executor);
        async move { executor.execute(request(), Host::default()).await }
    });
    assert_eq!(seen.recv().await, Some("started"));
    run.abort();
    assert_eq!(seen.recv().await, Some("cancelled"));
}

#[tokio::test]
async fn rejections_keep_their_code_and_everything_that_came_with_it() {
    let daemon = Daemon::serve(|call| async move {
        let request = request_from_value(call.args[0].clone()).unwrap();
        Err(match request.code.as_str() {
            "overloaded" => {
                let mut error = ExecutorError::new(ErrorCode::Overloaded, "full");
                error.retry_after_ms = Some(70);
                error_to_value(error)
            }
            "unknown" => ErrorValue::new("Error", "new").with_code("NEW_CODE").into(),
            _ => ErrorValue::new("TypeError", "plain").into(),
        })
    })
    .await;
    let executor = daemon.connect().await;
    let cases = [
        ("overloaded", ErrorCode::Overloaded, "full", true, Some(70)),
        ("unknown", ErrorCode::Other("NEW_CODE".into()), "new", false, None),
        ("none", ErrorCode::Other(String::new()), "plain", false, None),
    ];
    for (code, expected, message, retryable, retry_after_ms) in cases {
        let error = executor.execute(ExecuteRequest::new(code), Host::default()).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (expected, message));
        assert_eq!((error.retryable, error.retry_after_ms), (retryable, retry_after_ms));
    }
}

#[tokio::test]
async fn an_outcome_that_breaks_the_contract_is_an_internal_error() {
    let daemon = Daemon::serve(|_| async { Ok(Value::from("not an outcome")) }).await;
    let error = daemon.connect().await.execute(request(), Host::default()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Internal);
    assert!(error.message.contains("outcome"), "{error}");
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_fails_alone() {
    let daemon = Daemon::serve(|_| async { Ok(outcome(Value::Null)) }).await;
    let executor = daemon.connect().await;
    // No peer takes a message of more than 32 Mi units.
    let error = executor.execute(ExecuteRequest::new("x".repeat(40 << 20)), Host::default()).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::InvalidRequest, false));
    assert!(error.message.starts_with("request: "), "{}", error.message);
    executor.execute(request(), Host::default()).await.unwrap();
}

#[tokio::test]
async fn a_break_says_whether_the_program_had_started() {
    let runs = Arc::new(AtomicUsize::new(0));
    let daemon = Daemon::serve({
        let runs = runs.clone();
        move |call| {
            runs.fetch_add(1, Ordering::Relaxed);
            async move {
                let request = request_from_value(call.args[0].clone()).unwrap();
                if request.code == "yes" {
                    envelope(call.tool("p", "reject", "").await);
                }
                call.connection.abort(ErrorValue::new("Error", "going down").with_code("SHUTTING_DOWN"));
                pending().await
            }
        }
    })
    .await;
    for (code, started) in [("yes", Started::Yes), ("unknown", Started::Unknown)] {
        let executor = daemon.connect().await;
        let error = executor.execute(ExecuteRequest::new(code), watched().0).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::ConnectionBroken, true));
        assert_eq!(error.message, "Executor connection broke during execution");
        assert_eq!(error.started, Some(started));
        assert_eq!(error.cause.as_deref(), Some("SHUTTING_DOWN: going down"));
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2, "nothing is sent twice");
}

#[tokio::test]
async fn dispose_closes_cleanly_and_fails_what_is_under_way() {
    let (events, mut seen) = mpsc::unbounded_channel();
    let mut daemon = Daemon::serve(move |call| {
        events.send(()).unwrap();
        silent(call)
    })
    .await;
    let executor = Arc::new(daemon.connect().await);
    let run = tokio::spawn({
        let executor = executor.clone();
        async move { executor.execute(request(), Host::default()).await }
    });
    seen.recv().await.unwrap();
    executor.dispose().await;
    executor.dispose().await;
    let under_way = run.await.unwrap().unwrap_err();
    let later = executor.execute(request(), Host::default()).await.unwrap_err();
    for (error, started) in [(under_way, Started::Unknown), (later, Started::No)] {
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::ConnectionBroken, "RemoteExecutor is closed"));
        assert_eq!(error.started, Some(started));
    }
    let closed = daemon.ends.recv().await.unwrap();
    assert_eq!((closed.code, closed.error_code()), (3000, None), "no abort");
}

#[tokio::test]
async fn dropping_the_executor_closes_the_session() {
    let mut daemon = Daemon::serve(silent).await;
    drop(daemon.connect().await);
    assert_eq!(daemon.ends.recv().await.unwrap().code, 3000);
}

#[tokio::test]
async fn cancel_and_info_are_typed() {
    let (started, mut seen) = mpsc::unbounded_channel();
    let daemon = Daemon::serve(move |call| {
        let started = started.clone();
        async move {
            match call.method.as_str() {
                "execute" => {
                    started.send(()).unwrap();
                    pending().await
                }
                "cancel" => Ok(Value::Bool(call.args[0] == Value::from("known"))),
                _ => Ok(Info::new("fake", "1.2.3", "n1").to_value()),
            }
        }
    })
    .await;
    let executor = Arc::new(daemon.connect().await);
    let run = tokio::spawn({
        let executor = executor.clone();
        let request = ExecuteRequest { id: Some("known".into()), ..request() };
        async move { executor.execute(request, Host::default()).await }
    });
    seen.recv().await.unwrap();
    assert!(executor.cancel("known").await.unwrap());
    // Known to nobody, so nobody is asked.
    assert!(!executor.cancel("unknown").await.unwrap());
    assert_eq!(executor.info().await.unwrap().server, "fake");
    run.abort();
}

#[tokio::test]
async fn another_version_is_a_mismatch_and_no_version_a_rejection() {
    let cases = [
        (Value::from(2), ErrorCode::ProtocolMismatch, "Executor protocol mismatch: client speaks v1, server speaks v2"),
        (Value::from("1"), ErrorCode::ConnectionRejected, "Failed to open WebSocket to "),
        (Value::from(1.5), ErrorCode::ConnectionRejected, "Failed to open WebSocket to "),
    ];
    for (version, code, message) in cases {
        let mut daemon = Daemon::serve_version(version, silent).await;
        let error = daemon.try_connect(RemoteOptions::default()).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (code, false));
        assert!(error.message.starts_with(message), "{}", error.message);
        assert_eq!(daemon.ends.recv().await.unwrap().code, 3000, "nothing is left open");
    }
}

#[tokio::test]
async fn a_connect_that_fails_names_the_url_and_the_cause() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("ws://{free}/");
    let error = RemoteExecutor::connect(url.as_str(), RemoteOptions::default()).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::ConnectionRejected, true));
    assert_eq!(error.message, format!("Failed to open WebSocket to {url}"));
    assert_eq!(error.cause.as_deref(), Some("Connection refused (os error 111)"));
}

#[tokio::test]
async fn a_server_that_never_says_its_version_is_given_up() {
    // The upgrade is answered, the call is not.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        pending::<()>().await;
        drop(socket);
    });
    let options = RemoteOptions { connect_timeout: Duration::from_millis(100), ..RemoteOptions::default() };
    let error = RemoteExecutor::connect(url, options).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::ConnectionRejected, true));
    assert_eq!(error.cause.as_deref(), Some("no answer within 100 ms"));
    server.abort();
}

#[tokio::test]
async fn headers_go_with_the_upgrade() {
    let mut daemon = Daemon::serve(silent).await;
    let headers = vec![("Authorization".to_owned(), "Bearer t".to_owned()), ("X-A".to_owned(), "1".to_owned())];
    daemon.try_connect(RemoteOptions { headers, ..RemoteOptions::default() }).await.unwrap();
    let seen = daemon.headers.recv().await.unwrap();
    assert_eq!((&seen["authorization"], &seen["x-a"]), (&"Bearer t".parse().unwrap(), &"1".parse().unwrap()));
}
