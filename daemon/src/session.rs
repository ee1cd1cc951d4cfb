//! One session: the wire interface behind a WebSocket, from the upgrade to its end.

use std::{pin::pin, sync::Arc};

use codemode_protocol::{
    ErrorCode, Executor,
    capnweb::{Target, WireLimits},
    text,
};
use codemode_transport::{CloseOrigin, Closed, Meter, ServerSocket, TransportOptions};
use tokio::time::sleep;
use tracing::{Instrument, debug, info, info_span};

use crate::{
    daemon::Daemon,
    gate::{Entrance, Gate, STRANGER_BYTES, unauthorized},
    interface::Interface,
};

/// Serves `socket`, over the stream that `meter` wraps, until the session ends. Its runs end with it.
///
/// A session that `gate` has not admitted yet may only authenticate, and has a bounded time and a bounded number of bytes
/// for it. One whose token is removed ends.
pub(crate) async fn serve<E: Executor>(daemon: Arc<Daemon<E>>, socket: ServerSocket, meter: Meter, gate: Gate) {
    let number = daemon.next_session();
    let admitted = gate.is_admitted();
    let gate = Arc::new(gate);
    let interface = Arc::new(Interface::new(daemon.clone(), number, gate.clone()));
    let main: Arc<dyn Target> = if admitted {
        interface.clone()
    } else {
        meter.allow(STRANGER_BYTES);
        Arc::new(Entrance::new(gate.clone(), interface.clone()))
    };
    let (connection, driver) = codemode_transport::start(socket, main, options(&daemon));
    interface.connect(connection.clone());
    gate.connect(connection.clone());
    drop(interface);
    daemon.enter(number, connection.clone());
    let tenant = gate.tenant();
    async {
        info!(tenant = tenant.as_deref(), admitted, "session opened");
        let mut driver = pin!(driver);
        if !admitted {
            let give_way = daemon.strangers().enter(number);
            let timeout = daemon.config().authentication_timeout;
            let known = tokio::select! {
                () = gate.admitted() => true,
                closed = &mut driver => {
                    daemon.strangers().leave(number);
                    return note(&daemon, &closed);
                }
                () = sleep(timeout) => {
                    connection.abort(unauthorized(text::authentication_timed_out(timeout.as_millis())));
                    false
                }
                _ = give_way => {
                    // Dropped and not told: it may not even read.
                    debug!("a session that had not authenticated made room for a new one");
                    return;
                }
            };
            daemon.strangers().leave(number);
            if known {
                meter.allow_all();
            }
        }
        let closed = tokio::select! {
            closed = &mut driver => closed,
            () = gate.expelled() => {
                connection.abort(unauthorized(text::TOKEN_REMOVED));
                driver.await
            }
        };
        note(&daemon, &closed);
    }
    .instrument(info_span!("session", number))
    .await;
    daemon.leave(number);
}

/// Notes the end of a session; what the daemon ended for a reason of its own is counted.
fn note<E>(daemon: &Daemon<E>, closed: &Closed) {
    info!(reason = %closed, "session closed");
    if closed.origin == CloseOrigin::Local
        && let Some(code) = closed.error_code()
    {
        daemon.config().sight.refused(&ErrorCode::from_text(code));
    }
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
