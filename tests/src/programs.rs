//! Programs and the tools that they call.

use std::sync::Arc;

use codemode_protocol::{
    EnvelopeDispatch, ExecuteRequest, Host, HostCallError, ProviderDescriptor, TimeBound, ToolNotFoundError,
    capnweb::Value,
};
use tokio::sync::{Notify, Semaphore};

/// A request for `code`, with the namespace `api`.
pub fn program(code: &str) -> ExecuteRequest {
    ExecuteRequest {
        providers: vec![ProviderDescriptor { name: "api".into(), ..ProviderDescriptor::default() }],
        ..ExecuteRequest::new(code)
    }
}

/// A request for `code` that may run so long.
pub fn program_for(timeout_ms: u64, code: &str) -> ExecuteRequest {
    ExecuteRequest { timeout: TimeBound::Milliseconds(timeout_ms), ..program(code) }
}

/// Tools of one test: `api.echo(x)` answers x, `api.hold()` answers once the test lets it, `api.fail(text)` fails.
#[derive(Clone)]
pub struct Tools {
    arrived: Arc<Semaphore>,
    released: Arc<Semaphore>,
    cancelled: Arc<Notify>,
}

impl Default for Tools {
    fn default() -> Self {
        Self { arrived: Arc::new(Semaphore::new(0)), released: Arc::new(Semaphore::new(0)), cancelled: Arc::default() }
    }
}

impl Tools {
    /// The tools as what a run is lent.
    pub fn host(&self) -> Host {
        let tools = self.clone();
        Host::with_dispatch(EnvelopeDispatch::new().provider("api", move |call| {
            let tools = tools.clone();
            async move {
                match (call.tool.as_str(), call.args.into_iter().next()) {
                    ("echo", argument) => Ok(argument.unwrap_or_default()),
                    ("hold", _) => {
                        tools.arrived.add_permits(1);
                        tokio::select! {
                            permit = tools.released.acquire() => {
                                permit.expect("the semaphore is never closed").forget();
                                Ok(Value::from("released"))
                            }
                            _ = call.cancel.cancelled() => {
                                tools.cancelled.notify_one();
                                Err(HostCallError::new("cancelled"))
                            }
                        }
                    }
                    ("fail", argument) => {
                        Err(HostCallError::new(argument.as_ref().and_then(Value::as_str).unwrap_or_default()))
                    }
                    (tool, _) => Err(ToolNotFoundError::new(tool).into()),
                }
            }
        }))
    }

    /// Resolves when `api.hold()` has been called once more.
    pub async fn arrival(&self) {
        self.arrived.acquire().await.expect("the semaphore is never closed").forget();
    }

    /// Lets one call of `api.hold()` answer.
    pub fn release(&self) {
        self.released.add_permits(1);
    }

    /// Resolves when a held call has seen its cancellation.
    pub async fn cancellation(&self) {
        self.cancelled.notified().await;
    }
}
