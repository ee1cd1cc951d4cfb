//! Leases: on the session that they were acquired on, or not at all.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use codemode_client::RemoteOptions;
use codemode_protocol::{
    AcquireOptions, ErrorCode, ExecuteRequest, Executor, ExecutorError, Lease, Started,
    capnweb::{IncomingCall, Target, Value},
    text,
    wire::{error_to_value, request_from_value},
};
use futures_util::future::{BoxFuture, FutureExt, pending};
use tokio::sync::mpsc;

use crate::{
    support::{Call, Daemon, programs::outcome, tools},
    {math, request},
};

/// A lease of a daemon that says what becomes of it.
struct Leased(mpsc::UnboundedSender<&'static str>);

impl Target for Leased {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        let (method, told) = (call.method().unwrap_or_default().to_owned(), self.0.clone());
        async move {
            match (method.as_str(), call.args) {
                ("waitMs", None) => Ok(Value::Number(12.5)),
                ("execute", Some(args)) => {
                    let request = request_from_value(args[0].clone()).unwrap();
                    if request.code == "hang" {
                        told.send("hangs").unwrap();
                        call.cancel.cancelled().await;
                        told.send("released").unwrap();
                        return pending().await;
                    }
                    Ok(outcome(Value::from(request.code)))
                }
                other => panic!("{other:?} on a lease"),
            }
        }
        .boxed()
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        let _ = self.0.send("gone");
    }
}

/// A daemon that gives leases, and runs whatever comes.
async fn daemon() -> (Daemon, mpsc::UnboundedReceiver<&'static str>) {
    let (told, heard) = mpsc::unbounded_channel();
    let daemon = Daemon::serve(move |call: Call| {
        let told = told.clone();
        async move {
            match call.method.as_str() {
                "acquire" => Ok(Value::Local(Arc::new(Leased(told)))),
                "cancel" => {
                    told.send("cancelled").unwrap();
                    Ok(Value::Bool(true))
                }
                _ => Ok(outcome(Value::Null)),
            }
        }
    })
    .await;
    (daemon, heard)
}

async fn acquire(executor: &impl Executor) -> Lease {
    executor.acquire(AcquireOptions::default()).await.unwrap()
}

#[tokio::test]
async fn a_lease_runs_its_program_and_is_given_back() {
    let (daemon, mut told) = daemon().await;
    let executor = daemon.connect().await;
    let lease = acquire(&executor).await;
    assert_eq!(lease.wait(), Duration::from_micros(12_500));
    let outcome = lease.execute(ExecuteRequest::new("on a lease"), math()).await.unwrap();
    assert_eq!(outcome.result.unwrap().decode().unwrap(), Value::from("on a lease"));
    assert_eq!(told.recv().await, Some("gone"));
    acquire(&executor).await.release();
    assert_eq!(told.recv().await, Some("gone"));
    drop(acquire(&executor).await);
    assert_eq!(told.recv().await, Some("gone"));
}

#[tokio::test]
async fn a_leased_run_is_cancelled_by_its_id_and_by_dropping_its_future() {
    const ID: &str = "123e4567-e89b-12d3-a456-426614174000";
    let (daemon, mut told) = daemon().await;
    let executor = daemon.connect().await;
    assert!(!executor.cancel(ID).await.unwrap());
    let lease = acquire(&executor).await;
    let hanging = ExecuteRequest { id: Some(ID.into()), ..ExecuteRequest::new("hang") };
    let run = tokio::spawn(lease.execute(hanging, tools()));
    assert_eq!(told.recv().await, Some("hangs"));
    assert!(executor.cancel(ID).await.unwrap());
    assert_eq!(told.recv().await, Some("cancelled"));
    run.abort();
    // The call and the lease are released, whichever is first.
    let mut ends = [told.recv().await.unwrap(), told.recv().await.unwrap()];
    ends.sort_unstable();
    assert_eq!(ends, ["gone", "released"]);
    assert!(run.await.unwrap_err().is_cancelled());
    assert!(!executor.cancel(ID).await.unwrap());
}

#[tokio::test]
async fn a_lease_counts_as_one_execution_and_keeps_its_session() {
    let (mut daemon, mut told) = daemon().await;
    let rotate = RemoteOptions { rotate_after_executions: NonZeroU64::new(2).unwrap(), ..RemoteOptions::default() };
    let executor = daemon.try_connect(rotate).await.unwrap();
    let lease = acquire(&executor).await;
    for _ in 0..2 {
        executor.execute(request(), tools()).await.unwrap();
    }
    // The session is retired, and the lease goes on by it.
    executor.execute(request(), tools()).await.unwrap();
    assert_eq!(daemon.opened(), 2);
    assert!(daemon.ends.try_recv().is_err(), "it has not ended");
    lease.execute(ExecuteRequest::new("late"), tools()).await.unwrap();
    daemon.ends.recv().await.unwrap();
    assert_eq!(told.recv().await, Some("gone"));
    // That was the second of the next session's two: the third opens another.
    executor.execute(request(), tools()).await.unwrap();
    assert_eq!(daemon.opened(), 3);
}

#[tokio::test]
async fn a_lease_breaks_with_its_session_and_is_never_used_on_another() {
    let (daemon, mut told) = daemon().await;
    let executor = daemon.connect().await;
    let (idle, busy) = (acquire(&executor).await, acquire(&executor).await);
    let run = tokio::spawn(busy.execute(ExecuteRequest::new("hang"), tools()));
    assert_eq!(told.recv().await, Some("hangs"));
    executor.dispose().await;
    let error = run.await.unwrap().unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::ConnectionBroken, text::REMOTE_CLOSED));
    let error = idle.execute(request(), tools()).await.unwrap_err();
    assert_eq!((error.code, error.started), (ErrorCode::ConnectionBroken, Some(Started::No)));
    assert_eq!(daemon.opened(), 1);
}

#[tokio::test]
async fn a_server_that_shuts_down_is_not_asked_for_a_lease_again_while_another_is_there() {
    let draining = Daemon::serve(|call: Call| async move {
        assert_eq!(call.method, "acquire");
        Err(error_to_value(ExecutorError::new(ErrorCode::ShuttingDown, text::NOT_STARTED_SHUTTING_DOWN)))
    })
    .await;
    let (daemon, _told) = daemon().await;
    let urls = vec![draining.url(), daemon.url()];
    let executor = codemode_client::RemoteExecutor::connect(urls, RemoteOptions::default()).await.unwrap();
    acquire(&executor).await.execute(request(), tools()).await.unwrap();
    assert_eq!((draining.opened(), daemon.opened()), (1, 1));
}

#[tokio::test]
async fn what_is_no_lease_is_a_breach_of_the_contract() {
    let daemon = Daemon::serve(|_| async { Ok(Value::Null) }).await;
    let executor = daemon.connect().await;
    let error = executor.acquire(AcquireOptions::default()).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Internal);
    assert!(error.message.contains("is not a lease"), "{error}");
}
