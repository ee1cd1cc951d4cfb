//! A peer that breaks HTTP or the WebSocket below the session's messages loses its own connection, costs a bounded amount
//! of memory, and nobody else notices.

use std::time::Duration;

use codemode_client::RemoteExecutor;
use codemode_protocol::Executor;
use codemode_tests::{
    daemon::Daemon,
    programs::{Tools, program},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// Longer than the daemon takes for anything here.
const PATIENCE: Duration = Duration::from_secs(30);
const MIB: u64 = 1 << 20;

const HEAD: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

async fn connect(daemon: &Daemon) -> TcpStream {
    TcpStream::connect(daemon.url().trim_start_matches("ws://")).await.unwrap()
}

/// A WebSocket whose frames the test writes byte by byte.
async fn upgrade(daemon: &Daemon) -> TcpStream {
    let mut stream = connect(daemon).await;
    let offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    stream.write_all(format!("{HEAD}{offer}\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 101") && !head.to_ascii_lowercase().contains("extensions"), "{head}");
    stream
}

/// A frame with a mask of zeros, which changes nothing.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | u8::try_from(short).unwrap()),
        long => {
            frame.push(0x80 | 127);
            frame.extend(u64::try_from(long).unwrap().to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// Reads until the daemon has closed: what it sent, as text where it is text.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // An end or a reset.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the daemon closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn works(bystander: &RemoteExecutor) {
    let outcome = bystander.execute(program("async () => await api.echo(7)"), Tools::default().host()).await;
    assert_eq!(outcome.unwrap().error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_break_the_websocket_end_their_own_session() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    works(&bystander).await;
    let before = daemon.process().resident_bytes();
    let unmasked = vec![0x81, 1, b'1'];
    let mut huge = vec![0x81, 0x80 | 127];
    huge.extend((1_u64 << 62).to_be_bytes());
    huge.extend([0; 4]);
    let mut over = vec![0x81, 0x80 | 127];
    over.extend((65 * MIB).to_be_bytes());
    over.extend([0; 4]);
    let split = [frame(0x01, b"[\"push\","), frame(0x81, b"1]")].concat();
    let cases = [
        ("bad UTF-8", frame(0x81, b"[\"push\",\"\xff\xfe\"]")),
        ("UTF-8 cut in two", [frame(0x01, b"[\"push\",\"\xc3"), frame(0x80, b"(\"]")].concat()),
        ("a lone surrogate in UTF-8", frame(0x81, b"\"\xed\xa0\x80\"")),
        // What a deflated message of a peer looks like that did not ask, or was told no.
        ("a compressed bomb", frame(0xc1, &[0xaa; 4096])),
        ("other reserved bits", frame(0xb1, b"1")),
        ("a reserved opcode", frame(0x83, b"1")),
        ("a reserved control opcode", frame(0x8b, b"1")),
        ("a frame without a mask", unmasked),
        ("a length that no machine has", huge),
        ("a length over the bound", over),
        ("the rest of nothing", frame(0x80, b"1")),
        ("a message within a message", split),
        ("a ping that is too large", frame(0x89, &[b'x'; 126])),
        ("a ping in parts", frame(0x09, b"x")),
        ("a close that is no code", frame(0x88, b"x")),
    ];
    for (name, bytes) in cases {
        let mut stream = upgrade(&daemon).await;
        stream.write_all(&bytes).await.unwrap();
        let said = rest(&mut stream).await;
        assert!(!said.contains("[\"resolve\""), "{name}: {said}");
        works(&bystander).await;
    }
    let grown = daemon.process().peak_resident_bytes().saturating_sub(before) / MIB;
    println!("frames that break the WebSocket: {grown} MiB");
    assert!(grown <= 48, "the daemon grew by {grown} MiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_in_endless_parts_ends_at_the_bound() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    works(&bystander).await;
    let before = daemon.process().resident_bytes();
    let mut stream = upgrade(&daemon).await;
    let part = vec![b' '; 1 << 20];
    let mut first = 0x01;
    let mut sent = 0;
    while sent < 200 && stream.write_all(&frame(first, &part)).await.is_ok() {
        first = 0x00;
        sent += 1;
    }
    drop(stream);
    assert!(sent < 200, "the daemon took {sent} MiB of one message");
    let grown = daemon.process().peak_resident_bytes().saturating_sub(before) / MIB;
    println!("a message in endless parts: {grown} MiB");
    // The bound is 64 MiB, and a buffer that grows is there twice for a moment.
    assert!(grown <= 160, "the daemon grew by {grown} MiB");
    works(&bystander).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_do_not_end_or_are_too_large_keep_nobody_out() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    works(&bystander).await;
    let before = daemon.process().resident_bytes();
    // More than the daemon keeps of connections that are no sessions yet.
    let mut slow = Vec::new();
    for _ in 0..400 {
        let mut stream = connect(&daemon).await;
        // The daemon may have closed it already to make room.
        let _ = stream.write_all(HEAD.as_bytes()).await;
        slow.push(stream);
    }
    for header in [
        format!("X: {}\r\n", "y".repeat(1 << 20)),
        (0..1000).map(|at| format!("X-{at}: y\r\n")).collect(),
        format!("Authorization: Bearer {}\r\n", "y".repeat(1 << 20)),
        format!("Sec-WebSocket-Protocol: codemode.v1, bearer.{}\r\n", "y".repeat(1 << 20)),
    ] {
        let mut stream = connect(&daemon).await;
        // It may be refused before all of it is written.
        let _ = stream.write_all(format!("{HEAD}{header}\r\n").as_bytes()).await;
        let said = rest(&mut stream).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
    }
    let newcomer = daemon.connect().await;
    works(&newcomer).await;
    works(&bystander).await;
    let grown = daemon.process().peak_resident_bytes().saturating_sub(before) / MIB;
    println!("heads that do not end: {grown} MiB");
    assert!(grown <= 48, "the daemon grew by {grown} MiB");
    drop(slow);
}
