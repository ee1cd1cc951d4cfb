//! The HTTP side: the bounds on a request before it is a session, the health endpoints, and the upgrade.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Extension, Router,
    extract::{Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use codemode_protocol::Executor;
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
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use crate::{daemon::Daemon, guard, session};

/// The listener's state: the daemon and the places of sessions.
struct Front<E> {
    daemon: Arc<Daemon<E>>,
    /// One permit for each session that may still be opened.
    places: Arc<Semaphore>,
}

impl<E> Clone for Front<E> {
    fn clone(&self) -> Self {
        Self { daemon: self.daemon.clone(), places: self.places.clone() }
    }
}

/// Accepts connections until it is dropped.
pub(crate) async fn accept<E: Executor>(
    listener: &TcpListener,
    daemon: Arc<Daemon<E>>,
    places: Arc<Semaphore>,
) -> Infallible {
    let connections = Arc::new(Semaphore::new(daemon.config().max_connections.max(1)));
    let young = Arc::new(Young::default());
    let router = router(Front { daemon: daemon.clone(), places });
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
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
                young.spawn(serve(stream, router.clone(), daemon.config().header_timeout, place));
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
async fn serve(stream: TcpStream, router: Router, life: Duration, _place: OwnedSemaphorePermit) {
    // Frames are small and answers are awaited, so none may wait for a fuller packet.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "TCP_NODELAY was refused");
    }
    let meter = Meter::default();
    let io = TokioIo::new(meter.wrap(stream));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: HyperRequest<Incoming>| {
        request.extensions_mut().insert(meter.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(life)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(io, service)
        .with_upgrades();
    match timeout(life, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "an HTTP connection ended badly"),
        Err(_) => debug!("an HTTP connection took too long"),
    }
}

fn router<E: Executor>(front: Front<E>) -> Router {
    Router::new()
        .route("/", get(upgrade::<E>))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz::<E>))
        .fallback(async || (StatusCode::NOT_FOUND, "Nothing is here; the WebSocket is at /\n"))
        .layer(middleware::from_fn(refuse_pages))
        .layer(middleware::map_response(close))
        .with_state(front)
}

/// One request per connection: one that stays open and idle would keep a place from others.
async fn close(mut response: Response) -> Response {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    }
    response
}

async fn refuse_pages(request: Request, next: Next) -> Response {
    match guard::check(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            debug!(status = refusal.status.as_u16(), "a request was refused");
            (refusal.status, format!("{}\n", refusal.text)).into_response()
        }
    }
}

async fn readyz<E: Executor>(State(front): State<Front<E>>) -> Response {
    match front.daemon.unready() {
        None => "ready\n".into_response(),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

async fn upgrade<E: Executor>(
    State(front): State<Front<E>>,
    Extension(meter): Extension<Meter>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return refuse_upgrade(&rejection),
    };
    if front.daemon.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "Upgrade refused: the executor is shutting down\n").into_response();
    }
    let Ok(place) = front.places.clone().try_acquire_owned() else {
        let bound = front.daemon.config().max_sessions;
        let text = format!("Upgrade refused: {bound} sessions are open, which is the bound\n");
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    };
    let message = usize::try_from(front.daemon.limits().wire_message_bytes).unwrap_or(usize::MAX);
    codemode_transport::bounded(upgrade, message)
        .on_failed_upgrade(|error| debug!(%error, "an upgrade failed"))
        .on_upgrade(move |socket| async move {
            session::serve(front.daemon, ServerSocket::metered(socket, meter)).await;
            drop(place);
        })
}

fn refuse_upgrade(rejection: &WebSocketUpgradeRejection) -> Response {
    let text = format!("This is a WebSocket endpoint, and the request is no WebSocket handshake: {rejection}\n");
    let mut response = (StatusCode::UPGRADE_REQUIRED, text).into_response();
    response.headers_mut().insert(header::UPGRADE, header::HeaderValue::from_static("websocket"));
    response
}

const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: usize = 16 * 1024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
