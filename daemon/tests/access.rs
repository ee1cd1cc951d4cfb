//! Who may do what, over real sockets: tokens at every door, and what a stranger costs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use codemode_daemon::{Config, TokenList, Tokens, token_line};
use codemode_protocol::{Token, capnweb::Value};
use codemode_transport::{CallError, ConnectError, ConnectOptions};
use futures_util::{SinkExt, StreamExt};
use support::{Server, code, soon};
use tokio_tungstenite::tungstenite::{self, Message, client::IntoClientRequest};

fn tokens(pairs: &[(&str, &str)]) -> TokenList {
    let lines: Vec<_> = pairs.iter().map(|(name, token)| token_line(name, &Token::new(*token)).unwrap()).collect();
    TokenList::parse(&lines.join("\n")).unwrap()
}

fn config() -> (Config, Tokens) {
    let tokens = Tokens::new(tokens(&[("alice", "sesame"), ("bob", "pepper")]));
    (Config { tokens: Some(tokens.clone()), ..Config::default() }, tokens)
}

fn bearer(token: &str) -> ConnectOptions {
    let headers = [("authorization".parse().unwrap(), format!("Bearer {token}").parse().unwrap())];
    ConnectOptions { headers: headers.into_iter().collect(), ..ConnectOptions::default() }
}

fn value(token: &str) -> Vec<Value> {
    vec![Value::from(token)]
}

#[tokio::test]
async fn a_stranger_may_ask_for_the_version_and_authenticate_and_nothing_else() {
    let server = Server::with(config().0).await;
    let client = server.client().await;
    assert_eq!(client.call("protocolVersion", vec![]).await.unwrap(), Value::Number(1.0));
    for method in ["execute", "info", "cancel", "acquire", "invokeHandle", "closeHandles", "codemode", "toString", "x"]
    {
        let error = client.refused(method, vec![code("echo")]).await;
        assert_eq!(error.code(), Some("UNAUTHORIZED"), "{method}");
    }
    let mut raw = server.raw().await;
    // A method read as a property is the same method; others are read no more than called.
    raw.send(r#"["push",["pipeline",0,["protocolVersion"]]]"#).await;
    raw.send(r#"["push",["pipeline",1,[],[]]]"#).await;
    raw.send(r#"["pull",2]"#).await;
    assert_eq!(raw.until("[\"resolve\"").await.pop().unwrap(), r#"["resolve",2,1]"#);
    raw.send(r#"["push",["pipeline",0,["execute"]]]"#).await;
    raw.send(r#"["pull",3]"#).await;
    let refused = raw.until("[\"reject\"").await.pop().unwrap();
    assert!(refused.contains("UNAUTHORIZED"), "{refused}");
    assert_eq!(server.seen.borrow().started, 0);
}

#[tokio::test]
async fn the_right_token_in_band_gives_the_executor_and_leaves_the_main_object_as_it_is() {
    let server = Server::with(config().0).await;
    let client = server.client().await;
    let Value::Stub(executor) = client.call("authenticate", value("sesame")).await.unwrap() else { panic!("no stub") };
    soon(client.0.call(&executor, &["execute"], vec![code("echo")])).await.unwrap();
    assert_eq!(client.refused("execute", vec![code("echo")]).await.code(), Some("UNAUTHORIZED"));
    // Once more is fine; as somebody else it is not, whatever is asked.
    assert!(matches!(client.call("authenticate", value("sesame")).await, Ok(Value::Stub(_))));
    assert_eq!(client.refused("authenticate", value("pepper")).await.code(), Some("INVALID_REQUEST"));
    assert_eq!(server.seen.borrow().started, 1);
}

#[tokio::test]
async fn what_is_called_ahead_of_the_right_token_runs_and_ahead_of_a_wrong_one_does_not() {
    let server = Server::with(config().0).await;
    for (token, answer) in [("sesame", "[\"resolve\",2"), ("wrong", "[\"reject\",2")] {
        let mut raw = server.raw().await;
        raw.send(&format!(r#"["push",["pipeline",0,["authenticate"],["{token}"]]]"#)).await;
        raw.send(r#"["push",["pipeline",1,["execute"],[{"code":"echo"},null,null]]]"#).await;
        raw.send(r#"["pull",2]"#).await;
        raw.until(answer).await;
    }
    assert_eq!(server.seen.borrow().started, 1);
}

#[tokio::test]
async fn the_right_token_at_the_upgrade_makes_the_main_object_the_executor() {
    let server = Server::with(config().0).await;
    let client = server.client_with(bearer("sesame")).await.unwrap();
    client.call("execute", vec![code("echo")]).await.unwrap();
    assert!(matches!(client.call("authenticate", value("sesame")).await, Ok(Value::Stub(_) | Value::Local(_))));
    assert_eq!(client.refused("authenticate", value("pepper")).await.code(), Some("INVALID_REQUEST"));
    assert_eq!(client.refused("authenticate", value("wrong")).await.code(), Some("UNAUTHORIZED"));
    assert_eq!(client.refused("authenticate", vec![1.into()]).await.message, "token: must be a string, not a number");
}

#[tokio::test]
async fn a_wrong_token_at_the_upgrade_gets_401_with_a_text() {
    let server = Server::with(config().0).await;
    for token in ["wrong", "", "sesame2", "SESAME"] {
        let error = server.client_with(bearer(token)).await.err().unwrap();
        let ConnectError::Refused(status, text) = error else { panic!("{token}: {error}") };
        assert_eq!((status.as_u16(), text.as_str()), (401, "UNAUTHORIZED: The token is none that this server takes."));
    }
    assert_eq!(server.seen.borrow().started, 0);
}

#[tokio::test]
async fn a_sub_protocol_carries_the_token_and_is_not_answered() {
    let server = Server::with(config().0).await;
    let open = async |protocols: &str| {
        let mut request = format!("ws://{}/", server.addr).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
        tokio_tungstenite::connect_async(request).await
    };
    // base64url of "sesame".
    let (mut socket, response) = open("codemode.v1, bearer.c2VzYW1l").await.unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "codemode.v1");
    socket.send(Message::text(r#"["push",["pipeline",0,["info"],[]]]"#)).await.unwrap();
    socket.send(Message::text(r#"["pull",1]"#)).await.unwrap();
    let answer = soon(socket.next()).await.unwrap().unwrap().into_text().unwrap();
    assert!(answer.starts_with("[\"resolve\",1"), "{answer}");
    for wrong in ["codemode.v1, bearer.d3Jvbmc", "bearer.c2VzYW1l", "codemode.v1, bearer.!"] {
        let Err(tungstenite::Error::Http(response)) = open(wrong).await else { panic!("{wrong} was taken") };
        assert_eq!(response.status(), 401, "{wrong}");
    }
}

#[tokio::test]
async fn without_tokens_any_token_is_as_good_as_none() {
    let server = Server::start().await;
    let client = server.client_with(bearer("whatever")).await.unwrap();
    assert!(matches!(client.call("authenticate", value("x")).await, Ok(Value::Stub(_))));
    client.call("execute", vec![code("echo")]).await.unwrap();
}

#[tokio::test]
async fn a_session_is_closed_after_a_few_wrong_tokens() {
    let server = Server::with(config().0).await;
    let client = server.client().await;
    for _ in 0..2 {
        assert_eq!(client.refused("authenticate", value("wrong")).await.code(), Some("UNAUTHORIZED"));
    }
    assert!(client.call("authenticate", value("wrong")).await.is_err());
    let closed = soon(client.0.closed()).await;
    assert_eq!(closed.error_code(), Some("UNAUTHORIZED"), "{closed}");
}

#[tokio::test]
async fn a_session_that_does_not_authenticate_in_time_is_closed_and_one_that_does_is_not() {
    let authentication_timeout = Duration::from_millis(300);
    let server = Server::with(Config { authentication_timeout, ..config().0 }).await;
    let known = server.client().await;
    assert!(known.call("authenticate", value("sesame")).await.is_ok());
    let stranger = server.client().await;
    let closed = soon(stranger.0.closed()).await;
    assert_eq!(closed.error_code(), Some("UNAUTHORIZED"));
    assert_eq!(
        closed.to_string(),
        "The session was not authenticated within its 300 ms bound. Call authenticate(token) first."
    );
    known.call("protocolVersion", vec![]).await.unwrap();
}

#[tokio::test]
async fn the_sessions_and_runs_of_a_removed_token_end_and_no_others() {
    let (config, list) = config();
    let mut server = Server::with(config).await;
    let alice = server.client_with(bearer("sesame")).await.unwrap();
    let bob = server.client_with(bearer("pepper")).await.unwrap();
    let in_band = server.client().await;
    assert!(in_band.call("authenticate", value("sesame")).await.is_ok());
    let run = alice.0.call(&alice.0.main(), &["execute"], vec![code("hang")]);
    server.until(|seen| seen.running == 1).await;
    list.replace(tokens(&[("bob", "pepper"), ("alice", "new")]));
    for session in [&alice, &in_band] {
        let closed = soon(session.0.closed()).await;
        assert_eq!(closed.error_code(), Some("UNAUTHORIZED"), "{closed}");
    }
    assert!(matches!(soon(run).await, Err(CallError::Broken { .. })));
    server.until(|seen| seen.running == 0).await;
    bob.call("execute", vec![code("echo")]).await.unwrap();
    assert!(server.client_with(bearer("sesame")).await.is_err());
    assert!(server.client_with(bearer("new")).await.is_ok());
}

#[tokio::test]
async fn strangers_take_no_place_of_others_and_the_oldest_gives_way() {
    let server = Server::with(Config { max_sessions: 1, ..config().0 }).await;
    let oldest = server.client().await;
    let mut strangers = Vec::new();
    for _ in 0..64 {
        let stranger = server.client().await;
        stranger.call("protocolVersion", vec![]).await.unwrap();
        strangers.push(stranger);
    }
    soon(oldest.0.closed()).await;
    let known = server.client_with(bearer("sesame")).await.unwrap();
    known.call("execute", vec![code("echo")]).await.unwrap();
    // The place that a stranger takes when it is known is one of all.
    let error = strangers[63].refused("authenticate", value("sesame")).await;
    assert_eq!(
        (error.code(), error.message.as_str()),
        (Some("OVERLOADED"), "1 sessions are open, which is the bound. Try again later.")
    );
    drop(known);
    loop {
        match strangers[63].call("authenticate", value("sesame")).await {
            Ok(_) => break,
            // The place is free when the server has seen the end.
            Err(CallError::Thrown(Value::Error(error))) => assert_eq!(error.code(), Some("OVERLOADED")),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_stranger_is_not_read_beyond_what_a_token_takes() {
    let authentication_timeout = Duration::from_millis(500);
    let server = Server::with(Config { authentication_timeout, ..config().0 }).await;
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{}/", server.addr)).await.unwrap();
    // Small enough for the buffers of the network, so that sending ends.
    let large = format!("[\"push\",\"{}\"]", "x".repeat(100 << 10));
    soon(socket.send(Message::text(r#"["push",["pipeline",0,["authenticate"],["wrong"]]]"#))).await.unwrap();
    soon(socket.send(Message::text(large))).await.unwrap();
    soon(socket.send(Message::text(r#"["pull",1]"#))).await.unwrap();
    // The pull stands behind what is not read, so no answer comes, and the next thing is the end.
    let first = soon(socket.next()).await.unwrap().unwrap().into_text().unwrap();
    assert!(first.starts_with("[\"abort\"") && first.contains("UNAUTHORIZED"), "{first}");
}

#[tokio::test]
async fn what_is_called_ahead_of_the_right_token_may_be_large() {
    let server = Server::with(config().0).await;
    let mut raw = server.raw().await;
    let large = "x".repeat(1 << 20);
    raw.send(r#"["push",["pipeline",0,["authenticate"],["sesame"]]]"#).await;
    raw.send(&format!("[\"push\",\"{large}\"]")).await;
    raw.send(r#"["push",["pipeline",1,["protocolVersion"],[]]]"#).await;
    raw.send(r#"["pull",3]"#).await;
    assert_eq!(raw.until("[\"resolve\"").await.pop().unwrap(), r#"["resolve",3,1]"#);
}

#[tokio::test]
async fn a_page_needs_the_token_and_health_does_not() {
    let server = Server::with(config().0).await;
    let get = async |path: &str, authorization: &str| {
        let header =
            if authorization.is_empty() { String::new() } else { format!("Authorization: {authorization}\r\n") };
        server.http(&format!("GET {path} HTTP/1.1\r\nHost: executor.example.com\r\n{header}\r\n")).await
    };
    // The status behind the token is the one that the page has.
    for (path, authorization, status) in [
        ("/healthz", "", 200),
        ("/readyz", "Bearer wrong", 200),
        ("/", "", 401),
        ("/", "Bearer wrong", 401),
        ("/", "Basic YTp3cm9uZw==", 401),
        ("/", "Digest x", 401),
        ("/", "Bearer sesame", 426),
        ("/", "Basic OnNlc2FtZQ==", 426),
    ] {
        let (found, text) = get(path, authorization).await;
        assert_eq!(found, status, "{path} {authorization}: {text}");
        let challenged = text.to_ascii_lowercase().contains("www-authenticate: basic realm=");
        assert_eq!(challenged, status == 401, "{text}");
    }
}
