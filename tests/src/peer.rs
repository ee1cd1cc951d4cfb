//! A peer that sends whatever a test wants.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, client_async_with_config,
    tungstenite::{Bytes, Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

/// How long an answer may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A WebSocket to the daemon without any session on our side.
pub struct Peer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pushed: u64,
    closed: bool,
}

/// What the daemon sent.
#[derive(Debug, PartialEq)]
pub enum Received {
    /// A message.
    Message(Value),
    /// The end: the close code, if one came.
    Closed(Option<u16>),
}

impl Peer {
    /// Opens a WebSocket.
    ///
    /// # Panics
    /// When the daemon refuses it.
    pub async fn connect(url: &str) -> Self {
        let request = url.into_client_request().expect("a URL");
        let host = request.uri().authority().expect("a URL with a host").to_string();
        let stream = TcpStream::connect(host).await.expect("the daemon listens");
        // Whatever the test sends is sent; the daemon is the one that has bounds.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = client_async_with_config(request, MaybeTlsStream::Plain(stream), Some(config))
            .await
            .expect("the daemon upgrades");
        Self { socket, pushed: 0, closed: false }
    }

    /// Sends a text frame; false when the daemon has closed the connection.
    pub async fn send(&mut self, text: impl Into<String>) -> bool {
        self.write(Message::text(text.into())).await
    }

    /// Sends a binary frame; false when the daemon has closed the connection.
    pub async fn send_binary(&mut self, bytes: Vec<u8>) -> bool {
        self.write(Message::Binary(Bytes::from(bytes))).await
    }

    /// Sends a `push` of this expression and gives the id of its outcome.
    pub async fn push(&mut self, expression: &str) -> u64 {
        self.send(format!("[\"push\",{expression}]")).await;
        self.pushed += 1;
        self.pushed
    }

    /// Whether something could not be sent any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The next thing that the daemon sends.
    ///
    /// # Panics
    /// When nothing comes for long, or what comes is no message.
    pub async fn receive(&mut self) -> Received {
        loop {
            let next = timeout(PATIENCE, self.socket.next()).await.expect("the daemon answers");
            match next {
                Some(Ok(Message::Text(text))) => {
                    return Received::Message(serde_json::from_str(&text).expect("the daemon sends JSON"));
                }
                Some(Ok(Message::Close(frame))) => return Received::Closed(frame.map(|frame| frame.code.into())),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Binary(_))) => panic!("the daemon sent a binary frame"),
                Some(Err(_)) | None => return Received::Closed(None),
            }
        }
    }

    /// Everything up to the end of the session: the `abort` message, if one came, and the close code.
    pub async fn receive_end(&mut self) -> (Option<Value>, Option<u16>) {
        let mut abort = None;
        loop {
            match self.receive().await {
                Received::Message(message) if message[0] == "abort" => abort = Some(message),
                Received::Message(_) => {}
                Received::Closed(code) => return (abort, code),
            }
        }
    }

    /// Reads until the daemon has answered a call made now, and gives that answer; `Err` is how the session ended.
    pub async fn synchronise(&mut self) -> Result<Value, Value> {
        let id = self.push("[\"pipeline\",0,[\"protocolVersion\"],[]]").await;
        self.send(format!("[\"pull\",{id}]")).await;
        let mut abort = Value::Null;
        loop {
            match self.receive().await {
                Received::Message(message) if message[0] == "abort" => abort = message,
                Received::Message(message) if message[1] == id => return Ok(message),
                Received::Message(_) => {}
                Received::Closed(_) => return Err(abort),
            }
        }
    }

    async fn write(&mut self, message: Message) -> bool {
        let sent = matches!(timeout(PATIENCE, self.socket.send(message)).await, Ok(Ok(())));
        self.closed |= !sent;
        sent
    }
}
