//! Host calls: the trait that answers them, and the envelope with its completion guard (PROTOCOL.md, "Interface").

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::future::{BoxFuture, FutureExt};

use crate::{
    CancelToken, ToolNotFoundError,
    capnweb::Value,
    envelope::{encode_error, encode_result, parse_dispatch_arguments},
    text,
};

/// Answers host calls in the caller's process.
pub trait Dispatch: Send + Sync + 'static {
    /// Answers one call with an envelope: `{"result": …}`, `{"error": "message"}`, or `{}` for an undefined result.
    ///
    /// An `Err` is a tool error with that message, as a rejected stub is. The returned future is run to its end also
    /// when nobody waits for its answer any more; [`HostCall::cancel`] is raised on timeout and cancel.
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>>;
}

/// One call of a program on its host.
#[derive(Clone, Debug)]
pub struct HostCall {
    /// The namespace's name.
    pub provider: String,
    /// The member's name, as the program called it.
    pub tool: String,
    /// The arguments as a JSON array; empty means none.
    pub args_json: String,
    /// Raised when the answer is of no use any more because the run timed out or was cancelled.
    pub cancel: CancelToken,
}

/// A host call that was rejected; the program sees an Error of this message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCallError {
    /// May be empty.
    pub message: String,
}

impl HostCallError {
    /// A rejection with `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for HostCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HostCallError {}

impl From<ToolNotFoundError> for HostCallError {
    fn from(error: ToolNotFoundError) -> Self {
        Self::new(error.to_string())
    }
}

/// One call of a tool, as a provider's handler sees it.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The member's name.
    pub tool: String,
    /// The arguments; binary values are [`Value::Bytes`].
    pub args: Vec<Value>,
    /// Raised when the answer is of no use any more.
    pub cancel: CancelToken,
}

/// Answers the calls of one provider.
pub type ToolHandler = Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Result<Value, HostCallError>> + Send + Sync>;

/// Wraps providers' handlers into a [`Dispatch`]: owns the envelope, and refuses calls once its [`CompletionGuard`], if
/// one was taken, is dropped.
///
/// ```
/// use codemode_protocol::{EnvelopeDispatch, HostCallError, ToolNotFoundError, capnweb::Value};
///
/// let dispatch = EnvelopeDispatch::new().provider("math", |call| async move {
///     match (call.tool.as_str(), call.args.as_slice()) {
///         ("double", [Value::Number(n)]) => Ok(Value::Number(n * 2.0)),
///         ("double", _) => Err(HostCallError::new("double takes one number")),
///         _ => Err(ToolNotFoundError::new(call.tool).into()),
///     }
/// });
/// ```
#[derive(Clone, Default)]
pub struct EnvelopeDispatch {
    handlers: HashMap<String, ToolHandler>,
    completed: Arc<AtomicBool>,
}

impl EnvelopeDispatch {
    /// A dispatch without providers: every call gets `Tool "<tool>" not found`.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same dispatch with `handler` behind the namespace `name`.
    #[must_use]
    pub fn provider<F, Answer>(mut self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(ToolCall) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<Value, HostCallError>> + Send + 'static,
    {
        self.handlers.insert(name.into(), Arc::new(move |call| handler(call).boxed()));
        self
    }

    /// The guard that ends this dispatch; keep it as long as the run is under way.
    pub fn completion_guard(&self) -> CompletionGuard {
        CompletionGuard { completed: self.completed.clone() }
    }
}

impl Dispatch for EnvelopeDispatch {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        if self.completed.load(Ordering::Acquire) {
            return std::future::ready(Ok(encode_error(text::ALREADY_COMPLETED))).boxed();
        }
        let Some(handler) = self.handlers.get(&call.provider) else {
            return std::future::ready(Ok(encode_error(&text::tool_not_found(&call.tool)))).boxed();
        };
        let args = match parse_dispatch_arguments(&call.args_json) {
            Ok(args) => args,
            Err(error) => {
                let message = format!("{}.{}: {error}", call.provider, call.tool);
                return std::future::ready(Ok(encode_error(&message))).boxed();
            }
        };
        let answer = handler(ToolCall { tool: call.tool, args, cancel: call.cancel });
        async move {
            Ok(match answer.await {
                Ok(value) => encode_result(&value).unwrap_or_else(|error| encode_error(&error.to_string())),
                Err(error) => encode_error(&error.message),
            })
        }
        .boxed()
    }
}

/// Ends an [`EnvelopeDispatch`] when it is dropped: later calls are refused.
#[must_use = "dropping the guard ends the dispatch"]
pub struct CompletionGuard {
    completed: Arc<AtomicBool>,
}

impl Drop for CompletionGuard {
    fn drop(&mut self) {
        self.completed.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn call(dispatch: &EnvelopeDispatch, provider: &str, tool: &str, args_json: &str) -> String {
        let call = HostCall {
            provider: provider.into(),
            tool: tool.into(),
            args_json: args_json.into(),
            cancel: CancelToken::never(),
        };
        dispatch.call(call).now_or_never().unwrap().unwrap()
    }

    fn echo() -> EnvelopeDispatch {
        EnvelopeDispatch::new().provider("api", |call| async move {
            match call.tool.as_str() {
                "echo" => Ok(call.args.into_iter().next().unwrap_or_default()),
                "fail" => Err(HostCallError::new("")),
                _ => Err(ToolNotFoundError::new(call.tool).into()),
            }
        })
    }

    #[test]
    fn every_answer_is_an_envelope() {
        let cases = [
            ("api", "echo", "[1,2]", "{\"result\":1}"),
            ("api", "echo", "", "{}"),
            ("api", "echo", "{\"a\":null}", "{\"result\":{\"a\":null}}"),
            ("api", "fail", "[]", "{\"error\":\"\"}"),
            ("api", "nope", "[]", "{\"error\":\"Tool \\\"nope\\\" not found\"}"),
            ("other", "echo", "[]", "{\"error\":\"Tool \\\"echo\\\" not found\"}"),
        ];
        for (provider, tool, args, expected) in cases {
            assert_eq!(call(&echo(), provider, tool, args), expected);
        }
        assert!(call(&echo(), "api", "echo", "[1").starts_with("{\"error\":\"api.echo: "));
    }

    #[test]
    fn calls_are_refused_once_the_guard_is_dropped() {
        let dispatch = echo();
        let guard = dispatch.completion_guard();
        assert_eq!(call(&dispatch, "api", "echo", "[1]"), "{\"result\":1}");
        drop(guard);
        assert_eq!(call(&dispatch, "api", "echo", "[1]"), "{\"error\":\"Execution has already completed\"}");
    }
}
