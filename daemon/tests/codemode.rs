//! The wire method `codemode`: what of the dialect the daemon does for its caller, and what it refuses.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};

use codemode_protocol::{
    Limits,
    capnweb::{Value, target_fn},
};
use codemode_transport::CallError;
use support::{Client, Server, request, soon};

const ID: &str = "123e4567-e89b-12d3-a456-426614174000";

fn list(items: &[&str]) -> Value {
    Value::Array(items.iter().map(|item| Value::from(*item)).collect())
}

fn provider(name: &str, tools: &[&str]) -> Value {
    request(&[("name", name.into()), ("tools", list(tools))])
}

fn asking(program: &str, more: &[(&str, Value)]) -> Value {
    let members: Vec<_> = [("code", Value::from(program))].into_iter().chain(more.iter().cloned()).collect();
    request(&members)
}

/// A dispatch function that answers `envelope`, and what it was called with.
fn answering(envelope: &'static str) -> (Value, Arc<Mutex<Vec<Vec<Value>>>>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let function = target_fn(move |call| {
        seen.lock().unwrap().push(call.args.unwrap_or_default());
        std::future::ready(Ok(envelope.into()))
    });
    (Value::Local(function), calls)
}

async fn answer(client: &Client, request: Value, dispatch: Value) -> Value {
    client.call("codemode", vec![request, dispatch, Value::Null]).await.unwrap()
}

#[tokio::test]
async fn a_tool_is_called_by_its_raw_name_and_its_envelope_is_the_answer() {
    let server = Server::start().await;
    let client = server.client().await;
    let (dispatch, calls) = answering("{\"result\": [ 7 ]}");
    let providers = Value::Array(vec![provider("p", &["t!"])]);
    let answer = answer(&client, asking("```js\ncall\n```", &[("providers", providers)]), dispatch).await;
    let expected = request(&[("result", "{\"result\": [ 7 ]}".into()), ("logs", Value::Array(vec![]))]);
    assert_eq!(answer, expected);
    assert_eq!(*calls.lock().unwrap(), [["p", "t!", "[1]"].map(Value::from)]);
}

#[tokio::test]
async fn the_decision_of_a_connector_is_read_by_the_daemon() {
    let server = Server::start().await;
    let client = server.client().await;
    for (envelope, seen) in [
        ("{\"result\":{\"__codemode_control__\":\"pause\"}}", "{\"error\":\"__CODEMODE_PAUSE__\"}"),
        ("{\"result\":{\"__codemode_control__\":\"error\",\"message\":\"no\"}}", "{\"error\":\"no\"}"),
        ("{\"result\":{\"a\":1}}", "{\"result\":{\"a\":1}}"),
    ] {
        let (dispatch, calls) = answering(envelope);
        let answer = answer(&client, asking("call", &[("connectors", list(&["p"]))]), dispatch).await;
        let Value::Object(members) = answer else { panic!("no result: {answer:?}") };
        assert_eq!(members.get("result"), Some(&seen.into()), "{envelope}");
        assert_eq!(calls.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_name_that_the_dialect_refuses_is_an_error_of_the_program_and_nothing_runs() {
    let server = Server::start().await;
    let client = server.client().await;
    for (providers, connectors, text) in [
        (vec![provider("Promise", &[])], list(&[]), "Provider name \"Promise\" is reserved"),
        (vec![provider("a", &[])], list(&["a"]), "Duplicate name \"a\" (connector clashes with provider)"),
        (
            vec![provider("a", &["x-y", "x.y"])],
            list(&[]),
            "Tool names \"x-y\" and \"x.y\" both sanitize to \"x_y\" in provider \"a\"",
        ),
    ] {
        let more = [("providers", Value::Array(providers)), ("connectors", connectors)];
        assert_eq!(answer(&client, asking("echo", &more), Value::Null).await, request(&[("error", text.into())]));
    }
    // However long the name is, the text that repeats it is not.
    let long = Value::Array(vec![provider(&"-".repeat(200_000), &[])]);
    let told = answer(&client, asking("echo", &[("providers", long)]), Value::Null).await;
    let told = told.as_object().unwrap().get("error").unwrap().as_str().unwrap().len();
    assert!(told as u64 <= Limits::default().error_bytes, "{told} bytes");
    assert_eq!(server.seen.borrow().started, 0);
}

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_refused_before_anything_runs() {
    let bounds = |limits: &mut Limits| {
        (limits.code_bytes, limits.providers, limits.tools, limits.modules_bytes) = (10, 2, 3, 5);
    };
    let server = Server::limited(bounds).await;
    let client = server.client().await;
    let echo = |name: &str, value: Value| asking("echo", &[(name, value)]);
    let function = || Value::Local(target_fn(|_| async { Ok(Value::Undefined) }));
    let cases: Vec<(Vec<Value>, &str)> = vec![
        (vec![], "request: must be an object, not undefined"),
        (vec![function()], "request: must be an object, not a function"),
        (vec![request(&[])], "code: is missing"),
        (vec![asking("12345678901", &[])], "code: takes 11 bytes; at most 10 are allowed"),
        (vec![echo("providers", request(&[]))], "providers: must be an array, not an object"),
        (vec![echo("providers", Value::Array(vec![provider("a", &["1", "2", "3", "4"])]))], "providers: 4 tool names"),
        (vec![echo("connectors", list(&["a", "b", "c"]))], "connectors: 3 with the providers; at most 2"),
        (vec![echo("connectors", Value::Array(vec![1.into()]))], "connectors[0]: must be a string, not a number"),
        (vec![echo("modules", request(&[("m", "12345".into())]))], "modules: takes 6 bytes"),
        (vec![echo("timeout", (-1).into())], "timeout: is -1; it must be a finite number of at least 0"),
        (vec![echo("id", "x".into())], "id: must be a UUID"),
        (vec![echo("resultEncoding", "xml".into())], "resultEncoding: is \"xml\""),
        (vec![echo("outbound", "stub".into())], "outbound: must be a function when"),
        (vec![asking("echo", &[]), "dispatch".into()], "dispatch: must be a function of the caller, or null"),
        (vec![asking("echo", &[]), Value::Null, function()], "outbound: must be null unless"),
    ];
    for (args, rule) in cases {
        let error = client.refused("codemode", args).await;
        assert_eq!(error.code(), Some("INVALID_REQUEST"), "{rule}");
        assert!(error.message.starts_with(rule), "{rule}: {}", error.message);
    }
    assert_eq!(server.seen.borrow().started, 0);
    assert_eq!(answer(&client, asking("echo", &[]), Value::Null).await.as_object().unwrap().iter().count(), 2);
}

#[tokio::test]
async fn a_failure_of_the_infrastructure_rejects_with_its_code() {
    let server = Server::start().await;
    let client = server.client().await;
    for program in ["internal", "panic"] {
        let error = client.refused("codemode", vec![asking(program, &[])]).await;
        assert_eq!(error.code(), Some("INTERNAL"));
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_run_that_is_out_of_time_says_so_in_the_words_of_the_dialect() {
    let server = Server::start().await;
    let client = server.client().await;
    let (dispatch, _) = answering("{}");
    server.go.notify_one();
    let providers = Value::Array(vec![provider("p", &["t"])]);
    let answer = answer(&client, asking("expire", &[("providers", providers)]), dispatch).await;
    let expected = request(&[("error", "Execution timed out".into()), ("logs", Value::Array(vec![]))]);
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_run_has_a_name_and_is_cancelled_by_it_or_by_its_release() {
    let mut server = Server::start().await;
    let client = server.client().await;
    let named = || vec![asking("hang", &[("id", ID.into())])];
    let run = client.0.call(&client.0.main(), &["codemode"], named());
    server.until(|seen| seen.running == 1).await;
    let error = client.refused("codemode", named()).await;
    assert!(error.message.starts_with("id: "), "{}", error.message);
    assert_eq!(client.call("cancel", vec![ID.into()]).await.unwrap(), Value::Bool(true));
    let Err(CallError::Thrown(Value::Error(error))) = soon(run).await else { panic!("the run should be cancelled") };
    assert_eq!(error.code(), Some("CANCELLED"));
    server.until(|seen| seen.running == 0).await;

    let run = client.0.call(&client.0.main(), &["codemode"], named());
    server.until(|seen| seen.running == 1).await;
    drop(run);
    server.until(|seen| seen.running == 0).await;
}

#[tokio::test]
async fn a_result_can_travel_as_text() {
    let server = Server::start().await;
    let client = server.client().await;
    let text = asking("echo", &[("id", ID.into()), ("resultEncoding", "text".into())]);
    let expected = request(&[("resultText", format!("\"{ID}\"").into()), ("logs", Value::Array(vec![]))]);
    assert_eq!(answer(&client, text, Value::Null).await, expected);
}

#[tokio::test]
async fn a_large_program_is_made_in_a_thread_of_its_own_and_runs() {
    let server = Server::start().await;
    let client = server.client().await;
    // Longer than what is normalized where it arrives.
    let program = format!("echo{}", " ".repeat(8 << 10));
    let answer = answer(&client, asking(&format!("```js\n{program}\n```"), &[("id", ID.into())]), Value::Null).await;
    assert_eq!(answer.as_object().unwrap().get("result"), Some(&ID.into()));
}
