//! The native contract as Cap'n Web values, both ways (PROTOCOL.md, "Interface").
//!
//! Names are camelCase on the wire. Absent members are left off, because a member that is undefined crosses as a present
//! key; a reader takes an undefined member as absent and ignores members that it does not know.

mod codemode;
mod error;
mod fields;
mod info;
mod invoke;
pub mod lease;
mod outbound;
mod outcome;
mod request;

pub use codemode::codemode_request_from_value;
pub use error::{error_to_value, rehydrate};
pub use info::Info;
pub use invoke::{execution_id, invoke_call, invoke_options_from_value, invoke_options_to_value};
pub use lease::{acquire_options_from_value, acquire_options_to_value};
pub use outbound::{outbound_arguments, outbound_call, outbound_response_from_value, outbound_response_to_value};
pub use outcome::{outcome_from_value, outcome_to_value};
pub use request::{request_from_value, request_to_value};

use crate::{ExecutorError, Token, capnweb::Value};

/// Members of the main object that a session may call.
pub mod method {
    /// The version of the protocol; the first call of every session.
    pub const PROTOCOL_VERSION: &str = "protocolVersion";
    /// The executor as a capability, for a token.
    pub const AUTHENTICATE: &str = "authenticate";
    /// Runs one program.
    pub const EXECUTE: &str = "execute";
    /// Waits for admission without a run.
    pub const ACQUIRE: &str = "acquire";
    /// Calls a function that a retained execution returned.
    pub const INVOKE_HANDLE: &str = "invokeHandle";
    /// Ends a retained execution.
    pub const CLOSE_HANDLES: &str = "closeHandles";
    /// Cancels a run of the same session.
    pub const CANCEL: &str = "cancel";
    /// What the server is and which bounds it applies.
    pub const INFO: &str = "info";
    /// Runs a program in the dialect of `@cloudflare/codemode`.
    pub const CODEMODE: &str = "codemode";
}

/// The argument of a call of `authenticate`.
///
/// # Errors
/// `INVALID_REQUEST` when it is no string.
pub fn token(args: Vec<Value>) -> Result<Token, ExecutorError> {
    fields::string("token", args.into_iter().next().unwrap_or_default()).map(Token::new)
}

/// The arguments of a call on a dispatch stub.
pub fn dispatch_arguments(provider: String, tool: String, args_json: String) -> Vec<Value> {
    vec![Value::from(provider), Value::from(tool), Value::from(args_json)]
}

/// A call on a dispatch stub: provider, tool and the JSON of its arguments, which may be absent.
///
/// # Errors
/// `INVALID_REQUEST` when an argument is no string.
pub fn dispatch_call(args: Vec<Value>) -> Result<(String, String, String), ExecutorError> {
    let mut args = args.into_iter();
    let mut next = |field: &str| fields::string(field, args.next().unwrap_or_default());
    let (provider, tool) = (next("provider")?, next("tool")?);
    let args_json = match args.next() {
        None | Some(Value::Undefined) => String::new(),
        Some(value) => fields::string("argsJson", value)?,
    };
    Ok((provider, tool, args_json))
}
