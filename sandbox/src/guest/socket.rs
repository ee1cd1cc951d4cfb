//! The child's end of its socket: blocking writes of whole frames, and a reader that keeps what came too early.

use std::cell::{Cell, RefCell};

use super::alloc::Charge;
use crate::frame::{FrameError, HEADER_BYTES, PROTOCOL_EXIT, ToChild, parse_header};

/// The socket's descriptor for whoever has to write in an emergency.
static DESCRIPTOR: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);

/// Frames from the pool are bounded by the contract, the largest by all sources together; this is far above.
const MAXIMUM: u64 = 256 << 20;

/// Bytes asked for in one read.
const STEP: usize = 64 * 1024;

/// Why a wait ended.
#[derive(Debug)]
pub(super) enum Received {
    /// A frame.
    Frame(ToChild),
    /// The time was over first.
    Nothing,
}

/// Where frames go and come from. Without a descriptor nothing is written, for the warm-up program.
#[derive(Debug)]
pub(super) struct Socket {
    descriptor: Cell<Option<i32>>,
    buffer: RefCell<Vec<u8>>,
    charge: RefCell<Charge>,
}

impl Socket {
    pub(super) const fn new() -> Self {
        Self { descriptor: Cell::new(None), buffer: RefCell::new(Vec::new()), charge: RefCell::new(Charge::NONE) }
    }

    /// Connects to a blocking stream socket.
    pub(super) fn connect(&self, descriptor: i32) {
        self.descriptor.set(Some(descriptor));
        DESCRIPTOR.store(descriptor, std::sync::atomic::Ordering::Relaxed);
    }

    /// Writes a whole frame. A pool that is gone ends the process: nobody waits for the run.
    pub(super) fn write(&self, frame: &[u8]) {
        if let Some(descriptor) = self.descriptor.get()
            && !write_all(descriptor, frame)
        {
            broken();
        }
    }

    /// Blocks for the next frame, at most `nanoseconds` if that is given.
    pub(super) fn read(&self, nanoseconds: Option<u64>) -> Received {
        let Some(descriptor) = self.descriptor.get() else { return Received::Nothing };
        let deadline = nanoseconds.map(|left| super::clock::monotonic().saturating_add(left));
        loop {
            if let Some(frame) = self.take_buffered() {
                return Received::Frame(frame);
            }
            if let Some(deadline) = deadline {
                match poll(descriptor, deadline.saturating_sub(super::clock::monotonic())) {
                    Poll::Readable => {}
                    Poll::Interrupted => continue,
                    Poll::TimeOver => return Received::Nothing,
                }
            }
            self.fill(descriptor);
        }
    }

    /// A whole frame that came with an earlier one, without asking the kernel.
    pub(super) fn take_buffered(&self) -> Option<ToChild> {
        self.buffered().unwrap_or_else(|_| broken())
    }

    fn buffered(&self) -> Result<Option<ToChild>, FrameError> {
        let mut buffer = self.buffer.borrow_mut();
        let Some(header) = buffer.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let (kind, length) = parse_header(*header)?;
        if length > MAXIMUM {
            return Err(FrameError::Oversize { kind, length, bound: MAXIMUM });
        }
        let end = HEADER_BYTES + length as usize;
        if buffer.len() < end {
            // One large frame is read into a buffer of the right size.
            self.charge.borrow_mut().resize(end);
            let missing = end - buffer.len();
            buffer.reserve_exact(missing);
            return Ok(None);
        }
        let frame = ToChild::decode(kind, &buffer[HEADER_BYTES..end])?;
        buffer.drain(..end);
        if buffer.capacity() > 2 * STEP && buffer.len() < STEP {
            buffer.shrink_to(STEP);
            self.charge.borrow_mut().resize(0);
        }
        Ok(Some(frame))
    }

    fn fill(&self, descriptor: i32) {
        let mut buffer = self.buffer.borrow_mut();
        if buffer.capacity() == buffer.len() {
            buffer.reserve_exact(STEP);
        }
        let used = buffer.len();
        let room = buffer.spare_capacity_mut();
        // SAFETY: the kernel writes at most as many bytes as there is room for.
        let got = unsafe { libc::read(descriptor, room.as_mut_ptr().cast(), room.len()) };
        match usize::try_from(got) {
            Ok(0) => broken(),
            // SAFETY: the kernel filled so many bytes of the room.
            Ok(count) => unsafe { buffer.set_len(used + count) },
            Err(_) if interrupted() => {}
            Err(_) => broken(),
        }
    }
}

/// Writes to the socket when nothing else works any more.
pub(super) fn write_last(frame: &[u8]) {
    let descriptor = DESCRIPTOR.load(std::sync::atomic::Ordering::Relaxed);
    if descriptor >= 0 {
        write_all(descriptor, frame);
    }
}

fn write_all(descriptor: i32, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable.
        let wrote = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(wrote) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) if interrupted() => {}
            Err(_) => return false,
        }
    }
    true
}

enum Poll {
    Readable,
    Interrupted,
    TimeOver,
}

fn poll(descriptor: i32, nanoseconds: u64) -> Poll {
    let mut entry = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let time = libc::timespec {
        tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    };
    // SAFETY: one entry, a valid time, no signal mask.
    match unsafe { libc::ppoll(&raw mut entry, 1, &raw const time, std::ptr::null()) } {
        0 => Poll::TimeOver,
        ready if ready < 0 && interrupted() => Poll::Interrupted,
        ready if ready < 0 => broken(),
        _ => Poll::Readable,
    }
}

fn interrupted() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}

/// Ends the process because the pool is gone or broke the protocol.
pub(super) fn broken() -> ! {
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(PROTOCOL_EXIT) }
}
