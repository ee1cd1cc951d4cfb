//! The wire method `codemode`: the dialect's adapter inside the daemon, for clients that have no adapter of their own
//! (PROTOCOL.md, "The dialect by wire").

use std::sync::Arc;

use codemode_adapter::{CodemodeResult, normalize_code, plan_request};
use codemode_protocol::{
    CancelToken, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, ResultEncoding,
    capnweb::{Object, Value},
    text, wire,
};
use tokio::{sync::Semaphore, task::spawn_blocking};
use tracing::Instrument;
use uuid::Uuid;

use crate::interface::{Interface, Lent};

/// Turns what models wrote into programs.
pub(crate) struct Normalizer {
    /// One at a time: what a peer makes it do must leave the processors to whoever keeps the bounds of runs.
    permit: Semaphore,
}

impl Normalizer {
    pub(crate) fn new() -> Self {
        Self { permit: Semaphore::new(1) }
    }

    /// The program that runs for `code`.
    ///
    /// # Errors
    /// The normalizer panicked, which is a bug.
    async fn normalize(&self, code: String) -> Result<String, ExecutorError> {
        if code.len() <= AT_ONCE_BYTES {
            return Ok(normalize_code(&code));
        }
        // An error means that the semaphore was closed, which nobody does.
        let permit = self.permit.acquire().await;
        let normalized = spawn_blocking(move || normalize_code(&code)).await;
        drop(permit);
        normalized.map_err(|failure| ExecutorError::new(ErrorCode::Internal, failure.to_string()))
    }
}

impl<E: Executor> Interface<E> {
    /// Runs what a model wrote. Whatever keeps the program from running and is the model's or the host's affair is in the
    /// result; what rejects is the infrastructure's failure.
    pub(crate) async fn codemode(&self, args: Vec<Value>, released: CancelToken) -> Result<Value, ExecutorError> {
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_default();
        let (request, dispatch, outbound) = (next(), next(), next());
        let request = wire::codemode_request_from_value(request)?;
        let lent = Lent::check(request.outbound, dispatch, outbound)?;
        request.validate(self.daemon().limits())?;
        let encoding = request.result_encoding;
        let mut plan = match plan_request(request) {
            Ok(plan) => plan,
            Err(refusal) => {
                // It repeats names of the request, which may be as long as a message.
                let refusal = text::cut(&refusal, self.daemon().limits().error_bytes).into_owned();
                return Ok(result_to_value(CodemodeResult::refused(refusal), encoding));
            }
        };
        let id = plan.native.id.get_or_insert_with(|| Uuid::new_v4().to_string()).clone();
        let (native, tools) = (plan.native, plan.tools);
        let span = self.span(&id, "codemode", None);
        self.log_payload(&span, "program", &native.code);
        // The run has its name from now on, so that it can be cancelled while its program is made.
        let run = async |host: Host| {
            let code = self.daemon().normalizer().normalize(native.code).await?;
            let dispatch = Arc::new(tools.lend(host.dispatch));
            let host = Host { dispatch: Some(dispatch), ..host };
            self.daemon().executor().execute(ExecuteRequest { code, ..native }, host).await
        };
        let outcome = self.run(&id, lent, released, run).instrument(span).await?;
        Ok(result_to_value(outcome.into(), encoding))
    }
}

fn result_to_value(result: CodemodeResult, encoding: ResultEncoding) -> Value {
    let mut members = Object::new();
    match (result.result, encoding) {
        (None, _) => {}
        (Some(result), ResultEncoding::Value) => members.insert("result", Value::Encoded(result.into())),
        (Some(result), ResultEncoding::Text) => members.insert("resultText", Value::from(result.as_str())),
    }
    if let Some(error) = result.error {
        members.insert("error", Value::from(error));
    }
    if let Some(logs) = result.logs {
        members.insert("logs", Value::Array(logs.into_iter().map(Value::from).collect()));
    }
    Value::Object(members)
}

/// A text of so many bytes is normalized in less time than it takes to hand it to another thread and back.
const AT_ONCE_BYTES: usize = 4 << 10;
