//! What the tests of a connection share.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::{future::Future, sync::Arc};

use codemode_protocol::capnweb::{IncomingCall, Target, Value, target_fn};
use codemode_transport::{CallError, Closed, Connection, Frame, Socket, TransportOptions, memory::MemorySocket, start};
use futures_util::{SinkExt, StreamExt};
use tokio::task::JoinHandle;

/// A main object that answers with its arguments.
pub(crate) fn echo() -> Arc<dyn Target> {
    target_fn(|mut call| async move { Ok(Value::Array(call.args.take().unwrap_or_default())) })
}

/// A main object that nobody should call.
pub(crate) fn nothing() -> Arc<dyn Target> {
    target_fn(|_| async { Err(Value::error("nothing to call here")) })
}

/// A main object made of a function.
pub(crate) fn target<F, R>(function: F) -> Arc<dyn Target>
where
    F: Fn(IncomingCall) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Value>> + Send + 'static,
{
    target_fn(function)
}

/// A connection whose driver is spawned.
pub(crate) fn spawn<S: Socket>(
    socket: S,
    main: Arc<dyn Target>,
    options: TransportOptions,
) -> (Connection, JoinHandle<Arc<Closed>>) {
    let (connection, driver) = start(socket, main, options);
    (connection, tokio::spawn(driver))
}

/// The text of the next message of a peer that is driven by hand; pings, which sockets answer, are skipped.
pub(crate) async fn message(socket: &mut MemorySocket) -> String {
    loop {
        match socket.next().await {
            Some(Ok(Frame::Text(text))) => return text.to_string(),
            Some(Ok(Frame::Ping | Frame::Pong)) => {}
            other => panic!("no message but {other:?}"),
        }
    }
}

/// The close frame that comes next.
pub(crate) async fn close_frame(socket: &mut MemorySocket) -> (u16, String) {
    match socket.next().await {
        Some(Ok(Frame::Close { code, reason })) => (code, reason),
        other => panic!("no close frame but {other:?}"),
    }
}

pub(crate) async fn send(socket: &mut MemorySocket, message: &str) {
    socket.send(Frame::Text(message.into())).await.unwrap();
}

/// The code of what a call was rejected with.
pub(crate) fn thrown_code(error: &CallError) -> Option<&str> {
    match error {
        CallError::Thrown(Value::Error(error)) => error.code(),
        _ => None,
    }
}
