//! Logs what users say, where the operator asked for that: programs, what their calls are given and answer, results.

use std::sync::Arc;

use codemode_protocol::{Dispatch, HostCall, HostCallError};
use futures_util::future::{BoxFuture, FutureExt};
use tracing::{Span, info};

/// Logs one text under `span`.
pub(crate) fn log(span: &Span, what: &'static str, text: &str) {
    info!(parent: span, what, text, "payload");
}

/// Calls whose arguments and answers are logged.
pub(crate) struct LoggedDispatch {
    pub(crate) calls: Arc<dyn Dispatch>,
    pub(crate) span: Span,
}

impl Dispatch for LoggedDispatch {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        log(&self.span, "arguments", &format!("{}.{}{}", call.provider, call.tool, call.args_json));
        let span = self.span.clone();
        let answer = self.calls.call(call);
        async move {
            let answer = answer.await;
            match &answer {
                Ok(envelope) => log(&span, "answer", envelope),
                Err(error) => log(&span, "answer", &error.to_string()),
            }
            answer
        }
        .boxed()
    }
}
