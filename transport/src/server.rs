//! The server's end: a WebSocket that axum has upgraded.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Error,
    extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade},
};
use futures_util::{Sink, Stream};
use tokio_tungstenite::tungstenite;

use crate::{
    client::{READ_BUFFER, socket_error},
    meter::{Meter, Traffic},
    socket::{Buffer, Frame, NO_CLOSE_CODE, Socket, SocketError, Text},
};

/// Sets the bounds of an upgrade: the largest message and frame that are read, in bytes. Give it the session's
/// `message_bytes`. Compression is never negotiated.
pub fn bounded<F>(upgrade: WebSocketUpgrade<F>, message_bytes: usize) -> WebSocketUpgrade<F> {
    upgrade.max_message_size(message_bytes).max_frame_size(message_bytes).read_buffer_size(READ_BUFFER)
}

/// A WebSocket that a client opened. Make it of an upgrade that went through [`bounded`], over a connection without
/// Nagle's delay.
pub struct ServerSocket {
    socket: WebSocket,
    meter: Option<Meter>,
}

impl ServerSocket {
    /// A WebSocket over a stream that `meter` wraps, so that bytes count as life and progress, not only whole messages.
    pub fn metered(socket: WebSocket, meter: Meter) -> Self {
        Self { socket, meter: Some(meter) }
    }
}

impl From<WebSocket> for ServerSocket {
    fn from(socket: WebSocket) -> Self {
        Self { socket, meter: None }
    }
}

impl fmt::Debug for ServerSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSocket").finish_non_exhaustive()
    }
}

impl Stream for ServerSocket {
    type Item = Result<Frame, SocketError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.socket)
            .poll_next(cx)
            .map(|arrival| arrival.map(|message| message.map(from_message).map_err(failure)))
    }
}

impl Sink<Frame> for ServerSocket {
    type Error = SocketError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_ready(cx).map_err(failure)
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Frame) -> Result<(), SocketError> {
        Pin::new(&mut self.socket).start_send(into_message(frame)).map_err(failure)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(failure)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_close(cx).map_err(failure)
    }
}

impl Socket for ServerSocket {
    fn traffic(&self) -> Option<Traffic> {
        self.meter.as_ref().map(Meter::traffic)
    }
}

fn from_message(message: Message) -> Frame {
    match message {
        Message::Text(text) => Frame::Text(Text::from(Buffer::Server(text))),
        Message::Binary(_) => Frame::Binary,
        Message::Ping(_) => Frame::Ping,
        Message::Pong(_) => Frame::Pong,
        Message::Close(Some(close)) => Frame::Close { code: close.code, reason: close.reason.as_str().to_owned() },
        Message::Close(None) => Frame::Close { code: NO_CLOSE_CODE, reason: String::new() },
    }
}

fn into_message(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(match text.into_buffer() {
            Buffer::Owned(text) => text.into(),
            Buffer::Server(text) => text,
            Buffer::Client(text) => text.as_str().into(),
        }),
        Frame::Binary => Message::Binary(Default::default()),
        Frame::Ping => Message::Ping(Default::default()),
        Frame::Pong => Message::Pong(Default::default()),
        Frame::Close { code, reason } => Message::Close(Some(CloseFrame { code, reason: reason.into() })),
    }
}

/// axum hides the error of the WebSocket layer that it shares with us.
fn failure(error: Error) -> SocketError {
    match error.into_inner().downcast::<tungstenite::Error>() {
        Ok(error) => socket_error(*error),
        Err(other) => SocketError::Lost(other.to_string()),
    }
}
