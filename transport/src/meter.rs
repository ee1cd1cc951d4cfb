//! Counts the bytes that cross a connection, below the layer that makes frames of them.

use std::{
    io::{self, IoSlice},
    os::fd::{AsRawFd, RawFd},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use futures_util::task::AtomicWaker;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Counts of one connection: a message that takes minutes shows life and progress by them. Clones are the same counts.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    read: AtomicU64,
    /// Nothing more is read once so much has been.
    allowed: AtomicU64,
    /// Of the reader that waits for more to be allowed.
    reader: AtomicWaker,
    written: AtomicU64,
    /// The descriptor of the connection for as long as it is open.
    open: Mutex<Option<RawFd>>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            read: AtomicU64::default(),
            allowed: AtomicU64::new(u64::MAX),
            reader: AtomicWaker::new(),
            written: AtomicU64::default(),
            open: Mutex::default(),
        }
    }
}

/// What has crossed a connection since its start, in bytes. Only differences mean anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Taken from the network.
    pub read: u64,
    /// Given to the network.
    pub written: u64,
    /// Those of them that have reached the peer's host.
    pub taken: u64,
}

impl Meter {
    /// The stream, with its bytes counted here. One meter is for one stream.
    pub fn wrap(&self, stream: TcpStream) -> Metered {
        *self.open() = Some(stream.as_raw_fd());
        Metered { stream, meter: self.clone() }
    }

    /// The counts by now.
    pub fn traffic(&self) -> Traffic {
        let written = self.0.written.load(Ordering::Relaxed);
        let taken = written.saturating_sub(self.under_way());
        Traffic { read: self.0.read.load(Ordering::Relaxed), written, taken }
    }

    /// Reads so many bytes more, about, and then nothing until [`Meter::allow_all`]: for a peer that nobody knows yet.
    pub fn allow(&self, bytes: u64) {
        let read = self.0.read.load(Ordering::Relaxed);
        self.0.allowed.store(read.saturating_add(bytes), Ordering::Release);
    }

    /// Reads without an end again.
    pub fn allow_all(&self) {
        self.0.allowed.store(u64::MAX, Ordering::Release);
        self.0.reader.wake();
    }

    fn may_read(&self) -> bool {
        self.0.read.load(Ordering::Relaxed) < self.0.allowed.load(Ordering::Acquire)
    }

    /// Bytes that the network has of us and the peer's host has not confirmed.
    fn under_way(&self) -> u64 {
        // Locked for the whole look, so that the descriptor is not closed, and another's, meanwhile.
        let open = self.open();
        let Some(descriptor) = *open else { return 0 };
        let mut bytes: libc::c_int = 0;
        // SAFETY: the request writes one int, which `bytes` is, and the descriptor is open while the lock is held.
        let asked = unsafe { libc::ioctl(descriptor, libc::TIOCOUTQ, &raw mut bytes) };
        if asked == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
    }

    fn open(&self) -> MutexGuard<'_, Option<RawFd>> {
        // Nothing under the lock can panic.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection whose bytes a [`Meter`] counts.
#[derive(Debug)]
pub struct Metered {
    stream: TcpStream,
    meter: Meter,
}

impl Metered {
    fn count_written(&self, written: usize) {
        self.meter.0.written.fetch_add(written as u64, Ordering::Relaxed);
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        *self.meter.open() = None;
    }
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.meter.may_read() {
            self.meter.0.reader.register(cx.waker());
            // Looked at again: it may have been allowed before the waker was there.
            if !self.meter.may_read() {
                return Poll::Pending;
            }
        }
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer));
        let read = buffer.filled().len().saturating_sub(before);
        self.meter.0.read.fetch_add(read as u64, Ordering::Relaxed);
        Poll::Ready(result)
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.count_written(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.count_written(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
