//! The frames of a JavaScript client and server, recorded, against our session in the place of the server.
//!
//! Differences that are meant, and nothing else:
//! - A pull directly follows its push; JavaScript sends two parallel calls as push, push, pull, pull.
//! - A call that was released is cancelled and not answered (scenario 15).
//! - An abort does not repeat what it complains about, so only its kind is compared (35, 36, 37).
//! - Streams and `map` are rejected (14, 16, 17, 19, 20): fed for their ids, not compared.
//! - `["push",["export",5]]` and `["abort"]`: positive exports end our session, and a missing reason is `undefined`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use codemode_protocol::capnweb::expression::{self, DataLimits, DroppedKeys};
use codemode_protocol::capnweb::{
    BytesKind, ErrorValue, IncomingCall, Stub, TableSizes, Target, Value, WireLimits, target_fn,
};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::harness::{Caller, Peer, json, not_a_function, object};

const TRACE: &str = include_str!("../data/capnweb-trace.jsonl");

/// Scenarios whose server frames must be ours, by their numbers.
const COMPARED: [&str; 30] = [
    "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "10b", "11", "12", "12b", "12c", "13", "15", "18",
    "30", "31", "32", "33", "35", "36", "37", "38", "39", "40", "41", "42",
];

#[derive(Debug)]
struct Record {
    scenario: String,
    to_server: bool,
    text: bool,
    frame: String,
}

/// One connection of the trace.
#[derive(Default, Debug)]
struct Connection {
    records: Vec<Record>,
}

fn connections() -> Vec<Connection> {
    let mut connections = Vec::new();
    let mut open = Connection::default();
    for line in TRACE.lines() {
        let record: Json = serde_json::from_str(line).unwrap();
        if record["event"] == "upgrade" {
            connections.push(std::mem::take(&mut open));
        }
        let (Some(frame), true) = (record["frame"].as_str(), record["transmitted"] != false) else { continue };
        open.records.push(Record {
            scenario: record["scenario"].as_str().unwrap().to_owned(),
            to_server: record["dir"] == "C>S",
            text: record["kind"] == "text",
            frame: frame.to_owned(),
        });
    }
    connections.push(open);
    connections.retain(|connection| !connection.records.is_empty());
    connections
}

/// The elements of an array as they are written.
fn operands(array: &str) -> Vec<Box<RawValue>> {
    serde_json::from_str(array).unwrap_or_default()
}

fn number(scenario: &str) -> &str {
    scenario.split(' ').next().unwrap()
}

/// What the recorded server answered to each call.
type Answers = BTreeMap<i64, Result<Value, Value>>;

fn recorded_answers(connection: &Connection) -> Answers {
    let limits = DataLimits { dropped_keys: DroppedKeys::Allow, ..DataLimits::default() };
    let mut answers = BTreeMap::new();
    for record in connection.records.iter().filter(|record| !record.to_server) {
        let frame = json(&record.frame);
        let (Some(kind), Some(id)) = (frame[0].as_str(), frame[1].as_i64()) else { continue };
        let Some(Ok(value)) = operands(&record.frame).get(2).map(|expr| expression::parse(expr.get(), &limits)) else {
            continue;
        };
        match kind {
            "resolve" => drop(answers.insert(id, Ok(value))),
            "reject" => drop(answers.insert(id, Err(value))),
            _ => {}
        }
    }
    answers
}

/// The server of the recording: calls back where it did, and otherwise answers what it answered.
struct State {
    answers: Mutex<Answers>,
    kept: Mutex<Option<Stub>>,
    /// How many ids the client has used: the latest is the call that begins.
    pushes: AtomicI64,
}

struct Server {
    peer: Peer,
    state: Arc<State>,
}

impl Server {
    fn of(connection: &Connection) -> Self {
        let state = Arc::new(State {
            answers: Mutex::new(recorded_answers(connection)),
            kept: Mutex::new(None),
            pushes: AtomicI64::new(0),
        });
        let caller = Caller::default();
        let (serving, calling) = (Arc::clone(&state), caller.clone());
        let main = target_fn(move |call| {
            let push = serving.pushes.load(Ordering::Relaxed);
            serve(calling.clone(), Arc::clone(&serving), push, call)
        });
        Self { peer: Peer::with_caller(caller, main, WireLimits::default()), state }
    }

    /// Takes a frame of the client and returns the ones that we answer.
    fn feed(&mut self, record: &Record) -> Vec<String> {
        let frame: Json = serde_json::from_str(&record.frame).unwrap_or_default();
        // Promises that our side did not send cannot be released.
        if number(&record.scenario) == "14" && frame[0] == "release" && frame[1].as_i64() < Some(0) {
            return Vec::new();
        }
        if ["push", "stream", "pipe"].iter().any(|kind| frame[0] == *kind) {
            self.state.pushes.fetch_add(1, Ordering::Relaxed);
        }
        if record.text {
            self.peer.session.receive(&record.frame, self.peer.now);
        } else {
            self.peer.session.receive_binary(self.peer.now);
        }
        self.peer.frames()
    }
}

fn stub(args: &mut [Value], at: usize) -> Option<Stub> {
    match args.get_mut(at).map(std::mem::take) {
        Some(Value::Stub(stub)) => Some(stub),
        _ => None,
    }
}

fn tool_call(id: &str, name: &str, args: Value) -> Value {
    object([("toolCallId", id.into()), ("name", name.into()), ("args", args)])
}

async fn serve(caller: Caller, state: Arc<State>, push: i64, call: IncomingCall) -> Result<Value, Value> {
    let name = call.method().unwrap_or_default().to_owned();
    let IncomingCall { path, args, cancel } = call;
    let mut args = args.unwrap_or_default();
    match name.as_str() {
        "protocolVersion" => Ok(1.into()),
        "echo" => Ok(args.into_iter().next().unwrap_or_default()),
        "execute" if args.len() > 1 => {
            let dispatch = stub(&mut args, 1).expect("a dispatch");
            let one = caller.call(&dispatch, "", vec![tool_call("t1", "one", Value::Array(vec![1.into()]))]).await?;
            let empty = || Value::Array(vec![]);
            let two = caller.call(&dispatch, "", vec![tool_call("t2", "two", empty())]);
            let three = caller.call(&dispatch, "", vec![tool_call("t3", "three", empty())]);
            let results = Value::Array(vec![one, two.await?, three.await?]);
            Ok(object([("ok", true.into()), ("results", results), ("undef", Value::Undefined), ("nul", Value::Null)]))
        }
        "slowDispatch" => {
            let dispatch = stub(&mut args, 0).expect("a dispatch");
            caller.call(&dispatch, "", vec!["x".into()]).await
        }
        "slow" => {
            cancel.cancelled().await;
            Ok("slow done".into())
        }
        "keep" => {
            *state.kept.lock().unwrap() = stub(&mut args, 0);
            Ok("kept".into())
        }
        "fire" => {
            let kept = state.kept.lock().unwrap().clone().expect("kept");
            caller.call(&kept, "", vec![args.remove(0)]).await
        }
        "drop" => {
            *state.kept.lock().unwrap() = None;
            Ok("dropped".into())
        }
        "callAfterReturn" => Ok("ret".into()),
        "invokeHandle" if matches!(args.first(), Some(Value::Stub(_))) => {
            Err(Value::error("This RpcImportHook was already disposed."))
        }
        "getCounter" => Ok(Value::Local(counter())),
        "getFn" => Ok(Value::Local(target_fn(|call| async move {
            let number = call.args.as_deref().and_then(|args| args.first()?.as_number());
            number.map(|number| Value::Number(number * 2.0)).ok_or_else(|| not_a_function(&call.path))
        }))),
        "user" => Ok(Value::Local(target_fn(|call| async move {
            if call.method() == Some("name") { Ok("bob".into()) } else { Err(not_a_function(&call.path)) }
        }))),
        "nameOf" => Ok(format!("n{}", args[0].as_str().unwrap_or_default()).into()),
        // The rest answers what it answered then; what was never pulled is told by the call on its result (42).
        _ => {
            let mut answers = state.answers.lock().unwrap();
            let answer = answers.remove(&push).or_else(|| answers.get(&(push + 1)).cloned());
            answer.unwrap_or_else(|| Err(not_a_function(&path)))
        }
    }
}

fn counter() -> Arc<dyn Target> {
    let count = Arc::new(Mutex::new(0.0));
    target_fn(move |call| {
        let step = call.args.as_deref().and_then(|args| args.first()?.as_number()).unwrap_or(1.0);
        let mut count = count.lock().unwrap();
        *count += step;
        let value = Value::Number(*count);
        async move { if call.method() == Some("inc") { Ok(value) } else { Err(not_a_function(&call.path)) } }
    })
}

/// Frames as data, each pull directly after its push.
fn normalised(frames: Vec<String>) -> Vec<Json> {
    let mut pulls: VecDeque<Json> = VecDeque::new();
    let mut rest = Vec::new();
    for frame in frames.iter().map(|frame| json(frame)) {
        if frame[0] == "pull" { pulls.push_back(frame) } else { rest.push(frame) }
    }
    rest.into_iter()
        .flat_map(|frame| {
            let pull = if frame[0] == "push" { pulls.pop_front() } else { None };
            let frame = if frame[0] == "abort" { serde_json::json!(["abort"]) } else { frame };
            std::iter::once(frame).chain(pull)
        })
        .collect()
}

#[test]
fn the_recorded_client_gets_from_us_what_it_got_from_javascript() {
    let mut compared = 0;
    for connection in connections() {
        let mut server = Server::of(&connection);
        let mut ours: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut theirs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for record in &connection.records {
            let scenario = record.scenario.as_str();
            if record.to_server {
                ours.entry(scenario).or_default().extend(server.feed(record));
            } else {
                theirs.entry(scenario).or_default().push(record.frame.clone());
            }
        }
        for (scenario, theirs) in theirs {
            if !COMPARED.contains(&number(scenario)) || number(scenario) == "15" {
                continue;
            }
            if scenario.contains(r#"["export",5]"#) {
                assert!(server.peer.session.is_closed(), "{scenario}");
                continue;
            }
            let ours = ours.remove(scenario).unwrap_or_default();
            assert_eq!(normalised(ours), normalised(theirs), "{scenario}");
            compared += 1;
        }
    }
    assert!(compared >= 50, "only {compared} scenarios were compared");
}

/// What the recorded client did, in order: the scenario, the method and the arguments of each call.
fn client_calls() -> Vec<(&'static str, &'static str, Vec<Value>)> {
    let dispatch = || {
        Value::Local(target_fn(|call| async move {
            let request = call.args.into_iter().flatten().next().unwrap_or_default();
            let field = |name: &str| request.as_object().and_then(|request| request.get(name)).cloned();
            let (id, name) = (field("toolCallId").unwrap_or_default(), field("name").unwrap_or_default());
            let value = format!("v-{}", name.as_str().unwrap_or_default()).into();
            Ok(object([("toolCallId", id), ("value", value)]))
        }))
    };
    let failing = target_fn(|_| async { Err(ErrorValue::new("Error", "tool failed").with_code("TOOL_ERR").into()) });
    let args = Value::Array(vec![1.into(), "two".into(), Value::Array(vec![3.into()]), object([("four", 4.into())])]);
    let request = object([
        ("executionId", "e1".into()),
        ("code", "x".into()),
        ("opt", Value::Undefined),
        ("nul", Value::Null),
        ("when", Value::Date(1_700_000_000_000.0)),
        ("bytes", Value::Bytes(BytesKind::Uint8Array, vec![1, 2, 3])),
    ]);
    vec![
        ("01", "protocolVersion", vec![]),
        ("02", "execute", vec![request, dispatch(), dispatch()]),
        ("03", "invokeHandle", vec!["e1".into(), "h1".into(), args]),
        ("03", "closeHandles", vec!["e1".into()]),
        ("04", "execute", vec![object([("executionId", "e2".into())]), Value::Local(failing), Value::Null]),
        ("05", "throwCode", vec![]),
        ("05", "throwSub", vec![]),
        ("05", "throwSubNoName", vec![]),
        ("05", "throwString", vec![]),
    ]
}

#[test]
fn the_recorded_server_gets_from_us_what_it_got_from_the_javascript_client() {
    let connection = connections().swap_remove(0);
    let mut records = connection.records.iter().peekable();
    let mut peer = Peer::new(crate::harness::nobody());
    let main = peer.session.main();
    for (scenario, method, args) in client_calls() {
        let pending = peer.caller.call(&main, method, args);
        let (mut ours, mut theirs) = (peer.frames(), Vec::new());
        // The exchange of one call ends when the client releases it, which it does once.
        loop {
            let record = records.next().expect("the recording goes on");
            assert_eq!(number(&record.scenario), scenario);
            if record.to_server {
                theirs.push(record.frame.clone());
            } else {
                ours.extend(peer.feed(&[&record.frame]));
            }
            let next = records.peek().map(|next| next.frame.as_str()).unwrap_or_default();
            if pending.is_settled() && theirs.len() >= ours.len() && next.starts_with(r#"["push",["pipeline",0"#) {
                break;
            }
        }
        assert_eq!(normalised(ours), normalised(theirs), "{scenario} {method}");
    }
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn after_the_long_recorded_session_nothing_is_left_but_what_javascript_left() {
    let connection = connections().swap_remove(0);
    let mut server = Server::of(&connection);
    for record in connection.records.iter().filter(|record| record.to_server) {
        server.feed(record);
    }
    let peer = server.peer;
    assert_eq!(peer.closed, None);
    let stats = peer.session.stats();
    assert_eq!((stats.running, stats.parked, stats.imports, stats.exports), (0, 0, 0, 0), "{stats:?}");
}

/// Frames that no parser should take.
fn is_hostile(frame: &str) -> bool {
    [
        "[\"bogus\",1]",
        "not json",
        "{\"a\":1}",
        "[\"push\",[\"foo\",1]]",
        "[\"push\"]",
        "[]",
        "null",
        "[\"push\",[\"bigint\",\"zz\"]]",
    ]
    .contains(&frame)
}

#[test]
fn every_recorded_value_is_read_and_written_back_unchanged() {
    let limits = DataLimits { dropped_keys: DroppedKeys::Allow, ..DataLimits::default() };
    let mut values = 0;
    for record in connections().iter().flat_map(|connection| &connection.records) {
        if is_hostile(&record.frame) || !record.text {
            continue;
        }
        let operands = operands(&record.frame);
        let text = match operands[0].get() {
            r#""resolve""# | r#""reject""# => operands[2].get().to_owned(),
            r#""abort""# if operands.len() > 1 => operands[1].get().to_owned(),
            // The bare list of arguments, wrapped into an array.
            r#""push""# | r#""stream""# => match self::operands(operands[1].get()).get(3) {
                Some(args) => format!("[{args}]"),
                None => continue,
            },
            _ => continue,
        };
        match expression::parse(&text, &limits) {
            Ok(value) => {
                assert_eq!(json(&expression::write(&value).unwrap()), json(&text));
                assert_eq!(expression::check_data_only(&text, &limits), Ok(()));
                values += 1;
            }
            // References are for sessions.
            Err(error) => assert!(
                ["export", "promise", "pipeline", "readable", "writable", "import"]
                    .iter()
                    .any(|tag| text.contains(tag)),
                "{text}: {error}"
            ),
        }
    }
    assert!(values > 120, "{values}");
}
