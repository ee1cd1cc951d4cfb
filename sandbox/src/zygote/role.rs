//! What runs in the zygote's process.

use std::{
    collections::HashMap,
    fs, io, mem,
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    process, ptr,
    time::Duration,
};

use super::{
    child,
    message::{ChildId, Exit, Hello, MAX_MESSAGE, Report, Request, Start, protocol},
};
use crate::{
    confinement::{Confined, Place, confine_zygote, run_attempts},
    guest::Engine,
    sys::{self, Pidfd, check},
};

/// The control channel, once the process is in order. A child puts its own channel into the same place.
pub(super) const CHANNEL: RawFd = 3;

/// How much a busy child gives way.
const BUSY_NICE: i32 = 15;

/// Serves the pool on standard input until it goes away.
pub(super) fn run(parent: i32) -> ! {
    if !sys::die_with_parent(parent) {
        process::exit(0);
    }
    let end = match prepare().and_then(|()| receive_start()) {
        Ok(Start::Control) => send(&Report::Control(run_attempts(Place::Outside)), &[]),
        Ok(Start::Serve { address_space, stack }) => {
            // On a stack of its own: the largest that a run may ask for does not fit every machine's main stack.
            stacker::grow(usize::try_from(stack).unwrap_or(usize::MAX), || serve(parent, address_space))
        }
        Err(error) => Err(error),
    };
    if let Err(error) = end {
        let _ = send(&Report::Failed(error.to_string()), &[]);
        process::exit(1);
    }
    process::exit(0)
}

/// Descriptors, session and signals: nothing of the parent's stays but the control channel and standard error.
fn prepare() -> io::Result<()> {
    sys::duplicate_to(0, CHANNEL)?;
    sys::close_from(CHANNEL + 1)?;
    let null = fs::File::options().read(true).write(true).open("/dev/null")?;
    sys::duplicate_to(null.as_raw_fd(), 0)?;
    sys::duplicate_to(null.as_raw_fd(), 1)?;
    std::env::set_current_dir("/")?;
    // SAFETY: no pointers in the first; the C library declares no such thing as a data race with one thread.
    unsafe {
        // A terminal's interrupt is for the daemon, which then drains; it must not take the sandboxes away under it.
        libc::setsid();
        // Otherwise the first Date of every child would look for /etc/localtime.
        tzset();
    }
    Ok(())
}

unsafe extern "C" {
    fn tzset();
}

fn receive_start() -> io::Result<Start> {
    let mut buffer = vec![0; MAX_MESSAGE];
    let (length, _) = sys::receive_message(CHANNEL, &mut buffer, 0)?;
    Ok(serde_json::from_slice(&buffer[..length])?)
}

fn serve(parent: i32, address_space: u64) -> io::Result<()> {
    let signals = child_signals()?;
    let confined = confine_zygote(parent, address_space)?;
    let engine = Engine::new().map_err(io::Error::other)?;
    let hello = Hello { protocol: protocol(), confinement: confined.report.clone() };
    send(&Report::Hello(hello), &[])?;
    // From here on nobody reads what is written there; a child must not write into the daemon's log.
    sys::duplicate_to(0, 2)?;
    let mut zygote = Zygote { engine, confined, pid: sys::own_pid(), children: HashMap::new() };
    // However it ends: the pool is gone, or this process is of no use to it. Nothing of it may stay.
    let end = zygote.obey_pool(&signals);
    zygote.end();
    match end {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// A descriptor that can be read when a child has ended.
fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is used; the descriptor was just made for us.
    unsafe {
        let mut set = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()).into())?;
        let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

fn send(report: &Report, fds: &[RawFd]) -> io::Result<()> {
    sys::send_message(CHANNEL, &report.encode(), fds, 0)
}

struct Zygote {
    engine: Engine,
    confined: Confined,
    pid: i32,
    /// By process number; none is reused before it was reaped here.
    children: HashMap<i32, ChildId>,
}

impl Zygote {
    /// Does what the pool asks for, until it closes the channel.
    fn obey_pool(&mut self, signals: &OwnedFd) -> io::Result<()> {
        let mut buffer = vec![0; MAX_MESSAGE];
        loop {
            let ready = sys::wait_readable(&[CHANNEL, signals.as_raw_fd()], None)?;
            if ready[1] {
                let mut signal = mem::MaybeUninit::<libc::signalfd_siginfo>::uninit();
                // SAFETY: the place has the size that is given. What is read does not matter: several signals may have
                // become one.
                unsafe {
                    libc::read(signals.as_raw_fd(), signal.as_mut_ptr().cast(), size_of::<libc::signalfd_siginfo>())
                };
                self.reap()?;
            }
            if ready[0] {
                match sys::receive_message(CHANNEL, &mut buffer, 0)? {
                    (0, _) => return Ok(()),
                    (length, _) => self.obey(Request::decode(&buffer[..length])?)?,
                }
            }
        }
    }

    fn obey(&mut self, request: Request) -> io::Result<()> {
        match request {
            Request::Fork { first, count } => {
                for at in 0..u64::from(count) {
                    self.fork(ChildId(first.0 + at), child::Purpose::Run)?;
                }
            }
            Request::SelfTest { child } => self.fork(child, child::Purpose::SelfTest)?,
            Request::Renice { child } => {
                if let Some(pid) = self.number(child) {
                    // SAFETY: takes no pointers.
                    unsafe { libc::setpriority(libc::PRIO_PROCESS, pid.cast_unsigned(), BUSY_NICE) };
                }
            }
            Request::Kill { child } => {
                if let Some(pid) = self.number(child) {
                    // SAFETY: takes no pointers; the number is that of a child until it was reaped.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                }
            }
        }
        Ok(())
    }

    fn number(&self, child: ChildId) -> Option<i32> {
        self.children.iter().find(|(_, id)| **id == child).map(|(pid, _)| *pid)
    }

    fn fork(&mut self, child: ChildId, purpose: child::Purpose) -> io::Result<()> {
        let (ours, theirs) = match sys::socket_pair(libc::SOCK_STREAM) {
            Ok(pair) => pair,
            Err(error) => return refuse(child, &error),
        };
        // SAFETY: this process has one thread, so the new one may do anything.
        let pid = match unsafe { libc::fork() } {
            0 => child::enter(&mut self.engine, &self.confined, theirs.as_raw_fd(), self.pid, purpose),
            -1 => return refuse(child, &io::Error::last_os_error()),
            pid => pid,
        };
        self.children.insert(pid, child);
        let handed_over = Pidfd::open(pid)
            .and_then(|handle| hand_over(&Report::Forked { child, pid }, &[ours.as_raw_fd(), handle.as_raw_fd()]));
        match handed_over {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                // The child sees its socket end and goes; nobody knows it.
                self.children.insert(pid, NOBODY);
                refuse(child, &error)
            }
            other => other,
        }
    }

    /// Reports every child that has ended.
    fn reap(&mut self) -> io::Result<()> {
        while let Some((pid, exit)) = wait(libc::WNOHANG) {
            if let Some(child) = self.children.remove(&pid) {
                send(&Report::Exited { child, exit }, &[])?;
            }
        }
        Ok(())
    }

    /// Ends every child.
    fn end(&mut self) {
        for pid in self.children.keys() {
            // SAFETY: takes no pointers; the number is that of a child until it was reaped.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
        while wait(0).is_some() {}
    }
}

/// The next child that has ended, and how; none when there is none.
fn wait(flags: i32) -> Option<(i32, Exit)> {
    let (mut status, mut usage) = (0, mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both are valid places for the answer.
    let pid = unsafe { libc::wait4(-1, &raw mut status, flags, usage.as_mut_ptr()) };
    if pid <= 0 {
        return None;
    }
    // SAFETY: zeroed is a valid rusage, and the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    let cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    Some((pid, Exit { status, cpu_us, peak_rss_kib: usage.ru_maxrss.unsigned_abs() }))
}

/// Sends descriptors. The kernel bounds how many are on their way, over all processes of the user: then it is for the
/// pools to take some.
fn hand_over(report: &Report, fds: &[RawFd]) -> io::Result<()> {
    for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
        match send(report, fds) {
            Err(error) if error.raw_os_error() == Some(libc::ETOOMANYREFS) => sys::wait_readable(&[], Some(STEP))?,
            other => return other,
        };
    }
    send(report, fds)
}

/// How long a child may wait for being handed over.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often that is tried.
const STEP: Duration = Duration::from_millis(1);

/// The id of children that the pool never heard of.
const NOBODY: ChildId = ChildId(u64::MAX);

fn refuse(child: ChildId, error: &io::Error) -> io::Result<()> {
    send(&Report::ForkFailed { child, errno: error.raw_os_error().unwrap_or(0) }, &[])
}

fn microseconds(time: libc::timeval) -> u64 {
    (time.tv_sec * 1_000_000 + time.tv_usec).unsigned_abs()
}
