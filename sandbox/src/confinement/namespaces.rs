//! Namespaces, where the machine allows them. Ordinary containers do not, so nothing depends on them.
//!
//! There is no PID namespace: its first process is its init, with whose death all others die and no further can be made.

use std::io;

const FLAGS: i32 = libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

const DETAIL: &str = "own network (without a device), IPC and host name";

/// As root: new namespaces without a user namespace.
pub(super) fn separate() -> Result<String, String> {
    unshare(FLAGS).map(|()| DETAIL.to_owned())
}

/// As anybody: a user namespace brings the right to make the others. It maps no user, so its capabilities are empty
/// towards everything outside; they are dropped afterwards.
pub(super) fn separate_as_user() -> Result<String, String> {
    unshare(libc::CLONE_NEWUSER | FLAGS).map(|()| format!("{DETAIL}, own users"))
}

fn unshare(flags: i32) -> Result<(), String> {
    // SAFETY: takes no pointers, and the process has one thread.
    if unsafe { libc::unshare(flags) } != 0 {
        return Err(format!("unshare: {}", io::Error::last_os_error()));
    }
    Ok(())
}
