//! The wire interface (PROTOCOL.md, "Interface"): the main object of every session, as calls on an [`Executor`].

use std::{
    any::Any,
    collections::HashMap,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use codemode_protocol::{
    Caller, CancelSource, CancelToken, Dispatch, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host,
    OutboundMode, Outcome, PROTOCOL_VERSION,
    capnweb::{ErrorValue, IncomingCall, PathKey, Stub, Target, Value, target_fn},
    text, unavailable,
    wire::{self, method},
};
use codemode_transport::{Connection, after_answer};
use futures_util::future::{BoxFuture, Either, FutureExt, ready, select, select_all};
use tracing::{Instrument, Span, debug, error, field::Empty, info_span};
use uuid::Uuid;

use crate::{
    daemon::Daemon,
    dispatch::{RemoteDispatch, RemoteOutbound},
    gate::Gate,
    payloads::{self, LoggedDispatch},
};

/// The executor as one session sees it: its main object, or what it gets for its token.
pub(crate) struct Interface<E> {
    daemon: Arc<Daemon<E>>,
    /// The session's number.
    session: u64,
    gate: Arc<Gate>,
    connection: OnceLock<Connection>,
    runs: Arc<Runs>,
}

impl<E: Executor> Interface<E> {
    /// The interface of a new session, of that number and whoever `gate` knows; [`Interface::connect`] completes it.
    pub(crate) fn new(daemon: Arc<Daemon<E>>, session: u64, gate: Arc<Gate>) -> Self {
        Self { daemon, session, gate, connection: OnceLock::new(), runs: Arc::default() }
    }

    /// On whose behalf this session calls.
    pub(crate) fn caller(&self) -> Caller {
        Caller { tenant: self.gate.tenant(), session: self.session }
    }

    pub(crate) fn daemon(&self) -> &Daemon<E> {
        &self.daemon
    }

    /// Names the session's connection, which exists only after its main object. To be called before the session runs.
    pub(crate) fn connect(&self, connection: Connection) {
        // Set once: a session has one connection.
        let _ = self.connection.set(connection);
    }

    async fn answer(self: Arc<Self>, call: IncomingCall) -> Result<Value, Value> {
        let name = call.method().and_then(|name| METHODS.iter().find(|known| **known == name)).copied();
        match (name, call.args) {
            (Some(name), Some(args)) => self.invoke(name, args, call.cancel).await,
            (Some(name), None) => Ok(member(move |args, cancel| self.clone().invoke(name, args, cancel))),
            (None, Some(_)) => Err(not_a_function(&call.path)),
            (None, None) => Ok(Value::Undefined),
        }
    }

    async fn invoke(self: Arc<Self>, name: &str, args: Vec<Value>, cancel: CancelToken) -> Result<Value, Value> {
        match name {
            method::PROTOCOL_VERSION => Ok(Value::Number(PROTOCOL_VERSION as f64)),
            method::AUTHENTICATE => match self.gate.authenticate(args) {
                Ok(()) => Ok(Value::Local(self)),
                Err(refused) => Err(self.refused(refused)),
            },
            method::INFO => Ok(self.info().await),
            method::CANCEL => self.cancel(args).map_err(wire::error_to_value),
            method::EXECUTE => self.execute(args, cancel).await.map_err(|error| self.failed(error)),
            method::INVOKE_HANDLE => self.invoke_handle(args, cancel).await.map_err(|error| self.failed(error)),
            method::CODEMODE => self.codemode(args, cancel).await.map_err(|error| self.failed(error)),
            method::ACQUIRE => self.clone().acquire(args, cancel).await.map_err(|error| self.failed(error)),
            method::CLOSE_HANDLES => self.close_handles(args).await.map_err(wire::error_to_value),
            other => Err(wire::error_to_value(unavailable(other))),
        }
    }

    /// Notes the failure of a call that was to be a run, and gives what crosses the wire of it.
    pub(crate) fn failed(&self, error: ExecutorError) -> Value {
        self.daemon.config().sight.failed(&error);
        wire::error_to_value(error)
    }

    /// Notes that the session was refused what only a token opens, and gives what crosses the wire of it.
    pub(crate) fn refused(&self, error: ExecutorError) -> Value {
        self.daemon.config().sight.refused(&error.code);
        wire::error_to_value(error)
    }

    /// What the daemon is, and what this session holds at the moment: the call that asks is one of both its counts.
    async fn info(&self) -> Value {
        let mut info = self.daemon.info().to_value();
        let tables = match self.connection.get() {
            Some(connection) => connection.tables().await,
            None => None,
        };
        if let (Value::Object(members), Some(tables)) = (&mut info, tables) {
            let sizes = [
                ("calls", tables.calls),
                ("imports", tables.imports),
                ("exports", tables.exports),
                ("peerCalls", tables.peer_calls),
                ("running", tables.running),
            ];
            let sizes = sizes.into_iter().map(|(name, size)| (name, Value::Number(size as f64)));
            members.insert("session", Value::Object(sizes.collect()));
        }
        info
    }

    fn cancel(&self, args: Vec<Value>) -> Result<Value, ExecutorError> {
        let id = args.into_iter().next().unwrap_or_default();
        let id = id.as_str().ok_or_else(|| ExecutorError::invalid("id", "must be a string, the id of a run"))?;
        Ok(Value::Bool(self.runs.cancel(id)))
    }

    async fn execute(&self, args: Vec<Value>, released: CancelToken) -> Result<Value, ExecutorError> {
        self.execute_by(args, released, |request, host| self.daemon.executor().execute(request, host)).await
    }

    /// Checks the arguments of an `execute` and has `execute` run them.
    pub(crate) async fn execute_by<R>(
        &self,
        args: Vec<Value>,
        released: CancelToken,
        execute: impl FnOnce(ExecuteRequest, Host) -> R,
    ) -> Result<Value, ExecutorError>
    where
        R: Future<Output = Result<Outcome, ExecutorError>>,
    {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        let (request, dispatch, outbound) = (next(), next(), next());
        let mut request = wire::request_from_value(request)?;
        let lent = Lent::check(request.outbound, dispatch, outbound)?;
        request.validate(self.daemon.limits())?;
        let id = request.id.get_or_insert_with(|| Uuid::new_v4().to_string()).clone();
        let encoding = request.result_encoding;
        let span = self.span(&id, "execute", request.traceparent.as_deref());
        self.log_payload(&span, "program", &request.code);
        let outcome = self.run(&id, lent, released, |host| execute(request, host)).instrument(span).await;
        outcome.map(|outcome| wire::outcome_to_value(outcome, encoding))
    }

    async fn invoke_handle(&self, args: Vec<Value>, released: CancelToken) -> Result<Value, ExecutorError> {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        let [execution_id, handle_id, args_json] = wire::invoke_call([next(), next(), next()])?;
        let (dispatch, outbound, options) = (next(), next(), next());
        let mut options = wire::invoke_options_from_value(options)?;
        let lent = Lent::check(options.outbound, dispatch, outbound)?;
        options.validate(&args_json, self.daemon.limits())?;
        let id = options.id.get_or_insert_with(|| Uuid::new_v4().to_string()).clone();
        let encoding = options.result_encoding;
        let span = self.span(&id, "invokeHandle", None);
        self.log_payload(&span, "arguments", &args_json);
        let invoke = |host| self.daemon.executor().invoke_handle(&execution_id, &handle_id, &args_json, host, options);
        let outcome = self.run(&id, lent, released, invoke).instrument(span).await;
        outcome.map(|outcome| wire::outcome_to_value(outcome, encoding))
    }

    async fn close_handles(&self, args: Vec<Value>) -> Result<Value, ExecutorError> {
        let execution_id = wire::execution_id(args.into_iter().next().unwrap_or_default())?;
        let closed = self.daemon.executor().close_handles_of(&execution_id, &self.caller()).await;
        closed.map(|()| Value::Undefined).map_err(hide_internal)
    }

    /// The span of a run, as part of the trace that its request names, else of one of its own: it follows from that of
    /// its session and is no child of it, because a session lasts for months and its span is complete only then. What
    /// names no trace is passed over.
    pub(crate) fn span(&self, id: &str, method: &'static str, traceparent: Option<&str>) -> Span {
        let traceparent = traceparent.filter(|text| is_traceparent(text));
        let session = self.session;
        let span = info_span!(parent: None, "run", session, id, method, traceparent, termination = Empty, code = Empty);
        span.follows_from(Span::current());
        if let (Some(join), Some(traceparent)) = (&self.daemon.config().trace_parent, traceparent) {
            join(&span, traceparent);
        }
        span
    }

    /// Logs what users say, where the operator wants that.
    pub(crate) fn log_payload(&self, span: &Span, what: &'static str, text: &str) {
        if self.daemon.config().log_payloads {
            payloads::log(span, what, text);
        }
    }

    /// Runs what `start` begins under the name `id`, until the executor answers, or until the call is released, the run
    /// cancelled or the daemon stopped.
    pub(crate) async fn run<R>(
        &self,
        id: &str,
        lent: Lent,
        released: CancelToken,
        start: impl FnOnce(Host) -> R,
    ) -> Result<Outcome, ExecutorError>
    where
        R: Future<Output = Result<Outcome, ExecutorError>>,
    {
        let lend = |stub: Option<Stub>| Some((self.connection.get()?.clone(), stub?));
        let dispatch = lend(lent.dispatch).map(|(connection, stub)| RemoteDispatch::new(connection, stub));
        let outbound = lend(lent.outbound).map(|(connection, stub)| RemoteOutbound::new(connection, stub));
        let calls = dispatch.as_ref().map(RemoteDispatch::calls).into_iter();
        let calls: Vec<_> = calls.chain(outbound.as_ref().map(RemoteOutbound::calls)).collect();
        let dispatch = dispatch.map(|dispatch| Arc::new(dispatch) as Arc<dyn Dispatch>);
        let dispatch = dispatch.map(|calls| match self.daemon.config().log_payloads {
            true => Arc::new(LoggedDispatch { calls, span: Span::current() }) as _,
            false => calls,
        });
        let host = Host { dispatch, outbound: outbound.map(|outbound| Arc::new(outbound) as _), caller: self.caller() };
        let ended = self.under_way(id, released, || start(host)).await;
        match &ended {
            Ok(outcome) => {
                self.daemon.config().sight.ended(outcome);
                Span::current().record("termination", outcome.termination.as_str());
                debug!(termination = %outcome.termination, "run ended");
                if let Some(result) = &outcome.result {
                    self.log_payload(&Span::current(), "result", result.as_str());
                }
            }
            Err(failure) => {
                Span::current().record("code", failure.code.as_str());
                debug!(code = %failure.code, "run failed");
            }
        }
        for calls in calls {
            let left_behind = calls.end();
            if ended.as_ref().is_ok_and(|outcome| outcome.termination.leaves_calls()) && !left_behind.is_empty() {
                // They are to be made, all of them, and released when the answer is on its way.
                if let Some(connection) = self.connection.get() {
                    connection.passed().await;
                }
                after_answer(left_behind);
            }
        }
        ended
    }

    /// Waits for what `start` begins, as one of the session's runs with the name `id`. It is dropped when the call is
    /// released, the run cancelled or the daemon stopped.
    pub(crate) async fn under_way<T, R>(
        &self,
        id: &str,
        released: CancelToken,
        start: impl FnOnce() -> R,
    ) -> Result<T, ExecutorError>
    where
        R: Future<Output = Result<T, ExecutorError>>,
    {
        let running = self.daemon.begin_run()?;
        let stop = running.stop();
        // The drain ends sessions when no run is left, so a run is one until its answer is on its way.
        after_answer(running);
        let run = self.runs.begin(id, self.daemon.runs_per_session())?;
        let cancels = [released, run.cancel.clone(), stop];
        debug!("run begins");
        let execution = AssertUnwindSafe(start()).catch_unwind();
        let cancelled = select_all(cancels.iter().map(CancelToken::cancelled));
        // Dropping the execution at the end of this function cancels it, before its calls are released.
        let ended = match select(cancelled, pin!(execution)).await {
            Either::Left(((_, STOP, _), _)) => {
                let drain = self.daemon.limits().drain_timeout_ms;
                Err(ExecutorError::new(ErrorCode::Cancelled, text::run_shut_down(drain)))
            }
            Either::Left(_) => Err(ExecutorError::new(ErrorCode::Cancelled, text::RUN_CANCELLED)),
            Either::Right((Ok(ended), _)) => ended,
            Either::Right((Err(panic), _)) => Err(ExecutorError::new(ErrorCode::Internal, panic_text(&*panic))),
        };
        ended.map_err(hide_internal)
    }
}

/// What the peer lends for one run.
pub(crate) struct Lent {
    dispatch: Option<Stub>,
    outbound: Option<Stub>,
}

impl Lent {
    /// Checks what was lent against the mode of the run.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming what is there and should not be, or the other way round.
    pub(crate) fn check(mode: OutboundMode, dispatch: Value, outbound: Value) -> Result<Self, ExecutorError> {
        let lent = Self { dispatch: function("dispatch", dispatch)?, outbound: function("outbound", outbound)? };
        match (mode, lent.outbound.is_some()) {
            (OutboundMode::Stub, false) => {
                Err(ExecutorError::invalid("outbound", "must be a function when the request's mode is \"stub\""))
            }
            (OutboundMode::Default | OutboundMode::Blocked, true) => {
                Err(ExecutorError::invalid("outbound", "must be null unless the request's mode is \"stub\""))
            }
            (OutboundMode::Stub, true) | (_, false) => Ok(lent),
        }
    }
}

impl<E: Executor> Target for Interface<E> {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        self.answer(call).boxed()
    }
}

/// A method read as a property: a function of its own, which `invoke` calls.
pub(crate) fn member<R>(invoke: impl Fn(Vec<Value>, CancelToken) -> R + Send + Sync + 'static) -> Value
where
    R: Future<Output = Result<Value, Value>> + Send + 'static,
{
    Value::Local(target_fn(move |call: IncomingCall| match call.args {
        Some(args) if call.path.is_empty() => Either::Left(invoke(args, call.cancel)),
        Some(_) => Either::Right(ready(Err(not_a_function(&call.path)))),
        None => Either::Right(ready(Ok(Value::Undefined))),
    }))
}

/// The runs of one session, by id.
#[derive(Default)]
struct Runs {
    live: Mutex<HashMap<String, CancelSource>>,
}

/// A run's place among its session's; dropping it frees the id.
struct Run {
    runs: Arc<Runs>,
    id: String,
    cancel: CancelToken,
}

impl Runs {
    fn begin(self: &Arc<Self>, id: &str, bound: u64) -> Result<Run, ExecutorError> {
        let mut live = self.live();
        if live.len() as u64 >= bound {
            let message = format!("The session has {bound} runs under way, which is its bound. Wait for one to end.");
            return Err(ExecutorError::new(ErrorCode::Overloaded, message));
        }
        // UUIDs differ in more than the case of their digits.
        let id = id.to_ascii_lowercase();
        if live.contains_key(&id) {
            return Err(ExecutorError::invalid(
                "id",
                format_args!("{id} names a run of this session that is under way"),
            ));
        }
        let source = CancelSource::new();
        let cancel = source.token();
        live.insert(id.clone(), source);
        drop(live);
        Ok(Run { runs: self.clone(), id, cancel })
    }

    /// Cancels the run `id`; false when there is none.
    fn cancel(&self, id: &str) -> bool {
        let source = self.live().get(&id.to_ascii_lowercase()).cloned();
        source.inspect(CancelSource::cancel).is_some()
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, CancelSource>> {
        // The map is consistent between any two statements that can panic.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.runs.live().remove(&self.id);
    }
}

/// A function of the peer, or none.
fn function(field: &str, value: Value) -> Result<Option<Stub>, ExecutorError> {
    match value {
        Value::Stub(stub) => Ok(Some(stub)),
        Value::Undefined | Value::Null => Ok(None),
        _ => Err(ExecutorError::invalid(field, "must be a function of the caller, or null")),
    }
}

/// Whether a text is what W3C Trace Context says: version, trace, parent and flags in lower-case hexadecimal digits.
fn is_traceparent(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    text.len() == 55 && text.split('-').map(str::len).eq([2, 32, 16, 2]) && text.split('-').all(digits)
}

/// Keeps the detail of a bug in our log; the id that finds it there crosses the wire.
fn hide_internal(mut failure: ExecutorError) -> ExecutorError {
    if failure.code == ErrorCode::Internal {
        let log_id = Uuid::new_v4();
        error!(%log_id, message = failure.message, cause = failure.cause, "internal error");
        failure.message = format!("Internal error; its log id is {log_id}");
        failure.cause = None;
    }
    failure
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("(no text)"))
}

/// What JavaScript peers answer when a path leads to no function.
pub(crate) fn not_a_function(path: &[PathKey]) -> Value {
    let path: Vec<_> = path.iter().map(PathKey::to_string).collect();
    ErrorValue::new("TypeError", format!("'{}' is not a function.", path.join("."))).into()
}

/// The place of the daemon's own stop among what cancels a run.
const STOP: usize = 2;

const METHODS: &[&str] = &[
    method::PROTOCOL_VERSION,
    method::AUTHENTICATE,
    method::EXECUTE,
    method::ACQUIRE,
    method::INVOKE_HANDLE,
    method::CLOSE_HANDLES,
    method::CANCEL,
    method::INFO,
    method::CODEMODE,
];
