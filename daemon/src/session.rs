//! One session: the wire interface behind a WebSocket, from the upgrade to its end.

use std::sync::Arc;

use axum::extract::ws::WebSocket;
use codemode_protocol::Executor;
use codemode_transport::TransportOptions;
use tracing::{Instrument, info, info_span};

use crate::{daemon::Daemon, interface::Interface};

/// Serves `socket` until the session ends. Its runs end with it.
pub(crate) async fn serve<E: Executor>(daemon: Arc<Daemon<E>>, socket: WebSocket) {
    let interface = Arc::new(Interface::new(daemon.clone()));
    let (connection, driver) = codemode_transport::start(socket, interface.clone(), options(&daemon));
    interface.connect(connection.clone());
    let number = daemon.enter(connection.clone());
    async {
        info!("session opened");
        driver.await;
        let closed = connection.closed().await;
        info!(reason = %closed, "session closed");
    }
    .instrument(info_span!("session", number))
    .await;
    daemon.leave(number);
}

fn options<E>(daemon: &Daemon<E>) -> TransportOptions {
    TransportOptions::default()
}
