//! One run, from its specification to the last frame.

use codemode_protocol::{ErrorDetails, Termination, text};
use rquickjs::qjs;

use super::alloc;
use super::clock::{Bound, Bounds};
use super::encode::{Functions, Refusal, Rules, encode};
use super::errors::{describe, type_name};
use super::event_loop::{Settled, settle};
use super::js::{Js, Kind, Pending, Val};
use super::program::{Failure, Sources};
use super::state::State;
use crate::frame::{DoneFrame, InvokeSpec, RunSpec};

/// How a run ended, before it is put into words.
enum End {
    Completed(String),
    /// Thrown by the program, or by a prelude of the provider at the position.
    Threw {
        thrown: Val,
        prelude: Option<usize>,
    },
    Syntax(Val),
    NotAFunction(&'static str),
    Stalled,
    TimeOver,
    Refused(String),
}

/// Runs a program to its end and says how it was. Everything that the program wrote and called is on the socket then.
pub(super) fn run(state: &State, spec: &mut RunSpec) -> DoneFrame {
    begin_run(state, spec);
    let sources = Sources::assemble(&spec.code, &spec.providers, state.random.next());
    state.namespaces.begin(&mut spec.providers);
    state.faults.begin(sources.module(), sources.lines());
    let end = execute(state, spec, &sources);
    let done = finish(state, spec, end);
    // Without a result nobody has a handle.
    let handles = if done.result.is_some() { state.handles.count() } else { 0 };
    DoneFrame { handles, ..done }
}

/// Calls a function that the run has left behind.
pub(super) fn invoke(state: &State, spec: &mut RunSpec, invoke: &InvokeSpec) -> DoneFrame {
    spec.apply(invoke);
    begin(state, spec);
    let end = match state.handles.function(invoke.function) {
        Some(function) => call(state, spec, &function, &invoke.args_json),
        // The pool has counted them.
        None => super::socket::broken(),
    };
    let done = finish(state, spec, end);
    let is_over = matches!(done.termination, Termination::Timeout | Termination::Cpu | Termination::Memory);
    DoneFrame { handles: if is_over { 0 } else { state.handles.count() }, ..done }
}

fn call(state: &State, spec: &RunSpec, function: &Val, args_json: &str) -> End {
    let called = super::handles::arguments(state, args_json)
        .and_then(|args| function.call(&args.iter().collect::<Vec<_>>()))
        .and_then(|value| promise_of(state, value));
    match called {
        Ok(promise) => deliver(state, spec, &promise),
        Err(Pending) => threw(state),
    }
}

fn finish(state: &State, spec: &RunSpec, end: End) -> DoneFrame {
    let done = conclude(state, spec, end);
    alloc::lift();
    if !matches!(done.termination, Termination::Timeout | Termination::Cpu | Termination::Memory) {
        state.calls.flush(state);
    }
    DoneFrame { host_calls: u64::from(state.calls.made()), ..done }
}

/// What is new for a run and stays for the calls that follow it.
fn begin_run(state: &State, spec: &mut RunSpec) {
    super::web::reset_for_run(&state.cx.ctx());
    begin(state, spec);
    state.error.replace(state.captured.error.clone());
    state.modules.begin(std::mem::take(&mut spec.modules), stack_bytes(spec));
}

/// What is new for a run and for every later call.
fn begin(state: &State, spec: &RunSpec) {
    let nanoseconds = |ms: u64| ms.saturating_mul(1_000_000);
    // SAFETY: a live runtime. More than 16 MiB would disable the check.
    unsafe { qjs::JS_SetMaxStackSize(state.cx.runtime(), stack_bytes(spec) as qjs::size_t) };
    state.faults.set_stack(stack_bytes(spec));
    state.logs.begin(spec.logs);
    state.calls.begin(spec);
    state.outbound.begin(spec.outbound, spec.outbound_bytes);
    alloc::begin(spec.memory_limit);
    state.clock.start(Bounds {
        run: nanoseconds(spec.timeout_ms),
        wall: nanoseconds(spec.max_wall_ms),
        cpu: nanoseconds(spec.cpu_ms),
        count_host_waits: spec.count_host_waits,
    });
}

fn stack_bytes(spec: &RunSpec) -> usize {
    usize::try_from(spec.stack_limit).unwrap_or(usize::MAX).clamp(LEAST_STACK, MOST_STACK)
}

fn execute(state: &State, spec: &RunSpec, sources: &Sources) -> End {
    let started = match sources.begin(state) {
        Ok(started) => started,
        Err(failure) => return not_entered(state, failure),
    };
    match settle(state, &started.promise) {
        Settled::Fulfilled(_) => {}
        Settled::Rejected(thrown) => return End::Threw { thrown, prelude: None },
        Settled::Stalled => return End::Stalled,
        Settled::TimeOver => return End::TimeOver,
    }
    let returned = match sources.enter(state, &spec.providers, &started) {
        Ok(promise) => promise,
        Err(failure) => return not_entered(state, failure),
    };
    let returned = match settle(state, &returned) {
        Settled::Fulfilled(returned) => returned,
        Settled::Rejected(thrown) => return End::Threw { thrown, prelude: running_prelude(state, spec) },
        Settled::Stalled => return End::Stalled,
        Settled::TimeOver => return End::TimeOver,
    };
    let entry = match Sources::entry(&returned) {
        Ok(Some(entry)) => entry,
        Ok(None) => return End::NotAFunction("undefined"),
        Err(Pending) => return threw(state),
    };
    if !entry.is_function() {
        return End::NotAFunction(type_name(&entry));
    }
    let promise = match entry.call(&[]).and_then(|value| promise_of(state, value)) {
        Ok(promise) => promise,
        Err(Pending) => return threw(state),
    };
    deliver(state, spec, &promise)
}

/// Waits for what was called and encodes what came of it.
fn deliver(state: &State, spec: &RunSpec, promise: &Val) -> End {
    let result = match settle(state, promise) {
        Settled::Fulfilled(result) => result,
        Settled::Rejected(thrown) => return End::Threw { thrown, prelude: None },
        Settled::Stalled => return End::Stalled,
        Settled::TimeOver => return End::TimeOver,
    };
    let functions = match (&spec.retain, spec.drop_functions) {
        (Some(nonce), false) => Functions::Keep(nonce),
        (_, true) => Functions::Drop,
        (None, false) => Functions::Refuse,
    };
    let rules = Rules {
        limits: spec.result,
        escaped_units: spec.escaped_units,
        functions,
        allow_dropped_keys: spec.allow_dropped_keys,
        error_bytes: u64::from(spec.error_bytes),
    };
    match encode(state, result, rules) {
        Ok(text) => End::Completed(text),
        Err(Refusal::Text(text)) => End::Refused(text),
        Err(Refusal::Threw(thrown)) => End::Threw { thrown, prelude: None },
        Err(Refusal::Interrupted) => End::TimeOver,
    }
}

fn not_entered(state: &State, failure: Failure) -> End {
    match failure {
        Failure::Syntax(Pending) => End::Syntax(state.cx.exception()),
        Failure::Threw(Pending) => threw(state),
        Failure::Prelude(index, Pending) => End::Threw { thrown: state.cx.exception(), prelude: Some(index) },
    }
}

/// A promise of what the entry returned, also when that is no promise.
fn promise_of(state: &State, value: Val) -> Js<Val> {
    if value.is_promise() {
        return Ok(value);
    }
    let (promise, resolve, _) = state.cx.promise()?;
    resolve.call(&[&value])?;
    Ok(promise)
}

fn threw(state: &State) -> End {
    End::Threw { thrown: state.cx.exception(), prelude: None }
}

/// The provider whose prelude was under way; none when all were done.
fn running_prelude(state: &State, spec: &RunSpec) -> Option<usize> {
    let done = state.preludes_done.get();
    let left = spec.providers.iter().enumerate().skip(done);
    left.filter(|(_, provider)| provider.prelude.is_some()).map(|(index, _)| index).next()
}

/// Puts the end into words. A clock that ran out decides, whatever the program made of its interruption; it may run out
/// also while what was thrown is read.
fn conclude(state: &State, spec: &RunSpec, end: End) -> DoneFrame {
    let done = state.clock.found().is_none().then(|| describe_end(state, spec, end));
    match (state.clock.found(), done) {
        (None, Some(done)) => done,
        (Some(Bound::Wall), _) => failed(Termination::Timeout, text::wall_exceeded(spec.max_wall_ms), None),
        (Some(Bound::Cpu), _) => failed(Termination::Cpu, text::cpu_exceeded(spec.cpu_ms), None),
        (Some(Bound::Run) | None, _) => failed(Termination::Timeout, text::timed_out(spec.timeout_ms), None),
    }
}

fn describe_end(state: &State, spec: &RunSpec, end: End) -> DoneFrame {
    let bound = u64::from(spec.error_bytes);
    match end {
        End::Completed(result) => DoneFrame {
            termination: Termination::Completed,
            result: Some(result),
            error: None,
            details: None,
            peak_memory: alloc::peak(),
            host_calls: 0,
            handles: 0,
        },
        End::Threw { thrown, .. } if alloc::refused() && is_out_of_memory(state, &thrown) => out_of_memory(spec),
        End::Syntax(thrown) if alloc::refused() && is_out_of_memory(state, &thrown) => out_of_memory(spec),
        End::Threw { thrown, prelude: Some(index) } => {
            let described = describe(state, &thrown, bound);
            let name = spec.providers.get(index).map_or("", |provider| &provider.name);
            let message = text::prelude_failed(name, &described.text);
            failed(Termination::Threw, text::cut(&message, bound).into_owned(), Some(described.details))
        }
        End::Threw { thrown, prelude: None } => {
            let described = describe(state, &thrown, bound);
            failed(Termination::Threw, described.text, Some(described.details))
        }
        End::Syntax(thrown) => {
            let described = describe(state, &thrown, bound);
            let message = format!("SyntaxError: {}", described.text);
            failed(Termination::Syntax, text::cut(&message, bound).into_owned(), Some(described.details))
        }
        End::NotAFunction(found) => failed(Termination::Threw, text::entry_not_a_function(found), None),
        End::Stalled => failed(Termination::Stalled, text::STALLED.into(), None),
        End::TimeOver => failed(Termination::Timeout, text::timed_out(spec.timeout_ms), None),
        End::Refused(message) => failed(Termination::Result, text::cut(&message, bound).into_owned(), None),
    }
}

fn out_of_memory(spec: &RunSpec) -> DoneFrame {
    failed(Termination::Memory, text::memory_exceeded(spec.memory_limit), None)
}

fn failed(termination: Termination, error: String, details: Option<ErrorDetails>) -> DoneFrame {
    DoneFrame {
        termination,
        result: None,
        error: Some(error),
        details,
        peak_memory: alloc::peak(),
        host_calls: 0,
        handles: 0,
    }
}

/// Whether a thrown value is what is thrown when memory is refused: the engine's error, that of a native which asked for
/// room, or null when there was no memory even for that, or, as the reason of an async function's promise, a value that no program can make. A program that
/// caught it and threw something of its own has thrown that.
fn is_out_of_memory(state: &State, thrown: &Val) -> bool {
    match thrown.kind() {
        Kind::Null | Kind::Other => true,
        Kind::Object if thrown.is_error() => {
            let message = thrown.get_own(c"message").and_then(|message| {
                message.text().map(|text| REFUSALS.iter().any(|refusal| text.bytes().starts_with(refusal)))
            });
            message.unwrap_or_else(|Pending| {
                drop(state.cx.exception());
                false
            })
        }
        _ => false,
    }
}

/// How the messages begin with which memory is refused. The last is the engine's when there is no memory for its message.
const REFUSALS: [&[u8]; 3] = [b"out of memory", b"Array buffer allocation failed", b"Invalid error message"];

/// Less than this and not even a call of the harness fits.
pub(super) const LEAST_STACK: usize = 64 * 1024;

/// The contract's maximum, which the engine's own stack is made for.
const MOST_STACK: usize = 8 * 1024 * 1024;
