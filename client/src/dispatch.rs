//! The caller's tools as an object that the daemon calls.

use std::{
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
};

use codemode_protocol::{
    CallAddress, CancelSource, Dispatch, HostCall,
    capnweb::{ErrorValue, IncomingCall, Target, Value},
    text,
    wire::{dispatch_call, error_to_value},
};
use codemode_transport::CallTracker;
use futures_util::future::{BoxFuture, FutureExt};

/// What a run and its dispatch object know of each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Whether `execute` has been answered.
    pub(crate) execute: CallTracker,
    host_call: Arc<AtomicBool>,
}

impl Run {
    /// Whether a host call has arrived, and the program so had started.
    pub(crate) fn has_called(&self) -> bool {
        self.host_call.load(Ordering::Acquire)
    }

    /// A host call has arrived.
    pub(crate) fn called(&self) {
        self.host_call.store(true, Ordering::Release);
    }
}

/// The dispatch object of one run.
pub(crate) struct DispatchTarget {
    dispatch: Arc<dyn Dispatch>,
    run: Run,
}

impl DispatchTarget {
    pub(crate) fn new(dispatch: Arc<dyn Dispatch>, run: Run) -> Self {
        Self { dispatch, run }
    }
}

impl Target for DispatchTarget {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        self.run.called();
        let IncomingCall { path, args, cancel } = call;
        async move {
            let Some(args) = args.filter(|_| path.is_empty()) else {
                return Err(ErrorValue::new("TypeError", "dispatch is a function and has no members").into());
            };
            let (provider, tool, args_json) = dispatch_call(args).map_err(error_to_value)?;
            let source = CancelSource::new();
            let relay = Arc::new(Relay { source: source.clone(), execute: self.run.execute.clone() });
            let waker = Waker::from(relay.clone());
            let mut released = pin!(cancel.cancelled());
            if released.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                relay.wake();
            }
            let address = CallAddress::of(&provider, &tool, &args_json);
            let call = HostCall { provider, tool, args_json, cancel: source.token() };
            // A handler that panics fails its call, in the words of an executor in this process.
            match AssertUnwindSafe(async { self.dispatch.call(call).await }).catch_unwind().await {
                Ok(Ok(envelope)) => Ok(Value::from(envelope)),
                Ok(Err(error)) => Err(Value::error(error.message)),
                Err(_) => Err(Value::error(text::handler_panicked(&address.to_string()))),
            }
        }
        .boxed()
    }
}

/// Passes a release on to the tool, unless the run is over: then the answer is discarded, and the tool may finish.
///
/// It is woken by the session at the very frame that releases the call, because a moment later the answer of `execute`
/// may be there as well, and nobody could tell which came first.
struct Relay {
    source: CancelSource,
    execute: CallTracker,
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.execute.is_answered() {
            self.source.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use codemode_protocol::HostCallError;

    use super::*;

    struct Echo;

    impl Dispatch for Echo {
        fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
            async move {
                match call.tool.as_str() {
                    "fail" => Err(HostCallError::new("no")),
                    "panic" => panic!("a bug of the tool"),
                    "wait" => {
                        call.cancel.cancelled().await;
                        Ok("cancelled".to_owned())
                    }
                    _ => Ok(format!("{}.{}({})", call.provider, call.tool, call.args_json)),
                }
            }
            .boxed()
        }
    }

    fn call(run: &Run, args: &[&str], cancel: &CancelSource) -> BoxFuture<'static, Result<Value, Value>> {
        let target = Arc::new(DispatchTarget::new(Arc::new(Echo), run.clone()));
        let args = Some(args.iter().map(|&text| Value::from(text)).collect());
        target.call(IncomingCall { path: Vec::new(), args, cancel: cancel.token() })
    }

    #[test]
    fn calls_reach_the_tools_and_failures_are_thrown() {
        let (run, cancel) = (Run::default(), CancelSource::new());
        assert!(!run.has_called());
        assert_eq!(call(&run, &["p", "t", "[1]"], &cancel).now_or_never(), Some(Ok(Value::from("p.t([1])"))));
        assert!(run.has_called());
        assert_eq!(call(&run, &["p", "fail", ""], &cancel).now_or_never(), Some(Err(Value::error("no"))));
        let missing = call(&run, &["p"], &cancel).now_or_never().unwrap().unwrap_err();
        assert_eq!(missing.as_error().unwrap().code(), Some("INVALID_REQUEST"));
    }

    /// Panics before there is a future.
    struct Rash;

    impl Dispatch for Rash {
        fn call(&self, _: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
            panic!("a bug of the dispatch")
        }
    }

    #[test]
    fn a_tool_that_panics_fails_its_call_and_is_named() {
        let (run, cancel) = (Run::default(), CancelSource::new());
        for (args, name) in [(["math", "panic", "[1]"], "math.panic"), (["h", "__panic", "[\"a\",\"b\"]"], "a.b")] {
            let expected = Value::error(format!("{name} failed: its handler on the host panicked"));
            let target = Arc::new(DispatchTarget::new(Arc::new(Rash), run.clone()));
            let args: Vec<_> = args.iter().map(|&text| Value::from(text)).collect();
            let incoming = IncomingCall { path: Vec::new(), args: Some(args), cancel: cancel.token() };
            assert_eq!(target.call(incoming).now_or_never(), Some(Err(expected)));
        }
        let expected = Value::error("p.panic failed: its handler on the host panicked");
        assert_eq!(call(&run, &["p", "panic", ""], &cancel).now_or_never(), Some(Err(expected)));
    }

    #[test]
    fn a_release_before_the_answer_of_execute_cancels_the_tool() {
        let (run, cancel) = (Run::default(), CancelSource::new());
        let mut waiting = call(&run, &["p", "wait", ""], &cancel);
        assert!((&mut waiting).now_or_never().is_none());
        cancel.cancel();
        assert_eq!(waiting.now_or_never(), Some(Ok(Value::from("cancelled"))));
    }
}
