//! The HTTP side: the bounds on a request before it is a session, the health endpoints, and the upgrade.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Extension, Router,
    extract::{Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{AppendHeaders, IntoResponse, Response},
    routing::get,
};
use codemode_protocol::{ErrorCode, Executor, text};
use codemode_transport::{Meter, ServerSocket};
use hyper::{
    Request as HyperRequest,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use crate::{
    credentials,
    daemon::Daemon,
    gate::{Admission, Gate},
    guard,
    places::{Full, Places},
    session, sight,
    tls::Tls,
};

/// The listener's state: the daemon and the places of sessions.
struct Front<E> {
    daemon: Arc<Daemon<E>>,
    places: Arc<Places>,
}

/// Where a connection comes from.
#[derive(Clone, Copy)]
struct Peer(IpAddr);

impl<E> Clone for Front<E> {
    fn clone(&self) -> Self {
        Self { daemon: self.daemon.clone(), places: self.places.clone() }
    }
}

/// Accepts connections until it is dropped.
pub(crate) async fn accept<E: Executor>(
    listener: &TcpListener,
    daemon: Arc<Daemon<E>>,
    places: Arc<Places>,
) -> Infallible {
    let connections = Arc::new(Semaphore::new(daemon.config().max_connections.max(1)));
    let young = Arc::new(Young::default());
    let router = router(Front { daemon: daemon.clone(), places });
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // An honest request is answered at once, so when all places are taken the oldest connection has had
                // its time, and whoever comes, a health probe or a new session, gets its place.
                let place = match connections.clone().try_acquire_owned() {
                    Ok(place) => place,
                    Err(_) => {
                        young.evict_oldest();
                        let Ok(place) = connections.clone().acquire_owned().await else {
                            unreachable!("the semaphore is never closed");
                        };
                        place
                    }
                };
                let (tls, life) = (daemon.config().tls.clone(), daemon.config().header_timeout);
                let peer = Peer(peer.ip().to_canonical());
                young.spawn(serve(stream, peer, tls, router.clone(), life, place));
            }
            Err(error) => {
                // Mostly: out of descriptors. Others' connections end and give some back.
                warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The connections that are not sessions yet, by age.
#[derive(Default)]
struct Young {
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    /// Empty until the task is spawned.
    tasks: BTreeMap<u64, Option<AbortHandle>>,
}

impl Young {
    fn spawn(self: &Arc<Self>, serving: impl Future<Output = ()> + Send + 'static) {
        let mut connections = self.connections();
        let number = connections.next;
        connections.next += 1;
        // Noted first, so that the task's end finds it; and not locked meanwhile, because a runtime that shuts down
        // drops the task at once.
        connections.tasks.insert(number, None);
        drop(connections);
        let grown = Grown { young: self.clone(), number };
        let task = tokio::spawn(async move {
            serving.await;
            drop(grown);
        });
        if let Some(noted) = self.connections().tasks.get_mut(&number) {
            *noted = Some(task.abort_handle());
        }
    }

    /// Ends the oldest connection, whose place is free soon.
    fn evict_oldest(&self) {
        let oldest = self.connections().tasks.pop_first();
        if let Some((_, Some(task))) = oldest {
            debug!("the oldest connection made room for a new one");
            task.abort();
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        // The map is consistent between any two statements that can panic.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a connection off the list when it is dropped.
struct Grown {
    young: Arc<Young>,
    number: u64,
}

impl Drop for Grown {
    fn drop(&mut self) {
        let task = self.young.connections().tasks.remove(&self.number);
        drop(task);
    }
}

/// Serves one connection until it is answered or has become a session; `life` bounds all of it, from the accept.
async fn serve(
    stream: TcpStream,
    peer: Peer,
    tls: Option<Tls>,
    router: Router,
    life: Duration,
    _place: OwnedSemaphorePermit,
) {
    // Frames are small and answers are awaited, so none may wait for a fuller packet.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "TCP_NODELAY was refused");
    }
    let serving = async {
        let meter = Meter::default();
        let Some(tls) = tls else { return answer(meter.wrap(stream), meter, peer, router, life).await };
        if !speaks_tls(&stream).await {
            return refuse_plain(stream).await;
        }
        match tls.acceptor().accept(meter.wrap(stream)).await {
            Ok(stream) => answer(stream, meter, peer, router, life).await,
            Err(error) => debug!(%error, "a TLS handshake failed"),
        }
    };
    if timeout(life, serving).await.is_err() {
        debug!("a connection took too long");
    }
}

/// Answers the one request of a connection, the bytes of which `meter` counts.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    meter: Meter,
    peer: Peer,
    router: Router,
    life: Duration,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: HyperRequest<Incoming>| {
        request.extensions_mut().insert(meter.clone());
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(life)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        debug!(%error, "an HTTP connection ended badly");
    }
}

/// Whether a connection begins as TLS does. One that says nothing does not.
async fn speaks_tls(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1..)) && first[0] == TLS_HANDSHAKE
}

/// Tells whoever speaks plain HTTP what is spoken here.
async fn refuse_plain(mut stream: TcpStream) {
    const TEXT: &str = "This port speaks TLS, and the request came without: use https:// or wss://\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{TEXT}",
        TEXT.len()
    );
    if stream.write_all(answer.as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    // A socket that is dropped with unread bytes resets the connection, and a reset overtakes what was written.
    let mut unread = [0; 1024];
    let mut left = MAX_HEADER_BYTES;
    while left > 0
        && let Ok(read @ 1..) = stream.read(&mut unread).await
    {
        left = left.saturating_sub(read);
    }
}

fn router<E: Executor>(front: Front<E>) -> Router {
    Router::new()
        .merge(shown(front.clone()))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz::<E>))
        .fallback(async || (StatusCode::NOT_FOUND, "Nothing is here; the WebSocket is at /\n"))
        .layer(middleware::from_fn_with_state(front.clone(), refuse_pages::<E>))
        .layer(middleware::map_response(close))
        .with_state(front)
}

/// What needs a token where there are any: sessions, and what shows how they go.
fn shown<E: Executor>(front: Front<E>) -> Router<Front<E>> {
    Router::new()
        .route("/", get(upgrade::<E>))
        .route("/page.js", get(async || sight::script()))
        .route("/status.json", get(status::<E>))
        .route("/metrics", get(metrics::<E>))
        .route_layer(middleware::from_fn_with_state(front, require_token::<E>))
}

/// One request per connection: one that stays open and idle would keep a place from others.
async fn close(mut response: Response) -> Response {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    }
    response
}

async fn refuse_pages<E: Executor>(State(front): State<Front<E>>, request: Request, next: Next) -> Response {
    match guard::check(request.headers(), request.uri(), &front.daemon.rules()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            debug!(status = refusal.status.as_u16(), "a request was refused");
            (refusal.status, format!("{}\n", refusal.text)).into_response()
        }
    }
}

/// Lets a request through whose token is right, where tokens are needed. As a layer of a route it stands before whatever
/// shows more of the daemon than whether it is well.
///
/// The token is the Bearer, or the password of Basic, for which browsers ask their reader.
async fn require_token<E: Executor>(State(front): State<Front<E>>, request: Request, next: Next) -> Response {
    let Some(tokens) = &front.daemon.config().tokens else { return next.run(request).await };
    if request.headers().contains_key(header::UPGRADE) {
        // An upgrade has more ways to show a token, a later one among them.
        return next.run(request).await;
    }
    match credentials::of_request(request.headers()) {
        Ok(Some(token)) if tokens.find(&token).is_some() => next.run(request).await,
        Ok(Some(_)) => unauthorized(&front, text::WRONG_TOKEN),
        Ok(None) => unauthorized(&front, "A token is needed, as the Bearer or as the password of Basic authorization."),
        Err(rule) => unauthorized(&front, rule),
    }
}

fn unauthorized<E>(front: &Front<E>, why: &str) -> Response {
    debug!(why, "a request was refused for want of a token");
    let challenges = ["Bearer realm=\"codemoded\"", "Basic realm=\"codemoded\", charset=\"UTF-8\""];
    let challenges = AppendHeaders(challenges.map(|challenge| (header::WWW_AUTHENTICATE, challenge)));
    (challenges, refuse(front, StatusCode::UNAUTHORIZED, &ErrorCode::Unauthorized, why)).into_response()
}

/// Refuses a request, in one line that begins with the code.
fn refuse<E>(front: &Front<E>, status: StatusCode, code: &ErrorCode, why: &str) -> Response {
    front.daemon.config().sight.refused(code);
    (status, format!("{code}: {why}\n")).into_response()
}

async fn readyz<E: Executor>(State(front): State<Front<E>>) -> Response {
    match front.daemon.unready() {
        None => "ready\n".into_response(),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

async fn metrics<E: Executor>(State(front): State<Front<E>>) -> Response {
    let text = front.daemon.config().sight.metrics(&front.daemon.present());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn status<E: Executor>(State(front): State<Front<E>>) -> Response {
    let status = front.daemon.config().sight.status(&front.daemon.present());
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (headers, status.to_string()).into_response()
}

async fn upgrade<E: Executor>(
    State(front): State<Front<E>>,
    Extension(meter): Extension<Meter>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) if !headers.contains_key(header::UPGRADE) && accepts_html(&headers) => return sight::page(),
        Err(rejection) => return refuse_upgrade(&rejection),
    };
    let refuse = |status: StatusCode, code: ErrorCode, why: &str| {
        refuse(&front, status, &code, &format!("Upgrade refused. {why}"))
    };
    if front.daemon.is_draining() {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ShuttingDown, text::UPGRADE_SHUTTING_DOWN);
    }
    let tokens = front.daemon.config().tokens.clone();
    let grant = match (&tokens, credentials::of_upgrade(&headers)) {
        (None, _) | (Some(_), Ok(None)) => None,
        (Some(_), Err(rule)) => return unauthorized(&front, rule),
        (Some(tokens), Ok(Some(token))) => match tokens.find(&token) {
            Some(grant) => Some(grant),
            None => return unauthorized(&front, text::WRONG_TOKEN),
        },
    };
    // A session that has yet to show its token takes a place when it does.
    let admission = if tokens.is_none() || grant.is_some() {
        match front.places.take(peer) {
            Ok(place) => Some(Admission::new(grant, place)),
            Err(full) => {
                let status = match full {
                    Full::All(_) => StatusCode::SERVICE_UNAVAILABLE,
                    Full::Address(_) => StatusCode::TOO_MANY_REQUESTS,
                };
                return refuse(status, ErrorCode::Overloaded, &full.text());
            }
        }
    } else {
        None
    };
    let gate = Gate::new(tokens, front.places.clone(), peer, admission);
    let message = usize::try_from(front.daemon.limits().wire_message_bytes).unwrap_or(usize::MAX);
    codemode_transport::bounded(upgrade, message)
        .protocols([credentials::PROTOCOL])
        .on_failed_upgrade(|error| debug!(%error, "an upgrade failed"))
        .on_upgrade(move |socket| async move {
            let open = front.daemon.config().sight.opened(meter.clone());
            let socket = ServerSocket::metered(socket, meter.clone());
            session::serve(front.daemon, socket, meter, gate).await;
            drop(open);
        })
}

/// Whether the request is a browser's, for a document.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

fn refuse_upgrade(rejection: &WebSocketUpgradeRejection) -> Response {
    let text = format!("This is a WebSocket endpoint, and the request is no WebSocket handshake: {rejection}\n");
    let mut response = (StatusCode::UPGRADE_REQUIRED, text).into_response();
    response.headers_mut().insert(header::UPGRADE, header::HeaderValue::from_static("websocket"));
    response
}

const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// The first byte of a connection that speaks TLS: the type of a record with a handshake in it.
const TLS_HANDSHAKE: u8 = 22;
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
