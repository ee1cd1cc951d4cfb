//! What must hold of what a child sends, whatever it is. Fuzzing drives it by coverage, a test from seeds.

use std::collections::VecDeque;

use codemode_protocol::{ErrorDetails, LogLevel, OutboundRequest, ResultLimits, Termination};

use crate::{
    frame::{DoneFrame, FrameBounds, FrameError, FrameReader, FromChild, LogBounds, OutboundSpec, RunSpec},
    pool::conversation::{Call, Conversation, Heard, What},
    seeded::Random,
};

/// The first byte says where requests go and how long the pieces are in which the rest arrives.
pub(crate) fn hold(data: &[u8]) {
    let [first, sent @ ..] = data else { return };
    let spec = spec([OutboundSpec::Blocked, OutboundSpec::Host, OutboundSpec::Executor][usize::from(first % 3)]);
    let (frames, end) = read(&spec, sent, usize::MAX);
    assert_eq!(read(&spec, sent, usize::from(first / 3) + 1), (frames.clone(), end), "pieces change what is read");
    let written: Vec<u8> = frames.iter().flat_map(FromChild::encode).collect();
    assert!(sent.starts_with(&written), "what is read is what was sent");
    assert_eq!(end == Ok(false), written.len() == sent.len(), "{end:?}");
    converse(&spec, frames);
}

/// The frames that are read from bytes which arrive in pieces, and how they end: whether in the middle of a frame.
fn read(spec: &RunSpec, sent: &[u8], length: usize) -> (Vec<FromChild>, Result<bool, FrameError>) {
    let mut reader = FrameReader::new();
    reader.set_bounds(FrameBounds::of(spec));
    let mut frames = Vec::new();
    for piece in sent.chunks(length.min(sent.len().max(1))) {
        reader.buffer().extend_from_slice(piece);
        loop {
            match reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, Ok(reader.has_partial_frame()))
}

/// Hears the frames, and answers every call once two others have begun behind it.
fn converse(spec: &RunSpec, frames: Vec<FromChild>) {
    let mut conversation = Conversation::new(spec);
    let (mut begun, mut last, mut logged) = (VecDeque::new(), 0, 0);
    let mut begin = |begun: &mut VecDeque<u32>, call: Call| {
        assert!(call.id > last, "calls begin in their order, each once");
        last = call.id;
        if let What::Fetch(OutboundRequest { url, .. }) = call.what {
            assert!(url.starts_with("http://") || url.starts_with("https://"), "{url}");
            assert_ne!(spec.outbound, OutboundSpec::Blocked, "a run without a network has no request that fits");
        }
        begun.push_back(call.id);
        assert!(begun.len() <= spec.calls_in_flight as usize, "{begun:?}");
    };
    for frame in frames {
        logged += match &frame {
            FromChild::Log { message, .. } => message.len(),
            _ => 0,
        };
        match conversation.hear(frame) {
            Ok(Heard::Call(call)) => begin(&mut begun, call),
            Ok(Heard::Abort(id)) => {
                conversation.answer(id);
                begun.retain(|other| *other != id);
            }
            Ok(Heard::Waiting) => assert!(!begun.is_empty(), "it waits for nothing"),
            Ok(Heard::Nothing | Heard::Done(_) | Heard::Memory) => {}
            Err(_) => break,
        }
        if begun.len() > 2
            && let Some(id) = begun.pop_front()
        {
            conversation.answer(id);
        }
        while let Some(call) = conversation.next_held() {
            begin(&mut begun, call);
        }
    }
    let logs = conversation.take_logs();
    assert!(logs.len() <= spec.logs.lines as usize + 1, "{} lines", logs.len());
    assert!(logs.iter().map(|line| line.message.len()).sum::<usize>() <= logged);
}

fn spec(outbound: OutboundSpec) -> RunSpec {
    RunSpec {
        code: String::new(),
        providers: Vec::new(),
        modules: Vec::new(),
        timeout_ms: 1,
        cpu_ms: 1,
        max_wall_ms: 1,
        memory_limit: 2000,
        stack_limit: 1,
        count_host_waits: false,
        drop_functions: false,
        retain: None,
        outbound,
        outbound_bytes: 64,
        calls_in_flight: 3,
        arguments_bytes: 64,
        envelope_bytes: 64,
        error_bytes: 64,
        result: ResultLimits { depth: 8, digits: 8, nodes: 8, units: 64 },
        escaped_units: u64::MAX,
        allow_dropped_keys: false,
        logs: LogBounds { line_bytes: 16, lines: 4, total_bytes: 40 },
    }
}

/// Bytes for [`hold`], the same for a seed everywhere: frames of a child, some of them damaged.
fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    let mut sent = vec![random.below(256) as u8];
    sent.extend(FromChild::Ready.encode());
    let mut id = 0;
    for _ in 0..random.below(12) {
        let mut bytes = frame(&mut random, &mut id).encode();
        if random.below(16) == 0 {
            random.damage(&mut bytes);
        }
        sent.extend(bytes);
    }
    sent
}

fn frame(random: &mut Random, id: &mut u32) -> FromChild {
    let texts = ["", "a", "é", "https://h/", "http://h/\n", "GET", "x:", "[1]"];
    let text = |random: &mut Random| (*random.pick(&texts)).to_owned();
    match random.below(8) {
        0 => FromChild::Log {
            level: *random.pick(LogLevel::ALL),
            method: text(random),
            time_ms: random.below(9) as f64,
            message: text(random),
        },
        1 | 2 => {
            *id += 1;
            FromChild::Call { id: *id, provider: text(random), tool: text(random), args_json: text(random) }
        }
        3 | 4 => {
            *id += 1;
            let method = random.pick(&["GET", "GET", ""]);
            let url = random.pick(&["https://h/", "http://h/", "ftp://h/"]);
            let headers = (0..random.below(3)).map(|_| (text(random), text(random))).collect();
            let body = (random.below(2) == 0).then(|| random.bytes(9));
            let request = OutboundRequest { method: (*method).into(), url: (*url).into(), headers, body };
            FromChild::Fetch { id: *id, request }
        }
        5 => FromChild::Abort { id: random.below(*id as usize + 2) as u32 },
        6 => FromChild::Waiting { answered: random.below(*id as usize + 2) as u32 },
        _ => {
            let is_completed = random.below(2) == 0;
            FromChild::Done(Box::new(DoneFrame {
                termination: if is_completed { Termination::Completed } else { Termination::Threw },
                result: is_completed.then(|| text(random)),
                error: (!is_completed).then(|| text(random)),
                details: (random.below(2) == 0).then(|| ErrorDetails {
                    name: text(random),
                    message: text(random),
                    stack: Some(text(random)),
                    line: Some(1),
                    column: None,
                }),
                peak_memory: 1,
                host_calls: 2,
                handles: 3,
            }))
        }
    }
}

#[test]
fn no_bytes_of_a_child_are_more_than_a_violation() {
    crate::seeded::from_seeds(20_000, generated, |data| hold(data));
}
