//! The signals that end the process.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// SIGINT and SIGTERM, from the moment of the call on.
pub(crate) struct Interruption {
    int: Signal,
    term: Signal,
}

/// Listens from now on; the signals no longer end the process by themselves.
///
/// # Errors
/// The system refuses the handlers.
pub(crate) fn interruption() -> Result<Interruption, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::infrastructure(format!("signals: {error}")));
    Ok(Interruption { int: listen(SignalKind::interrupt())?, term: listen(SignalKind::terminate())? })
}

impl Interruption {
    /// Resolves at the next signal.
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = self.int.recv() => {}
            _ = self.term.recv() => {}
        }
    }
}
