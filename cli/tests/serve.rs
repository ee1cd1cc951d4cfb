//! `codemoded serve` as a process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
};

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
