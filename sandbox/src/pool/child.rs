//! A child as the pool holds it.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::Arc,
    time::Duration,
};

use tokio::sync::SetOnce;

use crate::{
    sys::{self, OwnsDescriptor, Pidfd},
    zygote::{ChildId, Exit},
};

/// How a child's life was seen to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildEnd {
    /// The zygote reaped it.
    Reaped(Exit),
    /// Its zygote died, so nobody knows more.
    Orphaned,
}

/// A forked child: its channel, the handle by which it is killed, and its end once that is known.
#[derive(Debug)]
pub(super) struct ForkedChild {
    pub(super) id: ChildId,
    pid: i32,
    handle: Pidfd,
    socket: OwnedFd,
    /// Set once.
    pub(super) end: SetOnce<ChildEnd>,
}

impl ForkedChild {
    pub(super) fn new(id: ChildId, pid: i32, socket: OwnedFd, handle: Pidfd) -> Self {
        Self { id, pid, handle, socket, end: SetOnce::new() }
    }

    /// Kills it, unless it is gone.
    pub(super) fn kill(&self) {
        self.handle.kill();
    }

    /// The CPU of its whole life; `None` once it is gone.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let cpu = sys::cpu_time(self.pid)?;
        // Were it reaped, its number, and so what was just read, might be another's.
        self.handle.exists().then_some(cpu)
    }
}

impl AsRawFd for ForkedChild {
    /// Its channel.
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

// SAFETY: the channel is closed when the child is dropped, and never replaced.
unsafe impl OwnsDescriptor for Arc<ForkedChild> {}
