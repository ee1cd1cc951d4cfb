//! What the listener answers before there is a session, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::{sync::Arc, time::Duration};

use codemode_daemon::{Config, ServeError, TokenList, Tokens};
use support::{Fake, Server, soon};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test]
async fn the_health_endpoints_answer() {
    let server = Server::start().await;
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/", 426), ("/nothing", 404)] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let (found, text) = server.http(&request).await;
        assert_eq!(found, status, "{path}: {text}");
    }
}

#[tokio::test]
async fn readiness_says_why_not() {
    let readiness = Arc::new(|| Err("the pool has no zygote".to_owned()));
    let server = Server::with(Config { readiness, ..Config::default() }).await;
    let (status, text) = server.http("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status, 503);
    assert!(text.ends_with("the pool has no zygote\n"), "{text}");
}

#[tokio::test]
async fn requests_that_a_web_page_could_cause_are_refused() {
    let server = Server::start().await;
    let port = server.addr.port();
    let cases = [
        (format!("GET /healthz HTTP/1.1\r\nHost: example.com:{port}\r\n"), 421, "Host header is"),
        ("GET /healthz HTTP/1.1\r\n".into(), 421, "no Host"),
        ("GET /healthz HTTP/1.0\r\n".into(), 421, "no Host"),
        (format!("GET / HTTP/1.1\r\nHost: example.com\r\n{UPGRADE}"), 421, "Host header is"),
        (format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost\r\n{UPGRADE}"), 403, "Origin"),
        (format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: null\r\n{UPGRADE}"), 403, "Origin"),
    ];
    for (head, status, reason) in cases {
        let head = head.replace("Connection: Upgrade", "Connection: Upgrade, close");
        let close = if head.contains("Connection:") { "" } else { "Connection: close\r\n" };
        let (found, text) = server.http(&format!("{head}{close}\r\n")).await;
        assert_eq!(found, status, "{head}: {text}");
        assert!(text.contains(reason), "{head}: {text}");
    }
}

#[tokio::test]
async fn an_upgrade_without_an_origin_is_taken() {
    let server = Server::start().await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n", server.addr).as_bytes()).await.unwrap();
    let mut head = [0; 12];
    soon(stream.read_exact(&mut head)).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 101");
}

#[tokio::test]
async fn upgrades_beyond_the_bound_on_sessions_are_refused() {
    let server = Server::with(Config { max_sessions: 1, ..Config::default() }).await;
    let first = server.raw().await;
    let upgrade = UPGRADE.replace("Connection: Upgrade", "Connection: Upgrade, close");
    let (status, text) = server.http(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{upgrade}\r\n")).await;
    assert_eq!(status, 503, "{text}");
    drop(first);
}

#[tokio::test]
async fn a_request_that_does_not_come_to_an_end_is_given_up() {
    let config = Config { header_timeout: Duration::from_millis(100), ..Config::default() };
    let server = Server::with(config).await;
    let mut slow = TcpStream::connect(server.addr).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").await.unwrap();
    let mut rest = Vec::new();
    soon(slow.read_to_end(&mut rest)).await.unwrap();
}

#[tokio::test]
async fn a_connection_carries_one_request_and_is_closed_by_us() {
    let server = Server::start().await;
    let (status, text) = server.http("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(status, 200);
    assert!(text.to_ascii_lowercase().contains("connection: close\r\n"), "{text}");
}

#[tokio::test]
async fn the_oldest_half_open_connection_makes_room_for_probes_and_sessions() {
    let config = Config { header_timeout: Duration::from_secs(3600), max_connections: 2, ..Config::default() };
    let server = Server::with(config).await;
    let mut slow = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").await.unwrap();
        slow.push(stream);
    }
    let (status, _) = server.http("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(status, 200);
    let client = server.client().await;
    client.call("protocolVersion", Vec::new()).await.unwrap();
    for stream in &mut slow[..2] {
        let mut rest = Vec::new();
        // Closed with our bytes unread or not: an end or a reset.
        let _ = soon(stream.read_to_end(&mut rest)).await;
        assert_eq!(rest, b"");
    }
}

#[tokio::test]
async fn a_head_over_its_bound_is_refused() {
    let server = Server::start().await;
    let many: String = (0..100).map(|at| format!("x-{at}: 1\r\n")).collect();
    let long = format!("x: {}\r\n", "y".repeat(64 * 1024));
    for extra in [many, long] {
        let (status, text) = server.http(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n")).await;
        assert_eq!(status, 431, "{text}");
    }
}

#[tokio::test]
async fn a_listener_that_others_can_reach_is_refused() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = codemode_daemon::run(Config::default(), listener, Fake::default(), std::future::pending()).await;
    let error = served.unwrap_err();
    assert!(matches!(error, ServeError::NotLoopback(_)));
    assert!(error.to_string().contains("give a list of tokens"), "{error}");
    let others = "0.0.0.0:0".parse().unwrap();
    let insecure = Config { insecure: true, ..Config::default() };
    let tokens = Config { tokens: Some(Tokens::new(TokenList::parse("").unwrap())), ..Config::default() };
    assert!(insecure.check_listen_address(others).is_ok() && tokens.check_listen_address(others).is_ok());
}

#[tokio::test]
async fn sessions_of_one_address_are_bounded() {
    let server = Server::with(Config { max_sessions_per_address: 1, ..Config::default() }).await;
    let first = server.client().await;
    first.call("info", Vec::new()).await.unwrap();
    let upgrade = UPGRADE.replace("Connection: Upgrade", "Connection: Upgrade, close");
    let (status, text) = server.http(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{upgrade}\r\n")).await;
    assert_eq!(status, 429, "{text}");
    assert!(text.contains("OVERLOADED: Upgrade refused. 1 sessions of this address are open"), "{text}");
}

#[tokio::test]
async fn compression_is_not_negotiated() {
    let server = Server::start().await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, x-webkit-deflate-frame\r\n";
    stream
        .write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n{UPGRADE}{offer}\r\n", server.addr).as_bytes())
        .await
        .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(soon(stream.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101") && !head.contains("extensions"), "{head}");
}
