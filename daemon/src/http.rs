//! The HTTP side: the bounds on a request before it is a session, the health endpoints, and the upgrade.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use codemode_protocol::Executor;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
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
    let connections = Arc::new(Semaphore::new(daemon.config().max_connections));
    let router = router(Front { daemon: daemon.clone(), places });
    loop {
        // Whoever comes when all places are taken waits in the kernel's queue; each place is free after
        // `header_timeout` at the latest.
        let Ok(place) = connections.clone().acquire_owned().await else {
            unreachable!("the semaphore is never closed");
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve(stream, router.clone(), daemon.config().header_timeout, place));
            }
            Err(error) => {
                // Mostly: out of descriptors. Others' connections end and give some back.
                warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until it is closed or has become a session.
async fn serve(stream: TcpStream, router: Router, header_timeout: Duration, _place: OwnedSemaphorePermit) {
    // Frames are small and answers are awaited, so none may wait for a fuller packet.
    if let Err(error) = stream.set_nodelay(true) {
        debug!(%error, "TCP_NODELAY was refused");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    if let Err(error) = connection.await {
        debug!(%error, "an HTTP connection ended badly");
    }
}

fn router<E: Executor>(front: Front<E>) -> Router {
    Router::new()
        .route("/", get(upgrade::<E>))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz::<E>))
        .fallback(async || (StatusCode::NOT_FOUND, "Nothing is here; the WebSocket is at /\n"))
        .layer(middleware::from_fn_with_state(front.clone(), refuse_pages::<E>))
        .with_state(front)
}

async fn refuse_pages<E: Executor>(State(front): State<Front<E>>, request: Request, next: Next) -> Response {
    match guard::check(request.headers(), request.uri(), front.daemon.port()) {
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
            session::serve(front.daemon, socket).await;
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
