//! The pool's side of a zygote's start: find the program, start it, wait until it is ready. All of it blocks.

use std::{
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{net::UnixStream, process::ExitStatusExt},
    },
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use super::{
    MARKER, locate,
    message::{ChildId, MAX_MESSAGE, Report, Request, Start, protocol},
};
use crate::{
    confinement::{AttemptReport, ConfinementReport},
    pool::{PoolError, PoolOptions},
    sys::{self, Pidfd},
};

/// How long a zygote may take until it is ready; it needs some tens of milliseconds.
const START_BOUND: Duration = Duration::from_secs(10);

/// How long a process may take to end once its channel is closed.
const END_BOUND: Duration = Duration::from_secs(2);

/// Stack beyond the largest `stackLimit`, for the engine's native callers and callees.
const STACK_MARGIN: u64 = 8 << 20;

/// Address space beyond the largest `memoryLimit` and the stack: the program, the prelude, and what the C library
/// reserves without using it, which is most while the zygote sets itself up.
const ADDRESS_SPACE_MARGIN: u64 = 512 << 20;

/// A zygote that is ready. It ends when this is dropped, and at the latest with the thread that launched it.
pub(crate) struct Launched {
    /// What confines its children.
    pub(crate) confinement: ConfinementReport,
    /// Present until they are taken.
    running: Option<(OwnedFd, Child)>,
}

/// A child as the zygote handed it over.
pub(crate) struct ForkedChild {
    pub(crate) socket: UnixStream,
    /// Keeps the child's number from being used for anything else while this is held.
    #[allow(dead_code, reason = "held, not used")]
    handle: Pidfd,
}

/// Starts a zygote with a pool's options.
pub(crate) fn launch_zygote(options: &PoolOptions) -> Result<Launched, PoolError> {
    let stack = options.limits.max_stack_limit.saturating_add(STACK_MARGIN);
    let address_space = options.limits.max_memory_limit.saturating_add(stack).saturating_add(ADDRESS_SPACE_MARGIN);
    let (channel, mut process) = start(options, Start::Serve { address_space, stack })?;
    match receive(&channel, START_BOUND).map(|(report, _)| report) {
        Ok(Report::Hello(hello)) if hello.protocol != protocol() => {
            drop(channel);
            end(&mut process);
            Err(PoolError::Version { ours: protocol(), theirs: hello.protocol })
        }
        Ok(Report::Hello(hello)) if hello.confinement.level < options.require_confinement => {
            drop(channel);
            end(&mut process);
            Err(PoolError::Confinement { required: options.require_confinement, report: hello.confinement })
        }
        Ok(Report::Hello(hello)) => Ok(Launched { confinement: hello.confinement, running: Some((channel, process)) }),
        other => Err(failed(options, channel, process, other)),
    }
}

/// Runs the escape attempts in a plain process.
pub(crate) fn launch_control(options: &PoolOptions) -> Result<Vec<AttemptReport>, PoolError> {
    let (channel, mut process) = start(options, Start::Control)?;
    match receive(&channel, START_BOUND).map(|(report, _)| report) {
        Ok(Report::Control(attempts)) => {
            drop(channel);
            end(&mut process);
            Ok(attempts)
        }
        other => Err(failed(options, channel, process, other)),
    }
}

impl Launched {
    /// Channel and process; from here on they are the caller's to end.
    pub(crate) fn into_parts(mut self) -> Option<(OwnedFd, Child)> {
        self.running.take()
    }

    /// Sends one request.
    pub(crate) fn send(&self, request: Request) -> io::Result<()> {
        sys::send_message(self.channel()?.as_raw_fd(), &request.encode(), &[], 0)
    }

    fn channel(&self) -> io::Result<&OwnedFd> {
        self.running.as_ref().map(|(channel, _)| channel).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The next child that the zygote reports.
    pub(crate) fn wait_for_child(&self) -> Result<ForkedChild, PoolError> {
        let (report, fds) =
            self.channel().and_then(|channel| receive(channel, START_BOUND)).map_err(PoolError::Channel)?;
        match (report, <[OwnedFd; 2]>::try_from(fds)) {
            (Report::Forked { child: ChildId(_), .. }, Ok([socket, handle])) => {
                let socket = UnixStream::from(socket);
                socket.set_read_timeout(Some(START_BOUND)).map_err(PoolError::Channel)?;
                Ok(ForkedChild { socket, handle: handle.into() })
            }
            (report, _) => Err(PoolError::Setup(format!("instead of a child came {report:?}"))),
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if let Some((channel, mut process)) = self.running.take() {
            drop(channel);
            end(&mut process);
        }
    }
}

fn start(options: &PoolOptions, start: Start) -> Result<(OwnedFd, Child), PoolError> {
    let program = locate(options.zygote.as_ref())?;
    let (ours, theirs) = sys::socket_pair(libc::SOCK_SEQPACKET).map_err(PoolError::Channel)?;
    let process = Command::new(&program)
        .env_clear()
        .env(MARKER, std::process::id().to_string())
        .env("TZ", "UTC0")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .spawn()
        .map_err(|source| PoolError::Launch { program: program.clone(), source })?;
    let message = serde_json::to_vec(&start).expect("two numbers can be written as JSON");
    // A process that is gone already shows when its first report is waited for.
    let _ = sys::send_message(ours.as_raw_fd(), &message, &[], 0);
    Ok((ours, process))
}

/// Says what is wrong with a process that did not become ready, and ends it.
fn failed(options: &PoolOptions, channel: OwnedFd, mut process: Child, report: io::Result<Report>) -> PoolError {
    drop(channel);
    let status = end(&mut process);
    let program = locate(options.zygote.as_ref()).unwrap_or_default();
    match report {
        Ok(Report::Failed(text)) => PoolError::Setup(text),
        Ok(other) => PoolError::NotAZygote { program, detail: format!("it said {other:?}") },
        Err(error) => PoolError::NotAZygote { program, detail: format!("{error}; {}", ended(status)) },
    }
}

fn ended(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) if status.signal().is_some() => format!("it was ended by signal {}", status.signal().unwrap_or(0)),
        Some(status) => format!("it ended with {status}"),
        None => "it could not be ended".to_owned(),
    }
}

fn receive(channel: &OwnedFd, bound: Duration) -> io::Result<(Report, Vec<OwnedFd>)> {
    let deadline = Instant::now() + bound;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let text = format!("no answer within {} s", bound.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        if sys::wait_readable(&[channel.as_raw_fd()], Some(left))?[0] {
            break;
        }
    }
    let mut buffer = vec![0; MAX_MESSAGE];
    match sys::receive_message(channel.as_raw_fd(), &mut buffer, 0)? {
        (0, _) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed its channel without a word")),
        (length, fds) => Ok((Report::decode(&buffer[..length])?, fds)),
    }
}

/// Waits for the end of a process whose channel is closed, and makes it.
pub(crate) fn end(process: &mut Child) -> Option<ExitStatus> {
    let ended = Pidfd::open(process.id().cast_signed())
        .is_ok_and(|handle| sys::wait_readable(&[handle.as_raw_fd()], Some(END_BOUND)).is_ok_and(|ready| ready[0]));
    if !ended {
        let _ = process.kill();
    }
    process.wait().ok()
}
