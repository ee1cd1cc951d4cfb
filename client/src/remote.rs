//! The executor whose sandboxes are elsewhere.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use codemode_protocol::{
    ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Outcome, ResultEncoding, ResultLimits,
    capnweb::{Target, Value},
    unavailable,
    wire::{Info, method, outcome_from_value, request_to_value},
};
use codemode_transport::Connection;

use crate::{
    dispatch::{DispatchTarget, Run},
    failure::{self, Call, failed},
    options::RemoteOptions,
    policy::{Admission, Policy},
    session::Session,
};

/// An [`Executor`] that runs programs on a daemon.
///
/// It holds one session. A session that breaks stays broken: calls in flight and every later one fail with
/// `CONNECTION_BROKEN`, whose `started` says whether the program may have run; nothing is ever sent twice. Dropping it
/// closes the session, once the calls in flight have ended; [`Executor::dispose`] closes it at once.
pub struct RemoteExecutor {
    url: String,
    session: Session,
    policy: Mutex<Policy>,
}

impl RemoteExecutor {
    /// Opens `url` and compares protocol versions.
    ///
    /// # Errors
    /// `INVALID_REQUEST` for a URL or header that cannot be used, `CONNECTION_REJECTED` when no session came about
    /// (retryable when the transport failed or the server said 5xx), `PROTOCOL_MISMATCH` when the daemon speaks
    /// another version.
    pub async fn connect(url: impl Into<String>, options: RemoteOptions) -> Result<Self, ExecutorError> {
        let url = url.into();
        let session = Session::open(&url, &options).await?;
        Ok(Self { url, session, policy: Mutex::default() })
    }

    /// The URL that this executor was opened with.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Cancels the run of this session that was given `id`. `false` when there is none, or no more.
    ///
    /// # Errors
    /// `CONNECTION_BROKEN`, or what the daemon answered.
    pub async fn cancel(&self, id: &str) -> Result<bool, ExecutorError> {
        let answer = self.call(method::CANCEL, vec![Value::from(id)]).await?;
        answer.as_bool().ok_or_else(|| broken_contract(method::CANCEL, "a boolean", &answer))
    }

    /// What the daemon is and which bounds it applies.
    ///
    /// # Errors
    /// `CONNECTION_BROKEN`, what the daemon answered, or `INTERNAL` when its answer breaks the contract.
    pub async fn info(&self) -> Result<Info, ExecutorError> {
        let answer = self.call(method::INFO, Vec::new()).await?;
        Info::from_value(answer).map_err(|error| {
            let message = format!("The server's answer to {}() breaks the contract: {}", method::INFO, error.message);
            ExecutorError::new(ErrorCode::Internal, message)
        })
    }

    async fn call(&self, method: &str, args: Vec<Value>) -> Result<Value, ExecutorError> {
        let connection = self.admit()?;
        let answer = connection.call(&connection.main(), &[method], args).await;
        answer.map_err(|error| failed(Call::Other, error, self.is_disposed()))
    }

    fn admit(&self) -> Result<&Connection, ExecutorError> {
        match self.policy().admit() {
            Admission::Session => Ok(&self.session.connection),
            Admission::Closed => Err(failure::closed()),
        }
    }

    fn is_disposed(&self) -> bool {
        self.policy().admit() == Admission::Closed
    }

    fn policy(&self) -> MutexGuard<'_, Policy> {
        // Every change is one assignment, so a poisoned lock is still good.
        self.policy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for RemoteExecutor {
    /// The result always travels as text, whatever the request asks for: no peer on the way touches it.
    async fn execute(&self, mut request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        let connection = self.admit()?;
        if host.outbound.is_some() {
            return Err(unavailable("a host with an outbound function"));
        }
        request.result_encoding = ResultEncoding::Text;
        let run = Run::default();
        let dispatch = host.dispatch.map_or(Value::Null, |dispatch| {
            let target: Arc<dyn Target> = Arc::new(DispatchTarget::new(dispatch, run.clone()));
            Value::Local(target)
        });
        let args = vec![request_to_value(&request), dispatch, Value::Null];
        // The request may be large, and the call may take long.
        drop(request);
        let answer = connection.call_tracked(&connection.main(), &[method::EXECUTE], args, run.execute.clone()).await;
        match answer {
            Ok(outcome) => outcome_from_value(outcome, &ResultLimits::default()),
            Err(error) => {
                let call = Call::Execution { host_call: run.has_called() };
                Err(failed(call, error, self.is_disposed()))
            }
        }
    }

    /// Closes the session: calls in flight fail, later ones too. Ready when the daemon has been told.
    async fn dispose(&self) {
        self.policy().dispose();
        self.session.close().await;
    }
}

impl fmt::Debug for RemoteExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteExecutor")
            .field("url", &self.url)
            .field("connection", &self.session.connection)
            .finish_non_exhaustive()
    }
}

fn broken_contract(method: &str, expected: &str, answer: &Value) -> ExecutorError {
    let message = format!("The server's answer to {method}() breaks the contract: {answer:?} is not {expected}");
    ExecutorError::new(ErrorCode::Internal, message)
}
