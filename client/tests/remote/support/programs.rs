//! A daemon whose programs do what their code says, and how often they did.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use codemode_protocol::{
    Encoded, ErrorCode, ExecutorError, LogLevel, LogLine, Outcome, ResultEncoding, Stats, Termination,
    capnweb::Value,
    wire::{Info, error_to_value, outcome_to_value, request_from_value},
};
use tokio::sync::{Mutex, Semaphore, mpsc};

use super::{Call, Daemon, envelope};

/// What the test and the daemon's programs share.
#[derive(Clone)]
pub(crate) struct Programs(Arc<Inner>);

struct Inner {
    events: mpsc::UnboundedSender<String>,
    seen: Mutex<mpsc::UnboundedReceiver<String>>,
    release: Semaphore,
    begun: AtomicUsize,
    refused: AtomicUsize,
    draining: AtomicBool,
}

impl Programs {
    /// A daemon that runs these programs; any other code is its own result:
    ///
    /// - `hold …`: tells that it begins, and ends when it is released, or cancelled, which it tells too;
    /// - one with `call` in it makes a host call first;
    /// - `late`: makes a host call, and is refused then.
    pub(crate) async fn serve() -> (Daemon, Self) {
        let (events, seen) = mpsc::unbounded_channel();
        let programs = Self(Arc::new(Inner {
            events,
            seen: Mutex::new(seen),
            release: Semaphore::new(0),
            begun: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
        }));
        let serving = programs.clone();
        let daemon = Daemon::serve(move |call| serving.clone().answer(call)).await;
        (daemon, programs)
    }

    /// What happens next, such as `begin hold`.
    pub(crate) async fn event(&self) -> String {
        self.0.seen.lock().await.recv().await.unwrap()
    }

    /// Lets one program that holds go on.
    pub(crate) fn release(&self) {
        self.0.release.add_permits(1);
    }

    /// Refuses new programs from now on, or no more.
    pub(crate) fn drain(&self, draining: bool) {
        self.0.draining.store(draining, Ordering::Release);
    }

    /// How many programs have begun.
    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::Acquire)
    }

    /// How many programs were refused.
    pub(crate) fn refused(&self) -> usize {
        self.0.refused.load(Ordering::Acquire)
    }

    async fn answer(self, call: Call) -> Result<Value, Value> {
        match call.method.as_str() {
            "execute" => self.execute(call).await,
            "cancel" => {
                self.tell(format!("asked to cancel {}", call.args[0].as_str().unwrap()));
                Ok(Value::Bool(true))
            }
            _ => Ok(Info::new("fake", "1.2.3", "n1").to_value()),
        }
    }

    async fn execute(self, call: Call) -> Result<Value, Value> {
        let code = request_from_value(call.args[0].clone()).unwrap().code;
        if code == "late" {
            envelope(call.tool("p", "t", "").await);
        }
        if code == "late" || self.0.draining.load(Ordering::Acquire) {
            self.0.refused.fetch_add(1, Ordering::AcqRel);
            return Err(error_to_value(ExecutorError::new(ErrorCode::ShuttingDown, "not started")));
        }
        self.0.begun.fetch_add(1, Ordering::AcqRel);
        if code.contains("call") {
            envelope(call.tool("p", "t", "").await);
        }
        if code.starts_with("hold") {
            self.tell(format!("begin {code}"));
            tokio::select! {
                permit = self.0.release.acquire() => permit.unwrap().forget(),
                () = call.cancel.cancelled() => {
                    self.tell(format!("cancelled {code}"));
                    return Err(error_to_value(ExecutorError::new(ErrorCode::Cancelled, "cancelled")));
                }
            }
        }
        Ok(outcome(Value::from(code)))
    }

    fn tell(&self, event: String) {
        // The test may be over.
        let _ = self.0.events.send(event);
    }
}

/// A completed run as it crosses the wire.
pub(crate) fn outcome(result: Value) -> Value {
    let outcome = Outcome {
        result: Some(Encoded::from_value(&result).unwrap()),
        error: None,
        error_details: None,
        logs: vec![LogLine { level: LogLevel::Warn, method: "warn".into(), message: "kept".into(), time_ms: 1.5 }],
        termination: Termination::Completed,
        execution_id: None,
        handles_refused: false,
        stats: Stats { host_calls: 3, ..Stats::default() },
    };
    outcome_to_value(outcome, ResultEncoding::Text)
}
