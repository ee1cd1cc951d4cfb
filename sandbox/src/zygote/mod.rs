//! The zygote: a small process with one thread that holds a ready engine and forks children from it.
//!
//! It is the program itself, started again, when that program opted in by [`run_if_zygote`]; or the `codemode-zygote`
//! binary. `message` is what the two sides say, `role` and `child` run over there, `launch` is the pool's side.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::pool::PoolError;

mod child;
mod launch;
mod message;
mod role;

pub(crate) use launch::{launch_control, launch_zygote};
pub(crate) use message::{ChildId, Exit, MAX_MESSAGE, Report, Request};

/// Set for a process in the zygote's role; the value is its parent's number. The control channel is standard input.
const MARKER: &str = "CODEMODE_ZYGOTE";

/// The program that is looked for when the embedding one did not opt in.
const BINARY: &str = "codemode-zygote";

/// Whether this program may be started again in the zygote's role.
static OPTED_IN: AtomicBool = AtomicBool::new(false);

/// Turns this process into a zygote if a pool started it as one, and returns at once otherwise.
///
/// Call it first thing in `main`, before any thread, runtime or logger: a zygote must have one thread and be small. A
/// program that calls it needs no other program for its pools. In the zygote's role it does not return.
///
/// ```no_run
/// codemode_sandbox::run_if_zygote();
/// // … then the program itself
/// ```
pub fn run_if_zygote() {
    OPTED_IN.store(true, Ordering::Relaxed);
    let Some(marker) = env::var_os(MARKER) else { return };
    let Some(parent) = marker.to_str().and_then(|text| text.parse().ok()) else {
        let _ = writeln!(io::stderr(), "{MARKER} is set but names no process; unset it to start this program");
        process::exit(2);
    };
    role::run(parent)
}

/// The program to start as zygote.
fn locate(chosen: Option<&PathBuf>) -> Result<PathBuf, PoolError> {
    if let Some(path) = chosen {
        return match path.is_file() {
            true => Ok(path.clone()),
            false => Err(PoolError::NoZygote { looked: vec![path.clone()] }),
        };
    }
    if OPTED_IN.load(Ordering::Relaxed) {
        // Not its path: the file there may have been replaced by an upgrade since this program started.
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    let beside = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(BINARY)));
    match beside {
        Some(path) if path.is_file() => Ok(path),
        other => Err(PoolError::NoZygote { looked: other.into_iter().collect() }),
    }
}
