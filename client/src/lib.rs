//! [`RemoteExecutor`]: an [`Executor`](codemode_protocol::Executor) that runs programs on a daemon opened by URL.
//!
//! ```no_run
//! use codemode_client::{RemoteExecutor, RemoteOptions};
//! use codemode_protocol::{EnvelopeDispatch, ExecuteRequest, Executor, Host, ProviderDescriptor, capnweb::Value};
//!
//! # async fn example() -> Result<(), codemode_protocol::ExecutorError> {
//! let executor = RemoteExecutor::connect("ws://127.0.0.1:8421", RemoteOptions::default()).await?;
//! let tools = EnvelopeDispatch::new()
//!     .provider("math", |call| async move { Ok(Value::Number(call.args.len() as f64)) });
//! let request = ExecuteRequest {
//!     providers: vec![ProviderDescriptor { name: "math".into(), ..ProviderDescriptor::default() }],
//!     ..ExecuteRequest::new("async () => math.count(1, 2, 3)")
//! };
//! let outcome = executor.execute(request, Host::with_dispatch(tools)).await?;
//! assert_eq!(outcome.error, None);
//! executor.dispose().await;
//! # Ok(())
//! # }
//! ```
//!
//! Tools run here, in the caller's process: the daemon calls back over the same connection. Dropping the future of
//! `execute` cancels the run.

//!
//! An executor may be kept for months: [`RemoteExecutor`] says what happens when sessions break, are worn out, or when
//! there are several daemons.

mod dispatch;
mod endpoints;
mod failure;
mod lease;
mod options;
mod outbound;
mod policy;
mod remote;
mod session;
mod sessions;

pub use codemode_protocol::{Token, wire::Info};
pub use codemode_transport::{CertificateDer, certificates_from_pem};
pub use endpoints::Endpoints;
pub use options::{RUNS, Reconnect, RemoteOptions};
pub use remote::RemoteExecutor;
