//! Real sockets on loopback: our client against axum, and each against a peer driven by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::WebSocketUpgrade, http::StatusCode, routing::get, serve::ListenerExt};
use codemode_protocol::capnweb::{Target, Value};
use codemode_transport::{
    CallError, CloseOrigin, Closed, ConnectError, ConnectOptions, Connection, ServerSocket, TransportOptions, bounded,
    connect, start,
};
use futures_util::{SinkExt, StreamExt};
use support::{echo, nothing, spawn, target};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::mpsc,
    task::JoinHandle,
    time::sleep,
};
use tokio_tungstenite::tungstenite::Message;

/// A server whose sessions have `main`; their ends arrive by the channel.
async fn serve(
    main: Arc<dyn Target>,
    options: TransportOptions,
) -> (SocketAddr, mpsc::UnboundedReceiver<Arc<Closed>>, JoinHandle<()>) {
    let (ends, ended) = mpsc::unbounded_channel();
    let upgrade = move |upgrade: WebSocketUpgrade| {
        let (main, options, ends) = (main.clone(), options.clone(), ends.clone());
        async move {
            bounded(upgrade, options.limits.message_bytes).on_upgrade(|socket| async move {
                let (connection, driver) = start(ServerSocket::from(socket), main, options);
                // Receiving it is optional.
                let _ = ends.send(driver.await);
                drop(connection);
            })
        }
    };
    let router = Router::new()
        .route("/", get(upgrade))
        .route("/draining", get(|| async { StatusCode::SERVICE_UNAVAILABLE }))
        .route("/page", get(|| async { "no WebSocket" }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        axum::serve(listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), router).await.unwrap()
    });
    (address, ended, serving)
}

async fn open(address: SocketAddr, options: TransportOptions) -> Connection {
    let connect_options = ConnectOptions { message_bytes: options.limits.message_bytes, ..ConnectOptions::default() };
    let socket = connect(&format!("ws://{address}/"), connect_options).await.unwrap();
    spawn(socket, nothing(), options).0
}

fn small() -> TransportOptions {
    let mut options = TransportOptions::default();
    options.limits.message_bytes = 64 << 10;
    options
}

async fn broken(connection: &Connection, args: Vec<Value>) -> Arc<Closed> {
    match connection.call(&connection.main(), &["x"], args).await {
        Err(CallError::Broken { closed, .. }) => closed,
        other => panic!("not broken but {other:?}"),
    }
}

#[tokio::test]
async fn calls_and_large_messages_cross_a_real_socket() {
    let (address, mut ended, _serving) = serve(echo(), TransportOptions::default()).await;
    let connection = open(address, TransportOptions::default()).await;
    // Larger than the 16 MiB that the WebSocket layer would take for one frame by itself.
    for text in ["small".to_owned(), "x".repeat(20 << 20)] {
        let answer = connection.call(&connection.main(), &["echo"], vec![Value::from(text.as_str())]).await.unwrap();
        assert_eq!(answer, Value::Array(vec![Value::from(text)]));
    }
    drop(connection);
    let closed = ended.recv().await.unwrap();
    assert_eq!((closed.code, closed.origin), (3000, CloseOrigin::Transport));
}

#[tokio::test]
async fn a_message_over_the_servers_bound_tells_the_client_why() {
    let (address, mut ended, _serving) = serve(echo(), small()).await;
    let connection = open(address, TransportOptions::default()).await;
    let closed = broken(&connection, vec![Value::from("x".repeat(8 << 20))]).await;
    assert_eq!((closed.error_code(), closed.origin), (Some("LIMIT_EXCEEDED"), CloseOrigin::Peer));
    assert!(closed.message().contains("65536"), "{closed}");
    assert_eq!(ended.recv().await.unwrap().error_code(), Some("LIMIT_EXCEEDED"));
}

#[tokio::test]
async fn a_message_over_the_clients_bound_tells_the_server_why() {
    let big = target(|_| async { Ok(Value::from("x".repeat(8 << 20))) });
    let (address, mut ended, _serving) = serve(big, TransportOptions::default()).await;
    let connection = open(address, small()).await;
    let closed = broken(&connection, Vec::new()).await;
    assert_eq!((closed.error_code(), closed.origin), (Some("LIMIT_EXCEEDED"), CloseOrigin::Local));
    assert_eq!(ended.recv().await.unwrap().error_code(), Some("LIMIT_EXCEEDED"));
}

#[tokio::test]
async fn a_binary_message_is_answered_by_an_abort_and_a_close_frame() {
    let (address, mut ended, _serving) = serve(echo(), TransportOptions::default()).await;
    let (mut peer, _) = tokio_tungstenite::connect_async(format!("ws://{address}/")).await.unwrap();
    peer.send(Message::Binary(vec![1, 2, 3].into())).await.unwrap();
    let abort = peer.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(abort.starts_with(r#"["abort","#) && abort.contains("PROTOCOL_VIOLATION"), "{abort}");
    let Message::Close(Some(close)) = peer.next().await.unwrap().unwrap() else { panic!("no close frame") };
    assert_eq!(u16::from(close.code), 3000);
    drop(peer);
    assert_eq!(ended.recv().await.unwrap().origin, CloseOrigin::Local);
}

#[tokio::test]
async fn a_client_that_vanishes_ends_its_session() {
    let (address, mut ended, _serving) = serve(echo(), TransportOptions::default()).await;
    let (peer, _) = tokio_tungstenite::connect_async(format!("ws://{address}/")).await.unwrap();
    drop(peer);
    let closed = ended.recv().await.unwrap();
    assert_eq!((closed.code, closed.origin), (1006, CloseOrigin::Transport));
}

#[tokio::test]
async fn a_server_that_vanishes_breaks_the_calls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        // The call has arrived; hang up without a word.
        socket.next().await.unwrap().unwrap();
    });
    let connection = open(address, TransportOptions::default()).await;
    let closed = broken(&connection, Vec::new()).await;
    assert_eq!((closed.code, closed.origin), (1006, CloseOrigin::Transport));
    server.await.unwrap();
}

#[tokio::test]
async fn compression_is_never_negotiated() {
    let (address, _ended, _serving) = serve(echo(), TransportOptions::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    let answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 101") && !answer.contains("extensions"), "{answer}");
}

#[tokio::test]
async fn every_way_to_fail_to_connect_says_whether_to_try_again() {
    let (address, _ended, _serving) = serve(echo(), TransportOptions::default()).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let cases = [
        (format!("ws://{address}/draining"), "the server answered 503 Service Unavailable", true),
        (format!("ws://{address}/page"), "the server answered 200 OK: no WebSocket", false),
        (format!("ws://{address}/nowhere"), "the server answered 404 Not Found", false),
        (format!("ws://{free}/"), "Connection refused (os error 111)", true),
        (format!("wss://{free}/"), "Connection refused (os error 111)", true),
        ("http://localhost/".to_owned(), "the scheme must be ws:// or wss://", false),
    ];
    for (url, message, transient) in cases {
        let error = connect(&url, ConnectOptions::default()).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.is_transient()), (message, transient), "{url}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_the_upgrade_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let options = ConnectOptions { connect_timeout: Duration::from_millis(50), ..ConnectOptions::default() };
    let error = connect(&url, options).await.unwrap_err();
    assert!(matches!(error, ConnectError::TimedOut(_)) && error.is_transient(), "{error}");
    assert_eq!(error.to_string(), "no answer within 50 ms");
}

/// Our client over a narrow connection, and the bare stream of its server.
async fn narrow_client(options: TransportOptions) -> (Connection, TcpStream) {
    let listening = TcpSocket::new_v4().unwrap();
    listening.set_recv_buffer_size(4096).unwrap();
    listening.set_send_buffer_size(4096).unwrap();
    listening.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listening.listen(1).unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        tokio_tungstenite::accept_async(stream).await.unwrap().into_inner()
    };
    let (socket, stream) = tokio::join!(connect(&url, ConnectOptions::default()), accept);
    (spawn(socket.unwrap(), echo(), options).0, stream)
}

/// A frame as servers send it, without a mask.
fn frame(kind: u8, length: usize) -> Vec<u8> {
    let mut frame = vec![0x80 | kind, 127];
    frame.extend((length as u64).to_be_bytes());
    frame.resize(frame.len() + length, b' ');
    frame
}

#[tokio::test]
async fn a_peer_that_pings_without_reading_the_answers_is_cut_off() {
    let (connection, mut stream) = narrow_client(TransportOptions::default()).await;
    let mut pings = 0_usize;
    let mut ping = vec![0x89, 125];
    ping.resize(127, 0);
    // Fails when the client hangs up, unless that was seen before.
    let flood = async {
        loop {
            stream.write_all(&ping).await.unwrap();
            pings += 1;
        }
    };
    let closed = tokio::select! {
        () = flood => unreachable!(),
        closed = connection.closed() => closed,
    };
    assert_eq!((closed.error_code(), closed.origin), (Some("LIMIT_EXCEEDED"), CloseOrigin::Local));
    assert_eq!(closed.message(), "more than 1000 pings whose answers were not read, which is the bound. Read them.");
    assert!(pings > 1000, "{pings}");
}

#[tokio::test]
async fn a_peer_that_pings_and_reads_the_answers_is_none_the_worse() {
    let (connection, stream) = narrow_client(TransportOptions::default()).await;
    let (mut reading, mut writing) = stream.into_split();
    let pings = async {
        for _ in 0..5000 {
            writing.write_all(&[0x89, 0]).await.unwrap();
            // The peer and the reader have their turn.
            tokio::task::yield_now().await;
        }
    };
    let mut answers = 0;
    let pongs = async {
        // Two bytes of head and four of mask.
        let mut pong = [0; 6];
        loop {
            reading.read_exact(&mut pong).await.unwrap();
            assert_eq!(pong[..2], [0x8a, 0x80]);
            answers += 1;
        }
    };
    // Read for as long as there are pings: how many answers one of them gets is the socket's affair.
    tokio::select! {
        () = pings => {}
        () = pongs => unreachable!(),
    }
    assert!(!connection.is_closed());
    assert!(answers > 0);
}

#[tokio::test]
async fn the_bytes_of_a_slow_message_are_life() {
    let options = TransportOptions {
        ping_interval: Duration::from_millis(100),
        pong_deadline: Duration::from_millis(100),
        ..TransportOptions::default()
    };
    let (connection, mut stream) = narrow_client(options).await;
    let message = frame(1, 100);
    for byte in message {
        stream.write_all(&[byte]).await.unwrap();
        // The time is the matter here: 2.2 s in all, each gap far below the interval.
        sleep(Duration::from_millis(20)).await;
    }
    // A message of blanks is no message: it was read to its end.
    let closed = connection.closed().await;
    assert_eq!(closed.error_code(), Some("PROTOCOL_VIOLATION"), "{closed}");
}

#[tokio::test]
async fn a_peer_that_slowly_reads_what_the_network_holds_is_not_dead() {
    let options = TransportOptions {
        ping_interval: Duration::from_millis(500),
        pong_deadline: Duration::from_millis(500),
        ..TransportOptions::default()
    };
    let listening = TcpSocket::new_v4().unwrap();
    listening.set_recv_buffer_size(512 << 10).unwrap();
    listening.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = listening.listen(1).unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        tokio_tungstenite::accept_async(stream).await.unwrap().into_inner()
    };
    let (socket, mut stream) = tokio::join!(connect(&url, ConnectOptions::default()), accept);
    let (connection, _) = spawn(socket.unwrap(), echo(), options);
    connection.notify(&connection.main(), &["x"], vec![Value::from("x".repeat(4 << 20))]);
    let mut chunk = vec![0; 64 << 10];
    // The time is the matter here: 2 s without an answer to a ping, each pause far below the deadline.
    for _ in 0..40 {
        stream.read_exact(&mut chunk).await.unwrap();
        sleep(Duration::from_millis(50)).await;
    }
    assert!(!connection.is_closed());
    // And now nothing moves any more.
    drop(connection.closed().await);
}
