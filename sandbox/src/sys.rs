//! The system calls that the rest of the crate needs, each behind a safe function.

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    sync::Arc,
    time::Duration,
};

use tokio::io::unix::AsyncFd;

/// A process that cannot be confused with a later one of the same number.
#[derive(Debug)]
pub(crate) struct Pidfd(OwnedFd);

impl Pidfd {
    /// Opens the process `pid`. Free of races only for the parent of `pid`, before it reaps.
    pub(crate) fn open(pid: i32) -> io::Result<Self> {
        // SAFETY: takes no pointers.
        let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
        // SAFETY: the kernel has just made this descriptor for us; it fits, because descriptors are ints.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }))
    }

    /// Kills the process; one that is gone already is no error.
    pub(crate) fn kill(&self) {
        let _ = self.signal(libc::SIGKILL);
    }

    /// True until the process has been reaped.
    pub(crate) fn exists(&self) -> bool {
        self.signal(0).is_ok()
    }

    fn signal(&self, signal: i32) -> io::Result<()> {
        let info = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: a null siginfo asks for that of kill(2).
        check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, info, 0) }).map(drop)
    }
}

impl From<OwnedFd> for Pidfd {
    fn from(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

impl AsRawFd for Pidfd {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Watches a descriptor with the calling runtime.
pub(crate) fn watch<T: AsRawFd + OwnsDescriptor>(inner: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: the type owns its descriptor, which stays open and the same as long as it lives.
    Ok(unsafe { AsyncFd::register(inner) }?)
}

/// The descriptor that [`AsRawFd`] gives is open, and always the same, as long as the value lives.
///
/// # Safety
/// Just that.
pub(crate) unsafe trait OwnsDescriptor {}

// SAFETY: an owned descriptor is closed when it is dropped, and never replaced behind a shared reference.
unsafe impl OwnsDescriptor for Arc<OwnedFd> {}

/// The CPU time, user and system, that the process `pid` has used; `None` when there is no such process. A number may
/// have passed to another process: ask [`Pidfd::exists`] afterwards.
pub(crate) fn cpu_time(pid: i32) -> Option<Duration> {
    let mut clock = MaybeUninit::uninit();
    // SAFETY: `clock` is a valid place for the answer.
    if unsafe { libc::clock_getcpuclockid(pid, clock.as_mut_ptr()) } != 0 {
        return None;
    }
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call above wrote `clock`; `time` is a valid place for the answer.
    if unsafe { libc::clock_gettime(clock.assume_init(), time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call above succeeded and wrote `time`.
    let time = unsafe { time.assume_init() };
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// The caller's process.
pub(crate) fn own_pid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getpid() }
}

/// The caller's parent.
pub(crate) fn parent_pid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getppid() }
}

/// Asks for SIGKILL when the thread that made this process ends, and says whether `parent` still is its parent: a
/// parent that ended before the call sends nothing.
pub(crate) fn die_with_parent(parent: i32) -> bool {
    // SAFETY: takes no pointers.
    let set = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
    set == 0 && parent_pid() == parent
}

/// A pair of connected sockets, closed on exec. `kind` is `SOCK_STREAM` or `SOCK_SEQPACKET`.
pub(crate) fn socket_pair(kind: i32) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for the two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) }.into())?;
    // SAFETY: the call above has just made both descriptors for us.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Makes `target` a copy of `fd`, without close-on-exec.
pub(crate) fn duplicate_to(fd: RawFd, target: RawFd) -> io::Result<()> {
    // SAFETY: takes no pointers; both numbers are the caller's to give.
    check(unsafe { libc::dup2(fd, target) }.into()).map(drop)
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    // SAFETY: takes no pointers; the caller owns nothing from `first` on.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Sends without waiting; returns how many bytes went out.
pub(crate) fn send_now(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length describe `bytes`.
    check(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) } as i64).map(|sent| sent as usize)
}

/// Sends, waiting for room; returns how many bytes went out.
pub(crate) fn send_blocking(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length describe `bytes`.
    let sent = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    check(sent as i64).map(|sent| sent as usize)
}

/// Receives without waiting, appending to `buffer` at most `room` bytes; returns how many came, 0 at the end.
pub(crate) fn receive_now(fd: RawFd, buffer: &mut Vec<u8>, room: usize) -> io::Result<usize> {
    buffer.reserve(room);
    let spare = buffer.spare_capacity_mut();
    // SAFETY: pointer and length describe spare capacity that `buffer` owns.
    let read = unsafe { libc::recv(fd, spare.as_mut_ptr().cast(), room.min(spare.len()), libc::MSG_DONTWAIT) };
    let read = check(read as i64)? as usize;
    // SAFETY: the kernel has written `read` bytes behind the old length, within the capacity.
    unsafe { buffer.set_len(buffer.len() + read) };
    Ok(read)
}

/// The most descriptors that one message carries here.
const MAX_FDS: usize = 2;

/// Sends one message with descriptors. Waits for room, unless `flags` has `MSG_DONTWAIT`.
pub(crate) fn send_message(socket: RawFd, bytes: &[u8], fds: &[RawFd], flags: i32) -> io::Result<()> {
    assert!(fds.len() <= MAX_FDS, "more descriptors than any message carries");
    let mut control = ControlBuffer::new();
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all-zero is a valid msghdr.
    let mut header = unsafe { std::mem::zeroed::<libc::msghdr>() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    if !fds.is_empty() {
        let length = size_of_val(fds) as u32;
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: plain arithmetic; the buffer has room for MAX_FDS descriptors, as asserted.
        header.msg_controllen = unsafe { libc::CMSG_SPACE(length) } as usize;
        // SAFETY: the control buffer is set and large enough, so the first header exists and its data has room.
        unsafe {
            let message = &mut *libc::CMSG_FIRSTHDR(&raw const header);
            message.cmsg_level = libc::SOL_SOCKET;
            message.cmsg_type = libc::SCM_RIGHTS;
            message.cmsg_len = libc::CMSG_LEN(length) as usize;
            std::ptr::copy_nonoverlapping(fds.as_ptr(), libc::CMSG_DATA(message).cast(), fds.len());
        }
    }
    loop {
        // SAFETY: `header` points at `part` and `control`, which outlive the call.
        match check(unsafe { libc::sendmsg(socket, &raw const header, flags | libc::MSG_NOSIGNAL) } as i64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(drop),
        }
    }
}

/// Receives one message into `buffer`; the length is 0 when the peer is gone. Waits, unless `flags` has `MSG_DONTWAIT`.
/// When not all of its descriptors could be taken, because this process may have no more, there are none.
pub(crate) fn receive_message(socket: RawFd, buffer: &mut [u8], flags: i32) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut control = ControlBuffer::new();
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all-zero is a valid msghdr.
    let mut header = unsafe { std::mem::zeroed::<libc::msghdr>() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control.0);
    let length = loop {
        // SAFETY: `header` points at `part` and `control`, which outlive the call.
        match check(unsafe { libc::recvmsg(socket, &raw mut header, flags | libc::MSG_CMSG_CLOEXEC) } as i64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other? as usize,
        }
    };
    let mut fds = Vec::new();
    // SAFETY: the kernel filled the control buffer and set its length; the macros walk within it. Descriptors in it
    // were made for us by this very call.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while let Some(found) = message.as_ref() {
            if found.cmsg_level == libc::SOL_SOCKET && found.cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(found).cast::<RawFd>();
                let count = (found.cmsg_len - libc::CMSG_LEN(0) as usize) / size_of::<RawFd>();
                fds.extend((0..count).map(|at| OwnedFd::from_raw_fd(data.add(at).read_unaligned())));
            }
            message = libc::CMSG_NXTHDR(&raw const header, found);
        }
    }
    if header.msg_flags & libc::MSG_CTRUNC != 0 {
        fds.clear();
    }
    if header.msg_flags & libc::MSG_TRUNC != 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message longer than the longest that is sent"));
    }
    Ok((length, fds))
}

/// Waits until one of `fds` can be read or has ended.
pub(crate) fn wait_readable(fds: &[RawFd], timeout: Option<Duration>) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> = fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    let timeout = timeout.map_or(-1, |timeout| i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX));
    // SAFETY: pointer and length describe `polled`.
    match check(unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) }.into()) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(polled.iter().map(|polled| polled.revents != 0).collect()),
    }
}

/// The result of a call that reports failure as -1 and `errno`.
pub(crate) fn check(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Room for the control part of a message with [`MAX_FDS`] descriptors, aligned as its header must be.
#[repr(align(8))]
struct ControlBuffer([u8; 64]);

impl ControlBuffer {
    fn new() -> Self {
        Self([0; 64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_carries_its_descriptors() {
        let (left, right) = socket_pair(libc::SOCK_SEQPACKET).unwrap();
        let (a, b) = socket_pair(libc::SOCK_STREAM).unwrap();
        send_message(left.as_raw_fd(), b"two", &[a.as_raw_fd(), b.as_raw_fd()], 0).unwrap();
        let mut buffer = [0; 16];
        let (length, fds) = receive_message(right.as_raw_fd(), &mut buffer, 0).unwrap();
        assert_eq!((&buffer[..length], fds.len()), (&b"two"[..], 2));
        drop((a, b));
        assert_eq!(send_now(fds[0].as_raw_fd(), b"hi").unwrap(), 2);
        let mut read = Vec::new();
        assert_eq!(receive_now(fds[1].as_raw_fd(), &mut read, 8).unwrap(), 2);
        assert_eq!(read, b"hi");
        drop(left);
        assert_eq!(receive_message(right.as_raw_fd(), &mut buffer, 0).unwrap().0, 0);
    }

    #[test]
    fn the_cpu_of_a_process_is_read_from_outside() {
        let own = cpu_time(own_pid()).unwrap();
        assert!(own > Duration::ZERO);
        assert_eq!(cpu_time(4_194_305), None, "numbers end below that");
        assert!(Pidfd::open(own_pid()).unwrap().exists());
    }
}
