use codemode_protocol::ResultLimits;

use super::*;

fn spec() -> RunSpec {
    RunSpec {
        code: "async () => 1".into(),
        providers: vec![ProviderSpec {
            name: "api".into(),
            tools: ["a", "b"].into_iter().collect(),
            prelude: Some("1".into()),
            positional_args: true,
            proxy_source: None,
        }],
        modules: vec![("lib.js".into(), "export const a = 1".into()), (String::new(), String::new())],
        timeout_ms: 1,
        cpu_ms: 2,
        max_wall_ms: 3,
        memory_limit: 4,
        stack_limit: 5,
        count_host_waits: true,
        drop_functions: false,
        retain: Some("n".into()),
        outbound: OutboundSpec::Host,
        outbound_bytes: 18,
        calls_in_flight: 6,
        arguments_bytes: 7,
        envelope_bytes: 8,
        error_bytes: 9,
        result: ResultLimits { depth: 10, digits: 11, nodes: 12, units: 13 },
        escaped_units: 14,
        allow_dropped_keys: true,
        logs: LogBounds { line_bytes: 15, lines: 16, total_bytes: 17 },
    }
}

fn frames_to_child() -> Vec<ToChild> {
    vec![
        ToChild::Run(Box::new(spec())),
        ToChild::Reply { call: 7, outcome: Ok("{\"result\":1}".into()) },
        ToChild::Reply { call: u32::MAX, outcome: Err(String::new()) },
        ToChild::FetchReply {
            call: 1,
            outcome: Ok(OutboundResponse {
                status: 200,
                status_text: "OK".into(),
                headers: vec![("a".into(), "b".into()), ("a".into(), "ö".into())],
                body: vec![0, 255],
            }),
        },
        ToChild::Invoke(Box::new(InvokeSpec {
            function: 1,
            args_json: "[1]".into(),
            timeout_ms: 2,
            cpu_ms: 3,
            max_wall_ms: 4,
            count_host_waits: true,
            drop_functions: false,
            outbound: OutboundSpec::Executor,
            escaped_units: 5,
        })),
        ToChild::FetchReply { call: 2, outcome: Err("no".into()) },
    ]
}

fn frames_from_child() -> Vec<FromChild> {
    vec![
        FromChild::Ready,
        FromChild::Log { level: LogLevel::Warn, method: "warn".into(), time_ms: 1.5, message: "ö".into() },
        FromChild::Call { id: 1, provider: "api".into(), tool: "t".into(), args_json: "[]".into() },
        FromChild::Fetch {
            id: 2,
            request: OutboundRequest {
                method: "POST".into(),
                url: "https://h/".into(),
                headers: vec![("x".into(), "1".into())],
                body: Some(vec![255, 0]),
            },
        },
        FromChild::Fetch {
            id: 3,
            request: OutboundRequest { method: "GET".into(), url: String::new(), headers: Vec::new(), body: None },
        },
        FromChild::Abort { id: 3 },
        FromChild::Waiting { answered: 3 },
        FromChild::Done(Box::new(DoneFrame {
            termination: Termination::Threw,
            result: None,
            error: Some("x".into()),
            details: Some(ErrorDetails {
                name: "Error".into(),
                message: "x".into(),
                stack: Some("at a".into()),
                line: Some(1),
                column: None,
            }),
            peak_memory: 1,
            host_calls: 2,
            handles: 3,
        })),
        FromChild::Memory,
    ]
}

fn wide() -> FrameBounds {
    FrameBounds { log: 1000, call: 1000, fetch: 1000, done: 1000 }
}

fn read(bytes: &[u8]) -> Result<Option<FromChild>, FrameError> {
    let mut reader = FrameReader::new();
    reader.set_bounds(wide());
    reader.push(bytes);
    reader.next()
}

#[test]
fn every_frame_survives_a_round_trip() {
    for frame in frames_to_child() {
        let bytes = frame.encode();
        let (kind, length) = parse_header(*bytes.first_chunk().unwrap()).unwrap();
        assert_eq!(length as usize, bytes.len() - HEADER_BYTES);
        assert_eq!(ToChild::decode(kind, &bytes[HEADER_BYTES..]).unwrap(), frame);
    }
    for frame in frames_from_child() {
        assert_eq!(read(&frame.encode()).unwrap(), Some(frame));
    }
}

#[test]
fn frames_arrive_whole_however_the_stream_is_cut() {
    let stream: Vec<u8> = frames_from_child().iter().flat_map(FromChild::encode).collect();
    for step in 1..40 {
        let mut reader = FrameReader::new();
        reader.set_bounds(wide());
        let mut seen = Vec::new();
        for piece in stream.chunks(step) {
            reader.push(piece);
            while let Some(frame) = reader.next().unwrap() {
                seen.push(frame);
            }
        }
        assert_eq!(seen, frames_from_child());
        assert!(!reader.has_partial_frame());
    }
}

#[test]
fn a_damaged_frame_is_a_typed_error_and_never_a_panic() {
    for frame in frames_from_child() {
        let whole = frame.encode();
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]).ok().flatten(), None);
            // The same cut with a header that claims to be complete.
            if cut >= HEADER_BYTES {
                let mut short = whole[..cut].to_vec();
                short[..4].copy_from_slice(&u32::try_from(cut - 4).unwrap().to_le_bytes());
                assert!(read(&short).is_err(), "{frame:?} cut at {cut}");
            }
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = read(&damaged);
            }
        }
    }
}

#[test]
fn a_frame_is_refused_by_its_header_alone() {
    let cases: [(&[u8], FrameError); 5] = [
        (&[0, 0, 0, 0, 65], FrameError::Empty),
        (&[1, 0, 0, 0, 1], FrameError::UnknownKind(1)),
        (&[1, 0, 0, 0, 99], FrameError::UnknownKind(99)),
        (&[2, 0, 0, 0, 65], FrameError::Oversize { kind: 65, length: 1, bound: 0 }),
        (&[255, 255, 255, 255, 69], FrameError::Oversize { kind: 69, length: 0xffff_fffe, bound: 1000 }),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read(bytes), Err(expected));
    }
}

#[test]
fn a_child_without_a_run_may_only_be_ready() {
    let mut reader = FrameReader::new();
    reader.push(&FromChild::Ready.encode());
    assert_eq!(reader.next(), Ok(Some(FromChild::Ready)));
    reader.push(&frames_from_child()[1].encode());
    assert!(matches!(reader.next(), Err(FrameError::Oversize { kind: 66, .. })));
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut bytes =
        FromChild::Log { level: LogLevel::Log, method: "log".into(), time_ms: 0.0, message: "x".into() }.encode();
    *bytes.last_mut().unwrap() = 0xff;
    assert_eq!(read(&bytes), Err(FrameError::NotUtf8));
}

#[test]
fn a_done_frame_has_either_a_result_or_an_error() {
    for (termination, result, error) in [
        (Termination::Completed, None, None),
        (Termination::Completed, None, Some("x")),
        (Termination::Completed, Some("1"), Some("x")),
        (Termination::Threw, Some("1"), None),
        (Termination::Threw, None, None),
    ] {
        let frame = FromChild::Done(Box::new(DoneFrame {
            termination,
            result: result.map(str::to_owned),
            error: error.map(str::to_owned),
            details: None,
            peak_memory: 0,
            host_calls: 0,
            handles: 0,
        }));
        assert_eq!(read(&frame.encode()), Err(FrameError::BadField));
    }
}
