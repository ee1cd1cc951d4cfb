//! Cap'n Web: the wire protocol of the executor, without I/O.
//!
//! A [`Session`] is one end of one connection. Its driver feeds it text frames and the time, and
//! does what [`poll_output`](Session::poll_output) says: send a frame, run a call of the peer, hand the
//! result of a call to whoever made it, close the socket. PROTOCOL.md describes the wire.
//!
//! ```
//! use codemode_protocol::capnweb::{CallMode, Output, Session, SessionConfig, Value, WireLimits, target_fn};
//! use futures_util::FutureExt;
//! use std::time::Duration;
//!
//! let now = Duration::ZERO;
//! let session = || {
//!     let main = target_fn(|call| async move { Ok(Value::Array(call.args.unwrap_or_default())) });
//!     Session::new(SessionConfig { main, limits: WireLimits::default() }, now)
//! };
//! let (mut client, mut server) = (session(), session());
//!
//! let main = client.main();
//! let call = client.call(&main, vec!["echo".into()], Some(vec!["hello".into()]), CallMode::Pull)?;
//! let settled = loop {
//!     match client.poll_output() {
//!         Some(Output::Send(frame)) => server.receive(&frame, now),
//!         Some(Output::Settled { call, result }) => break (call, result),
//!         _ => {}
//!     }
//!     match server.poll_output() {
//!         Some(Output::Send(frame)) => client.receive(&frame, now),
//!         Some(Output::Invoke { id, target, call }) => {
//!             // A real driver polls the future now and answers when it is ready.
//!             let result = target.call(call).now_or_never().expect("echo does not wait");
//!             server.respond(id, result);
//!         }
//!         _ => {}
//!     }
//! };
//! assert_eq!(settled, (call, Ok(Value::Array(vec!["hello".into()]))));
//! # Ok::<(), codemode_protocol::capnweb::EncodeError>(())
//! ```

pub mod cancel;
mod check;
pub(crate) mod decode;
pub mod expression;
#[doc(hidden)]
pub mod fuzz;
pub(crate) mod json_text;
pub mod jsstring;
pub mod limits;
pub(crate) mod reader;
pub mod session;
pub mod stub;
mod tags;
pub mod target;
pub mod text;
pub mod value;
mod writer;

pub use cancel::{CancelSource, CancelToken, Cancelled};
pub use expression::{CheckError, DecodeError, EncodeError};
pub use jsstring::JsString;
pub use limits::{DataLimits, DroppedKeys, WireLimits};
pub use session::{
    CallId, CallMode, CloseOrigin, CloseReason, InvocationId, Output, Session, SessionConfig, TableSizes,
};
pub use stub::Stub;
pub use target::{IncomingCall, PathKey, Target, target_fn};
pub use value::{BytesKind, ErrorValue, Object, Value};

/// Whether JavaScript receivers silently drop this object key: the names on `Object.prototype`, and `toJSON`.
///
/// [`expression::check_data_only`] refuses such keys where [`DroppedKeys::Refuse`] asks for it. Values that a session
/// sends may hold them: our peers keep them, JavaScript peers lose that one key.
pub fn is_dropped_key(key: &str) -> bool {
    matches!(
        key,
        "__proto__"
            | "constructor"
            | "hasOwnProperty"
            | "isPrototypeOf"
            | "propertyIsEnumerable"
            | "toJSON"
            | "toLocaleString"
            | "toString"
            | "valueOf"
            | "__defineGetter__"
            | "__defineSetter__"
            | "__lookupGetter__"
            | "__lookupSetter__"
    )
}
