//! The signals that end the process.

use std::{mem::MaybeUninit, ptr};

use futures_util::future::select_all;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// SIGINT, SIGTERM and SIGHUP, from the moment of the call of [`interruption`] on.
pub(crate) struct Interruption(Vec<Signal>);

/// Listens from now on; the signals no longer end the process by themselves. One that whoever started us had ignored,
/// as `nohup` does, stays so.
///
/// # Errors
/// The system refuses the handlers.
pub(crate) fn interruption() -> Result<Interruption, Failure> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let heard = kinds.into_iter().filter(|kind| !is_ignored(*kind));
    let signals: Result<_, _> = heard.map(signal).collect();
    signals.map(Interruption).map_err(|error| Failure::infrastructure(format!("signals cannot be heard: {error}")))
}

impl Interruption {
    /// Resolves at the next signal.
    pub(crate) async fn recv(&mut self) {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.0.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
    }
}

fn is_ignored(kind: SignalKind) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one to the place that is given, and a structure of
    // zeros is a valid one besides.
    unsafe {
        libc::sigaction(kind.as_raw_value(), ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
