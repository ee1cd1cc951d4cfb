//! Host calls over the wire: what the peer's function is called with, what its answers become, and the order of frames
//! at the end of a run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use codemode_protocol::capnweb::{Value, target_fn};
use support::{Client, Server, code};

async fn called(client: &Client, dispatch: Value) -> String {
    let Value::Object(mut outcome) = client.call("execute", vec![code("call"), dispatch, Value::Null]).await.unwrap()
    else {
        panic!("no outcome")
    };
    outcome.remove("result").unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_answer_of_the_peer_is_the_envelope() {
    let server = Server::start().await;
    let client = server.client().await;
    let echo = target_fn(|call| async move { Ok(format!("{:?}", call.args.unwrap_or_default()).into()) });
    assert_eq!(called(&client, Value::Local(echo)).await, format!("{:?}", ["p", "t", "[1]"].map(Value::from)));
}

#[tokio::test]
async fn a_rejection_is_an_error_and_what_is_no_text_is_no_envelope() {
    let server = Server::start().await;
    let client = server.client().await;
    let cases: Vec<(Result<Value, Value>, &str)> = vec![
        (Err(Value::error("tool failed")), "error: tool failed"),
        (Err("plain".into()), "error: plain"),
        (Ok(Value::Undefined), "error: The host answered p.t with something that is no result envelope"),
        (Ok(1.into()), "error: The host answered p.t with something that is no result envelope"),
    ];
    for (answer, expected) in cases {
        let dispatch = target_fn(move |_| std::future::ready(answer.clone()));
        assert_eq!(called(&client, Value::Local(dispatch)).await, expected);
    }
}

#[tokio::test]
async fn a_run_without_a_dispatch_function_has_no_dispatch() {
    let server = Server::start().await;
    let client = server.client().await;
    assert_eq!(called(&client, Value::Null).await, "no dispatch");
    assert_eq!(called(&client, Value::Undefined).await, "no dispatch");
}

/// The frames from the daemon of a run of `program` whose host call is never answered, until all is released.
async fn frames(program: &str) -> Vec<String> {
    let server = Server::start().await;
    let mut raw = server.raw().await;
    raw.send(&format!(r#"["push",["pipeline",0,["execute"],[{{"code":"{program}"}},["export",-1],null]]]"#)).await;
    raw.send(r#"["pull",1]"#).await;
    // Answered when the session has seen all that was sent before.
    raw.send(r#"["push",["pipeline",0,["protocolVersion"],[]]]"#).await;
    raw.send(r#"["pull",2]"#).await;
    let mut frames = raw.until("[\"resolve\",2").await;
    if program == "expire" && !frames.iter().any(|frame| frame == r#"["pull",1]"#) {
        frames.extend(raw.until(r#"["pull",1]"#).await);
    }
    server.go.notify_one();
    frames.extend(raw.until("[\"resolve\",1").await);
    raw.send(r#"["release",1,1]"#).await;
    // Answered after all that the end of the run put on its way.
    if !frames.iter().any(|frame| frame == r#"["release",1,1]"#) {
        frames.extend(raw.until(r#"["release",1,1]"#).await);
    }
    frames
}

fn place(frames: &[String], start: &str) -> usize {
    frames.iter().position(|frame| frame.starts_with(start)).unwrap_or_else(|| panic!("no {start}: {frames:#?}"))
}

#[tokio::test]
async fn calls_left_behind_are_released_after_the_answer() {
    let frames = frames("leave").await;
    assert!(place(&frames, r#"["push",["pipeline",-1,[],["p","t","[1]"]]]"#) < place(&frames, r#"["pull",1]"#));
    assert!(place(&frames, r#"["release",-1,1]"#) < place(&frames, r#"["resolve",1"#), "{frames:#?}");
    assert!(place(&frames, r#"["resolve",1"#) < place(&frames, r#"["release",1,1]"#), "{frames:#?}");
}

#[tokio::test]
async fn calls_cut_off_are_released_before_the_answer() {
    let frames = frames("expire").await;
    assert!(place(&frames, r#"["release",1,1]"#) < place(&frames, r#"["resolve",1"#), "{frames:#?}");
    assert!(place(&frames, r#"["release",-1,1]"#) < place(&frames, r#"["resolve",1"#), "{frames:#?}");
}
