//! Runs a call of the peer: its first poll here and now, so that calls start in the order in which they came, and the
//! rest in a task of its own.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use codemode_protocol::{
    ErrorCode, ExecutorError,
    capnweb::{IncomingCall, InvocationId, PathKey, Target, Value},
    wire::error_to_value,
};
use futures_util::FutureExt;

use crate::mailbox::{Command, Mailbox};

/// Keeps `kept` until the answer of the peer's call that the current future serves is queued, and drops it then: what
/// the drop sends comes after the answer. Outside of a call, and in tasks that it spawned, it is dropped at once.
pub fn after_answer(kept: impl Send + 'static) {
    // An error is what "outside" looks like.
    let _ = KEPT.try_with(|bag| bag.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(kept)));
}

tokio::task_local! {
    static KEPT: Arc<Mutex<Vec<Box<dyn Send>>>>;
}

/// Starts a call. `Some` when it was over at once; else the answer comes by the mailbox.
pub(crate) fn start(
    id: InvocationId,
    target: Arc<dyn Target>,
    call: IncomingCall,
    mailbox: &Arc<Mailbox>,
) -> Option<Result<Value, Value>> {
    let path = call.path.clone();
    let kept = Arc::default();
    let mut running = AssertUnwindSafe(KEPT.scope(Arc::clone(&kept), async move { target.call(call).await }))
        .catch_unwind()
        .map(move |result| result.unwrap_or_else(|panic| Err(panicked(&path, &*panic))))
        .boxed();
    // Nobody needs waking yet: what is still pending is polled again by its own task.
    if let Poll::Ready(result) = running.poll_unpin(&mut Context::from_waker(Waker::noop())) {
        // What was kept is dropped here, and its commands wait in the mailbox until the caller has answered.
        return Some(result);
    }
    let mailbox = mailbox.clone();
    tokio::spawn(async move {
        // The future is gone before the answer is queued, so the stubs that it held are released first.
        let result = running.await;
        // A session that has ended takes no answer.
        let _ = mailbox.push(Command::Respond { id, result });
        drop(kept);
    });
    None
}

/// What a peer learns of a panic: that there was one, and where to find it in our log.
fn panicked(path: &[PathKey], panic: &(dyn Any + Send)) -> Value {
    let log_id = uuid::Uuid::new_v4();
    let what = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)");
    tracing::error!(%log_id, ?path, panic = what, "a call of the peer panicked");
    error_to_value(ExecutorError::new(ErrorCode::Internal, format!("Internal error; log id {log_id}")))
}
