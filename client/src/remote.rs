//! The executor whose sandboxes are elsewhere.

use std::{fmt, sync::Arc};

use codemode_protocol::{
    AcquireOptions, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, InvokeOptions, Lease, OutboundMode,
    Outcome, ResultEncoding, ResultLimits,
    capnweb::{Target, Value},
    wire::{Info, invoke_options_to_value, method, outcome_from_value, rehydrate, request_to_value},
};
use codemode_transport::CallError;
use futures_util::future::Either;

use crate::{
    dispatch::{DispatchTarget, Run},
    endpoints::Endpoints,
    failure::{Call, failed},
    lease,
    options::RemoteOptions,
    outbound::OutboundTarget,
    policy::Kind,
    session::headers,
    sessions::{Arrival, Sessions},
};

/// An [`Executor`] that runs programs on a daemon, or on one of several.
///
/// It holds one session at a time. A call that finds none alive opens the next, together with all others that wait for
/// it; with several endpoints it goes to the next that answers. After
/// [`rotate_after_executions`](RemoteOptions::rotate_after_executions) a session takes no new call and closes when its
/// last one has settled.
///
/// Nothing is ever run twice. A call that is under way when its session breaks fails with `CONNECTION_BROKEN`, whose
/// `started` says whether the program may have run. Only a run that a server turned away unstarted, because it is
/// shutting down, is submitted again.
///
/// Dropping the executor closes its session; [`Executor::dispose`] also waits until the daemon has been told.
pub struct RemoteExecutor {
    sessions: Arc<Sessions>,
}

impl RemoteExecutor {
    /// Opens a session with the first endpoint that answers and compares protocol versions: one attempt, so that
    /// whoever builds an executor learns at once that it cannot work.
    ///
    /// # Errors
    /// `INVALID_REQUEST` for a URL or header that cannot be used, `CONNECTION_REJECTED` when no session came about
    /// (retryable when the transport failed or the server said 5xx), `PROTOCOL_MISMATCH` when the daemon speaks
    /// another version, `UNAUTHORIZED` when it does not take our credentials.
    ///
    /// # Panics
    /// Outside of a tokio runtime. Sessions live on the one that this is called on.
    pub async fn connect(endpoints: impl Into<Endpoints>, options: RemoteOptions) -> Result<Self, ExecutorError> {
        let urls = endpoints.into().checked()?;
        let headers = headers(&options)?;
        let executor = Self { sessions: Sessions::new(urls, headers, options) };
        executor.sessions.ticket().submit(Arrival::Connect, |_| ()).await?;
        Ok(executor)
    }

    /// The URLs that this executor was opened with.
    pub fn urls(&self) -> &[String] {
        self.sessions.urls()
    }

    /// Cancels the run of this executor that was given `id`, on the session that carries it. `false` when there is
    /// none, or no more.
    ///
    /// # Errors
    /// `CONNECTION_BROKEN`, or what the daemon answered.
    pub async fn cancel(&self, id: &str) -> Result<bool, ExecutorError> {
        let mut ticket = self.sessions.ticket();
        let pending = match ticket.cancel(id).await? {
            Either::Left(cancelled) => return Ok(cancelled),
            Either::Right(pending) => pending,
        };
        let answer = pending.await.map_err(|error| self.failed(Call::Other, error))?;
        answer.as_bool().ok_or_else(|| broken_contract(method::CANCEL, "a boolean", &answer))
    }

    /// What the daemon is and which bounds it applies.
    ///
    /// # Errors
    /// Those of opening a session, `CONNECTION_BROKEN`, what the daemon answered, or `INTERNAL` when its answer breaks
    /// the contract.
    pub async fn info(&self) -> Result<Info, ExecutorError> {
        let mut ticket = self.sessions.ticket();
        let arrival = Arrival::New { kind: Kind::Other, name: None };
        let pending = ticket.submit(arrival, |session| session.call(&session.main(), &[method::INFO], Vec::new()));
        let answer = pending.await?.await.map_err(|error| self.failed(Call::Other, error))?;
        Info::from_value(answer).map_err(|error| {
            let message = format!("The server's answer to {}() breaks the contract: {}", method::INFO, error.message);
            ExecutorError::new(ErrorCode::Internal, message)
        })
    }

    fn failed(&self, call: Call, error: CallError) -> ExecutorError {
        failed(call, error, self.sessions.is_disposed())
    }
}

impl Executor for RemoteExecutor {
    /// The result always travels as text, whatever the request asks for: no peer on the way touches it.
    async fn execute(&self, mut request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        request.result_encoding = ResultEncoding::Text;
        let mut ticket = self.sessions.ticket();
        let mut arrival = Arrival::New { kind: Kind::Execution, name: request.id.clone() };
        loop {
            let run = Run::default();
            let [dispatch, outbound] = lend(&host, request.outbound, &run);
            let args = vec![request_to_value(&request), dispatch, outbound];
            let tracker = run.execute.clone();
            let submitted = ticket.submit(arrival, move |session| {
                session.call_tracked(&session.main(), &[method::EXECUTE], args, tracker)
            });
            match submitted.await?.await {
                Ok(outcome) => return outcome_from_value(outcome, &ResultLimits::default()),
                Err(CallError::Thrown(thrown)) => {
                    let error = rehydrate(thrown);
                    // A program that has called its host was started, whatever the server says.
                    if error.code != ErrorCode::ShuttingDown || run.has_called() {
                        return Err(error);
                    }
                    arrival = Arrival::Refused(error);
                }
                Err(error) => return Err(self.failed(Call::Execution { host_call: run.has_called() }, error)),
            }
        }
    }

    /// Whatever session there is carries the call: retained executions belong to the daemon. With several endpoints it
    /// may be another daemon's, which then says so.
    async fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        mut options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        options.result_encoding = ResultEncoding::Text;
        let run = Run::default();
        let [dispatch, outbound] = lend(&host, options.outbound, &run);
        let mut args: Vec<_> = [execution_id, handle_id, args_json].map(Value::from).into();
        args.extend([dispatch, outbound, invoke_options_to_value(&options)]);
        let tracker = run.execute.clone();
        let mut ticket = self.sessions.ticket();
        let submitted = ticket.submit(Arrival::New { kind: Kind::Other, name: options.id.clone() }, move |session| {
            session.call_tracked(&session.main(), &[method::INVOKE_HANDLE], args, tracker)
        });
        match submitted.await?.await {
            Ok(outcome) => outcome_from_value(outcome, &ResultLimits::default()),
            Err(error) => Err(self.failed(Call::Execution { host_call: run.has_called() }, error)),
        }
    }

    async fn close_handles(&self, execution_id: &str) -> Result<(), ExecutorError> {
        let args = vec![Value::from(execution_id)];
        let mut ticket = self.sessions.ticket();
        let submitted = ticket.submit(Arrival::New { kind: Kind::Other, name: None }, move |session| {
            session.call(&session.main(), &[method::CLOSE_HANDLES], args)
        });
        submitted.await?.await.map(drop).map_err(|error| self.failed(Call::Other, error))
    }

    /// The lease belongs to the session that it was acquired on: when that breaks, so does the lease.
    async fn acquire(&self, options: AcquireOptions) -> Result<Lease, ExecutorError> {
        lease::acquire(self.sessions.ticket(), &options).await
    }

    /// Closes every session: calls in flight fail, later ones too, and are not retryable. Ready when the daemon has been told.
    async fn dispose(&self) {
        self.sessions.dispose().await;
    }
}

/// What the daemon may call during one run: the caller's tools, and its function for requests if they go there.
pub(crate) fn lend(host: &Host, mode: OutboundMode, run: &Run) -> [Value; 2] {
    let dispatch = host
        .dispatch
        .clone()
        .map(|dispatch| -> Arc<dyn Target> { Arc::new(DispatchTarget::new(dispatch, run.clone())) });
    let outbound = host.outbound.clone().filter(|_| mode == OutboundMode::Stub);
    let outbound = outbound.map(|outbound| -> Arc<dyn Target> { Arc::new(OutboundTarget::new(outbound, run.clone())) });
    [dispatch, outbound].map(|target| target.map_or(Value::Null, Value::Local))
}

impl Drop for RemoteExecutor {
    fn drop(&mut self) {
        // Nobody waits for the sockets.
        drop(self.sessions.dispose());
    }
}

impl fmt::Debug for RemoteExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteExecutor").field("urls", &self.urls()).finish_non_exhaustive()
    }
}

/// A server whose answer is not what the contract says.
pub(crate) fn broken_contract(method: &str, expected: &str, answer: &Value) -> ExecutorError {
    let message = format!("The server's answer to {method}() breaks the contract: {answer:?} is not {expected}");
    ExecutorError::new(ErrorCode::Internal, message)
}
