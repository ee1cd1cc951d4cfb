use codemode_protocol::{LogLevel, ResultLimits};

use super::*;
use crate::frame::{FrameBounds, FrameReader};

fn spec() -> RunSpec {
    RunSpec {
        code: String::new(),
        providers: Vec::new(),
        modules: Vec::new(),
        timeout_ms: 1000,
        cpu_ms: 1000,
        max_wall_ms: 1000,
        memory_limit: 4096,
        stack_limit: 1 << 20,
        count_host_waits: false,
        drop_functions: false,
        retain: None,
        outbound: OutboundSpec::Host,
        outbound_bytes: 1 << 20,
        calls_in_flight: 2,
        arguments_bytes: 1000,
        envelope_bytes: 1000,
        error_bytes: 100,
        result: ResultLimits { depth: 10, digits: 10, nodes: 10, units: 100 },
        escaped_units: u64::MAX,
        allow_dropped_keys: false,
        logs: LogBounds { line_bytes: 100, lines: 3, total_bytes: 200 },
    }
}

fn begun() -> Conversation {
    let mut conversation = Conversation::new(&spec());
    assert_eq!(conversation.hear(FromChild::Ready), Ok(Heard::Nothing));
    conversation
}

fn call(id: u32) -> FromChild {
    call_with(id, "[]")
}

fn call_with(id: u32, args_json: &str) -> FromChild {
    FromChild::Call { id, provider: "api".into(), tool: "get".into(), args_json: args_json.into() }
}

fn log(message: &str) -> FromChild {
    FromChild::Log { level: LogLevel::Log, method: "log".into(), time_ms: 1.0, message: message.into() }
}

fn started(heard: Result<Heard, Violation>) -> u32 {
    match heard {
        Ok(Heard::Call(call)) => call.id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn frames_before_ready_and_a_second_ready_are_violations() {
    assert_eq!(Conversation::new(&spec()).hear(call(1)), Err(Violation::Order));
    assert_eq!(begun().hear(FromChild::Ready), Err(Violation::Order));
}

#[test]
fn calls_beyond_the_bound_in_flight_wait_for_an_answer() {
    let mut conversation = begun();
    assert_eq!(started(conversation.hear(call(1))), 1);
    assert_eq!(started(conversation.hear(call(2))), 2);
    assert_eq!(conversation.hear(call(3)), Ok(Heard::Nothing));
    assert_eq!((conversation.next_held(), conversation.started()), (None, 2));
    conversation.answer(1);
    assert_eq!(conversation.next_held().map(|call| call.id), Some(3));
    assert_eq!(conversation.started(), 3);
}

#[test]
fn calls_made_before_the_end_start_all_the_same() {
    let mut conversation = begun();
    for id in 1..=5 {
        conversation.hear(call(id)).unwrap();
    }
    let ids: Vec<_> = conversation.all_held().map(|call| call.id).collect();
    assert_eq!((ids, conversation.started()), (vec![3, 4, 5], 5));
}

#[test]
fn a_repeated_or_skipped_call_id_is_a_violation() {
    for found in [0, 1, 3, u32::MAX] {
        let mut conversation = begun();
        started(conversation.hear(call(1)));
        assert_eq!(conversation.hear(call(found)), Err(Violation::CallId { found, expected: 2 }));
    }
}

#[test]
fn more_held_calls_than_the_childs_memory_could_hold_are_a_violation() {
    let mut conversation = begun();
    let large = "x".repeat(900);
    let last = (1..).find(|id| conversation.hear(call_with(*id, &large)) == Err(Violation::CallFlood));
    assert_eq!(last, Some(7), "two in flight, four held");
}

fn fetch(id: u32, method: &str, url: &str, header: (&str, &str)) -> FromChild {
    let headers = vec![(header.0.to_owned(), header.1.to_owned())];
    FromChild::Fetch { id, request: OutboundRequest { method: method.into(), url: url.into(), headers, body: None } }
}

#[test]
fn requests_are_calls_among_the_others_and_are_given_up_wherever_they_are() {
    let mut conversation = begun();
    let get = |id| fetch(id, "GET", "https://h/", ("a", "b"));
    assert_eq!(conversation.hear(FromChild::Abort { id: 1 }), Err(Violation::Order));
    assert_eq!(started(conversation.hear(get(1))), 1);
    assert_eq!(started(conversation.hear(call(2))), 2);
    assert_eq!(conversation.hear(get(3)), Ok(Heard::Nothing));
    assert_eq!(conversation.hear(call(4)), Ok(Heard::Nothing));
    assert_eq!(conversation.hear(FromChild::Abort { id: 3 }), Ok(Heard::Abort(3)));
    assert_eq!(conversation.hear(FromChild::Abort { id: 1 }), Ok(Heard::Abort(1)));
    conversation.answer(3);
    assert_eq!(conversation.next_held(), None, "two are in flight");
    conversation.answer(1);
    assert_eq!(conversation.next_held().map(|call| call.id), Some(4));
    assert_eq!(conversation.hear(FromChild::Abort { id: 1 }), Ok(Heard::Nothing), "answered");
}

#[test]
fn a_request_that_fetch_would_not_make_is_a_violation() {
    let cases = [
        ("", "http://h/", ("a", "b")),
        ("GET /", "http://h/", ("a", "b")),
        ("GET", "file:///etc/passwd", ("a", "b")),
        ("GET", "http://h/\r\n", ("a", "b")),
        ("GET", "http://h/", ("a:", "b")),
        ("GET", "http://h/", ("a", "b\r\nc: d")),
        ("GET", "http://h/", ("", "b")),
    ];
    for (method, url, header) in cases {
        let heard = begun().hear(fetch(1, method, url, header));
        assert!(matches!(heard, Err(Violation::Request(_))), "{method} {url} {header:?}: {heard:?}");
    }
}

#[test]
fn a_wait_counts_only_when_no_answer_is_on_its_way() {
    let mut conversation = begun();
    started(conversation.hear(call(1)));
    started(conversation.hear(call(2)));
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 0 }), Ok(Heard::Waiting));
    conversation.answer(1);
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 0 }), Ok(Heard::Nothing), "they crossed");
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 1 }), Ok(Heard::Waiting));
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 2 }), Err(Violation::Order));
    conversation.answer(2);
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 2 }), Err(Violation::Order), "for what?");
}

#[test]
fn lines_past_their_bound_are_a_violation_and_the_others_are_kept() {
    let mut conversation = begun();
    for line in ["a", "b", "c", "marker"] {
        conversation.hear(log(line)).unwrap();
    }
    assert_eq!(conversation.hear(log("d")), Err(Violation::LogFlood));
    assert_eq!(conversation.take_logs().len(), 4);

    let mut conversation = begun();
    conversation.hear(log(&"x".repeat(800))).unwrap();
    assert_eq!(conversation.hear(log(&"x".repeat(20))), Err(Violation::LogFlood));
}

#[test]
fn garbage_and_oversize_frames_are_violations_before_their_bytes_come() {
    let hear = |bytes: &[u8]| -> Result<Option<FromChild>, Violation> {
        let mut reader = FrameReader::new();
        reader.set_bounds(FrameBounds::of(&spec()));
        reader.push(bytes);
        Ok(reader.next()?)
    };
    assert!(matches!(hear(b"\x01\0\0\0\xff"), Err(Violation::Frame(_))), "an unknown kind");
    assert!(matches!(hear(b"\0\0\0\0\0"), Err(Violation::Frame(_))), "no kind");
    for kind in 0..=255 {
        assert!(matches!(hear(&[0xff, 0xff, 0xff, 0x7f, kind]), Err(Violation::Frame(_))), "2 GiB of kind {kind}");
    }
    let mut frame = call(1).encode();
    let last = frame.len() - 1;
    frame[last] = 0xff;
    assert!(matches!(hear(&frame), Err(Violation::Frame(_))), "not UTF-8");
}

#[test]
fn the_clock_stands_for_what_the_caller_answers_and_for_nothing_else() {
    let mut conversation = Conversation::new(&RunSpec { outbound: OutboundSpec::Executor, ..spec() });
    assert_eq!(conversation.hear(FromChild::Ready), Ok(Heard::Nothing));
    assert_eq!(started(conversation.hear(call(1))), 1);
    assert!(conversation.waits_for_the_caller());
    assert_eq!(started(conversation.hear(fetch(2, "GET", "https://h/", ("a", "b")))), 2);
    assert!(!conversation.waits_for_the_caller());
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 0 }), Ok(Heard::Nothing));
    conversation.answer(2);
    assert!(conversation.waits_for_the_caller());
    assert_eq!(conversation.hear(FromChild::Waiting { answered: 1 }), Ok(Heard::Waiting));
}
