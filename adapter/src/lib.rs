//! The `@cloudflare/codemode` dialect over any native executor.
//!
//! [`CodemodeExecutor`] gives an [`Executor`](codemode_protocol::Executor) the behaviour of the executor that the dialect
//! ships with, so that a host changes one line. What the dialect's interface does not say and its hosts depend on is
//! decided here, and here only:
//!
//! - the identifier that a tool is exposed under, and what two names that share one are told ([`sanitize_tool_name`]);
//! - which names are refused, and with which texts ([`validate_execution`]);
//! - which shapes of raw model output run, and as what ([`normalize_code`]);
//! - what reaches the executor and what stays in this process ([`plan_execution`]);
//! - the prefixes of log lines, and what a run that timed out reads ([`CodemodeResult`]).
//!
//! Tools that another process answers, over a wire or by commands, need no functions here: [`plan_request`] plans
//! executions whose calls are passed on under the raw names.
//!
//! Which executor it wraps, in this process or on another machine, the adapter does not know.
//!
//! ```
//! use codemode_adapter::{CodemodeExecutor, ExecuteOptions, Provider, Tools};
//! use codemode_protocol::{Executor, ExecutorError, capnweb::Value};
//!
//! async fn total(executor: impl Executor) -> Result<(), ExecutorError> {
//!     let executor = CodemodeExecutor::new(executor);
//!     let tools = Tools::new().with("list-prices", |_call| async {
//!         Ok(Value::Array(vec![Value::from(20), Value::from(22)]))
//!     });
//!     let code = "```js\nconst prices = await shop.list_prices()\nprices[0] + prices[1]\n```";
//!     let outcome = executor.execute(code, [Provider::new("shop", tools)], ExecuteOptions::default()).await?;
//!     println!("{:?} {:?} {:?}", outcome.result, outcome.error, outcome.logs);
//!     Ok(())
//! }
//! ```

mod executor;
mod forward;
#[doc(hidden)]
pub mod fuzz;
mod normalize;
mod plan;
mod provider;
mod render;
mod space;
mod tool_name;
mod validate;

pub use executor::{CodemodeExecutor, ExecuteOptions, OutboundTarget};
pub use forward::{ForwardPlan, ForwardedTools, ForwardingDispatch, plan_request};
pub use normalize::normalize_code;
pub use plan::{ExecutionPlan, plan_execution};
pub use provider::{Connector, ConnectorBinding, Provider, Providers, Tools};
pub use render::CodemodeResult;
pub use tool_name::sanitize_tool_name;
pub use validate::{detect_sanitize_collision, validate_execution};
