//! Where children come from: the thread that starts zygotes, and the task that speaks with the present one.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsRawFd, OwnedFd},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::mpsc as async_mpsc,
};

use super::{
    PoolError, PoolOptions,
    child::{ChildEnd, ForkedChild},
    shared::Shared,
};
use crate::{
    confinement::ConfinementReport,
    sys::{self, Pidfd},
    zygote::{MAX_MESSAGE, Report, Request, launch_zygote},
};

/// What the keeper tells.
#[derive(Debug)]
pub(super) enum Event {
    /// A zygote is ready.
    Up(Up),
    /// None could be started.
    Failed(PoolError),
    /// The zygote that was up has ended and is reaped.
    Down,
}

/// A zygote that is ready.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) channel: OwnedFd,
    pub(super) pid: u32,
    /// By which it is killed if it does not end when its channel closes.
    pub(super) handle: Pidfd,
    pub(super) confinement: ConfinementReport,
}

/// The thread that starts zygotes, one after the other. A zygote dies with the thread that started it, so this one lives
/// as long as the pool, and as long as a zygote does.
#[derive(Debug)]
pub(super) struct Keeper {
    starts: mpsc::Sender<()>,
}

impl Keeper {
    /// Starts the thread.
    pub(super) fn start(options: PoolOptions, events: async_mpsc::UnboundedSender<Event>) -> io::Result<Self> {
        let (starts, wanted) = mpsc::channel();
        thread::Builder::new().name("codemode-keeper".to_owned()).spawn(move || keep(&options, &wanted, &events))?;
        Ok(Self { starts })
    }

    /// Asks for a zygote; the answer comes as an [`Event`].
    pub(super) fn want_zygote(&self) {
        // The thread ends only after this sender.
        let _ = self.starts.send(());
    }
}

fn keep(options: &PoolOptions, wanted: &mpsc::Receiver<()>, events: &async_mpsc::UnboundedSender<Event>) {
    while wanted.recv().is_ok() {
        let launched = match launch_zygote(options) {
            Ok(launched) => launched,
            Err(error) => {
                let _ = events.send(Event::Failed(error));
                continue;
            }
        };
        let confinement = launched.confinement.clone();
        let Some((channel, mut process)) = launched.into_parts() else { continue };
        match Pidfd::open(process.id().cast_signed()) {
            // When nobody listens any more, the channel is dropped here and the zygote ends.
            Ok(handle) => drop(events.send(Event::Up(Up { channel, pid: process.id(), handle, confinement }))),
            Err(error) => {
                drop(channel);
                let _ = process.kill();
                let _ = events.send(Event::Failed(PoolError::Channel(error)));
            }
        }
        let _ = process.wait();
        let _ = events.send(Event::Down);
    }
}

/// The channel to a zygote, for whoever has a request. What does not fit at once is sent by the director.
#[derive(Debug)]
pub(super) struct Link {
    channel: Arc<OwnedFd>,
    /// The zygote's number.
    pub(super) pid: u32,
    unsent: VecDeque<Vec<u8>>,
}

impl Link {
    fn new(channel: Arc<OwnedFd>, pid: u32) -> Self {
        Self { channel, pid, unsent: VecDeque::new() }
    }

    /// Sends a request, now or later. `true` means later.
    pub(super) fn send(&mut self, request: Request) -> bool {
        self.unsent.push_back(request.encode());
        self.flush()
    }

    pub(super) fn flush(&mut self) -> bool {
        while let Some(bytes) = self.unsent.front() {
            match sys::send_message(self.channel.as_raw_fd(), bytes, &[], libc::MSG_DONTWAIT) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                // A zygote that is gone is noticed where its channel is read.
                _ => drop(self.unsent.pop_front()),
            }
        }
        false
    }
}

/// The zygote that there is, from the director's side.
#[derive(Debug)]
pub(super) struct Present {
    /// Absent once it was told to end, by closing it.
    channel: Option<AsyncFd<Arc<OwnedFd>>>,
    handle: Pidfd,
    /// When to kill it, if it does not end by itself.
    kill_at: Option<Duration>,
}

/// Runs until the pool is disposed and its last zygote has ended.
pub(super) async fn direct(
    shared: Arc<Shared>,
    keeper: Keeper,
    mut events: async_mpsc::UnboundedReceiver<Event>,
    first: Option<Present>,
) {
    let mut zygote = first;
    let mut expected = true;
    loop {
        if shared.take_zygote_wish() {
            expected = true;
            keeper.want_zygote();
        }
        if shared.is_disposed() {
            close(&shared, zygote.as_mut());
            if !expected {
                return;
            }
        }
        if shared.take_condemnation()
            && let Some(zygote) = &mut zygote
        {
            tracing::error!("the zygote has not answered for some time and is killed");
            zygote.handle.kill();
        }
        let kill_at = zygote.as_ref().and_then(|zygote| zygote.kill_at);
        let deadline = shared.next_deadline().into_iter().chain(kill_at).min();
        tokio::select! {
            // What has been said already is heard before anybody is found silent.
            biased;
            event = events.recv() => match event {
                Some(Event::Up(up)) => zygote = welcome(&shared, up),
                Some(Event::Failed(error)) => {
                    tracing::error!(%error, "no zygote could be started");
                    expected = false;
                    shared.zygote_down();
                }
                Some(Event::Down) => {
                    if !shared.is_disposed() {
                        tracing::warn!("the zygote has ended; its children end with it");
                    }
                    expected = false;
                    zygote = None;
                    shared.zygote_down();
                }
                None => return,
            },
            ended = converse(&shared, zygote.as_ref().and_then(|zygote| zygote.channel.as_ref())) => {
                if let Err(error) = ended {
                    tracing::warn!(%error, "the channel to the zygote failed");
                }
                close(&shared, zygote.as_mut());
            }
            () = shared.director.notified() => {}
            () = sleep_until(&shared, deadline) => {
                if kill_at.is_some_and(|at| at <= shared.now()) && let Some(zygote) = &mut zygote {
                    zygote.handle.kill();
                    zygote.kill_at = None;
                }
                shared.advance();
            }
        }
    }
}

/// Takes a zygote into service.
pub(super) fn welcome(shared: &Shared, up: Up) -> Option<Present> {
    let Up { channel, pid, handle, confinement } = up;
    let channel = Arc::new(channel);
    match sys::watch(channel.clone()) {
        Ok(registered) => {
            shared.zygote_up(Link::new(channel, pid), confinement);
            Some(Present { channel: Some(registered), handle, kill_at: None })
        }
        Err(error) => {
            tracing::error!(%error, "the channel to the zygote cannot be watched");
            Some(Present { channel: None, handle, kill_at: Some(shared.now()) })
        }
    }
}

/// Tells the zygote to end: it kills and reaps its children first.
fn close(shared: &Shared, zygote: Option<&mut Present>) {
    if let Some(zygote) = zygote
        && zygote.channel.take().is_some()
    {
        shared.drop_link();
        zygote.kill_at = Some(shared.now() + END_BOUND);
    }
}

/// How long a zygote may take to end once its channel is closed.
const END_BOUND: Duration = Duration::from_secs(2);

async fn sleep_until(shared: &Shared, deadline: Option<Duration>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until((shared.epoch + deadline).into()).await,
        None => std::future::pending().await,
    }
}

/// Receives reports and sends what is left over, until the zygote closes its channel.
async fn converse(shared: &Shared, channel: Option<&AsyncFd<Arc<OwnedFd>>>) -> io::Result<()> {
    let Some(channel) = channel else { return std::future::pending().await };
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        let unsent = shared.flush_link();
        let interest = if unsent { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        let mut ready = channel.ready(interest).await?;
        if ready.ready().is_writable() && unsent && shared.flush_link() {
            ready.clear_ready_matching(tokio::io::Ready::WRITABLE);
        }
        if !ready.ready().is_readable() && !ready.ready().is_read_closed() {
            continue;
        }
        loop {
            match sys::receive_message(channel.as_raw_fd(), &mut buffer, libc::MSG_DONTWAIT) {
                Ok((0, _)) => return Ok(()),
                Ok((length, fds)) => shared.report(Report::decode(&buffer[..length])?, fds),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready.clear_ready_matching(tokio::io::Ready::READABLE);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Shared {
    /// Takes what a zygote reports.
    fn report(&self, report: Report, fds: Vec<OwnedFd>) {
        self.heard();
        match (report, <[OwnedFd; 2]>::try_from(fds)) {
            (Report::Forked { child, pid }, Ok([socket, handle])) => {
                self.forked(Arc::new(ForkedChild::new(child, pid, socket, handle.into())));
            }
            (Report::Forked { child, .. }, Err(_)) => {
                tracing::warn!("no descriptor is free for a child that was forked");
                self.lost(child);
            }
            (Report::ForkFailed { child, errno }, _) => {
                let error = io::Error::from_raw_os_error(errno);
                tracing::warn!(%error, "no child could be forked");
                self.fork_failed(child);
            }
            (Report::Exited { child, exit }, _) => self.exited(child, ChildEnd::Reaped(exit)),
            (Report::Failed(reason), _) => tracing::error!(reason, "the zygote gives up"),
            (report @ (Report::Hello(_) | Report::Control(_)), _) => {
                tracing::error!(?report, "the zygote reports something out of place");
            }
        }
    }
}
