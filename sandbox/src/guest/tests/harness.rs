//! `run_in_fork`: one program in a forked child, with a host that answers its calls.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use codemode_protocol::{LogLevel, OutboundRequest, OutboundResponse, ResultLimits, Termination};

use crate::frame::{
    DoneFrame, FrameBounds, FrameReader, FromChild, LogBounds, OutboundSpec, ProviderSpec, RunSpec, ToChild,
};
use crate::guest::{Engine, serve};

/// A run that was seen to its end.
#[derive(Debug, Default)]
pub(super) struct Ran {
    pub(super) done: Option<DoneFrame>,
    pub(super) logs: Vec<(LogLevel, String, String)>,
    pub(super) calls: Vec<(String, String, String)>,
    pub(super) fetches: Vec<OutboundRequest>,
    /// Requests that the program gave up.
    pub(super) aborted: Vec<u32>,
    pub(super) waits: u32,
    /// Whether the memory frame came.
    pub(super) memory: bool,
    /// The child's wait status.
    pub(super) status: i32,
}

impl Ran {
    #[track_caller]
    pub(super) fn done(&self) -> &DoneFrame {
        self.done.as_ref().unwrap_or_else(|| panic!("the child did not finish: {self:?}"))
    }

    #[track_caller]
    pub(super) fn result(&self) -> &str {
        let done = self.done();
        done.result.as_deref().unwrap_or_else(|| panic!("the program failed: {done:?}"))
    }

    #[track_caller]
    pub(super) fn error(&self) -> (Termination, &str) {
        let done = self.done();
        (done.termination, done.error.as_deref().unwrap_or_else(|| panic!("the program succeeded: {done:?}")))
    }

    pub(super) fn lines(&self) -> Vec<&str> {
        self.logs.iter().map(|(_, _, message)| message.as_str()).collect()
    }
}

/// What the host does with a call.
pub(super) enum Answer {
    Envelope(String),
    Rejection(String),
    Response(OutboundResponse),
    Never,
}

/// A specification with the contract's defaults and one provider named `api` that knows every tool.
pub(super) fn spec(code: &str) -> RunSpec {
    RunSpec {
        code: code.into(),
        providers: vec![provider("api")],
        modules: Vec::new(),
        timeout_ms: 60_000,
        cpu_ms: 60_000,
        max_wall_ms: 120_000,
        memory_limit: 128 << 20,
        stack_limit: stack_limit(),
        count_host_waits: false,
        drop_functions: false,
        retain: None,
        outbound: OutboundSpec::Blocked,
        outbound_bytes: 1 << 20,
        calls_in_flight: 64,
        arguments_bytes: 16 << 20,
        envelope_bytes: 16 << 20,
        error_bytes: 64 << 10,
        result: ResultLimits::default(),
        escaped_units: u64::MAX,
        allow_dropped_keys: false,
        logs: LogBounds { line_bytes: 64 << 10, lines: 5_000, total_bytes: 1 << 20 },
    }
}

pub(super) fn provider(name: &str) -> ProviderSpec {
    ProviderSpec {
        name: name.into(),
        tools: Default::default(),
        prelude: None,
        positional_args: true,
        proxy_source: None,
    }
}

/// The host of most tests: `echo` gives back its arguments, `fail` fails with its first argument, `never` hangs.
pub(super) fn host(_: &str, tool: &str, args: &str) -> Answer {
    match tool {
        "echo" => Answer::Envelope(format!("{{\"result\":{args}}}")),
        "fail" => Answer::Envelope(format!("{{\"error\":{}}}", &args[1..args.len() - 1])),
        "reject" => Answer::Rejection("rejected".into()),
        "raw" => Answer::Envelope(serde_json::from_str::<(String,)>(args).unwrap().0),
        "never" => Answer::Never,
        _ => Answer::Envelope("{}".into()),
    }
}

/// Runs a program with [`host`].
pub(super) fn run(code: &str) -> Ran {
    run_spec(&spec(code))
}

/// Runs a specification with [`host`].
pub(super) fn run_spec(spec: &RunSpec) -> Ran {
    run_in_fork(spec, host)
}

/// Bytes of stack that a program may use. Code that is instrumented needs several times more for the same depth, and
/// `cargo xtask sanitize` lends it.
fn stack_limit() -> u64 {
    std::env::var("CODEMODE_TEST_STACK").map_or(1 << 20, |bytes| bytes.parse().unwrap())
}

/// Runs a specification in a forked child.
pub(super) fn run_in_fork(spec: &RunSpec, host: impl FnMut(&str, &str, &str) -> Answer) -> Ran {
    report_panics_of_children();
    let (ours, theirs) = UnixStream::pair().unwrap();
    // SAFETY: the child touches nothing that another thread of the test process could hold but the C allocator, which
    // looks after itself, and ends by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        // Sockets of runs under way in other threads: a second holder would hide their end.
        let keep = theirs.as_raw_fd() as u32;
        // SAFETY: closes descriptors that nothing in the child uses.
        unsafe {
            libc::close_range(3, keep - 1, 0);
            libc::close_range(keep + 1, u32::MAX, 0);
        }
        let _ = std::panic::catch_unwind(|| {
            stacker::grow(10 << 20, || {
                let mut engine = Engine::new().unwrap();
                serve(&mut engine, theirs.as_raw_fd(), true)
            })
        });
        // SAFETY: ends the child, whatever happened.
        unsafe { libc::_exit(99) }
    }
    drop(theirs);
    let mut ran = converse(ours, spec, host);
    // SAFETY: a child of ours, not yet reaped; killing one that exited does nothing.
    unsafe {
        if ran.done.is_none() && !ran.memory {
            libc::kill(child, libc::SIGKILL);
        }
        libc::waitpid(child, &raw mut ran.status, 0);
    }
    ran
}

/// The test runner captures output under locks that another thread may hold at the fork, so children write by themselves.
fn report_panics_of_children() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let (parent, usual) = (std::process::id(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            if std::process::id() == parent {
                return usual(panic);
            }
            let text = format!("{panic}\n");
            // SAFETY: writes readable bytes to standard error.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }));
    });
}

fn converse(mut socket: UnixStream, spec: &RunSpec, mut host: impl FnMut(&str, &str, &str) -> Answer) -> Ran {
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut ran = Ran::default();
    let mut reader = FrameReader::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        while let Some(frame) = reader.next().unwrap() {
            match frame {
                FromChild::Ready => {
                    reader.set_bounds(FrameBounds::of(spec));
                    socket.write_all(&ToChild::Run(Box::new(spec.clone())).encode()).unwrap();
                }
                FromChild::Log { level, method, message, .. } => ran.logs.push((level, method, message)),
                FromChild::Call { id, provider, tool, args_json } => {
                    let outcome = match host(&provider, &tool, &args_json) {
                        Answer::Envelope(envelope) => Some(Ok(envelope)),
                        Answer::Rejection(message) => Some(Err(message)),
                        Answer::Response(_) | Answer::Never => None,
                    };
                    ran.calls.push((provider, tool, args_json));
                    if let Some(outcome) = outcome {
                        // The child may be gone already: its program did not wait for the answer.
                        let _ = socket.write_all(&ToChild::Reply { call: id, outcome }.encode());
                    }
                }
                FromChild::Fetch { id, request } => {
                    let outcome = match host(FETCH, &request.method, &request.url) {
                        Answer::Response(response) => Some(Ok(response)),
                        Answer::Rejection(message) => Some(Err(message)),
                        Answer::Envelope(_) | Answer::Never => None,
                    };
                    ran.fetches.push(request);
                    if let Some(outcome) = outcome {
                        let _ = socket.write_all(&ToChild::FetchReply { call: id, outcome }.encode());
                    }
                }
                FromChild::Abort { id } => {
                    ran.aborted.push(id);
                    let outcome = Err("given up".into());
                    let _ = socket.write_all(&ToChild::FetchReply { call: id, outcome }.encode());
                }
                FromChild::Waiting { .. } => ran.waits += 1,
                FromChild::Done(done) => ran.done = Some(*done),
                FromChild::Memory => ran.memory = true,
            }
        }
        match socket.read(&mut piece) {
            Ok(0) | Err(_) => return ran,
            Ok(count) => reader.push(&piece[..count]),
        }
    }
}

/// What the host of a test is asked for as provider when a program makes a request; tool and arguments are method and
/// address.
pub(super) const FETCH: &str = "(fetch)";

/// Runs each program and compares its encoded result.
#[track_caller]
pub(super) fn check_results(cases: &[(&str, &str)]) {
    for (code, expected) in cases {
        let ran = run(code);
        assert_eq!(ran.result(), *expected, "{code}");
        codemode_protocol::Encoded::check(ran.result(), &ResultLimits::default())
            .unwrap_or_else(|error| panic!("{code}: {expected} is refused: {error}"));
    }
}

/// Runs each program and compares how it failed.
#[track_caller]
pub(super) fn check_errors(cases: &[(&str, Termination, &str)]) {
    for (code, termination, expected) in cases {
        let ran = run(code);
        assert_eq!(ran.error(), (*termination, *expected), "{code}");
    }
}
