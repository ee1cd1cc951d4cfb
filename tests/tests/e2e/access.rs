//! Without a valid token nothing runs, whatever the door; with one, what it opens. And no token is ever shown.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions, Token, certificates_from_pem};
use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, Host};
use codemode_tests::{
    daemon::{Daemon, binary},
    peer::{Peer, Received},
    processes::eventually,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A folder with a file of tokens, made by the binary itself.
struct Tokens {
    folder: TempDir,
}

impl Tokens {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tokens"), "# nobody yet\n").unwrap();
        Self { folder }
    }

    /// Adds somebody, and gives the token.
    fn add(&self, name: &str) -> String {
        let (token, line) = token(name);
        let mut file = fs::OpenOptions::new().append(true).open(self.file()).unwrap();
        writeln!(file, "{line}").unwrap();
        token
    }

    fn file(&self) -> String {
        self.path("tokens")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.folder.path().join(name), text).unwrap();
        self.path(name)
    }
}

fn token(name: &str) -> (String, String) {
    let made = Command::new(binary()).args(["token", name, "--json"]).output().unwrap();
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    (made["token"].as_str().unwrap().to_owned(), made["line"].as_str().unwrap().to_owned())
}

fn options(token: &str) -> RemoteOptions {
    RemoteOptions { token: Some(Token::new(token)), ..RemoteOptions::default() }
}

async fn runs(executor: &RemoteExecutor) {
    let outcome = executor.execute(ExecuteRequest::new("async () => 6 * 7"), Host::default()).await.unwrap();
    assert_eq!(outcome.result.unwrap().as_str(), "42");
}

async fn http(url: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("ws://")).await.unwrap();
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn run(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(binary())
        .args(["run", "-"])
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever refuses its flags does not read the program.
    let _ = child.stdin.take().unwrap().write_all(program.as_bytes());
    child.wait_with_output().unwrap()
}

const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn without_a_valid_token_nothing_runs() {
    let tokens = Tokens::new();
    let token = tokens.add("alice");
    let removed = self::token("alice").0;
    let daemon = Daemon::start_with(&["--warm", "1", "--tokens", &tokens.file()]);
    let sandboxes = || daemon.sandboxes().iter().map(|sandbox| sandbox.pid()).collect::<Vec<_>>();
    let before = eventually(Duration::from_secs(10), || Some(sandboxes()).filter(|warm| warm.len() == 1)).unwrap();

    // The upgrade, by each way of carrying a token.
    let twice = format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {token}\r\n");
    let wrong = format!("Authorization: Bearer {removed}\r\n");
    let digest = format!("Authorization: Bearer {}\r\n", self::token("x").1);
    for header in [
        "Authorization: Bearer \r\n",
        "Authorization: Bearer x\r\n",
        "Authorization: Basic YWxpY2U6eA==\r\n",
        "Sec-WebSocket-Protocol: codemode.v1, bearer.d3Jvbmc\r\n",
        "Sec-WebSocket-Protocol: bearer.\r\n",
        &twice,
        &wrong,
        &digest,
    ] {
        let answer = http(daemon.url(), &format!("{UPGRADE}{header}")).await;
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("UNAUTHORIZED: "), "{header}: {answer}");
    }
    // The session: each method by call and by property, ahead of an answer and after a wrong one.
    for method in ["execute", "acquire", "invokeHandle", "closeHandles", "cancel", "info", "codemode"] {
        let mut peer = Peer::connect(daemon.url()).await;
        let program = json!([{ "code": "async () => 1", "providers": [[]] }, null, null]);
        let mut calls = vec![peer.push(&json!(["pipeline", 0, [method], program]).to_string()).await];
        let property = peer.push(&json!(["pipeline", 0, [method]]).to_string()).await;
        calls.push(peer.push(&json!(["pipeline", property, [], program]).to_string()).await);
        let gate = peer.push(&json!(["pipeline", 0, ["authenticate"], [removed]]).to_string()).await;
        calls.push(peer.push(&json!(["pipeline", gate, [method], program]).to_string()).await);
        calls.push(peer.push(&json!(["pipeline", 0, [method], program]).to_string()).await);
        for call in calls {
            peer.send(format!("[\"pull\",{call}]")).await;
            let Received::Message(answer) = peer.receive().await else { panic!("{method}: the session ended") };
            assert_eq!((&answer[0], &answer[1]), (&json!("reject"), &json!(call)), "{method}: {answer}");
            assert_eq!(answer[2][4]["code"], "UNAUTHORIZED", "{method}: {answer}");
        }
    }
    // The page and the metrics, and the client with its retries.
    for path in ["/", "/page.js", "/status.json", "/metrics"] {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n");
        assert!(http(daemon.url(), &head).await.starts_with("HTTP/1.1 401"), "{path}");
        let answer = http(daemon.url(), &format!("{head}Authorization: Bearer {token}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("alice"), "{path}: {answer}");
    }
    for options in [options(&removed), RemoteOptions::default()] {
        let error = RemoteExecutor::connect(daemon.url(), options).await.map(|_| ()).map_err(|error| error.code);
        // Without a token the session opens; what is asked of it is refused.
        if let Err(code) = error {
            assert_eq!(code, ErrorCode::Unauthorized);
        }
    }
    let stranger = RemoteExecutor::connect(daemon.url(), RemoteOptions::default()).await.unwrap();
    let refused = stranger.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Unauthorized);
    assert_eq!(sandboxes(), before, "no sandbox was used");

    // And all of it was for want of the token.
    runs(&RemoteExecutor::connect(daemon.url(), options(&token)).await.unwrap()).await;
    assert_ne!(sandboxes(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_read_again_on_sighup_and_a_bad_file_changes_nothing() {
    let tokens = Tokens::new();
    let alice = tokens.add("alice");
    let daemon = Daemon::start_with(&["--warm", "1", "--tokens", &tokens.file()]);
    let session = RemoteExecutor::connect(daemon.url(), options(&alice)).await.unwrap();
    let may_enter = async |token: &str| RemoteExecutor::connect(daemon.url(), options(token)).await.is_ok();

    let good = fs::read_to_string(tokens.file()).unwrap();
    fs::write(tokens.file(), "no line of tokens\n").unwrap();
    daemon.process().signal(libc::SIGHUP);
    // The file that comes next is good, and that it is taken shows that the bad one has been looked at.
    let bob = tokens.add("bob");
    let line = fs::read_to_string(tokens.file()).unwrap().lines().last().unwrap().to_owned();
    assert!(may_enter(&alice).await && !may_enter(&bob).await);
    fs::write(tokens.file(), format!("{good}{line}\n")).unwrap();
    daemon.process().signal(libc::SIGHUP);
    while !may_enter(&bob).await {}
    runs(&session).await;

    fs::write(tokens.file(), format!("{line}\n")).unwrap();
    daemon.process().signal(libc::SIGHUP);
    while may_enter(&alice).await {}
    let over = session.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.unwrap_err();
    assert!([ErrorCode::ConnectionBroken, ErrorCode::Unauthorized].contains(&over.code), "{over}");
    runs(&RemoteExecutor::connect(daemon.url(), options(&bob)).await.unwrap()).await;
}

#[test]
fn no_token_is_ever_shown() {
    let tokens = Tokens::new();
    let (right, wrong) = (tokens.add("alice"), "wrongwrongwrong");
    let log = tokens.path("log");
    let child = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0", "--warm", "1", "--log", "trace", "--tokens", &tokens.file()])
        .stdout(Stdio::piped())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let daemon = Daemon::of(child);
    let mut shown = String::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for token in [&right, wrong] {
        let file = tokens.write("token", token);
        for (arguments, variables) in [(&["--token-file", &file][..], &[][..]), (&[], &[("CODEMODED_TOKEN", token)])] {
            let output = run("async () => 42", &[&["--url", daemon.url()], arguments].concat(), variables);
            assert_eq!(output.status.success(), token == right, "{output:?}");
            shown += &String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        }
        runtime.block_on(async {
            let mut peer = Peer::connect(daemon.url()).await;
            let gate = peer.push(&json!(["pipeline", 0, ["authenticate"], [token]]).to_string()).await;
            peer.send(format!("[\"pull\",{gate}]")).await;
            shown += &format!("{:?}", peer.receive().await);
            shown += &http(daemon.url(), &format!("{UPGRADE}Authorization: Basic {token}\r\n")).await;
            shown +=
                &http(daemon.url(), &format!("{UPGRADE}Sec-WebSocket-Protocol: {token}, bearer.{token}\r\n")).await;
            shown +=
                &http(daemon.url(), &format!("GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"))
                    .await;
        });
    }
    // A token where its digest should be is a mistake that people make.
    tokens.write("tokens", &format!("alice:{right}\n"));
    daemon.process().signal(libc::SIGHUP);
    let read = || fs::read_to_string(&log).ok().filter(|log| log.contains("the tokens stay as they were"));
    let log = eventually(Duration::from_secs(20), read).expect("the reload is logged");
    let started = Command::new(binary()).args(["serve", "--tokens", &tokens.file()]).output().unwrap();
    assert_eq!(started.status.code(), Some(2));
    shown += &String::from_utf8(started.stderr).unwrap();
    assert!(shown.contains("line 1: what follows the name must be the SHA-256 of the token"), "{shown}");
    assert!(log.contains("DEBUG") && log.contains("alice"), "the log is a fine one, and says who came: {log}");
    for secret in [right.as_str(), wrong] {
        for (place, text) in [("log", &log), ("what is said", &shown)] {
            let found = text.lines().find(|line| line.contains(secret));
            assert_eq!(found, None, "a token stands in the {place}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_by_wss_trusts_what_it_is_told_to() {
    let tokens = Tokens::new();
    let token = tokens.add("alice");
    let files = |name: &str| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        tokens.write(&format!("{name}.crt"), &made.cert.pem());
        tokens.write(&format!("{name}.key"), &made.signing_key.serialize_pem());
        made.cert.pem()
    };
    let old = files("used");
    let (chain, key) = (tokens.path("used.crt"), tokens.path("used.key"));
    let daemon =
        Daemon::start_with(&["--warm", "1", "--tokens", &tokens.file(), "--tls-cert", &chain, "--tls-key", &key]);
    assert!(daemon.url().starts_with("wss://127.0.0.1:"), "{}", daemon.url());
    let file = tokens.write("token", &format!("{token}\n"));
    let arguments = ["--url", daemon.url(), "--token-file", &file];
    let trusted = run("async () => 42", &[&arguments[..], &["--tls-ca", &chain]].concat(), &[]);
    assert_eq!((trusted.status.code(), trusted.stdout.as_slice()), (Some(0), &b"42\n"[..]), "{trusted:?}");
    let by_variable = run("async () => 42", &arguments, &[("CODEMODED_TLS_CA", &chain)]);
    assert_eq!(by_variable.status.code(), Some(0), "{by_variable:?}");
    let refused = run("async () => 42", &arguments, &[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(3) && said.contains("no TLS with the server"), "{refused:?}");

    let trusting = |pem: &str| RemoteOptions {
        root_certificates: certificates_from_pem(pem.as_bytes()).unwrap(),
        ..options(&token)
    };
    let session = RemoteExecutor::connect(daemon.url(), trusting(&old)).await.unwrap();
    let new = files("used");
    daemon.process().signal(libc::SIGHUP);
    while RemoteExecutor::connect(daemon.url(), trusting(&new)).await.is_err() {}
    assert!(RemoteExecutor::connect(daemon.url(), trusting(&old)).await.is_err());
    runs(&session).await;
}

#[test]
fn an_address_that_others_reach_is_listened_on_with_tokens_or_by_name_of_the_danger() {
    let tokens = Tokens::new();
    tokens.add("alice");
    let refused = Command::new(binary()).args(["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("others can reach it"), "{said}");
    for arguments in [&["--tokens", &tokens.file()][..], &["--insecure"]] {
        let listen = ["--listen", "0.0.0.0:0", "--warm", "1"];
        // The later address is the one that counts.
        let child = Command::new(binary())
            .arg("serve")
            .args(listen)
            .args(arguments)
            .env("CODEMODED_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(Daemon::of(child).url().starts_with("ws://0.0.0.0:"));
    }
}

#[test]
fn files_that_cannot_be_used_are_named_before_anything_is_started() {
    let tokens = Tokens::new();
    let cases: [(&[&str], &str); 5] = [
        (&["--tokens", "/no/such/tokens"], "tokens /no/such/tokens could not be read"),
        (&["--tls-cert", "/no/such.crt"], "tls-cert is set and tls-key is not"),
        (&["--tls-key", "/no/such.key"], "tls-key is set and tls-cert is not"),
        (&["--tls-cert", "/no/such.crt", "--tls-key", "/no/such.key"], "tls-cert /no/such.crt could not be read"),
        (&["--tls-cert", &tokens.file(), "--tls-key", &tokens.file()], "at least one certificate: there is none"),
    ];
    for (arguments, rule) in cases {
        let output = Command::new(binary()).arg("serve").args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(rule), "{arguments:?}: {said}");
    }
    assert!(Path::new(&tokens.file()).exists());
    for (name, status) in [("a b", Some(2)), ("", Some(2)), ("alice", Some(0))] {
        let made = Command::new(binary()).args(["token", name]).output().unwrap();
        assert_eq!(made.status.code(), status, "{name:?}");
        assert_eq!(String::from_utf8(made.stdout).unwrap().starts_with("alice:"), status == Some(0));
    }
}
