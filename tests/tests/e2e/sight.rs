//! What an operator sees: metrics, the page's data, log lines and spans.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions, Token};
use codemode_protocol::{ExecuteRequest, Executor, Host};
use codemode_tests::{
    daemon::{Daemon, binary},
    http,
    peer::Peer,
    processes::{Process, eventually},
    programs::{Tools, program, program_for},
};
use serde_json::Value;
use tokio::task::block_in_place;

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_runs_by_how_they_ended_and_errors_by_code() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let executor = daemon.connect().await;
    let tools = Tools::default();
    for code in ["async () => 1", "async () => [await api.echo(1), await api.echo(2)]", "async () => { throw 1 }"] {
        executor.execute(program(code), tools.host()).await.unwrap();
    }
    executor.execute(program_for(50, "async () => { for (;;) {} }"), Host::default()).await.unwrap();
    let invalid = ExecuteRequest { id: Some("no UUID".into()), ..ExecuteRequest::new("async () => 1") };
    executor.execute(invalid, Host::default()).await.unwrap_err();

    // A run is one until its answer has left, which is after it has come.
    let at_rest = || Some(http::metrics(daemon.url(), &[])).filter(|samples| samples["codemode_runs_in_flight"] == 0.0);
    let samples = block_in_place(|| eventually(Duration::from_secs(10), at_rest)).expect("no run is left");
    let expected = [
        (r#"codemode_runs_total{termination="completed"}"#, 2.0),
        (r#"codemode_runs_total{termination="threw"}"#, 1.0),
        (r#"codemode_runs_total{termination="timeout"}"#, 1.0),
        (r#"codemode_runs_total{termination="memory"}"#, 0.0),
        (r#"codemode_errors_total{code="INVALID_REQUEST"}"#, 1.0),
        (r#"codemode_errors_total{code="INTERNAL"}"#, 0.0),
        ("codemode_host_calls_total", 2.0),
        ("codemode_run_duration_seconds_count", 4.0),
        ("codemode_sessions", 1.0),
        ("codemode_sessions_opened_total", 1.0),
        ("codemode_ready", 1.0),
        ("codemode_draining", 0.0),
        ("codemode_permits", 32.0 * std::thread::available_parallelism().map_or(1, usize::from) as f64),
    ];
    for (name, value) in expected {
        assert_eq!(samples.get(name), Some(&value), "{name} in {samples:#?}");
    }
    assert!(samples["codemode_run_duration_seconds_sum"] >= 0.05, "{samples:#?}");
    assert!(samples["codemode_sandbox_forks_total"] >= 4.0, "{samples:#?}");
    assert_eq!(samples["codemode_queue_wait_seconds_count"], 4.0);
    assert!(samples["codemode_received_bytes_total"] > 500.0 && samples["codemode_sent_bytes_total"] > 500.0);
    for name in samples.keys() {
        assert!(name.starts_with("codemode_"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_refused_or_thrown_out_is_counted_by_code() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    // echo -n x | sha256sum
    let line = "alice:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\n";
    std::fs::write(&tokens, line).unwrap();
    let daemon = Daemon::start_with(&["--warm", "1", "--max-sessions", "1", "--tokens", tokens.to_str().unwrap()]);
    let get = |path: &str, headers: &[&str]| block_in_place(|| http::get(daemon.url(), path, headers));
    let options = |token: &str| RemoteOptions { token: Some(Token::new(token)), ..RemoteOptions::default() };
    let connect = |token: &str| RemoteExecutor::connect(daemon.url(), options(token));
    let known = ["Authorization: Bearer x"];

    // Nobody at the page, a wrong token at the upgrade, and in band one call too early and one wrong token.
    assert_eq!(get("/metrics", &[]).status, 401);
    connect("wrong").await.unwrap_err();
    let mut stranger = Peer::connect(daemon.url()).await;
    for call in [r#"["info"]"#, r#"["authenticate"]"#] {
        let call = stranger.push(&format!(r#"["pipeline",0,{call},["wrong"]]"#)).await;
        stranger.send(format!("[\"pull\",{call}]")).await;
        stranger.receive().await;
    }
    // The one place is taken; and whoever breaks a bound is thrown out.
    let _alice = connect("x").await.unwrap();
    connect("x").await.unwrap_err();
    stranger.send(format!("[\"push\",[\"bigint\",\"{}\"]]", "9".repeat(20_000))).await;
    stranger.receive_end().await;

    let expected = [("UNAUTHORIZED", 4.0), ("OVERLOADED", 1.0), ("LIMIT_EXCEEDED", 1.0), ("INTERNAL", 0.0)];
    let counted = || {
        let samples = http::metrics(daemon.url(), &known);
        let of = |code: &str| samples[&format!("codemode_errors_total{{code=\"{code}\"}}")];
        expected.iter().all(|(code, count)| of(code) == *count).then_some(())
    };
    // A session's end is noted a moment after its peer was told.
    let seen = block_in_place(|| eventually(Duration::from_secs(10), counted));
    assert!(seen.is_some(), "{:#?}", block_in_place(|| http::metrics(daemon.url(), &known)));
    let status: Value = serde_json::from_str(&get("/status.json", &known).body).unwrap();
    assert_eq!(status["recent"], Value::Array(Vec::new()), "strangers are not among the runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_runs_and_how_long_it_took_and_loads_nothing_from_elsewhere() {
    let daemon = Daemon::start();
    let executor = daemon.connect().await;
    for _ in 0..3 {
        executor.execute(program("async () => 'a secret of the user'"), Host::default()).await.unwrap();
    }
    let page = block_in_place(|| http::get(daemon.url(), "/", &["Accept: text/html"]));
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<script src=\"/page.js\">") && !page.body.contains("http://"), "{}", page.body);
    let policy = page.headers.iter().find(|line| line.starts_with("content-security-policy: ")).expect("a policy");
    assert!(policy.contains("default-src 'none'; script-src 'self'"), "{policy}");
    let script = block_in_place(|| http::get(daemon.url(), "/page.js", &[]));
    let types: Vec<_> = script.headers.iter().filter(|line| line.starts_with("content-type")).collect();
    assert_eq!(types, ["content-type: text/javascript; charset=utf-8"]);
    // Whoever does not ask for a document is told what is spoken here.
    assert_eq!(block_in_place(|| http::get(daemon.url(), "/", &[])).status, 426);

    let status = block_in_place(|| http::get(daemon.url(), "/status.json", &[]));
    assert!(!status.body.contains("secret"), "{}", status.body);
    let status: Value = serde_json::from_str(&status.body).unwrap();
    assert_eq!(status["unready"], Value::Null);
    assert_eq!(status["sessions"], 1);
    let runs: u64 = status["history"].as_array().unwrap().iter().map(|point| point["runs"].as_u64().unwrap()).sum();
    assert_eq!(runs, 3);
    let recent = status["recent"].as_array().unwrap();
    assert_eq!(recent.iter().map(|end| end["how"].as_str().unwrap()).collect::<Vec<_>>(), ["completed"; 3]);
    assert!(status["pool"]["permits"].as_u64().unwrap() > 0, "{status}");
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The standard error of a daemon, from its start to its end, while a program runs that logs and calls a tool.
async fn logged(options: &[&str]) -> String {
    let mut child = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "trace", "--log-format", "json"])
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("codemoded starts");
    let mut stderr = child.stderr.take().expect("standard error is a pipe");
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("standard output is a pipe")).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening on ").expect("codemoded listens").to_owned();
    let executor = RemoteExecutor::connect(url, RemoteOptions::default()).await.unwrap();
    let code = "async () => { console.log('SECRET-LINE'); await api.echo('SECRET-ARGUMENT'); return 'SECRET-RESULT'; }";
    for traceparent in [TRACEPARENT, "no trace"] {
        let request = ExecuteRequest { traceparent: Some(traceparent.into()), ..program(code) };
        executor.execute(request, Tools::default().host()).await.unwrap();
    }
    executor.dispose().await;
    Process::of(child.id()).expect("it runs").signal(libc::SIGTERM);
    assert!(block_in_place(|| child.wait()).unwrap().success());
    reading.join().unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_are_logged_when_that_is_asked_for_and_never_else() {
    let text = logged(&[]).await;
    assert!(text.lines().count() > 3, "{text}");
    for line in text.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line["level"].is_string()), "{line}");
    }
    assert!(!text.contains("SECRET"), "{text}");
    // The lines of a run say which trace it belongs to, if it names one.
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun: Vec<_> = lines.filter(|line| line["fields"]["message"] == "run begins").collect();
    assert_eq!(begun.len(), 2, "{text}");
    assert_eq!(
        (&begun[0]["span"]["traceparent"], &begun[1]["span"]["traceparent"]),
        (&TRACEPARENT.into(), &Value::Null)
    );

    let text = logged(&["--log-payloads"]).await;
    for payload in ["SECRET-LINE", "SECRET-ARGUMENT", "SECRET-RESULT"] {
        assert!(text.contains(payload), "{payload} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_go_to_the_collector_under_the_trace_that_the_request_names() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let url = format!("http://{address}/v1/traces");
    // What all requests carry, up to a connection without one.
    let collecting = std::thread::spawn(move || {
        let mut bodies = Vec::new();
        loop {
            let (stream, _) = collector.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 {
                    return bodies;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            bodies.append(&mut body);
            reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    let mut daemon = Daemon::start_with(&["--otlp", &url, "--log-payloads"]);
    let executor = daemon.connect().await;
    for traceparent in [Some(TRACEPARENT.into()), None, None] {
        let request = ExecuteRequest { traceparent, ..program("async () => 'SECRET'") };
        executor.execute(request, Host::default()).await.unwrap();
    }
    executor.dispose().await;
    // Whatever is left is sent at the end.
    daemon.terminate();
    assert!(block_in_place(|| daemon.wait()).success());
    drop(TcpStream::connect(address).unwrap());
    let body = block_in_place(|| collecting.join()).unwrap();
    let trace: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&TRACE[2 * at..2 * at + 2], 16).unwrap()).collect();
    let has = |bytes: &[u8]| body.windows(bytes.len()).any(|window| window == bytes);
    assert!(has(&trace), "the run's span belongs to the request's trace");
    // A span begins with the 16 bytes of its trace and the 8 of its own id, both with their field's number and length.
    let ids = body.windows(28).filter(|at| at[..2] == [0x0a, 16] && at[18..20] == [0x12, 8]).map(|at| &at[2..18]);
    let traces: BTreeSet<_> = ids.collect();
    assert!(traces.contains(trace.as_slice()));
    assert!(traces.len() >= 4, "the session and the other runs have traces of their own: {traces:?}");
    assert!(!has(b"SECRET"), "payloads are for the log alone");
    for text in ["codemoded", "termination", "completed"] {
        assert!(has(text.as_bytes()), "{text} is among the attributes");
    }
}
