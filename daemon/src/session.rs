//! One session: the wire interface behind a WebSocket, from the upgrade to its end.

use std::sync::Arc;

use codemode_protocol::{Executor, capnweb::WireLimits};
use codemode_transport::{ServerSocket, TransportOptions};
use tracing::{Instrument, info, info_span};

use crate::{daemon::Daemon, interface::Interface};

/// Serves `socket` until the session ends. Its runs end with it.
pub(crate) async fn serve<E: Executor>(daemon: Arc<Daemon<E>>, socket: ServerSocket) {
    let number = daemon.next_session();
    let interface = Arc::new(Interface::new(daemon.clone(), number));
    let (connection, driver) = codemode_transport::start(socket, interface.clone(), options(&daemon));
    interface.connect(connection.clone());
    daemon.enter(number, connection.clone());
    async {
        info!("session opened");
        let closed = driver.await;
        info!(reason = %closed, "session closed");
    }
    .instrument(info_span!("session", number))
    .await;
    daemon.leave(number);
}

/// The bounds of the wire, as far as they follow from those of the contract.
fn options<E>(daemon: &Daemon<E>) -> TransportOptions {
    let bounds = daemon.limits();
    let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    let defaults = WireLimits::default();
    let limits = WireLimits {
        message_bytes: size(bounds.wire_message_bytes),
        // Each run over the bound gets a refusal that says so, hence room for some more, and for short calls.
        running_calls: size(daemon.runs_per_session().saturating_mul(2)).max(defaults.running_calls),
        // Each run holds a dispatch stub and its calls in flight.
        imports: size(daemon.runs_per_session().saturating_mul(bounds.calls_in_flight.saturating_add(1)))
            .saturating_add(defaults.imports),
        ..defaults
    };
    TransportOptions { limits, queued_bytes: QUEUED_BYTES, ..TransportOptions::default() }
}

/// Bytes of host calls of one session that wait for a client that does not keep up. Programs send faster than clients
/// read, so the daemon's bound is lower than that of a caller, who holds what it asks for itself.
const QUEUED_BYTES: usize = 256 << 20;
