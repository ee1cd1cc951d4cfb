//! One HTTP request, answered as the daemon answers all: with the end of the connection.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The lines of the head, the first left out.
    pub headers: Vec<String>,
    /// What follows it.
    pub body: String,
}

/// Asks the daemon at `ws://HOST:PORT` for a path, with further header lines. Blocks.
///
/// # Panics
/// When there is no answer that can be read.
pub fn get(url: &str, path: &str, headers: &[&str]) -> Answer {
    let address = url.strip_prefix("ws://").expect("a WebSocket URL").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("the daemon listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout that is not zero");
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{lines}\r\n").expect("the daemon reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the daemon answers with text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("an answer has a status");
    Answer { status, headers: lines.map(str::to_owned).collect(), body: body.to_owned() }
}

/// The samples of the daemon's `/metrics`, by name and labels, asked for with further header lines. Blocks.
///
/// # Panics
/// When they are not told.
pub fn metrics(url: &str, headers: &[&str]) -> BTreeMap<String, f64> {
    let answer = get(url, "/metrics", headers);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let lines = answer.body.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a sample has a value");
        (name.to_owned(), value.parse().expect("a value is a number"))
    };
    lines.map(sample).collect()
}
