//! What the documents say is true.

use std::{collections::BTreeMap, fs, process::Command};

use codemode_protocol::{
    ErrorCode, Limits, Termination,
    capnweb::{DataLimits, WireLimits, expression},
};
use codemode_tests::{
    daemon::{Daemon, binary, repository},
    peer::{Peer, Received},
};
use serde_json::Value;

fn document(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// The contents of the fenced blocks of one kind.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let open = format!("\n```{kind}\n");
    text.split(&open).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// The first two cells of each row of the table under `heading`, without backticks.
fn table(text: &str, heading: &str) -> BTreeMap<String, String> {
    let mut lines = text.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "there is no table {heading}");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>();
    rows.map(cells).map(|cells| (cells[0].clone(), cells[1].clone())).collect()
}

#[test]
fn the_commands_of_the_readme_work() {
    let readme = document("README.md");
    let commands: Vec<String> = blocks(&readme, "sh")
        .iter()
        .flat_map(|block| block.replace("\\\n", "").lines().map(String::from).collect::<Vec<_>>())
        .collect();
    assert!(
        commands[0].starts_with("cargo run --release -- run examples/repo-report.js"),
        "the first command: {}",
        commands[0]
    );
    assert_eq!(commands[1], "cargo xtask test", "the second command");
    let mut tried = 0;
    for command in &commands {
        let Some(arguments) = command.strip_prefix("cargo run --release -- ") else {
            assert!(command.starts_with("cargo xtask "), "a command that no test tries: {command}");
            continue;
        };
        if arguments.starts_with("serve ") {
            let options: Vec<&str> = arguments.split_whitespace().skip(1).collect();
            // The port of the example may be taken here, so only the other half is tried: with any port it serves.
            assert_eq!(options[0], "--listen", "{command}");
            Daemon::start_with(&options[2..]);
            continue;
        }
        let output = Command::new("sh")
            .current_dir(repository())
            .args(["-c", &format!("{} {arguments}", binary().display())])
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        if arguments.starts_with("run ") {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(report["files"]["count"].as_u64() > Some(50), "{report}");
            assert!(!output.stderr.is_empty(), "log lines go to standard error");
        }
        tried += 1;
    }
    assert!(tried >= 2);
}

#[test]
fn the_values_of_the_protocol_are_decoded_and_written_as_they_stand() {
    let protocol = document("PROTOCOL.md");
    let values = blocks(&protocol, "values");
    assert!(!values.is_empty());
    for text in values.iter().flat_map(|block| block.lines()) {
        let value = expression::parse(text, &DataLimits::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(expression::write(&value).unwrap(), text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_conversations_of_the_protocol_are_what_the_daemon_says() {
    let daemon = Daemon::start();
    let protocol = document("PROTOCOL.md");
    let conversations = blocks(&protocol, "frames");
    assert!(conversations.len() >= 3);
    for conversation in conversations {
        let mut peer = Peer::connect(daemon.url()).await;
        for line in conversation.lines() {
            match line.split_at(4) {
                ("C>S ", frame) => assert!(peer.send(frame).await, "the daemon took no more at {line}"),
                ("S>C ", frame) => {
                    let expected: Value = serde_json::from_str(frame).unwrap_or_else(|error| panic!("{line}: {error}"));
                    let received = peer.receive().await;
                    let Received::Message(message) = &received else { panic!("{line}: {received:?}") };
                    assert!(agree(&expected, message), "the document says {line}\nthe daemon said {message}");
                }
                _ => panic!("neither side says {line}"),
            }
        }
    }
}

/// Whether what was said is what was written: figures may differ, and `…` stands for any text.
fn agree(written: &Value, said: &Value) -> bool {
    match (written, said) {
        (Value::Object(written), Value::Object(said)) => {
            written.keys().eq(said.keys())
                && written.iter().all(|(name, value)| match (value, &said[name]) {
                    (Value::Number(_), Value::Number(_)) if FIGURES.contains(&name.as_str()) => true,
                    (value, said) => agree(value, said),
                })
        }
        (Value::Array(written), Value::Array(said)) => {
            written.len() == said.len() && written.iter().zip(said).all(|(written, said)| agree(written, said))
        }
        (Value::String(written), Value::String(_)) if written == "…" => true,
        _ => written == said,
    }
}

/// Members whose value is another in every run.
const FIGURES: [&str; 6] = ["timeMs", "wallMs", "cpuMs", "queueMs", "hostWaitMs", "peakMemoryBytes"];

#[test]
fn the_bounds_of_the_protocol_are_those_of_the_code() {
    let protocol = document("PROTOCOL.md");
    let wire = table(&protocol, "| bound | default | of what, and what happens if not the end |");
    // The fields by their own names and values, so that none can be forgotten.
    let debug = format!("{:#?}", WireLimits::default());
    let fields: BTreeMap<String, String> = debug
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert_eq!(wire, fields, "the table of wire bounds");

    let named = table(&protocol, "| name | default | what |");
    let limits: BTreeMap<String, String> = Limits::default()
        .named()
        .map(|(name, value)| match name {
            "maxConcurrent" | "warmChildren" => (name.to_owned(), value / cores()),
            _ => (name.to_owned(), value),
        })
        .map(|(name, value)| (name, value.to_string()))
        .collect();
    assert_eq!(named, limits, "the table of run bounds");
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

#[test]
fn the_protocol_lists_every_code_and_every_termination() {
    let protocol = document("PROTOCOL.md");
    let codes = table(&protocol, "| code | raised when | retryable |");
    let known: Vec<&str> = ErrorCode::ALL.iter().map(ErrorCode::as_str).collect();
    assert!(codes.keys().all(|code| known.contains(&code.as_str())), "{codes:?}");
    assert_eq!(codes.len(), known.len());
    for termination in Termination::ALL {
        assert!(protocol.contains(&format!("`{termination}`")), "{termination}");
    }
}
