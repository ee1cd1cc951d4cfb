//! `codemoded serve` as a process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
};

use codemode_protocol::text;
use support::{Daemon, Owned, codemoded, ended};

#[test]
fn exactly_one_line_is_printed_and_a_signal_is_a_clean_stop() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let daemon = Daemon::start(&["--warm", "1"]);
        let addr = daemon.url.strip_prefix("ws://").unwrap();
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("ready\n"), "{text}");
        let (status, rest) = daemon.stop(signal);
        assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
    }
}

/// Serves `/hello`, and redirects to it, to `elsewhere` and to itself, a connection for each request.
fn site(elsewhere: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    // Ends with the process.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let mut rest = String::new();
            while stream.read_line(&mut rest).unwrap() > 2 {}
            let moved = |to: &str| format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            let answer = match line.split(' ').nth(1) {
                Some("/hello") => "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".to_owned(),
                Some("/in") => moved("/hello"),
                Some("/out") => moved(&elsewhere),
                _ => moved("/loop"),
            };
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    origin
}

#[test]
fn programs_reach_the_origins_that_the_operator_lists_and_no_others() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    closed.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}/", closed.local_addr().unwrap());
    let open = site(elsewhere.clone());
    let program = format!(
        "async () => {{
            const say = (url) => fetch(url).then((got) => got.text(), (error) => `${{error instanceof TypeError}} ${{error.message}}`);
            const urls = ['{open}/hello', '{open}/in', '{open}/out', '{open}/loop', '{elsewhere}', 'data:,x', 'file:///etc/passwd'];
            return await Promise.all(urls.map(say));
        }}"
    );
    let told = |daemon: &Daemon| -> Vec<String> {
        let ended = ended(&["run", "-", "--url", &daemon.url], &program);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        serde_json::from_str(&ended.out).unwrap()
    };
    let get = |url: &str, rule| format!("true {}", text::outbound_refused(&format!("GET {url}"), rule));
    let refused = get(&elsewhere, text::OUTBOUND_NOT_LISTED);
    let file = "true Fetch API cannot load: file:///etc/passwd".to_owned();
    let daemon = Daemon::start(&["--warm", "1", "--outbound-allow", &format!("https://api.example.com,{open}")]);
    let looped = "true The server redirected more than 20 times.".to_owned();
    let hello = "hello".to_owned();
    let x = "x".to_owned();
    let expected = [hello.clone(), hello, refused.clone(), looped, refused, x.clone(), file.clone()];
    assert_eq!(told(&daemon), expected);
    let none = format!("true {}", text::NETWORK_OFF);
    let expected = [none.clone(), none.clone(), none.clone(), none.clone(), none, x, file];
    assert_eq!(told(&Daemon::start(&["--warm", "1"])), expected, "nothing is listed");
    assert!(closed.accept().is_err(), "nobody came");
    let wrong = ended(&["config", "--outbound-allow", "https://example.com/path"], "");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("--outbound-allow") && wrong.err.contains("no path"), "{}", wrong.err);
}

#[test]
fn a_port_that_is_taken_is_a_failure_of_the_infrastructure() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let ended = ended(&["serve", "--listen", &addr], "");
    assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""));
    assert!(ended.err.contains(&addr) && ended.err.contains("in use"), "{}", ended.err);
}

#[test]
fn the_stop_waits_for_a_running_program_and_a_second_signal_does_not() {
    let daemon = Daemon::start(&["--warm", "1", "--drain-timeout", "600000"]);
    let runner = codemoded(&["run", "-", "--url", &daemon.url, "--tool", "t.began=echo began >&2; sleep 600"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut runner = Owned(runner);
    let program = "async () => { console.log(1); await t.began() }";
    runner.0.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    // The tool's command runs, so the program does.
    while children(runner.0.id()).is_empty() {
        std::thread::yield_now();
    }
    daemon.process.signal(libc::SIGTERM);
    let addr = daemon.url.strip_prefix("ws://").unwrap().to_owned();
    while !readyz(&addr).starts_with("HTTP/1.1 503") {
        std::thread::yield_now();
    }
    let (status, _) = daemon.stop(libc::SIGTERM);
    assert_eq!(status.code(), Some(0));
    assert_eq!(runner.end().code(), Some(3));
    let mut err = String::new();
    BufReader::new(runner.0.stderr.take().unwrap()).read_line(&mut err).unwrap();
    assert!(err.contains("CONNECTION_BROKEN"), "{err}");
}

#[test]
fn a_run_that_outlives_the_drain_is_told_so_and_its_tool_is_stopped() {
    let daemon = Daemon::start(&["--warm", "1", "--drain-timeout", "100"]);
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let tool = format!("t.hang=echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", pid.display());
    let runner = codemoded(&["run", "-", "--url", &daemon.url, "--tool", &tool])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut runner = Owned(runner);
    runner.0.stdin.take().unwrap().write_all(b"async () => await t.hang()").unwrap();
    while !pid.exists() {
        std::thread::yield_now();
    }
    let (status, _) = daemon.stop(libc::SIGTERM);
    assert_eq!(status.code(), Some(0));
    assert_eq!(runner.end().code(), Some(3));
    let mut err = String::new();
    runner.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let message = "CANCELLED: The executor was shut down at its 100 ms drain timeout while the run was under way; the \
                   run was ended. Its caller did not cancel it.\n";
    assert_eq!(err, message, "and nothing is waited for");
    let tool = std::fs::read_to_string(&pid).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", tool.trim()));
    assert!(stat.as_ref().map_or(true, |stat| stat.contains(") Z")), "{stat:?}");
}

fn readyz(addr: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The processes that `id` started, in any of its threads.
fn children(id: u32) -> String {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
    threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok()).collect()
}
