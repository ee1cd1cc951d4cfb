//! A run against a child that is not honest: the test writes its frames, the process behind it only sleeps.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    process::{Child, Command, Stdio},
};

use codemode_protocol::{
    Dispatch, ErrorCode, ExecuteRequest, HostCall, HostCallError, Limits, LogLevel, Outbound, OutboundMode,
    OutboundRequest, OutboundResponse, Termination, TimeBound, text,
};
use futures_util::{FutureExt, future::BoxFuture};
use tokio::sync::Semaphore;

use super::{
    super::{options::TenantCeilings, specify::specify},
    *,
};
use crate::{
    frame::{DoneFrame, FromChild, HEADER_BYTES, OutboundSpec, parse_header},
    sys::Pidfd,
    zygote::ChildId,
};

struct Fake {
    shared: Arc<Shared>,
    watchdog: Watchdog,
    process: Child,
    socket: UnixStream,
    child: Arc<ForkedChild>,
}

/// Answers with as many bytes as it is told, each call for one permit.
struct Tools {
    started: Semaphore,
    permits: Semaphore,
    bytes: usize,
}

impl Tools {
    fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { started: Semaphore::new(0), permits: Semaphore::new(0), bytes })
    }
}

struct Answering(Arc<Tools>);

impl Dispatch for Answering {
    fn call(&self, _: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let tools = self.0.clone();
        tools.started.add_permits(1);
        async move {
            tools.permits.acquire().await.unwrap().forget();
            Ok("x".repeat(tools.bytes))
        }
        .boxed()
    }
}

impl Fake {
    fn new() -> Self {
        Self::with(Limits { grace_ms: 20, ..Limits::default() })
    }

    fn with(limits: Limits) -> Self {
        let shared = Arc::new(Shared::new(limits, TenantCeilings::default(), None, "test".to_owned()));
        let watchdog = Watchdog::start(shared.epoch, Duration::from_millis(20), Box::new(|_| ())).unwrap();
        let (ours, theirs) = sys::socket_pair(libc::SOCK_STREAM).unwrap();
        // The process holds the channel as well, so that it ends with it.
        let held = Stdio::from(theirs.try_clone().unwrap());
        let process = Command::new("sleep").arg("60").stdin(held).spawn().unwrap();
        let pid = process.id().cast_signed();
        let child = Arc::new(ForkedChild::new(ChildId(0), pid, ours, Pidfd::open(pid).unwrap()));
        Self { shared, watchdog, process, socket: theirs.into(), child }
    }

    /// Runs against what the child says, one frame after the other.
    async fn hear(self, frames: &[Vec<u8>], timeout_ms: u64) -> Result<Outcome, ExecutorError> {
        let Self { shared, watchdog, mut process, mut socket, child } = self;
        let request = ExecuteRequest { timeout: TimeBound::Milliseconds(timeout_ms), ..ExecuteRequest::new("") };
        let bounds = request.bounds(&shared.limits);
        let spec = specify(request, &bounds, &shared.limits, OutboundSpec::Blocked);
        let prepared = Prepared::new(spec, bounds, Host::default(), &shared, Handle::current());
        let begun = Box::new(prepared).begin(&shared, &watchdog, child, None, Duration::ZERO);
        let Ok(run) = begun else { panic!("the child is there") };
        let sent = [vec![FromChild::Ready.encode()], frames.to_vec()].concat().concat();
        let speaker = std::thread::spawn(move || {
            // The pool closes its end when it has heard enough.
            let _ = socket.write_all(&sent);
        });
        let (answer, _) = run.serve().await;
        speaker.join().unwrap();
        // Killed in any case: nothing else ends it before a minute has passed.
        assert!(!process.wait().unwrap().success());
        answer
    }
}

/// Performs requests as their path says.
struct Web;

impl Outbound for Web {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        let response = |status, size| {
            let headers = vec![("a".to_owned(), "b".to_owned())];
            Ok(OutboundResponse { status, status_text: "OK".into(), headers, body: vec![7; size] })
        };
        let path = request.url.trim_start_matches("https://h/").to_owned();
        async move {
            match path.as_str() {
                "large" => response(200, 2001),
                "odd" => response(99, 0),
                "lines" => Ok(OutboundResponse { status_text: "OK\r\nA: b".into(), ..response(200, 0)? }),
                "wide" => Ok(OutboundResponse { status_text: "✓".into(), ..response(200, 0)? }),
                "fails" => Err("no such host".to_owned()),
                "panics" => panic!("on purpose"),
                "hangs" => std::future::pending().await,
                _ => response(200, 3),
            }
        }
        .boxed()
    }
}

/// What a child is told about a request that it makes, and gives up at once if it is to.
async fn fetched(path: &str, gives_up: bool) -> Result<OutboundResponse, String> {
    let limits = Limits { outbound_body_bytes: 2000, host_call_timeout_ms: 100, ..Limits::default() };
    let Fake { shared, watchdog, mut process, mut socket, child } = Fake::with(limits);
    let request = ExecuteRequest { outbound: OutboundMode::Stub, ..ExecuteRequest::new("") };
    let bounds = request.bounds(&shared.limits);
    let spec = specify(request, &bounds, &shared.limits, OutboundSpec::Host);
    let host = Host { outbound: Some(Arc::new(Web)), ..Host::default() };
    let prepared = Prepared::new(spec, bounds, host, &shared, Handle::current());
    let Ok(run) = Box::new(prepared).begin(&shared, &watchdog, child, None, Duration::ZERO) else {
        panic!("it is there")
    };
    let url = format!("https://h/{path}");
    let request = OutboundRequest { method: "GET".into(), url, headers: Vec::new(), body: None };
    let speaker = std::thread::spawn(move || {
        let give_up = if gives_up { FromChild::Abort { id: 1 }.encode() } else { Vec::new() };
        let first = [FromChild::Ready.encode(), FromChild::Fetch { id: 1, request }.encode(), give_up].concat();
        socket.write_all(&first).unwrap();
        loop {
            let mut header = [0; HEADER_BYTES];
            socket.read_exact(&mut header).unwrap();
            let (kind, length) = parse_header(header).unwrap();
            let mut payload = vec![0; length as usize];
            socket.read_exact(&mut payload).unwrap();
            if let ToChild::FetchReply { call: 1, outcome } = ToChild::decode(kind, &payload).unwrap() {
                socket.write_all(&done(Termination::Completed, Some("1"))).unwrap();
                return (outcome, socket);
            }
        }
    });
    let (answer, _) = run.serve().await;
    assert_eq!(answer.unwrap().stats.host_calls, 1);
    assert!(!process.wait().unwrap().success());
    speaker.join().unwrap().0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_performed_once_within_its_bounds() {
    let response = fetched("good", false).await.unwrap();
    assert_eq!((response.status, response.body.len(), response.headers.len()), (200, 3, 1));
    let get = |path: &str| format!("GET https://h/{path}");
    let rule = "its statusText has a control character or one that is not Latin-1";
    let cases = [
        ("large", false, text::outbound_too_large("response body", &get("large"), 2001, 2000)),
        ("odd", false, text::malformed_response(&get("odd"), "its status is not from 200 to 599")),
        ("lines", false, text::malformed_response(&get("lines"), rule)),
        ("wide", false, text::malformed_response(&get("wide"), rule)),
        ("fails", false, "no such host".to_owned()),
        ("panics", false, format!("{} failed: the function that performs requests panicked", get("panics"))),
        ("hangs", false, text::host_call_timed_out(&get("hangs"), 100)),
    ];
    for (path, gives_up, expected) in cases {
        assert_eq!(fetched(path, gives_up).await, Err(expected), "{path}");
    }
    let given_up = fetched("hangs", true).await.unwrap_err();
    assert_eq!(given_up, text::REQUEST_GIVEN_UP);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_without_the_mode_for_it_is_a_violation() {
    let request = OutboundRequest { method: "GET".into(), url: "https://h/".into(), headers: Vec::new(), body: None };
    let error = Fake::new().hear(&[FromChild::Fetch { id: 1, request }.encode()], 60_000).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::SandboxCrashed);
    assert!(error.message.contains("0 are allowed"), "{error}");
}

fn log() -> Vec<u8> {
    FromChild::Log { level: LogLevel::Log, method: "log".into(), time_ms: 1.0, message: "kept".into() }.encode()
}

fn call(id: u32) -> Vec<u8> {
    FromChild::Call { id, provider: "api".into(), tool: "get".into(), args_json: "[]".into() }.encode()
}

fn done(termination: Termination, result: Option<&str>) -> Vec<u8> {
    let error = result.is_none().then(|| "its own words".to_owned());
    let result = result.map(str::to_owned);
    FromChild::Done(Box::new(DoneFrame {
        termination,
        result,
        error,
        details: None,
        peak_memory: 1,
        host_calls: 0,
        handles: 0,
    }))
    .encode()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_breaks_the_rules_is_killed_and_its_log_is_kept() {
    let cases = [
        (vec![0xff; 64], "no frame"),
        (FromChild::Ready.encode(), "out of order"),
        ([call(1), call(1)].concat(), "numbered host call 1"),
        (FromChild::Waiting { answered: 0 }.encode(), "out of order"),
        (done(Termination::Completed, Some("[\"export\",1]")), "breaks the rules"),
        (done(Termination::Completed, Some("{")), "breaks the rules"),
        (done(Termination::Timeout, None), "a bound that was not reached"),
        (done(Termination::Cpu, None), "a bound that was not reached"),
        (log().repeat(6000), "past their bound"),
    ];
    for (frame, expected) in cases {
        let error = Fake::new().hear(&[log(), frame], 60_000).await.unwrap_err();
        assert_eq!((&error.code, error.retryable), (&ErrorCode::SandboxCrashed, false), "{error}");
        assert!(error.message.contains(expected), "{expected}: {error}");
        assert_eq!(error.logs.first().map(|line| line.message.as_str()), Some("kept"));
        assert!(error.stats.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_says_nothing_more_is_killed_at_its_bound_by_the_pool() {
    let outcome = Fake::new().hear(&[log()], 50).await.unwrap();
    assert_eq!((outcome.termination, outcome.logs.len()), (Termination::Timeout, 1));
    assert_eq!(outcome.error, Some(text::timed_out(50)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_texts_of_bounds_are_the_pools_own() {
    let outcome = Fake::new().hear(&[done(Termination::Memory, None)], 60_000).await.unwrap();
    assert_eq!(outcome.error, Some(text::memory_exceeded(Limits::default().memory_limit)));
    let outcome = Fake::new().hear(&[done(Termination::Stalled, None)], 60_000).await.unwrap();
    assert_eq!(outcome.error.as_deref(), Some(text::STALLED));
    let outcome = Fake::new().hear(&[FromChild::Memory.encode()], 60_000).await.unwrap();
    assert_eq!(outcome.termination, Termination::Memory);
}

/// A run whose calls are answered by `tools`.
fn run_with<'a>(
    tools: &Arc<Tools>,
    shared: &'a Arc<Shared>,
    watchdog: &'a Watchdog,
    child: Arc<ForkedChild>,
) -> Run<'a> {
    let request = ExecuteRequest::new("");
    let bounds = request.bounds(&shared.limits);
    let spec = specify(request, &bounds, &shared.limits, OutboundSpec::Blocked);
    let host = Host { dispatch: Some(Arc::new(Answering(tools.clone()))), ..Host::default() };
    let prepared = Prepared::new(spec, bounds, host, shared, Handle::current());
    let Ok(run) = Box::new(prepared).begin(shared, watchdog, child, None, Duration::ZERO) else {
        panic!("it is there")
    };
    run
}

/// Reads so many replies of so many bytes, and ends the run.
fn take_replies(mut socket: UnixStream, replies: usize, bytes: usize) {
    let mut seen = 0;
    while seen < replies {
        let mut header = [0; HEADER_BYTES];
        socket.read_exact(&mut header).unwrap();
        let (kind, length) = parse_header(header).unwrap();
        let mut payload = vec![0; length as usize];
        socket.read_exact(&mut payload).unwrap();
        if let ToChild::Reply { outcome, .. } = ToChild::decode(kind, &payload).unwrap() {
            assert_eq!(outcome.unwrap().len(), bytes);
            seen += 1;
        }
    }
    socket.write_all(&done(Termination::Completed, Some("1"))).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_wait_while_a_child_does_not_read() {
    const BYTES: usize = 3 << 20;
    const CALLS: usize = 40;
    let Fake { shared, watchdog, mut process, mut socket, child } = Fake::new();
    let tools = Tools::new(BYTES);
    tools.permits.add_permits(CALLS);
    let mut run = run_with(&tools, &shared, &watchdog, child);
    let calls = (1..).take(CALLS).flat_map(call);
    socket.write_all(&FromChild::Ready.encode().into_iter().chain(calls).collect::<Vec<_>>()).unwrap();
    {
        let all = async { tools.started.acquire_many(CALLS as u32).await.unwrap().forget() };
        let serving = run.converse();
        tokio::pin!(serving);
        tokio::select! {
            _ = &mut serving => panic!("it has not ended"),
            () = all => {}
        }
        // All are answered soon after; polled until then, it would take whatever it takes.
        while tools.permits.available_permits() > 0 {
            assert!((&mut serving).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        for _ in 0..1000 {
            assert!((&mut serving).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
    }
    assert!(run.outbox.len() > BYTES / 2 && run.outbox.len() < OUTBOX + BYTES + 100, "{} bytes", run.outbox.len());
    assert!(run.outbox.capacity() < 2 * (OUTBOX + BYTES + 100));
    let reader = std::thread::spawn(move || take_replies(socket, CALLS, BYTES));
    let (answer, _) = run.serve().await;
    assert_eq!(answer.unwrap().stats.host_calls, CALLS as u64);
    reader.join().unwrap();
    assert!(!process.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_is_not_read_while_its_calls_hold_too_much() {
    const BYTES: usize = 8 << 20;
    const CALLS: usize = 20;
    let Fake { shared, watchdog, mut process, mut socket, child } = Fake::new();
    let tools = Tools::new(1);
    let run = run_with(&tools, &shared, &watchdog, child);
    let speaker = std::thread::spawn(move || {
        socket.write_all(&FromChild::Ready.encode()).unwrap();
        for id in 1..=CALLS as u32 {
            let args_json = "x".repeat(BYTES);
            let call = FromChild::Call { id, provider: "api".into(), tool: "get".into(), args_json };
            socket.write_all(&call.encode()).unwrap();
        }
        take_replies(socket, CALLS, 1);
    });
    let watched = run.watched.clone();
    let stands = || watched.clock().host_wait(shared.now()) > Duration::ZERO;
    let serving = run.serve();
    tokio::pin!(serving);
    tokio::select! {
        _ = &mut serving => panic!("it has not ended"),
        _ = tools.started.acquire_many(8) => {}
    }
    // The child could not go on, although it cannot say that it waits.
    while !stands() {
        assert!((&mut serving).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    assert_eq!(tools.started.available_permits(), 8, "64 MiB are held");
    tools.permits.add_permits(CALLS);
    let (answer, _) = serving.await;
    let stats = answer.unwrap().stats;
    assert_eq!(stats.host_calls, CALLS as u64);
    assert!(stats.host_wait_ms > 0.0, "{stats:?}");
    speaker.join().unwrap();
    assert!(!process.wait().unwrap().success());
}
