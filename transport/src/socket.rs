//! What the driver needs of a connection: a stream and a sink of [`Frame`]s.

use std::{fmt, ops::Deref};

use futures_util::{Sink, Stream};

use crate::meter::Traffic;

/// One WebSocket frame, as far as a session cares about it.
///
/// A socket answers pings and close frames by itself; the driver only learns that they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// One message.
    Text(Text),
    /// A binary message. Its content is not kept: a session ends on any.
    Binary,
    /// A sign of life that the socket has answered, or is asked to send.
    Ping,
    /// The answer to a ping.
    Pong,
    /// The last frame of its direction.
    Close {
        /// The close code; 1005 when the frame carried none.
        code: u16,
        /// At most 123 bytes.
        reason: String,
    },
}

/// The text of a message, kept in the buffer that it was read into.
#[derive(Clone)]
pub struct Text(Buffer);

#[derive(Clone)]
pub(crate) enum Buffer {
    Owned(String),
    Client(tokio_tungstenite::tungstenite::Utf8Bytes),
    Server(axum::extract::ws::Utf8Bytes),
}

/// A connection: frames in, frames out.
pub trait Socket:
    Stream<Item = Result<Frame, SocketError>> + Sink<Frame, Error = SocketError> + Unpin + Send + 'static
{
    /// What has crossed the network so far, when that can be seen: a message that is long under way then counts as
    /// life and as progress by its bytes, else only when it is whole.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// Why a socket gives or takes no more frames.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// The peer announced more than the bound of one message. Writing still works.
    #[error("a message of {size} bytes, over the bound of {bound}")]
    TooLarge {
        /// What the peer announced, in bytes.
        size: usize,
        /// The bound, in bytes.
        bound: usize,
    },
    /// The peer broke the rules of WebSocket. Writing still works.
    #[error("{0}")]
    Violation(String),
    /// The connection is gone.
    #[error("{0}")]
    Lost(String),
}

impl Text {
    pub(crate) fn into_buffer(self) -> Buffer {
        self.0
    }
}

impl From<Buffer> for Text {
    fn from(buffer: Buffer) -> Self {
        Self(buffer)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Buffer::Owned(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Buffer::Owned(text.to_owned()))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Buffer::Owned(text) => text,
            Buffer::Client(text) => text,
            Buffer::Server(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Frame {
    /// What the frame takes in a queue, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Frame::Text(text) => text.len(),
            Frame::Binary | Frame::Ping | Frame::Pong => 0,
            Frame::Close { reason, .. } => reason.len(),
        }
    }
}

/// The close code that stands for a close frame without one.
pub(crate) const NO_CLOSE_CODE: u16 = 1005;
