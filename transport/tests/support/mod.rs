//! What the tests of a connection share.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use codemode_protocol::capnweb::{IncomingCall, Target, Value, target_fn};
use codemode_transport::{
    CallError, Closed, Connection, Frame, Socket, SocketError, Traffic, TransportOptions, memory::MemorySocket, start,
};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
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

/// A connection in memory that claims to have moved as many bytes as the test says.
pub(crate) struct Counted {
    socket: MemorySocket,
    pub(crate) traffic: Arc<Mutex<Traffic>>,
}

impl Counted {
    pub(crate) fn new(socket: MemorySocket) -> Self {
        Self { socket, traffic: Arc::default() }
    }
}

impl Stream for Counted {
    type Item = Result<Frame, SocketError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.socket.poll_next_unpin(cx)
    }
}

impl Sink<Frame> for Counted {
    type Error = SocketError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_ready(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Frame) -> Result<(), SocketError> {
        Pin::new(&mut self.socket).start_send(frame)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_close(cx)
    }
}

impl Socket for Counted {
    fn traffic(&self) -> Option<Traffic> {
        Some(*self.traffic.lock().unwrap())
    }
}
