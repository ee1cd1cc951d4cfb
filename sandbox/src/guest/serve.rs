//! What a forked child does.

use std::os::fd::RawFd;

use codemode_protocol::ResultLimits;
use rquickjs::qjs;

use super::Engine;
use super::hot_pages::HotPages;
use super::run::{invoke, run};
use super::socket::Received;
use super::state::State;
use crate::frame::{FromChild, InvokeSpec, LogBounds, OutboundSpec, ProviderSpec, RunSpec, ToChild};

/// Serves exactly one run in a forked child and exits the process: runs a warm-up program when
/// `warm`, reseeds what the fork copied, sends `Ready`, blocks until the `Run` frame, runs it, sends `Done`. A run whose result holds
/// handles is followed by the calls of them, until the pool closes the socket.
///
/// `socket` is a blocking stream socket. The caller has closed everything else and confined the process, and calls this
/// on the stack that the run is to have: the largest `stackLimit` and a MiB more.
pub(crate) fn serve(engine: &mut Engine, socket: RawFd, warm: bool) -> ! {
    let state = engine.state;
    // SAFETY: a live runtime; from here on the engine measures its stack from where we are.
    unsafe { qjs::JS_UpdateStackTop(state.cx.runtime()) };
    if warm {
        // What every run writes to, and then little more than every run executes: an ordinary program would cost each
        // child more than it saves those that are like it.
        let is_own = engine.hot.is_some_and(HotPages::make_own);
        warm_up(state, if is_own { LEAST } else { ORDINARY });
    }
    if state.random.reseed().is_err() {
        super::socket::broken();
    }
    state.socket.connect(socket);
    state.socket.write(&FromChild::Ready.encode());
    let Received::Frame(ToChild::Run(mut spec)) = state.socket.read(None) else { super::socket::broken() };
    let mut done = run(state, &mut spec);
    loop {
        let is_over = done.handles == 0;
        state.socket.write(&FromChild::Done(Box::new(done)).encode());
        if is_over {
            break;
        }
        done = invoke(state, &mut spec, &next_call(state));
    }
    // SAFETY: ends the process without freeing the runtime: a value that is still referenced would make it abort.
    unsafe { libc::_exit(0) }
}

/// Blocks until a function is to be called. Answers that come before that are to calls of what has ended already.
fn next_call(state: &State) -> Box<InvokeSpec> {
    loop {
        match state.socket.read(None) {
            Received::Frame(ToChild::Invoke(spec)) => return spec,
            Received::Frame(ToChild::Reply { .. } | ToChild::FetchReply { .. }) => {}
            Received::Frame(ToChild::Run(_)) | Received::Nothing => super::socket::broken(),
        }
    }
}

/// Runs a throw-away program without a socket, so that the pages that every run touches are the child's own already.
pub(super) fn warm_up(state: &State, code: &str) {
    let provider = ProviderSpec {
        name: "warm".into(),
        tools: ["tool"].into_iter().collect(),
        prelude: None,
        positional_args: true,
        proxy_source: None,
    };
    let mut spec = RunSpec {
        code: code.into(),
        providers: vec![provider],
        modules: Vec::new(),
        timeout_ms: u64::MAX,
        cpu_ms: u64::MAX,
        max_wall_ms: u64::MAX,
        memory_limit: u64::MAX,
        stack_limit: 1 << 20,
        count_host_waits: false,
        drop_functions: false,
        retain: None,
        outbound: OutboundSpec::Blocked,
        outbound_bytes: 1 << 20,
        calls_in_flight: 1,
        arguments_bytes: 1 << 16,
        envelope_bytes: 1 << 16,
        error_bytes: 1 << 16,
        result: ResultLimits { depth: 16, digits: 16, nodes: 256, units: 1 << 16 },
        escaped_units: u64::MAX,
        allow_dropped_keys: false,
        logs: LogBounds { line_bytes: 1 << 16, lines: 16, total_bytes: 1 << 16 },
    };
    // A call is never answered, so it ends as stalled or completed; either is fine.
    let done = run(state, &mut spec);
    debug_assert!(done.result.is_some(), "the warm-up program failed: {:?}", done.error);
}

/// Touches what an ordinary program touches.
pub(super) const ORDINARY: &str = include_str!("warm_up.js");

/// The program that asks least of a run.
const LEAST: &str = "async () => 1";
