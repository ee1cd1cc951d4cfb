//! A daemon made of the transport's server side and a main object of the test's choice.

pub(crate) mod programs;
pub(crate) mod proxy;

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{Router, extract::WebSocketUpgrade, http::HeaderMap, routing::get, serve::ListenerExt};
use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{
    Dispatch, ExecutorError, Host, HostCall, HostCallError, PROTOCOL_VERSION,
    capnweb::{CancelToken, Stub, Value},
    wire::dispatch_arguments,
};
use codemode_transport::{CallError, Closed, Connection, PendingCall, ServerSocket, TransportOptions, bounded, start};
use futures_util::future::{BoxFuture, FutureExt, ready};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

/// One call of the client on the fake daemon.
pub(crate) struct Call {
    pub method: String,
    pub args: Vec<Value>,
    pub cancel: CancelToken,
    /// The session that it came by.
    pub connection: Connection,
}

impl Call {
    /// Calls a tool of the run that this `execute` stands for.
    pub(crate) fn tool(&self, provider: &str, tool: &str, args_json: &str) -> PendingCall {
        let args = dispatch_arguments(provider.into(), tool.into(), args_json.into());
        self.connection.call(&self.dispatch(), &[], args)
    }

    pub(crate) fn dispatch(&self) -> Stub {
        match &self.args[1] {
            Value::Stub(dispatch) => dispatch.clone(),
            other => panic!("the dispatch argument is {other:?}"),
        }
    }
}

pub(crate) struct Daemon {
    pub address: SocketAddr,
    opened: Arc<AtomicUsize>,
    /// How sessions ended.
    pub ends: mpsc::UnboundedReceiver<Arc<Closed>>,
    /// The headers of each upgrade.
    pub headers: mpsc::UnboundedReceiver<HeaderMap>,
}

impl Daemon {
    /// Serves every method but `protocolVersion` by `answer`.
    pub(crate) async fn serve<F, A>(answer: F) -> Self
    where
        F: Fn(Call) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Value, Value>> + Send + 'static,
    {
        Self::serve_version(Value::Number(PROTOCOL_VERSION as f64), answer).await
    }

    /// The same with another answer to `protocolVersion`.
    pub(crate) async fn serve_version<F, A>(version: Value, answer: F) -> Self
    where
        F: Fn(Call) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Value, Value>> + Send + 'static,
    {
        Self::serve_all(move |call| {
            if call.method == "protocolVersion" {
                return ready(Ok(version.clone())).left_future();
            }
            answer(call).right_future()
        })
        .await
    }

    /// Serves every method by `answer`.
    pub(crate) async fn serve_all<F, A>(answer: F) -> Self
    where
        F: Fn(Call) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Value, Value>> + Send + 'static,
    {
        let (ended, ends) = mpsc::unbounded_channel();
        let (seen, headers) = mpsc::unbounded_channel();
        let opened = Arc::new(AtomicUsize::new(0));
        let count = opened.clone();
        let upgrade = move |headers: HeaderMap, upgrade: WebSocketUpgrade| {
            let (answer, ended) = (answer.clone(), ended.clone());
            // The test may not care, nor live any more.
            let _ = seen.send(headers);
            count.fetch_add(1, Ordering::AcqRel);
            async move {
                let options = TransportOptions::default();
                bounded(upgrade, options.limits.message_bytes).on_upgrade(|socket| async move {
                    let session = Arc::new(std::sync::OnceLock::<Connection>::new());
                    let main = codemode_protocol::capnweb::target_fn({
                        let session = session.clone();
                        move |call| {
                            let method = call.method().unwrap_or_default().to_owned();
                            let answer = answer.clone();
                            let connection = session.get().unwrap().clone();
                            async move {
                                let args = call.args.unwrap();
                                answer(Call { method, args, cancel: call.cancel, connection }).await
                            }
                        }
                    });
                    let (connection, driver) = start(ServerSocket::from(socket), main, options);
                    session.set(connection).unwrap();
                    let closed = driver.await;
                    // The test may not care.
                    let _ = ended.send(closed);
                })
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(upgrade));
        tokio::spawn(async move {
            axum::serve(listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), router).await.unwrap()
        });
        Self { address, opened, ends, headers }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }

    /// Sessions ever opened.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Acquire)
    }

    pub(crate) async fn connect(&self) -> RemoteExecutor {
        self.try_connect(RemoteOptions::default()).await.unwrap()
    }

    pub(crate) async fn try_connect(&self, options: RemoteOptions) -> Result<RemoteExecutor, ExecutorError> {
        RemoteExecutor::connect(self.url(), options).await
    }
}

/// What a tool call of the fake daemon came to.
pub(crate) fn envelope(answer: Result<Value, CallError>) -> String {
    match answer {
        Ok(value) => value.as_str().unwrap().to_owned(),
        Err(CallError::Thrown(Value::Error(error))) => format!("thrown: {}", error.message),
        Err(other) => panic!("{other}"),
    }
}

/// A host whose every tool answers.
pub(crate) fn tools() -> Host {
    struct Answering;

    impl Dispatch for Answering {
        fn call(&self, _: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
            ready(Ok("{}".to_owned())).boxed()
        }
    }

    Host::with_dispatch(Answering)
}

/// The address of a server that answers every request with `status`.
pub(crate) async fn answering(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
                // A socket that is closed with unread bytes loses what was written.
                let _ = stream.read_to_end(&mut Vec::new()).await;
            });
        }
    });
    address
}
