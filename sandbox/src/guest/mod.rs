//! What runs inside a child: the engine with its globals, made once in the zygote, and the one run that a child serves.

use std::os::fd::RawFd;

/// Runtime, context, globals and prelude, ready to be forked.
pub(crate) struct Engine;

impl Engine {
    /// Builds the engine in the zygote.
    ///
    /// # Errors
    /// A readable text when the engine cannot be set up; the zygote cannot work then.
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self)
    }
}

/// Serves exactly one run in a forked child and exits the process: reseeds what the fork copied, runs the warm-up
/// program when `warm`, sends `Ready`, blocks until the `Run` frame, runs it, sends `Done`.
///
/// `socket` is a blocking stream socket. The caller has closed everything else and confined the process.
pub(crate) fn serve(engine: &mut Engine, socket: RawFd, warm: bool) -> ! {
    let _ = (engine, socket, warm);
    std::process::exit(0)
}
