//! What a peer may call: the [`Target`] trait and the call that reaches it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::cancel::CancelToken;
use super::jsstring::JsString;
use super::value::Value;

/// An object of ours that the peer may call once it holds a reference to it.
///
/// `call` is first polled in arrival order by whoever drives the session. The arguments are dropped by the
/// target; stubs among them that should outlive the call are cloned. References still held when the future ends are
/// released before the answer goes out.
pub trait Target: Send + Sync + 'static {
    /// Serves one call or property read. `Err` is what the peer's promise rejects with, normally a [`Value::Error`].
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>>;
}

/// One call or property read by the peer.
#[derive(Debug)]
pub struct IncomingCall {
    /// The whole path after the object: empty when the object itself is called as a function.
    pub path: Vec<PathKey>,
    /// The arguments, or `None` when the peer reads a property instead of calling it.
    pub args: Option<Vec<Value>>,
    /// Raised when the peer releases a call that it had asked the result of, and when the session ends.
    pub cancel: CancelToken,
}

impl IncomingCall {
    /// The method name, when the path is exactly one ordinary name.
    pub fn method(&self) -> Option<&str> {
        match self.path.as_slice() {
            [key] => key.as_str(),
            _ => None,
        }
    }
}

/// One step of a property path.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum PathKey {
    /// A property name.
    Name(JsString),
    /// An array index.
    Index(u64),
}

impl PathKey {
    /// The name, if this is one and it holds no lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            PathKey::Name(name) => name.as_str(),
            PathKey::Index(_) => None,
        }
    }
}

impl From<&str> for PathKey {
    fn from(name: &str) -> Self {
        PathKey::Name(name.into())
    }
}

impl From<String> for PathKey {
    fn from(name: String) -> Self {
        PathKey::Name(name.into())
    }
}

impl From<u64> for PathKey {
    fn from(index: u64) -> Self {
        PathKey::Index(index)
    }
}

impl fmt::Display for PathKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathKey::Name(name) => fmt::Display::fmt(name, f),
            PathKey::Index(index) => fmt::Display::fmt(index, f),
        }
    }
}

impl fmt::Debug for PathKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathKey::Name(name) => fmt::Debug::fmt(name, f),
            PathKey::Index(index) => fmt::Debug::fmt(index, f),
        }
    }
}

/// A target made of a closure.
pub fn target_fn<F, R>(function: F) -> Arc<dyn Target>
where
    F: Fn(IncomingCall) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Value>> + Send + 'static,
{
    struct Closure<F>(F);

    impl<F, R> Target for Closure<F>
    where
        F: Fn(IncomingCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Value>> + Send + 'static,
    {
        fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
            Box::pin((self.0)(call))
        }
    }

    Arc::new(Closure(function))
}
