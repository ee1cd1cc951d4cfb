//! The signals that the process hears.

use std::{mem::MaybeUninit, ptr};

use futures_util::future::select_all;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Failure;

/// Signals that ask the process to end.
pub(crate) struct Interruption(Vec<Signal>);

/// Listens from now on for SIGINT, SIGTERM and SIGHUP, which no longer end the process by themselves. One that whoever
/// started us had ignored, as `nohup` does, stays so.
///
/// # Errors
/// The system refuses the handlers.
pub(crate) fn interruption() -> Result<Interruption, Failure> {
    listen(&[SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()])
}

/// The same without SIGHUP, for whoever reads [`again`].
///
/// # Errors
/// The system refuses the handlers.
pub(crate) fn stop() -> Result<Interruption, Failure> {
    listen(&[SignalKind::interrupt(), SignalKind::terminate()])
}

/// SIGHUP as the request to read files again, heard from now on, also when whoever started us had ignored it.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn again() -> Result<Signal, Failure> {
    signal(SignalKind::hangup()).map_err(|error| unheard(&error))
}

fn unheard(error: &std::io::Error) -> Failure {
    Failure::infrastructure(format!("signals cannot be heard: {error}"))
}

fn listen(kinds: &[SignalKind]) -> Result<Interruption, Failure> {
    let kinds = kinds.iter().copied();
    let heard = kinds.filter(|kind| !is_ignored(*kind));
    let signals: Result<_, _> = heard.map(signal).collect();
    signals.map(Interruption).map_err(|error| unheard(&error))
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
