//! The wire interface of PROTOCOL.md, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use codemode_protocol::{
    CancelSource, PROTOCOL_VERSION,
    capnweb::{BytesKind, Object, Value, target_fn},
    text,
    wire::{self, Info},
};
use codemode_transport::CallError;
use support::{Server, code, request, soon};

const ID: &str = "123e4567-e89b-12d3-a456-426614174000";

fn with_id(program: &str) -> Value {
    request(&[("code", program.into()), ("id", ID.into())])
}

fn result(outcome: Value) -> Value {
    let Value::Object(mut members) = outcome else { panic!("no outcome: {outcome:?}") };
    members.remove("result").expect("a result")
}

#[tokio::test]
async fn version_and_information_are_told() {
    let server = Server::limited(|limits| limits.timeout_ms = 1234).await;
    let client = server.client().await;
    assert_eq!(client.call("protocolVersion", vec![]).await.unwrap(), Value::Number(PROTOCOL_VERSION as f64));
    let info = Info::from_value(client.call("info", vec![]).await.unwrap()).unwrap();
    assert_eq!((info.server.as_str(), info.protocol_version), ("codemoded", PROTOCOL_VERSION));
    assert!(info.limits.contains(&("timeout".into(), 1234.0)), "{:?}", info.limits);
}

#[tokio::test]
async fn unknown_methods_are_no_functions() {
    let server = Server::start().await;
    let client = server.client().await;
    for method in ["toString", "constructor", "__proto__", "Execute", ""] {
        let error = client.refused(method, vec![]).await;
        assert_eq!((error.name.as_str(), error.message), ("TypeError", format!("'{method}' is not a function.")));
    }
}

#[tokio::test]
async fn a_method_read_as_a_property_is_a_function() {
    let server = Server::start().await;
    let mut raw = server.raw().await;
    raw.send(r#"["push",["pipeline",0,["protocolVersion"]]]"#).await;
    raw.send(r#"["push",["pipeline",1,[],[]]]"#).await;
    raw.send(r#"["pull",2]"#).await;
    assert_eq!(raw.until("[\"resolve\"").await.pop().unwrap(), r#"["resolve",2,1]"#);
}

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_refused_before_anything_runs() {
    let server = Server::limited(|limits| limits.code_bytes = 10).await;
    let client = server.client().await;
    let function = || Value::Local(target_fn(|_| async { Ok(Value::Undefined) }));
    let stub_mode = || request(&[("code", "echo".into()), ("outbound", "stub".into())]);
    let cases: Vec<(Vec<Value>, &str)> = vec![
        (vec![], "request: must be an object, not undefined"),
        (vec!["echo".into()], "request: must be an object, not a string"),
        (vec![request(&[])], "code: is missing"),
        (vec![code("12345678901")], "code: takes 11 bytes; at most 10 are allowed"),
        (vec![request(&[("code", "echo".into()), ("id", "x".into())])], "id: must be a UUID"),
        (vec![code("echo"), "dispatch".into()], "dispatch: must be a function of the caller, or null"),
        (vec![code("echo"), Value::Null, 1.into()], "outbound: must be a function of the caller, or null"),
        (vec![code("echo"), Value::Null, function()], "outbound: must be null unless"),
        (vec![stub_mode()], "outbound: must be a function when"),
    ];
    for (args, rule) in cases {
        let error = client.refused("execute", args).await;
        assert_eq!(error.code(), Some("INVALID_REQUEST"), "{rule}");
        assert!(error.message.starts_with(rule), "{rule}: {}", error.message);
    }
    let error = client.refused("cancel", vec![1.into()]).await;
    assert_eq!(error.message, "id: must be a string, the id of a run");
    assert_eq!(server.seen.borrow().started, 0);
}

#[tokio::test]
async fn a_run_gives_its_outcome_in_either_encoding() {
    let server = Server::start().await;
    let client = server.client().await;
    let outcome = client.call("execute", vec![with_id("echo"), Value::Null, Value::Null]).await.unwrap();
    let Value::Object(members) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(members.get("termination"), Some(&"completed".into()));
    assert_eq!(result(outcome), ID.into());

    let text = request(&[("code", "echo".into()), ("id", ID.into()), ("resultEncoding", "text".into())]);
    let Value::Object(members) = client.call("execute", vec![text]).await.unwrap() else { panic!() };
    assert_eq!(members.get("resultText"), Some(&format!("\"{ID}\"").into()));
    assert_eq!(members.get("result"), None);
}

#[tokio::test]
async fn a_run_without_an_id_gets_one() {
    let server = Server::start().await;
    let client = server.client().await;
    let id = result(client.call("execute", vec![code("echo")]).await.unwrap());
    assert_eq!(id.as_str().map(str::len), Some(36), "{id:?}");
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_id_within_its_session() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let other = server.client().await;
    let run = client.0.call(&client.0.main(), &["execute"], vec![with_id("hang")]);
    server.until(|seen| seen.running == 1).await;

    let error = client.refused("execute", vec![with_id("echo")]).await;
    assert_eq!(error.code(), Some("INVALID_REQUEST"));
    assert!(error.message.starts_with("id: "), "{}", error.message);

    assert_eq!(other.call("cancel", vec![ID.into()]).await.unwrap(), Value::Bool(false));
    assert_eq!(client.call("cancel", vec![ID.to_uppercase().into()]).await.unwrap(), Value::Bool(true));
    let Err(CallError::Thrown(Value::Error(error))) = soon(run).await else { panic!("the run should be cancelled") };
    assert_eq!((error.code(), error.props.get("retryable")), (Some("CANCELLED"), Some(&Value::Bool(false))));
    server.until(|seen| seen.running == 0).await;

    assert_eq!(client.call("cancel", vec![ID.into()]).await.unwrap(), Value::Bool(false));
    assert_eq!(result(client.call("execute", vec![with_id("echo")]).await.unwrap()), ID.into());
}

#[tokio::test]
async fn releasing_a_pulled_run_cancels_it_and_a_run_never_pulled_goes_on() {
    let mut server = Server::start().await;
    let mut raw = server.raw().await;
    raw.send(r#"["push",["pipeline",0,["execute"],[{"code":"hang"}]]]"#).await;
    raw.send(r#"["push",["pipeline",0,["execute"],[{"code":"hang"}]]]"#).await;
    raw.send(r#"["pull",1]"#).await;
    server.until(|seen| seen.running == 2).await;
    raw.send(r#"["release",2,1]"#).await;
    raw.send(r#"["release",1,1]"#).await;
    server.until(|seen| seen.running == 1).await;
    // The one that goes on is the one that was never pulled: the session still answers and nothing ends.
    raw.send(r#"["push",["pipeline",0,["protocolVersion"],[]]]"#).await;
    raw.send(r#"["pull",3]"#).await;
    raw.until("[\"resolve\",3,1]").await;
    assert_eq!(server.seen.borrow().running, 1);
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_runs() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let raw = server.raw().await;
    let _run = client.0.call(&client.0.main(), &["execute"], vec![code("hang")]);
    client.0.notify(&client.0.main(), &["execute"], vec![code("hang")]);
    server.until(|seen| seen.running == 2).await;
    client.0.close();
    server.until(|seen| seen.running == 0).await;
    drop(raw);
}

#[tokio::test]
async fn runs_beyond_the_sessions_bound_are_refused() {
    let mut server = Server::limited(|limits| (limits.max_concurrent, limits.queue) = (1, 1)).await;
    let client = server.client().await;
    let main = client.0.main();
    let runs = [(); 2].map(|()| client.0.call(&main, &["execute"], vec![code("hang")]));
    server.until(|seen| seen.running == 2).await;
    let error = client.refused("execute", vec![code("hang")]).await;
    assert_eq!((error.code(), error.props.get("retryable")), (Some("OVERLOADED"), Some(&Value::Bool(true))));
    drop(runs);
    server.until(|seen| seen.running == 0).await;
    client.call("execute", vec![code("echo")]).await.unwrap();
}

#[tokio::test]
async fn the_detail_of_a_bug_does_not_cross_the_wire() {
    let server = Server::start().await;
    let client = server.client().await;
    for program in ["internal", "panic"] {
        let error = client.refused("execute", vec![code(program)]).await;
        assert_eq!(error.code(), Some("INTERNAL"));
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        assert!(error.message.contains("log id"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_drain_lets_runs_finish_and_refuses_new_ones() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let run = client.0.call(&client.0.main(), &["execute"], vec![with_id("hang")]);
    server.until(|seen| seen.running == 1).await;
    server.drain();
    let refused = loop {
        // The drain begins in the daemon's own time.
        match client.call("execute", vec![code("echo")]).await {
            Ok(_) => {}
            Err(CallError::Thrown(Value::Error(error))) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((refused.code(), refused.props.get("retryable")), (Some("SHUTTING_DOWN"), Some(&Value::Bool(true))));
    let (status, text) = server.http("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status, 503, "{text}");
    assert_eq!(client.call("cancel", vec![ID.into()]).await.unwrap(), Value::Bool(true));
    assert!(matches!(soon(run).await, Err(CallError::Thrown(_))));
    let closed = soon(client.0.closed()).await;
    assert_eq!(closed.error_code(), Some("SHUTTING_DOWN"));
    server.until(|seen| seen.disposed).await;
    server.stopped().await;
}

#[tokio::test]
async fn a_run_that_outlives_the_drain_is_cancelled() {
    let mut server = Server::limited(|limits| limits.drain_timeout_ms = 50).await;
    let client = server.client().await;
    let run = client.0.call(&client.0.main(), &["execute"], vec![code("hang")]);
    server.until(|seen| seen.running == 1).await;
    server.drain();
    let Err(CallError::Thrown(Value::Error(error))) = soon(run).await else { panic!("the run should be cancelled") };
    assert_eq!(error.code(), Some("CANCELLED"));
    let message = "The executor was shut down at its 50 ms drain timeout while the run was under way; the run was ended. \
                   Its caller did not cancel it.";
    assert_eq!(error.message, message);
    let closed = soon(client.0.closed()).await;
    assert_eq!(closed.error_code(), Some("SHUTTING_DOWN"));
    // The session also carried runs that were started.
    assert_eq!(closed.to_string(), "The executor has shut down");
    server.stopped().await;
}

#[tokio::test]
async fn unknown_members_of_a_request_are_ignored() {
    let server = Server::start().await;
    let client = server.client().await;
    let members: Object = [("code", Value::from("echo")), ("later", Value::Null)].into_iter().collect();
    client.call("execute", vec![Value::Object(members)]).await.unwrap();
}

#[tokio::test]
async fn requests_go_to_the_outbound_function_and_come_back() {
    let server = Server::start().await;
    let client = server.client().await;
    let fetch = |answer: fn() -> Result<Value, Value>| {
        let outbound = Value::Local(target_fn(move |call| async move {
            let request = wire::outbound_call(call.args.unwrap()).unwrap();
            assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "https://h/x"));
            assert_eq!(request.headers, [("a".to_owned(), "1".to_owned()), ("a".to_owned(), "2".to_owned())]);
            assert_eq!(request.body.as_deref(), Some(&[0, 255][..]));
            answer()
        }));
        client.call(
            "execute",
            vec![request(&[("code", "fetch".into()), ("outbound", "stub".into())]), Value::Null, outbound],
        )
    };
    let good = || {
        let members = [("status", Value::Number(201.0)), ("body", Value::Bytes(BytesKind::Uint8Array, b"hi".to_vec()))];
        Ok(Value::Object(members.into_iter().collect()))
    };
    assert_eq!(result(fetch(good).await.unwrap()), "201 hi".into());
    assert_eq!(result(fetch(|| Err(Value::error("no way"))).await.unwrap()), "error: no way".into());
    let odd = result(fetch(|| Ok(Value::Null)).await.unwrap());
    let expected = text::malformed_response("POST https://h/x", "response: must be an object, not null");
    assert_eq!(odd, format!("error: {expected}").into());
}

#[tokio::test]
async fn a_request_of_a_run_that_is_cancelled_is_released() {
    let server = Server::start().await;
    let client = server.client().await;
    let (arrived, released) = (CancelSource::new(), CancelSource::new());
    let outbound = {
        let (arrived, released) = (arrived.clone(), released.clone());
        Value::Local(target_fn(move |call| {
            let released = released.clone();
            arrived.cancel();
            async move {
                call.cancel.cancelled().await;
                released.cancel();
                Ok(Value::Null)
            }
        }))
    };
    let members = [("code", "fetch".into()), ("outbound", "stub".into()), ("id", ID.into())];
    let run = client.call("execute", vec![request(&members), Value::Null, outbound]);
    let cancel = async {
        soon(arrived.token().cancelled()).await;
        client.call("cancel", vec![ID.into()]).await.unwrap()
    };
    let (ended, cancelled) = futures_util::future::join(run, cancel).await;
    assert_eq!(cancelled, Value::Bool(true));
    let CallError::Thrown(thrown) = ended.unwrap_err() else { panic!("not thrown") };
    assert_eq!(thrown.as_error().unwrap().code(), Some("CANCELLED"));
    soon(released.token().cancelled()).await;
}

#[tokio::test]
async fn handles_are_called_with_a_host_and_options_of_their_own() {
    let server = Server::start().await;
    let client = server.client().await;
    let dispatch = || Value::Local(target_fn(|_| async { Ok("answered".into()) }));
    let arguments = |handle: &str, options: &[(&str, Value)]| {
        vec!["n.e".into(), handle.into(), "[1]".into(), dispatch(), Value::Null, request(options)]
    };
    let called = client.call("invokeHandle", arguments("call", &[("timeout", 5.into())])).await.unwrap();
    assert_eq!(result(called), "answered Milliseconds(5)".into());
    let text = client.call("invokeHandle", arguments("call", &[("resultEncoding", "text".into())])).await.unwrap();
    let text = text.as_object().unwrap().get("resultText").cloned();
    assert_eq!(text, Some("\"answered Default\"".into()));
    let least = client.call("invokeHandle", vec!["n.e".into(), "plain".into()]).await.unwrap();
    assert_eq!(result(least), "n.e plain ".into());

    let missing = client.refused("invokeHandle", arguments("gone", &[])).await;
    assert_eq!(missing.code(), Some("HANDLE_NOT_FOUND"));
    for (args, expected) in [
        (vec![], "executionId: must be a string, not undefined"),
        (arguments("call", &[("timeout", 0.into())]), "timeout: is 0; it must be a finite number of at least 1"),
        (arguments("call", &[("outbound", "stub".into())]), "outbound: must be a function when"),
        (vec!["e".into(), "h".into(), "{".into()], "argsJson: "),
    ] {
        let error = client.refused("invokeHandle", args).await;
        assert_eq!(error.code(), Some("INVALID_REQUEST"));
        assert!(error.message.starts_with(expected), "{}", error.message);
    }

    assert_eq!(client.call("closeHandles", vec!["n.e".into()]).await.unwrap(), Value::Undefined);
    let error = client.refused("closeHandles", vec!["elsewhere.e".into()]).await;
    assert_eq!(error.code(), Some("HANDLE_NOT_FOUND"));
}

#[tokio::test]
async fn a_call_of_a_handle_is_cancelled_by_its_id() {
    let server = Server::start().await;
    let client = server.client().await;
    let (arrived, id) = (CancelSource::new(), request(&[("id", ID.into())]));
    let dispatch = {
        let arrived = arrived.clone();
        Value::Local(target_fn(move |_| {
            arrived.cancel();
            std::future::pending()
        }))
    };
    let args = vec!["n.e".into(), "call".into(), "[]".into(), dispatch, Value::Null, id];
    let cancel = async {
        soon(arrived.token().cancelled()).await;
        client.call("cancel", vec![ID.into()]).await.unwrap()
    };
    let (ended, cancelled) = futures_util::future::join(client.call("invokeHandle", args), cancel).await;
    assert_eq!(cancelled, Value::Bool(true));
    let CallError::Thrown(thrown) = ended.unwrap_err() else { panic!("not thrown") };
    assert_eq!(thrown.as_error().unwrap().code(), Some("CANCELLED"));
}
