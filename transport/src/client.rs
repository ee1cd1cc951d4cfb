//! The client's end: a WebSocket opened by URL.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::Sink;
use http::{HeaderMap, StatusCode, Uri};
use rustls::pki_types::CertificateDer;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        self, Message,
        client::IntoClientRequest,
        error::{CapacityError, ProtocolError},
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};

use crate::{
    meter::{Meter, Traffic},
    socket::{Buffer, Frame, NO_CLOSE_CODE, Socket, SocketError, Text},
    tls,
};

/// How to open a WebSocket.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Sent with the upgrade request, such as `Authorization`.
    pub headers: HeaderMap,
    /// From resolving the name to the answered upgrade.
    pub connect_timeout: Duration,
    /// The largest message and frame that are read, in bytes: give it the session's `message_bytes`.
    pub message_bytes: usize,
    /// Certificates that a `wss://` server's may be signed by, beside those of the Web's authorities.
    pub root_certificates: Vec<CertificateDer<'static>>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            headers: HeaderMap::new(),
            connect_timeout: Duration::from_secs(10),
            message_bytes: 64 << 20,
            root_certificates: Vec::new(),
        }
    }
}

/// Why no WebSocket was opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL cannot be used.
    #[error("{0}")]
    Url(String),
    /// The name does not resolve, or nothing accepts connections there.
    #[error("{0}")]
    Unreachable(std::io::Error),
    /// No answer in time.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The server answered the upgrade with another status, and perhaps a line of text that says why.
    #[error("the server answered {status}{reason}", status = .0, reason = said(.1))]
    Refused(StatusCode, String),
    /// No TLS with the server: its certificate is not trusted, or it speaks none.
    #[error("{0}")]
    Tls(String),
    /// What answered is no WebSocket server, or it hung up.
    #[error("{0}")]
    Handshake(String),
}

impl ConnectError {
    /// Whether the same attempt may succeed later: the transport refused, or the server said 5xx.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut(_) => true,
            Self::Refused(status, _) => status.is_server_error(),
            Self::Url(_) | Self::Tls(_) | Self::Handshake(_) => false,
        }
    }
}

fn said(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

/// Opens a `ws://` or `wss://` URL. Redirects are not followed, compression is not offered.
///
/// # Errors
/// [`ConnectError`], with nothing left open.
pub async fn connect(url: &str, options: ConnectOptions) -> Result<ClientSocket, ConnectError> {
    let uri: Uri = url.parse().map_err(|error| ConnectError::Url(format!("{error}")))?;
    let secure = match uri.scheme_str() {
        Some("ws") => false,
        Some("wss") => true,
        _ => return Err(ConnectError::Url("the scheme must be ws:// or wss://".to_owned())),
    };
    let Some(host) = uri.host() else { return Err(ConnectError::Url("the host is missing".to_owned())) };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let mut request = uri.into_client_request().map_err(|error| ConnectError::Url(error.to_string()))?;
    for (name, value) in &options.headers {
        request.headers_mut().append(name, value.clone());
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(options.message_bytes))
        .max_frame_size(Some(options.message_bytes))
        .read_buffer_size(READ_BUFFER);
    let open = async {
        let stream = TcpStream::connect((host.as_str(), port)).await.map_err(ConnectError::Unreachable)?;
        stream.set_nodelay(true).map_err(ConnectError::Unreachable)?;
        let meter = Meter::default();
        let stream = meter.wrap(stream);
        let stream: Stream = if secure {
            Box::new(tls::connect(&host, stream, &options.root_certificates).await?)
        } else {
            Box::new(stream)
        };
        let opening = client_async_with_config(request, stream, Some(config));
        let (socket, _) = opening.await.map_err(refused)?;
        Ok(ClientSocket { socket, meter })
    };
    timeout(options.connect_timeout, open).await.unwrap_or(Err(ConnectError::TimedOut(options.connect_timeout)))
}

/// Bytes asked of the kernel at once. The buffer is cleared for every read, so larger is not faster for small frames.
pub(crate) const READ_BUFFER: usize = 16 << 10;

fn refused(error: tungstenite::Error) -> ConnectError {
    match error {
        tungstenite::Error::Http(response) => {
            let text = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            // It may be a page of something else that answers there.
            let line = text.lines().next().unwrap_or_default().trim();
            let shown = if line.starts_with('<') || line.contains(char::is_control) { "" } else { line };
            ConnectError::Refused(response.status(), shown.chars().take(REASON_CHARACTERS).collect())
        }
        tungstenite::Error::Io(error) => ConnectError::Unreachable(error),
        other => ConnectError::Handshake(other.to_string()),
    }
}

/// How much of a refusal's text is kept.
const REASON_CHARACTERS: usize = 300;

/// A WebSocket that we opened.
pub struct ClientSocket {
    socket: WebSocketStream<Stream>,
    meter: Meter,
}

/// A connection, in the clear or in TLS.
type Stream = Box<dyn Duplex>;

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Duplex for S {}

impl fmt::Debug for ClientSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSocket").field("meter", &self.meter).finish_non_exhaustive()
    }
}

impl futures_util::Stream for ClientSocket {
    type Item = Result<Frame, SocketError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.socket)
            .poll_next(cx)
            .map(|arrival| arrival.map(|message| message.map(from_message).map_err(socket_error)))
    }
}

impl Sink<Frame> for ClientSocket {
    type Error = SocketError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_ready(cx).map_err(socket_error)
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Frame) -> Result<(), SocketError> {
        Pin::new(&mut self.socket).start_send(into_message(frame)).map_err(socket_error)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(socket_error)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        Pin::new(&mut self.socket).poll_close(cx).map_err(socket_error)
    }
}

impl Socket for ClientSocket {
    fn traffic(&self) -> Option<Traffic> {
        Some(self.meter.traffic())
    }
}

fn from_message(message: Message) -> Frame {
    match message {
        Message::Text(text) => Frame::Text(Text::from(Buffer::Client(text))),
        Message::Ping(_) => Frame::Ping,
        Message::Pong(_) => Frame::Pong,
        Message::Close(Some(close)) => {
            Frame::Close { code: close.code.into(), reason: close.reason.as_str().to_owned() }
        }
        Message::Close(None) => Frame::Close { code: NO_CLOSE_CODE, reason: String::new() },
        Message::Binary(_) | Message::Frame(_) => Frame::Binary,
    }
}

fn into_message(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(match text.into_buffer() {
            Buffer::Owned(text) => text.into(),
            Buffer::Client(text) => text,
            Buffer::Server(text) => text.as_str().into(),
        }),
        Frame::Binary => Message::Binary(Default::default()),
        Frame::Ping => Message::Ping(Default::default()),
        Frame::Pong => Message::Pong(Default::default()),
        Frame::Close { code, reason } => {
            Message::Close(Some(CloseFrame { code: CloseCode::from(code), reason: reason.into() }))
        }
    }
}

/// What a failure of the WebSocket layer means for the connection.
pub(crate) fn socket_error(error: tungstenite::Error) -> SocketError {
    use tungstenite::Error;
    match error {
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            SocketError::TooLarge { size, bound: max_size }
        }
        Error::Protocol(
            error @ (ProtocolError::ResetWithoutClosingHandshake
            | ProtocolError::SendAfterClosing
            | ProtocolError::ReceivedAfterClosing),
        ) => SocketError::Lost(error.to_string()),
        Error::Protocol(error) => SocketError::Violation(error.to_string()),
        Error::Utf8(error) => SocketError::Violation(error),
        Error::Io(error) => SocketError::Lost(error.to_string()),
        other => SocketError::Lost(other.to_string()),
    }
}
