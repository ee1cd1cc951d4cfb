//! Leases of one session (PROTOCOL.md, "Leases"): `acquire`, and the capability that it answers.

use std::sync::{Arc, Mutex, PoisonError};

use codemode_protocol::{
    CancelToken, ErrorCode, Executor, ExecutorError, Lease,
    capnweb::{IncomingCall, PathKey, Target, Value},
    text,
    wire::{self, lease},
};
use futures_util::future::{BoxFuture, FutureExt};
use tracing::debug;
use uuid::Uuid;

use crate::interface::{Interface, member, not_a_function};

impl<E: Executor> Interface<E> {
    /// Waits for admission without a run.
    pub(crate) async fn acquire(
        self: Arc<Self>,
        args: Vec<Value>,
        released: CancelToken,
    ) -> Result<Value, ExecutorError> {
        let options = args.into_iter().next().unwrap_or_default();
        let options = wire::acquire_options_from_value(options, self.caller())?;
        options.validate(self.daemon().limits())?;
        // Nobody else knows the name, so only a release ends the wait.
        let id = Uuid::new_v4().to_string();
        let executor = self.daemon().executor();
        let held = self.under_way(&id, released, || executor.acquire(options)).await?;
        debug!(wait = ?held.wait(), "lease acquired");
        let wait_ms = held.wait().as_secs_f64() * 1000.0;
        Ok(Value::Local(Arc::new(LeaseTarget { interface: self, wait_ms, held: Mutex::new(Ok(held)) })))
    }
}

/// One lease. The peer's last release of it, and the session's end, drop it, and with it the permit.
struct LeaseTarget<E> {
    interface: Arc<Interface<E>>,
    wait_ms: f64,
    /// The lease, or why it is gone.
    held: Mutex<Result<Lease, &'static str>>,
}

impl<E: Executor> LeaseTarget<E> {
    async fn answer(self: Arc<Self>, call: IncomingCall) -> Result<Value, Value> {
        let name = call.method().and_then(|name| METHODS.iter().find(|known| **known == name)).copied();
        match (name, call.args) {
            (Some(name), Some(args)) => self.invoke(name, args, call.cancel).await,
            (Some(name), None) => Ok(member(move |args, cancel| self.clone().invoke(name, args, cancel))),
            (None, Some(_)) => Err(not_a_function(&call.path)),
            (None, None) if is_wait(&call.path) => Ok(Value::Number(self.wait_ms)),
            (None, None) => Ok(Value::Undefined),
        }
    }

    async fn invoke(self: Arc<Self>, name: &str, args: Vec<Value>, cancel: CancelToken) -> Result<Value, Value> {
        if name == lease::RELEASE {
            // The permit goes back when this is dropped; a lease that is gone stays so.
            drop(self.take(text::LEASE_RELEASED));
            return Ok(Value::Undefined);
        }
        let execute = |request, host| async {
            // Taken here and not before: a request that breaks a rule leaves the lease as it is.
            match self.take(text::LEASE_USED) {
                Ok(lease) => lease.execute(request, host).await,
                Err(gone) => Err(ExecutorError::new(ErrorCode::InvalidRequest, gone)),
            }
        };
        let ended = self.interface.execute_by(args, cancel, execute).await;
        ended.map_err(|error| self.interface.failed(error))
    }

    /// Takes the lease, which from then on is gone for the reason given; if it was gone already, the reason of then.
    fn take(&self, reason: &'static str) -> Result<Lease, &'static str> {
        // Nothing panics under this lock.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = held.as_ref().err().copied().unwrap_or(reason);
        std::mem::replace(&mut *held, Err(gone))
    }
}

impl<E: Executor> Target for LeaseTarget<E> {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        self.answer(call).boxed()
    }
}

fn is_wait(path: &[PathKey]) -> bool {
    matches!(path, [name] if name.as_str() == Some(lease::WAIT_MS))
}

const METHODS: [&str; 2] = [lease::EXECUTE, lease::RELEASE];
