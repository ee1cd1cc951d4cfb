//! A peer that sends what no honest one would loses its own session, costs a bounded amount of memory, and nobody else
//! notices.

use codemode_protocol::{ErrorCode, Executor};
use codemode_tests::{
    daemon::Daemon,
    peer::{Peer, Received},
    programs::{Tools, program},
};
use serde_json::{Value, json};

const CALL: &str = "[\"pipeline\",0,[\"protocolVersion\"],[]]";
const MIB: u64 = 1 << 20;

/// How an attack has to end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The session goes on: the attack was refused call by call, or was none.
    GoesOn,
    /// The session is aborted with this code.
    Aborted(&'static str),
}

/// Runs `attack` on a daemon of its own while another session works, and checks what it cost.
///
/// `mebibytes` is how much the daemon's memory may grow by it at its peak.
async fn attack<F: AsyncFnOnce(&mut Peer)>(name: &str, end: End, mebibytes: u64, attack: F) {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    let tools = Tools::default();
    let work = async || loop {
        match bystander.execute(program("async () => await api.echo(7)"), tools.host()).await {
            Ok(outcome) => return assert_eq!(outcome.error, None),
            // Sandboxes of a session that has just ended are free a moment later.
            Err(error) if error.code == ErrorCode::Overloaded => tokio::task::yield_now().await,
            Err(error) => panic!("{name}: the other session does not work: {error}"),
        }
    };
    for _ in 0..3 {
        work().await;
    }
    let before = daemon.process().resident_bytes();

    let mut peer = Peer::connect(daemon.url()).await;
    attack(&mut peer).await;
    let ended = peer.synchronise().await;
    let grown = daemon.process().peak_resident_bytes().saturating_sub(before) / MIB;
    println!("{name}: {grown} MiB");
    match (end, &ended) {
        (End::GoesOn, Ok(_)) => {}
        (End::Aborted(code), Err(abort)) => assert_eq!(abort[1][4]["code"], code, "{name}: {abort}"),
        _ => panic!("{name}: expected {end:?}, but the session said {ended:?}"),
    }
    assert!(grown <= mebibytes, "{name}: the daemon grew by {grown} MiB; at most {mebibytes} are allowed");
    drop(peer);
    for _ in 0..3 {
        work().await;
    }
}

fn limit() -> End {
    End::Aborted(code(ErrorCode::LimitExceeded))
}

/// The code's text; all of them are static.
fn code(code: ErrorCode) -> &'static str {
    ErrorCode::ALL.iter().find(|known| **known == code).expect("a code of the contract").as_str()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_are_never_released_end_the_session() {
    attack("literals", limit(), 32, async |peer: &mut Peer| {
        for _ in 0..20_000 {
            peer.push("1").await;
        }
    })
    .await;
    attack("calls", limit(), 32, async |peer: &mut Peer| {
        for _ in 0..20_000 {
            peer.push(CALL).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn large_literals_that_are_never_released_end_the_session() {
    let literal = format!("\"{}\"", "x".repeat(1 << 20));
    attack("200 literals of 1 MiB", limit(), 128, async |peer: &mut Peer| {
        for _ in 0..200 {
            peer.push(&literal).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_functions_promises_or_pipes_ends_the_session() {
    attack("functions", limit(), 96, async |peer: &mut Peer| {
        // The server's bound leaves room for the runs of all its sandboxes, so it grows with the machine.
        for message in 0..1000 {
            let functions: Vec<_> = (1..=1000).map(|n| json!(["export", -(message * 1000 + n)])).collect();
            peer.push(&json!([functions]).to_string()).await;
            if peer.is_closed() {
                break;
            }
        }
    })
    .await;
    attack("promises", limit(), 32, async |peer: &mut Peer| {
        for n in 1..=2000 {
            peer.push(&format!("[\"pipeline\",0,[\"protocolVersion\"],[[\"promise\",-{n}]]]")).await;
        }
    })
    .await;
    attack("pipes", limit(), 32, async |peer: &mut Peer| {
        for _ in 0..1000 {
            peer.send("[\"pipe\"]").await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doubling_costs_little() {
    attack("doubling", limit(), 128, async |peer: &mut Peer| {
        let mut last = peer.push("\"0123456789abcdef\"").await;
        for _ in 0..30 {
            last = peer.push(&format!("[[[\"pipeline\",{last}],[\"pipeline\",{last}]]]")).await;
        }
        let call = peer.push(&format!("[\"pipeline\",0,[\"info\"],[[\"pipeline\",{last}]]]")).await;
        peer.send(format!("[\"pull\",{call}]")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_spoken_rejects_its_call_alone() {
    attack("remap", End::GoesOn, 32, async |peer: &mut Peer| {
        let items: Vec<_> = (0..10_000).collect();
        let list = peer.push(&json!([items]).to_string()).await;
        let mapped = peer.push(&format!("[\"remap\",{list},[],[],[[\"pipeline\",0,[]]]]")).await;
        peer.send(format!("[\"pull\",{mapped}]")).await;
        let Received::Message(answer) = peer.receive().await else { panic!("the session ended") };
        assert_eq!((&answer[0], &answer[1]), (&json!("reject"), &json!(mapped)), "{answer}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_nobody_reads_are_held_back() {
    attack("200 results of 1 MiB, not read", End::GoesOn, 192, async |peer: &mut Peer| {
        let run = json!(["pipeline", 0, ["execute"], [{ "code": "async () => 'x'.repeat(1 << 20)" }, null, null]]);
        for _ in 0..200 {
            let id = peer.push(&run.to_string()).await;
            peer.send(format!("[\"pull\",{id}]")).await;
        }
        // Only now anything is read; every call is answered, be it by OVERLOADED.
        for _ in 0..200 {
            let Received::Message(answer) = peer.receive().await else { panic!("the session ended") };
            let id = &answer[1];
            peer.send(format!("[\"release\",{id},1]")).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_nobody_pulls_are_not_kept() {
    attack("200 results of 1 MiB, never pulled", End::GoesOn, 192, async |peer: &mut Peer| {
        let run = json!(["pipeline", 0, ["execute"], [{ "code": "async () => 'x'.repeat(1 << 20)" }, null, null]]);
        for _ in 0..200 {
            peer.push(&run.to_string()).await;
        }
        // Until nothing runs but the question itself.
        loop {
            let question = peer.push("[\"pipeline\",0,[\"info\"],[]]").await;
            peer.send(format!("[\"pull\",{question}]")).await;
            let Received::Message(answer) = peer.receive().await else { panic!("the session ended") };
            peer.send(format!("[\"release\",{question},1]")).await;
            if answer[2]["session"]["running"] == 1 {
                break;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_beyond_the_bound_are_refused_one_by_one() {
    attack("600 runs that never end", End::GoesOn, 64, async |peer: &mut Peer| {
        let code = "async () => await api.wait()";
        let providers = json!([[{ "name": "api", "tools": [[]] }]]);
        for n in 1..=600 {
            let run =
                json!(["pipeline", 0, ["execute"], [{ "code": code, "providers": providers }, ["export", -n], null]]);
            let id = peer.push(&run.to_string()).await;
            peer.send(format!("[\"pull\",{id}]")).await;
        }
        loop {
            let Received::Message(answer) = peer.receive().await else { panic!("the session ended") };
            if answer[0] == "reject" {
                assert_eq!(answer[2][4]["code"], code_text(ErrorCode::Overloaded), "{answer}");
                break;
            }
        }
    })
    .await;
}

fn code_text(of: ErrorCode) -> Value {
    json!(code(of))
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_are_no_message_end_the_session_and_are_not_repeated() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    let deep = format!("[\"push\",{}1{}]", "[[".repeat(50_000), "]]".repeat(50_000));
    let digits = format!("[\"push\",[\"bigint\",\"{}\"]]", "9".repeat(20_000));
    let path: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let long_path = json!(["push", ["pipeline", 0, path]]).to_string();
    let frames = [
        "",
        "SECRET",
        "{}",
        "[]",
        "[1]",
        "[\"SECRET\",1]",
        "[\"push\"]",
        "[\"push\",[\"SECRET\"]]",
        "[\"push\",[]]",
        "[\"push\",[1,2]]",
        "[\"push\",[[1],[2]]]",
        "[\"push\",1]\n[\"push\",1]",
        "[\"pull\",7]",
        "[\"pull\",0]",
        "[\"pull\",1.5]",
        "[\"release\",7,1]",
        "[\"release\",0,1]",
        "[\"release\",1,-5]",
        "[\"release\",1,0]",
        "[\"release\",1,0.5]",
        "[\"release\",1,2]",
        "[\"resolve\",0,1]",
        "[\"reject\",0,1]",
        "[\"push\",[\"export\",4294967294]]",
        "[\"push\",[\"export\",0]]",
        "[\"push\",[\"export\",-1e300]]",
        "[\"push\",[\"promise\",1]]",
        "[\"push\",[\"pipeline\",99]]",
        "[\"push\",[\"pipeline\",0,\"SECRET\"]]",
        "[\"push\",[\"pipeline\",0,[],\"SECRET\"]]",
        "[\"push\",[\"bigint\",\"SECRET\"]]",
        "[\"push\",[\"url\",\"SECRET\"]]",
        "[\"push\",[\"bytes\",\"%SECRET%\"]]",
        "[\"push\",[\"bytes\",\"AQID\",\"Float64Array\"]]",
        "[\"push\",[\"error\",\"Error\",\"x\",null,\"SECRET\"]]",
        &deep,
        &digits,
        &long_path,
    ];
    for frame in frames {
        let shown: String = frame.chars().take(60).collect();
        let mut peer = Peer::connect(daemon.url()).await;
        // An outcome with a count of one, for the frames that name it.
        peer.push("1").await;
        peer.send(frame).await;
        let (abort, close) = peer.receive_end().await;
        let abort = abort.unwrap_or_else(|| panic!("{shown}: no reason was given"));
        assert_eq!(close, Some(3000), "{shown}");
        assert!(!abort.to_string().contains("SECRET"), "{shown}: the input is repeated: {abort}");
        assert!(abort.to_string().len() < 1000, "{shown}: {abort}");
    }
    let mut peer = Peer::connect(daemon.url()).await;
    peer.send_binary(b"[\"push\",1]".to_vec()).await;
    assert_eq!(peer.receive_end().await.1, Some(3000));

    let outcome = bystander.execute(program("async () => await api.echo(7)"), Tools::default().host()).await;
    assert_eq!(outcome.unwrap().error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_over_the_bound_ends_the_session() {
    let daemon = Daemon::start_with(&["--warm", "2"]);
    let bystander = daemon.connect().await;
    let before = daemon.process().resident_bytes();
    let mut peer = Peer::connect(daemon.url()).await;
    peer.send(format!("[\"push\",\"{}\"]", "x".repeat(70 << 20))).await;
    peer.receive_end().await;
    let grown = daemon.process().peak_resident_bytes().saturating_sub(before) / MIB;
    assert!(grown <= 160, "the daemon grew by {grown} MiB");
    let outcome = bystander.execute(program("async () => await api.echo(7)"), Tools::default().host()).await;
    assert_eq!(outcome.unwrap().error, None);
}
