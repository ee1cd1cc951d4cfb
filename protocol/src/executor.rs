//! The trait that every executor implements, and what a caller lends it for one run.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

#[cfg(doc)]
use crate::LEAST_MEMORY_BYTES;
use crate::{
    Caller, Dispatch, ErrorCode, ExecuteRequest, ExecutorError, Limits, OutboundMode, Outcome, ResultEncoding,
    RunBounds, TimeBound, parse_dispatch_arguments, text,
};

/// Runs programs: in this process' own sandboxes, or on a daemon.
///
/// `Ok` means that the run took place, and [`Outcome::error`] says whether the program failed; `Err` means that the
/// program never ran or that nobody can know. Dropping a returned future cancels what it stands for.
pub trait Executor: Send + Sync + 'static {
    /// Runs one program once.
    fn execute(
        &self,
        request: ExecuteRequest,
        host: Host,
    ) -> impl Future<Output = Result<Outcome, ExecutorError>> + Send;

    /// Calls a function that a retained execution returned. `args_json` is a JSON array.
    fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> impl Future<Output = Result<Outcome, ExecutorError>> + Send {
        let _ = (execution_id, handle_id, args_json, host, options);
        async { Err(unavailable("invokeHandle")) }
    }

    /// Ends a retained execution; ending one twice is fine.
    fn close_handles(&self, execution_id: &str) -> impl Future<Output = Result<(), ExecutorError>> + Send {
        let _ = execution_id;
        async { Err(unavailable("closeHandles")) }
    }

    /// Ends a retained execution on behalf of `caller`; one of another tenant is left as it is. An executor that keeps
    /// no tenants apart takes it as [`Executor::close_handles`].
    fn close_handles_of(
        &self,
        execution_id: &str,
        caller: &Caller,
    ) -> impl Future<Output = Result<(), ExecutorError>> + Send {
        let _ = caller;
        self.close_handles(execution_id)
    }

    /// Waits for admission without a run.
    fn acquire(&self, options: AcquireOptions) -> impl Future<Output = Result<Lease, ExecutorError>> + Send {
        let _ = options;
        async { Err(unavailable("acquire")) }
    }

    /// Refuses with `SHUTTING_DOWN` whoever waits for admission, holds an unused lease or comes later. What runs goes
    /// on. An executor that keeps no queue has nothing to do.
    fn drain(&self) {}

    /// Ends every run and gives everything back. Later calls fail.
    fn dispose(&self) -> impl Future<Output = ()> + Send;
}

impl<E: Executor> Executor for Arc<E> {
    fn execute(
        &self,
        request: ExecuteRequest,
        host: Host,
    ) -> impl Future<Output = Result<Outcome, ExecutorError>> + Send {
        E::execute(self, request, host)
    }

    fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> impl Future<Output = Result<Outcome, ExecutorError>> + Send {
        E::invoke_handle(self, execution_id, handle_id, args_json, host, options)
    }

    fn close_handles(&self, execution_id: &str) -> impl Future<Output = Result<(), ExecutorError>> + Send {
        E::close_handles(self, execution_id)
    }

    fn close_handles_of(
        &self,
        execution_id: &str,
        caller: &Caller,
    ) -> impl Future<Output = Result<(), ExecutorError>> + Send {
        E::close_handles_of(self, execution_id, caller)
    }

    fn acquire(&self, options: AcquireOptions) -> impl Future<Output = Result<Lease, ExecutorError>> + Send {
        E::acquire(self, options)
    }

    fn drain(&self) {
        E::drain(self);
    }

    fn dispose(&self) -> impl Future<Output = ()> + Send {
        E::dispose(self)
    }
}

/// The typed failure of a part of the contract that this version does not offer.
pub fn unavailable(what: &str) -> ExecutorError {
    ExecutorError::new(ErrorCode::InvalidRequest, text::not_available(what))
}

/// What the caller lends for one run.
#[derive(Clone, Default)]
pub struct Host {
    /// Answers the program's tool calls; absent means that there are no tools.
    pub dispatch: Option<Arc<dyn Dispatch>>,
    /// Answers the program's requests in mode [`OutboundMode::Stub`].
    pub outbound: Option<Arc<dyn Outbound>>,
    /// On whose behalf the run is made. Executors by URL know it from their session and ignore this.
    pub caller: Caller,
}

impl Host {
    /// A host that answers tool calls by `dispatch` and has no outbound function.
    pub fn with_dispatch(dispatch: impl Dispatch) -> Self {
        Self { dispatch: Some(Arc::new(dispatch)), ..Self::default() }
    }
}

/// Performs the program's outbound requests: in the caller's process, or by the executor's own policy (PROTOCOL.md,
/// "Interface").
pub trait Outbound: Send + Sync + 'static {
    /// Performs one request. An error is the text of the `TypeError` that the program's `fetch` rejects with.
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>>;
}

impl fmt::Debug for dyn Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outbound")
    }
}

/// A request of the program's `fetch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundRequest {
    /// Such as `GET`.
    pub method: String,
    /// Absolute.
    pub url: String,
    /// In the program's order.
    pub headers: Vec<(String, String)>,
    /// Absent means no body.
    pub body: Option<Vec<u8>>,
}

/// The answer to an [`OutboundRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundResponse {
    /// From 200 to 599.
    pub status: u16,
    /// May be empty. Characters of Latin-1 without control characters but the tab (a reason phrase of HTTP).
    pub status_text: String,
    /// In the server's order.
    pub headers: Vec<(String, String)>,
    /// May be empty.
    pub body: Vec<u8>,
}

/// Options of [`Executor::invoke_handle`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvokeOptions {
    /// The invocation's own run clock.
    pub timeout: TimeBound,
    /// Whether the run clock goes on while only host calls are awaited.
    pub count_host_waits: bool,
    /// The invocation's own CPU clock.
    pub cpu_time: TimeBound,
    /// Where `fetch` goes.
    pub outbound: OutboundMode,
    /// How the result travels.
    pub result_encoding: ResultEncoding,
    /// Whether a function inside the result vanishes.
    pub drop_functions: bool,
    /// Names the invocation for `cancel`.
    pub id: Option<String>,
}

impl InvokeOptions {
    /// Checks them and the arguments, before any sandbox is touched.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming the field and the rule.
    pub fn validate(&self, args_json: &str, limits: &Limits) -> Result<(), ExecutorError> {
        self.as_request().validate(limits)?;
        let (size, bound) = (args_json.len() as u64, limits.call_arguments_bytes);
        if size > bound {
            return Err(ExecutorError::invalid("argsJson", text::field_too_large(size, bound)));
        }
        parse_dispatch_arguments(args_json).map(drop).map_err(|error| ExecutorError::invalid("argsJson", error))
    }

    /// The bounds that the invocation runs under; memory and stack stay those of the execution.
    pub fn bounds(&self, limits: &Limits) -> RunBounds {
        self.as_request().bounds(limits)
    }

    fn as_request(&self) -> ExecuteRequest {
        ExecuteRequest {
            timeout: self.timeout,
            cpu_time: self.cpu_time,
            id: self.id.clone(),
            ..ExecuteRequest::default()
        }
    }
}

/// The name of a node that was given none; ids of retained executions begin with their node's.
pub const LOCAL_NODE: &str = "local";

/// Options of [`Executor::acquire`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcquireOptions {
    /// The memory that the run may ask for, in bytes, at least [`LEAST_MEMORY_BYTES`]; more than the maximum is clamped
    /// to it. Absent means the executor's default.
    pub memory_limit: Option<u64>,
    /// On whose behalf the lease is held. Executors by URL know it from their session and ignore this.
    pub caller: Caller,
}

impl AcquireOptions {
    /// Checks them, before anything waits.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming the field and the rule.
    pub fn validate(&self, limits: &Limits) -> Result<(), ExecutorError> {
        self.as_request().validate(limits)
    }

    /// The memory that a lease of these options reserves, in bytes.
    pub fn memory(&self, limits: &Limits) -> u64 {
        self.as_request().bounds(limits).memory_bytes
    }

    fn as_request(&self) -> ExecuteRequest {
        ExecuteRequest { memory_limit: self.memory_limit, ..ExecuteRequest::default() }
    }
}

/// Runs the one program of a [`Lease`]; dropping it gives the permit back.
pub type LeasedRun = Box<dyn FnOnce(ExecuteRequest, Host) -> BoxFuture<'static, Result<Outcome, ExecutorError>> + Send>;

/// Admission without a run: a permit that is there when the program is. It takes one program, so executing and releasing
/// consume it. Dropping it gives the permit back, and so does time: unused, it expires (`lease` in the table of bounds).
pub struct Lease {
    wait: Duration,
    run: LeasedRun,
}

impl Lease {
    /// A lease that was waited for so long and whose permit `run` holds.
    pub fn new(wait: Duration, run: LeasedRun) -> Self {
        Self { wait, run }
    }

    /// How long admission took.
    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// Runs the lease's one program. A program that names no memory limit gets the lease's, and none may ask for more.
    ///
    /// # Errors
    /// Those of [`Executor::execute`], though `OVERLOADED` only when no sandbox could be made in time; and
    /// `INVALID_REQUEST` when the lease has expired.
    pub async fn execute(self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        (self.run)(request, host).await
    }

    /// Gives the permit back; the same as dropping the lease.
    pub fn release(self) {}
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("wait", &self.wait).finish_non_exhaustive()
    }
}
