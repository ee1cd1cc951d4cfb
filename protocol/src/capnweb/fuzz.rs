//! Fuzz functions: what must hold whatever a peer sends, and whatever two peers do to each other.
//!
//! They panic when something does not hold. Ordinary tests drive them from a seeded generator, `fuzz/` by coverage.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::expression::{self, DataLimits, DroppedKeys};
use super::reader::Reader;
use super::{
    CallId, CallMode, ErrorValue, IncomingCall, InvocationId, Object, Output, PathKey, Session, SessionConfig, Stub,
    TableSizes, Target, Value, WireLimits,
};

/// Frames, one a line, into one session whose application answers every call at once with its arguments.
///
/// Whatever comes: no panic, `Closed` once and last, and nothing left after the connection ends.
pub fn frames(data: &[u8]) {
    let mut session = session();
    let main = session.main();
    let mut closed = 0;
    let mut kept: Vec<Value> = Vec::new();
    for (at, line) in String::from_utf8_lossy(data).split('\n').take(200).enumerate() {
        session.receive(line, Duration::from_secs(at as u64));
        // A call on a closed session would settle after the close.
        if at % 16 == 7 && !session.is_closed() {
            let _ = session.call(&main, vec!["f".into()], Some(std::mem::take(&mut kept)), CallMode::Pull);
        }
        session.handle_timeout(Duration::from_secs(at as u64));
        closed += poll_frames(&mut session, &mut kept);
        assert_eq!(closed, usize::from(session.is_closed()), "closed exactly when it says so");
    }
    session.transport_closed(1006, "");
    closed += poll_frames(&mut session, &mut kept);
    assert_eq!(closed, 1, "closed once");
    assert!(session.poll_output().is_none(), "closed is the last output");
    drop(kept);
    assert_eq!(session.stats(), TableSizes::default(), "nothing is left");
}

/// One text as a data expression: the check and the parser agree, and what is parsed can be written and read again.
pub fn data(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let limits = DataLimits { depth: 64, dropped_keys: DroppedKeys::Allow, ..DataLimits::default() };
    let checked = expression::check_data_only(&text, &limits);
    match expression::parse(&text, &limits) {
        Ok(value) => {
            let written = expression::write(&value).expect("what was read can be written");
            assert_eq!(expression::parse(&written, &limits).as_ref(), Ok(&value), "{written}");
            assert_eq!(expression::check_data_only(&written, &limits), Ok(()), "{written}");
        }
        Err(_) => assert!(checked.is_err(), "{text}"),
    }
}

/// Operations of two joined peers: calls of all kinds with arguments and results of all kinds, cancelling, dropping,
/// frames passed in any interleaving.
///
/// Nothing breaks a session; every call that was not cancelled settles exactly once; when everything is answered and
/// dropped both sides' tables are empty.
pub fn peers(data: &[u8]) {
    let mut ops = Ops { data, at: 0 };
    let mut sides = [Side::new(), Side::new()];
    for _ in 0..300 {
        let Some(op) = ops.next() else { break };
        let (which, op) = (usize::from(op & 1), op >> 1);
        let other = 1 - which;
        match op % 9 {
            0 => sides[which].call(&mut ops),
            1 => sides[which].call_pipelined(&mut ops),
            2 => sides[which].cancel(&mut ops),
            3 | 4 => sides[which].respond(&mut ops),
            5 => sides[which].drop_stub(&mut ops),
            6 => {
                for _ in 0..ops.next().unwrap_or(0) % 4 {
                    pass(&mut sides, which, other);
                }
            }
            7 => while pass(&mut sides, which, other) {},
            _ => sides[which].session.handle_timeout(Duration::ZERO),
        }
        sides[which].poll();
    }
    let mut rounds = 0;
    loop {
        let mut progress = false;
        for (which, other) in [(0, 1), (1, 0)] {
            sides[which].poll();
            while sides[which].respond_plainly() {
                progress = true;
            }
            sides[which].stubs.clear();
            sides[which].poll();
            while pass(&mut sides, which, other) {
                progress = true;
            }
        }
        if !progress {
            break;
        }
        rounds += 1;
        assert!(rounds < 10_000, "comes to rest");
    }
    for side in &mut sides {
        assert!(!side.session.is_closed(), "nothing breaks a session");
        assert!(side.calls.is_empty(), "every call has settled");
        assert_eq!(side.session.stats(), TableSizes::default(), "nothing is left");
    }
}

fn session() -> Session {
    let limits = WireLimits {
        message_bytes: 1 << 20,
        nodes: 10_000,
        depth: 64,
        held_bytes: 1 << 20,
        retained_bytes: 1 << 20,
        running_bytes: 1 << 20,
        expansion_nodes: 10_000,
        expansion_bytes: 1 << 20,
        ..WireLimits::default()
    };
    Session::new(SessionConfig { main: Arc::new(Nobody), limits }, Duration::ZERO)
}

/// An object whose calls are answered by the driver.
struct Nobody;

impl Target for Nobody {
    fn call(self: Arc<Self>, _: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        Box::pin(async { Ok(Value::Undefined) })
    }
}

fn poll_frames(session: &mut Session, kept: &mut Vec<Value>) -> usize {
    let mut closed = 0;
    while let Some(output) = session.poll_output() {
        assert_eq!(closed, 0, "closed is the last output");
        match output {
            Output::Send(text) => {
                let mut reader = Reader::new(&text, usize::MAX);
                reader.skip_value().and_then(|()| reader.finish()).expect("frames are JSON");
            }
            Output::Invoke { id, call, .. } => {
                // Some answers wait, and some arguments are kept beyond their call.
                let mut args = call.args.unwrap_or_default();
                if call.path.len() == 2 {
                    kept.append(&mut args);
                } else {
                    session.respond(id, Ok(Value::Array(args)));
                }
            }
            Output::Settled { result, .. } => kept.extend(result),
            Output::Closed(_) => closed += 1,
        }
        kept.truncate(100);
    }
    closed
}

/// Bytes as decisions.
struct Ops<'d> {
    data: &'d [u8],
    at: usize,
}

impl Ops<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.data.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.next().unwrap_or(0)) % count.max(1)
    }
}

struct Side {
    session: Session,
    sent: VecDeque<String>,
    invocations: Vec<(InvocationId, IncomingCall)>,
    stubs: Vec<Stub>,
    /// Calls that have to settle.
    calls: BTreeMap<CallId, ()>,
}

impl Side {
    fn new() -> Self {
        let session = session();
        Self { session, sent: VecDeque::new(), invocations: Vec::new(), stubs: Vec::new(), calls: BTreeMap::new() }
    }

    fn poll(&mut self) {
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Send(text) => self.sent.push_back(text),
                Output::Invoke { id, call, .. } => self.invocations.push((id, call)),
                Output::Settled { call, result } => {
                    assert!(self.calls.remove(&call).is_some(), "settles once, and not after it was cancelled");
                    let (Ok(value) | Err(value)) = result;
                    self.keep_stubs(value);
                }
                Output::Closed(reason) => panic!("closed: {reason:?}"),
            }
        }
    }

    fn call(&mut self, ops: &mut Ops<'_>) {
        let pick = ops.below(self.stubs.len() + 1);
        let target = self.stubs.get(pick).cloned().unwrap_or_else(|| self.session.main());
        let (path, args, mode) = self.call_parts(ops);
        if let Ok(call) = self.session.call(&target, path, args, mode)
            && mode == CallMode::Pull
        {
            self.calls.insert(call, ());
        }
    }

    fn call_pipelined(&mut self, ops: &mut Ops<'_>) {
        let pick = ops.below(self.calls.len());
        let Some(on) = self.calls.keys().nth(pick).copied() else { return };
        let (path, args, mode) = self.call_parts(ops);
        if let Ok(call) = self.session.call_pipelined(on, path, args, mode)
            && mode == CallMode::Pull
        {
            self.calls.insert(call, ());
        }
    }

    fn call_parts(&mut self, ops: &mut Ops<'_>) -> (Vec<PathKey>, Option<Vec<Value>>, CallMode) {
        let path = [vec![], vec!["m".into()], vec![PathKey::Index(0)], vec!["o".into(), "m".into()]];
        let path = path[ops.below(4)].clone();
        let args = (0..ops.below(3)).map(|_| self.value(ops, 0)).collect();
        let args = if ops.below(5) == 0 { None } else { Some(args) };
        (path, args, if ops.below(6) == 0 { CallMode::Forget } else { CallMode::Pull })
    }

    fn value(&mut self, ops: &mut Ops<'_>, depth: usize) -> Value {
        match ops.below(if depth > 3 { 6 } else { 9 }) {
            0 => Value::Number(f64::from(ops.next().unwrap_or(0))),
            1 => "text".into(),
            2 => Value::Encoded(r#"[[{"m":["date",5]},["undefined"]]]"#.into()),
            3 | 4 => Value::Local(Arc::new(Nobody)),
            5 => {
                let pick = ops.below(self.stubs.len());
                self.stubs.get(pick).cloned().map_or(Value::Null, Value::Stub)
            }
            6 => Value::Array((0..ops.below(4)).map(|_| self.value(ops, depth + 1)).collect()),
            7 => ["o", "m"].into_iter().map(|key| (key, self.value(ops, depth + 1))).collect::<Object>().into(),
            _ => {
                let mut error = ErrorValue::new("Error", "e").with_code("C");
                error.props.insert("more", self.value(ops, depth + 1));
                error.into()
            }
        }
    }

    fn cancel(&mut self, ops: &mut Ops<'_>) {
        let pick = ops.below(self.calls.len());
        if let Some(call) = self.calls.keys().nth(pick).copied() {
            self.calls.remove(&call);
            self.session.cancel_call(call);
        }
    }

    fn respond(&mut self, ops: &mut Ops<'_>) {
        if self.invocations.is_empty() {
            return;
        }
        let pick = ops.below(self.invocations.len());
        let (id, call) = self.invocations.swap_remove(pick);
        let result = match ops.below(5) {
            0 => Err(self.value(ops, 0)),
            1 => Ok(Value::Array(call.args.unwrap_or_default())),
            2 => {
                call.args.into_iter().flatten().for_each(|arg| self.keep_stubs(arg));
                Ok(Value::Undefined)
            }
            _ => Ok(self.value(ops, 0)),
        };
        self.session.respond(id, result);
    }

    fn respond_plainly(&mut self) -> bool {
        let Some((id, call)) = self.invocations.pop() else { return false };
        drop(call);
        self.session.respond(id, Ok(Value::Null));
        true
    }

    fn drop_stub(&mut self, ops: &mut Ops<'_>) {
        if !self.stubs.is_empty() {
            let pick = ops.below(self.stubs.len());
            self.stubs.swap_remove(pick);
        }
    }

    fn keep_stubs(&mut self, value: Value) {
        match value {
            Value::Stub(stub) if self.stubs.len() < 50 => self.stubs.push(stub),
            Value::Array(items) => items.into_iter().for_each(|item| self.keep_stubs(item)),
            Value::Object(object) => object.into_iter().for_each(|(_, value)| self.keep_stubs(value)),
            _ => {}
        }
    }
}

/// Passes one frame.
fn pass(sides: &mut [Side; 2], from: usize, to: usize) -> bool {
    sides[from].poll();
    let Some(frame) = sides[from].sent.pop_front() else { return false };
    sides[to].session.receive(&frame, Duration::ZERO);
    sides[to].poll();
    true
}
