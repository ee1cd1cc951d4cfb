//! TLS on the listener, over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use codemode_daemon::{Config, Tls};
use codemode_protocol::capnweb::Value;
use codemode_transport::{ConnectError, ConnectOptions, certificates_from_pem};
use support::{Client, Server, client, soon};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A certificate of its own authority, for `localhost` and 127.0.0.1, and its key, in PEM.
struct Pair {
    chain: String,
    key: String,
}

impl Pair {
    fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    fn tls(&self) -> Tls {
        Tls::new(self.chain.as_bytes(), self.key.as_bytes()).unwrap()
    }

    fn trusted(&self) -> ConnectOptions {
        let root_certificates = certificates_from_pem(self.chain.as_bytes()).unwrap();
        ConnectOptions { root_certificates, ..ConnectOptions::default() }
    }
}

async fn server(pair: &Pair) -> Server {
    Server::with(Config { tls: Some(pair.tls()), header_timeout: Duration::from_secs(2), ..Config::default() }).await
}

async fn open(server: &Server, host: &str, options: ConnectOptions) -> Result<Client, ConnectError> {
    client(&format!("wss://{host}:{}/", server.addr.port()), options).await
}

#[tokio::test]
async fn a_session_over_tls_is_one_like_any_other() {
    let pair = Pair::new();
    let server = server(&pair).await;
    for host in ["localhost", "127.0.0.1"] {
        let client = open(&server, host, pair.trusted()).await.unwrap();
        assert_eq!(client.call("protocolVersion", vec![]).await.unwrap(), Value::Number(1.0));
        // More than one record in either direction.
        let large = Value::from("x".repeat(300 << 10));
        let error = client.refused("cancel", vec![Value::Array(vec![large])]).await;
        assert_eq!(error.code(), Some("INVALID_REQUEST"));
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_refused_for_good() {
    let pair = Pair::new();
    let server = server(&pair).await;
    for options in [ConnectOptions::default(), Pair::new().trusted()] {
        let error = open(&server, "localhost", options).await.err().unwrap();
        assert!(matches!(error, ConnectError::Tls(_)) && !error.is_transient(), "{error}");
    }
}

#[tokio::test]
async fn plain_http_on_a_tls_port_is_refused_in_words_and_tls_on_a_plain_port_too() {
    let pair = Pair::new();
    let secure = server(&pair).await;
    let (status, text) = secure.http("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(status, 400);
    assert!(text.ends_with("This port speaks TLS, and the request came without: use https:// or wss://\n"), "{text}");
    let error = client(&format!("ws://{}/", secure.addr), ConnectOptions::default()).await.err().unwrap();
    assert!(error.to_string().contains("This port speaks TLS"), "{error}");
    let plain = Server::start().await;
    let error = open(&plain, "localhost", pair.trusted()).await.err().unwrap();
    assert!(error.to_string().contains("the server does not speak TLS"), "{error}");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_to_an_end_is_given_up() {
    let pair = Pair::new();
    let header_timeout = Duration::from_millis(200);
    let server = Server::with(Config { tls: Some(pair.tls()), header_timeout, ..Config::default() }).await;
    // The start of a handshake record of 512 bytes, and nothing at all.
    for begun in [&b"\x16\x03\x01\x02\x00\x01"[..], b""] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(begun).await.unwrap();
        let mut rest = Vec::new();
        // An end or a reset.
        let _ = soon(stream.read_to_end(&mut rest)).await;
    }
    assert!(open(&server, "localhost", pair.trusted()).await.is_ok());
}

#[tokio::test]
async fn garbage_in_place_of_a_handshake_ends_its_own_connection() {
    let pair = Pair::new();
    let server = server(&pair).await;
    let mut garbage = vec![0x16, 0x03, 0x01, 0xff, 0xff];
    garbage.resize(70_000, 0xaa);
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    // It may be closed before all is written.
    let _ = soon(stream.write_all(&garbage)).await;
    let mut rest = Vec::new();
    let _ = soon(stream.read_to_end(&mut rest)).await;
    assert!(open(&server, "localhost", pair.trusted()).await.is_ok());
}

#[tokio::test]
async fn a_certificate_is_replaced_while_sessions_go_on() {
    let (old, new) = (Pair::new(), Pair::new());
    let tls = old.tls();
    let server = Server::with(Config { tls: Some(tls.clone()), ..Config::default() }).await;
    let session = open(&server, "localhost", old.trusted()).await.unwrap();
    assert!(tls.replace(new.chain.as_bytes(), old.key.as_bytes()).is_err(), "they do not belong together");
    assert!(open(&server, "localhost", old.trusted()).await.is_ok());
    tls.replace(new.chain.as_bytes(), new.key.as_bytes()).unwrap();
    assert!(open(&server, "localhost", old.trusted()).await.is_err());
    assert!(open(&server, "localhost", new.trusted()).await.is_ok());
    session.call("info", vec![]).await.unwrap();
}
