//! What every executor promises and what crosses the wire, without I/O.
//!
//! Two halves. The **native contract**: the [`Executor`] trait, [`ExecuteRequest`] and [`Outcome`], the two kinds of
//! failure, names and bounds, and the envelope that host calls ride in. And the **Cap'n Web session engine** in
//! [`capnweb`]: a state machine that takes frames and `now` and says what to do; [`wire`] translates between the two.
//!
//! Nothing here knows a socket, a runtime, a clock or an engine: drivers live in `codemode-transport`, sandboxes in
//! `codemode-sandbox`.
//!
//! ```
//! use codemode_protocol::{ExecuteRequest, Limits, TimeBound};
//!
//! let request = ExecuteRequest { timeout: TimeBound::Milliseconds(300), ..ExecuteRequest::new("async () => 42") };
//! request.validate(&Limits::default())?;
//! assert_eq!(request.bounds(&Limits::default()).timeout_ms, 300);
//! # Ok::<(), codemode_protocol::ExecutorError>(())
//! ```

mod address;
mod caller;
pub mod capnweb;
mod codemode;
mod dispatch;
mod encoded;
mod envelope;
mod error;
mod executor;
pub mod fuzz;
mod gauges;
mod imports;
mod json_value;
mod limits;
mod outcome;
mod provider;
mod raw_json;
mod request;
mod source_text;
pub mod text;
mod token;
mod tool;
mod version;
pub mod wire;

pub use address::CallAddress;
pub use caller::Caller;
pub use capnweb::{CancelSource, CancelToken};
pub use codemode::CodemodeRequest;
pub use dispatch::{CompletionGuard, Dispatch, EnvelopeDispatch, HostCall, HostCallError, ToolCall, ToolHandler};
pub use encoded::Encoded;
pub use envelope::{
    BINARY_TAG, EnvelopeError, encode_error, encode_result, from_json, parse_dispatch_arguments, parse_envelope,
    to_json,
};
pub use error::{ErrorCode, ExecutorError, Started};
pub use executor::{
    AcquireOptions, Executor, Host, InvokeOptions, LOCAL_NODE, Lease, LeasedRun, Outbound, OutboundRequest,
    OutboundResponse, unavailable,
};
pub use gauges::{Crash, Event, Gauges, Observer, RefusedBy};
pub use imports::{SeparatedImports, separate_imports};
pub use limits::{Limits, ResultLimits};
pub use outcome::{ErrorDetails, HANDLE_TAG, LogLevel, LogLine, Outcome, Stats, Termination};
pub use provider::{
    JAVASCRIPT_RESERVED_WORDS, ProviderDescriptor, RESERVED_PROVIDER_NAMES, is_identifier, validate_providers,
};
pub use raw_json::{first_element, members};
pub use request::{
    ExecuteRequest, LEAST_MEMORY_BYTES, LEAST_STACK_BYTES, OutboundMode, ResultEncoding, RunBounds, TimeBound,
};
pub use source_text::{is_line_terminator, is_white_space};
pub use token::Token;
pub use tool::{ExecutionTimeoutError, ToolNotFoundError};
pub use version::{PROTOCOL_VERSION, assert_protocol_compatible};
