//! A daemon in this process with an executor that does what the request's code names, and clients for it.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use codemode_daemon::{Config, ServeError};
use codemode_protocol::{
    AcquireOptions, CancelSource, Dispatch, Encoded, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host,
    HostCall, InvokeOptions, Lease, Limits, OutboundRequest, Outcome, Stats, Termination,
    capnweb::{ErrorValue, Object, Value, target_fn},
    text,
};
use codemode_transport::{CallError, ConnectError, ConnectOptions, Connection, TransportOptions, connect, start};
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, tungstenite::Message};

/// Longer than anything here takes, shorter than anyone's patience.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What the fake executor has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub started: usize,
    pub running: usize,
    /// Leases that are held.
    pub leases: usize,
    /// Leases that are waited for.
    pub waiting: usize,
    pub disposed: bool,
}

/// The memory that there is no lease for: whoever asks for so much waits.
pub const CROWDED: u32 = 2 << 20;

/// Does what the code of the request names, by itself or as the one expression of a function:
///
/// - `hang` never ends,
/// - `echo` returns the request's id,
/// - `call` calls `p.t` and returns the envelope or the error as a string,
/// - `leave`, told to go on, calls `p.t` and returns without waiting,
/// - `expire` calls `p.t` and, told to go on, runs out of time,
/// - `fetch` makes a request and returns the response's status and body, or the error, as a string,
/// - `internal` and `panic` are bugs.
#[derive(Clone, Default)]
pub struct Fake {
    pub seen: watch::Sender<Seen>,
    pub drained: Arc<Notify>,
    pub go: Arc<Notify>,
}

impl Executor for Fake {
    async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        self.seen.send_modify(|seen| {
            seen.started += 1;
            seen.running += 1;
        });
        let _running = Running(self.seen.clone());
        let cancel = CancelSource::new();
        let call = || {
            let dispatch: Arc<dyn Dispatch> = host.dispatch.clone()?;
            Some(dispatch.call(HostCall {
                provider: "p".into(),
                tool: "t".into(),
                args_json: "[1]".into(),
                cancel: cancel.token(),
            }))
        };
        match bare(&request.code) {
            "hang" => std::future::pending().await,
            "echo" => Ok(outcome(Termination::Completed, request.id.as_deref().unwrap_or_default())),
            "call" => {
                let answer = match call() {
                    Some(answer) => answer.await.unwrap_or_else(|error| format!("error: {error}")),
                    None => "no dispatch".into(),
                };
                Ok(outcome(Termination::Completed, &answer))
            }
            "fetch" => {
                let outbound = host.outbound.clone().expect("the daemon hands an outbound function on");
                let request = OutboundRequest {
                    method: "POST".into(),
                    url: "https://h/x".into(),
                    headers: ["1", "2"].map(|value| ("a".to_owned(), value.to_owned())).into(),
                    body: Some(vec![0, 255]),
                };
                let answer = match outbound.fetch(request).await {
                    Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
                    Err(message) => format!("error: {message}"),
                };
                Ok(outcome(Termination::Completed, &answer))
            }
            "leave" => {
                self.go.notified().await;
                drop(tokio::spawn(call().unwrap()));
                Ok(outcome(Termination::Completed, "left"))
            }
            "expire" => {
                drop(tokio::spawn(call().unwrap()));
                self.go.notified().await;
                cancel.cancel();
                Ok(Outcome { result: None, error: Some("late".into()), ..outcome(Termination::Timeout, "") })
            }
            "internal" => {
                Err(ExecutorError::new(ErrorCode::Internal, "the secret detail").caused_by("the secret cause"))
            }
            "panic" => panic!("the secret panic"),
            other => panic!("no such behaviour: {other}"),
        }
    }

    /// The handle `call` calls `p.t` and answers its envelope and the timeout, `gone` is not there, others answer what
    /// they were called with.
    async fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        match handle_id {
            "gone" => Err(ExecutorError::new(ErrorCode::HandleNotFound, "gone")),
            "call" => {
                let call = HostCall {
                    provider: "p".into(),
                    tool: "t".into(),
                    args_json: args_json.into(),
                    cancel: CancelSource::new().token(),
                };
                let answer = host.dispatch.unwrap().call(call).await.unwrap();
                Ok(outcome(Termination::Completed, &format!("{answer} {:?}", options.timeout)))
            }
            _ => Ok(outcome(Termination::Completed, &format!("{execution_id} {handle_id} {args_json}"))),
        }
    }

    async fn close_handles(&self, execution_id: &str) -> Result<(), ExecutorError> {
        match execution_id.split_once('.') {
            Some(("n", _)) => Ok(()),
            _ => Err(ExecutorError::new(ErrorCode::HandleNotFound, "elsewhere")),
        }
    }

    /// A lease that was waited for 7 ms, unless it asks for [`CROWDED`] memory.
    async fn acquire(&self, options: AcquireOptions) -> Result<Lease, ExecutorError> {
        if options.memory_limit == Some(u64::from(CROWDED)) {
            self.seen.send_modify(|seen| seen.waiting += 1);
            let _waiting = Leaves(self.seen.clone(), |seen| seen.waiting -= 1);
            self.drained.notified().await;
            return Err(ExecutorError::new(ErrorCode::ShuttingDown, text::NOT_STARTED_SHUTTING_DOWN));
        }
        self.seen.send_modify(|seen| seen.leases += 1);
        let held = Leaves(self.seen.clone(), |seen| seen.leases -= 1);
        let fake = self.clone();
        let run = move |request: ExecuteRequest, host: Host| {
            drop(held);
            async move { fake.execute(request, host).await }.boxed()
        };
        Ok(Lease::new(Duration::from_millis(7), Box::new(run)))
    }

    fn drain(&self) {
        self.drained.notify_one();
    }

    async fn dispose(&self) {
        self.seen.send_modify(|seen| seen.disposed = true);
    }
}

/// The word, also where the dialect has made a function that returns it.
fn bare(code: &str) -> &str {
    code.strip_prefix("async () => {\nreturn (").and_then(|rest| rest.strip_suffix(")\n}")).unwrap_or(code)
}

/// Notes an end.
struct Leaves(watch::Sender<Seen>, fn(&mut Seen));

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.send_modify(self.1);
    }
}

struct Running(watch::Sender<Seen>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|seen| seen.running -= 1);
    }
}

fn outcome(termination: Termination, result: &str) -> Outcome {
    Outcome {
        result: Some(Encoded::from_value(&Value::from(result)).unwrap()),
        error: None,
        error_details: None,
        logs: Vec::new(),
        termination,
        execution_id: None,
        handles_refused: false,
        stats: Stats::default(),
    }
}

/// A daemon that serves until [`Server::stop`].
pub struct Server {
    pub addr: SocketAddr,
    pub seen: watch::Receiver<Seen>,
    pub go: Arc<Notify>,
    shutdown: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), ServeError>>,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(Config::default()).await
    }

    pub async fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut config = Config::default();
        change(&mut config.limits);
        Self::with(config).await
    }

    pub async fn with(config: Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let fake = Fake::default();
        let (seen, go) = (fake.seen.subscribe(), fake.go.clone());
        let (shutdown, stopped) = oneshot::channel();
        let task = tokio::spawn(codemode_daemon::run(config, listener, fake, async {
            let _ = stopped.await;
        }));
        Self { addr, seen, go, shutdown: Some(shutdown), task }
    }

    /// Begins the drain.
    pub fn drain(&mut self) {
        self.shutdown.take().unwrap().send(()).unwrap();
    }

    /// Waits for the end of the drain.
    pub async fn stopped(self) {
        soon(self.task).await.unwrap().unwrap();
    }

    pub async fn until(&mut self, condition: impl FnMut(&Seen) -> bool) {
        soon(self.seen.wait_for(condition)).await.unwrap();
    }

    /// A client whose session is driven in the background.
    pub async fn client(&self) -> Client {
        self.client_with(ConnectOptions::default()).await.unwrap()
    }

    /// The same with options of its own.
    pub async fn client_with(&self, options: ConnectOptions) -> Result<Client, ConnectError> {
        client(&format!("ws://{}/", self.addr), options).await
    }

    /// A client that reads and writes frames.
    pub async fn raw(&self) -> Raw {
        Raw(tokio_tungstenite::connect_async(format!("ws://{}/", self.addr)).await.unwrap().0)
    }

    /// Sends one HTTP request and reads what comes: the status and the whole text.
    pub async fn http(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        soon(stream.read_to_end(&mut text)).await.unwrap();
        let text = String::from_utf8(text).unwrap();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }
}

/// A client of a URL whose session is driven in the background.
pub async fn client(url: &str, options: ConnectOptions) -> Result<Client, ConnectError> {
    let socket = connect(url, options).await?;
    let nothing = target_fn(|_| async { Err(Value::error("nothing to call here")) });
    let (connection, driver) = start(socket, nothing, TransportOptions::default());
    tokio::spawn(driver);
    Ok(Client(connection))
}

pub struct Client(pub Connection);

impl Client {
    /// Calls a method of the main object.
    pub async fn call(&self, method: &str, args: Vec<Value>) -> Result<Value, CallError> {
        soon(self.0.call(&self.0.main(), &[method], args)).await
    }

    /// Calls a method that has to reject, and returns its error.
    pub async fn refused(&self, method: &str, args: Vec<Value>) -> ErrorValue {
        match self.call(method, args).await {
            Err(CallError::Thrown(Value::Error(error))) => *error,
            other => panic!("{method} should have rejected: {other:?}"),
        }
    }
}

/// A WebSocket without a session behind it.
pub struct Raw(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Raw {
    pub async fn send(&mut self, frame: &str) {
        self.0.send(Message::Text(frame.into())).await.unwrap();
    }

    /// The next text frame; none when the socket was closed.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(text.as_str().to_owned()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Everything up to and with the frame that begins with `start`.
    pub async fn until(&mut self, start: &str) -> Vec<String> {
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await.unwrap_or_else(|| panic!("no {start} among {frames:#?}"));
            let found = frame.starts_with(start);
            frames.push(frame);
            if found {
                return frames;
            }
        }
    }
}

pub fn request(members: &[(&str, Value)]) -> Value {
    Value::Object(members.iter().cloned().collect::<Object>())
}

pub fn code(code: &str) -> Value {
    request(&[("code", code.into())])
}

pub async fn soon<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("this should not take so long")
}
