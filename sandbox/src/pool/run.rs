//! One run: speaks with its child until the child's last word or its end. Everything happens in the caller's future, so
//! that a frame takes one hop; dropping it kills the child.

use std::{io, os::fd::AsRawFd, sync::Arc, time::Duration};

use codemode_protocol::{Crash, Event as PoolEvent, ExecutorError, Host, Outcome, RunBounds, Stats};
use tokio::{
    io::{Interest, Ready},
    runtime::Handle,
    time::Instant,
};

use super::{
    admission::Rest,
    calls::{Answer, CallBounds, Calls},
    child::{ChildEnd, ForkedChild},
    clock::{ClockBounds, RunClock},
    conversation::{Conversation, Heard, Violation},
    machine::Ticket,
    retained::Parked,
    shared::{Reservation, Shared},
    verdict::End,
    watchdog::{Watchdog, Watched},
};
use crate::{
    frame::{FrameBounds, FrameReader, HEADER_BYTES, InvokeSpec, RunSpec, ToChild, parse_header},
    sys,
};

/// A run that has not got a child yet.
pub(super) struct Prepared {
    frame: Vec<u8>,
    frame_bounds: FrameBounds,
    conversation: Conversation,
    bounds: RunBounds,
    count_host_waits: bool,
    calls: Calls,
    runtime: Handle,
    /// What the run is, without its sources, when its child may be retained.
    spec: Option<RunSpec>,
    /// What is left of earlier talk with the child, when this is a call of a function that its run has left behind.
    resumed: Option<(FrameReader, Vec<u8>)>,
}

impl Prepared {
    pub(super) fn new(spec: RunSpec, bounds: RunBounds, host: Host, shared: &Shared, runtime: Handle) -> Self {
        let kept = spec.retain.is_some().then(|| RunSpec {
            code: String::new(),
            providers: Vec::new(),
            modules: Vec::new(),
            ..spec.clone()
        });
        Self {
            spec: kept,
            resumed: None,
            frame_bounds: FrameBounds::of(&spec),
            conversation: Conversation::new(&spec),
            count_host_waits: spec.count_host_waits,
            bounds,
            calls: Calls::new(host, runtime.clone(), CallBounds::of(&shared.limits), spec.outbound),
            runtime,
            frame: ToChild::Run(Box::new(spec)).encode(),
        }
    }

    /// A call of a function, on the child that holds it.
    pub(super) fn call(
        parked: Parked,
        invoke: InvokeSpec,
        bounds: RunBounds,
        host: Host,
        shared: &Shared,
        runtime: Handle,
    ) -> (Self, Arc<ForkedChild>) {
        let Parked { child, reader, outbox, mut spec, .. } = parked;
        spec.apply(&invoke);
        let prepared = Self {
            frame_bounds: FrameBounds::of(&spec),
            conversation: Conversation::resumed(&spec),
            count_host_waits: spec.count_host_waits,
            bounds,
            calls: Calls::new(host, runtime.clone(), CallBounds::of(&shared.limits), spec.outbound),
            runtime,
            frame: ToChild::Invoke(Box::new(invoke)).encode(),
            spec: Some(spec),
            resumed: Some((reader, outbox)),
        };
        (prepared, child)
    }

    /// Hands the run to `child`. A child that is dead already gives the run back. `ticket` is what it was admitted
    /// under, which a call of a function was not.
    pub(super) fn begin<'a>(
        mut self: Box<Self>,
        shared: &'a Arc<Shared>,
        watchdog: &'a Watchdog,
        child: Arc<ForkedChild>,
        ticket: Option<Ticket>,
        queued: Duration,
    ) -> Result<Run<'a>, Box<Self>> {
        let bounds = ClockBounds {
            timeout: Duration::from_millis(self.bounds.timeout_ms),
            cpu: Duration::from_millis(self.bounds.cpu_ms),
            max_wall: Duration::from_millis(self.bounds.max_wall_ms),
            grace: Duration::from_millis(shared.limits.grace_ms),
            count_host_waits: self.count_host_waits,
        };
        let watched = Arc::new(Watched::new(child.clone(), RunClock::start(bounds, shared.now())));
        let mut reader = FrameReader::new();
        if let Some((resumed, mut outbox)) = self.resumed.take() {
            reader = resumed;
            outbox.append(&mut self.frame);
            self.frame = outbox;
        }
        let sent = match sys::send_now(child.as_raw_fd(), &self.frame) {
            Ok(sent) => sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => return Err(self),
        };
        watchdog.watch(watched.clone());
        let mut outbox = self.frame;
        outbox.drain(..sent);
        reader.set_bounds(self.frame_bounds);
        Ok(Run {
            shared,
            watchdog,
            child,
            watched,
            reader,
            outbox,
            unread: false,
            conversation: self.conversation,
            bounds: self.bounds,
            calls: self.calls,
            queued,
            runtime: self.runtime,
            ended_by_itself: false,
            ticket,
            spec: self.spec,
            handles: 0,
            stays: false,
        })
    }
}

/// A run with its child.
pub(super) struct Run<'a> {
    shared: &'a Arc<Shared>,
    watchdog: &'a Watchdog,
    child: Arc<ForkedChild>,
    watched: Arc<Watched>,
    reader: FrameReader,
    /// What the child's socket had no room for. While it is long, answers wait where they are.
    outbox: Vec<u8>,
    /// Whether the child may have said more than was read, because the host had to answer first.
    unread: bool,
    conversation: Conversation,
    bounds: RunBounds,
    calls: Calls,
    queued: Duration,
    runtime: Handle,
    /// Whether the program has ended by itself, so that its host calls go on.
    ended_by_itself: bool,
    /// What it holds its permit under.
    ticket: Option<Ticket>,
    /// What the run is, when its child may be retained.
    spec: Option<RunSpec>,
    /// Functions that the child holds for later calls, by its last word.
    handles: u32,
    /// Whether the child lives on.
    stays: bool,
}

/// What the run's loop woke up for.
enum Event {
    Socket(io::Result<Ready>),
    Answer(Answer),
    /// The child may be read again, or is gone.
    Lighter,
}

impl Run<'_> {
    /// Serves the child until the run is over. With its answer comes the child, if that holds functions for later calls.
    pub(super) async fn serve(mut self) -> (Result<Outcome, ExecutorError>, Option<Parked>) {
        let end = match self.converse().await {
            Ok(end) => end,
            Err(violation) => {
                tracing::warn!(%violation, "a sandbox broke its own rules and was killed");
                self.child.kill();
                self.overruled().unwrap_or_else(|| End::violation(&violation))
            }
        };
        self.ended_by_itself = end.is_the_programs_own();
        if self.ended_by_itself {
            self.conversation.all_held().for_each(|call| self.calls.start(call));
            self.calls.end_own_requests();
        }
        if let End::Crash { how, .. } = end {
            self.shared.observe(PoolEvent::Crashed(how));
        }
        let stats = self.stats(&end).await;
        let logs = self.conversation.take_logs();
        let parked = self.park();
        // Gives back the permit and what the run held, before its caller goes on.
        drop(self);
        (end.into_answer(logs, stats), parked)
    }

    /// The child, if it waits for calls of the functions that it holds.
    fn park(&mut self) -> Option<Parked> {
        let spec = self.spec.take().filter(|_| self.handles > 0 && self.ended_by_itself)?;
        self.stays = true;
        Some(Parked {
            child: self.child.clone(),
            reader: std::mem::replace(&mut self.reader, FrameReader::new()),
            outbox: std::mem::take(&mut self.outbox),
            spec,
            handles: self.handles,
            since: Instant::now(),
            cpu: self.child.cpu(),
            memory: self.ticket.map(|ticket| Reservation::new(self.shared, ticket)),
        })
    }

    async fn converse(&mut self) -> Result<End, Violation> {
        let registered = {
            // The caller's future may be polled by any executor.
            let _runtime = self.runtime.enter();
            sys::watch(self.child.clone())
        };
        let socket = match registered {
            Ok(socket) => socket,
            Err(error) => {
                return Ok(End::Crash {
                    text: format!("The sandbox cannot be watched: {error}"),
                    retryable: true,
                    how: Crash::Silent,
                });
            }
        };
        let (child, load) = (self.child.clone(), self.calls.load().clone());
        loop {
            if self.unread
                && let Some(end) = self.read().await?
            {
                return Ok(end);
            }
            let reads = !self.unread;
            let interest = match (reads, self.outbox.is_empty()) {
                (true, true) => Interest::READABLE,
                (true, false) => Interest::READABLE | Interest::WRITABLE,
                (false, _) => Interest::WRITABLE,
            };
            let event = tokio::select! {
                biased;
                ready = socket.ready(interest), if reads || !self.outbox.is_empty() => match ready {
                    Ok(mut guard) => {
                        let ready = guard.ready();
                        // What is not drained below is asked for again: both directions stop short of that only when
                        // the system had no more, or note that they did.
                        guard.clear_ready();
                        Event::Socket(Ok(ready))
                    }
                    Err(error) => Event::Socket(Err(error)),
                },
                answer = self.calls.next(), if self.outbox.len() < OUTBOX => Event::Answer(answer),
                () = load.lighter(), if !reads => Event::Lighter,
                // Otherwise its channel says it.
                _ = child.end.wait(), if !reads => Event::Lighter,
            };
            match event {
                Event::Answer(answer) => self.reply(answer),
                Event::Lighter => {}
                Event::Socket(Ok(ready)) => {
                    if ready.is_writable() {
                        self.flush();
                    }
                    if (ready.is_readable() || ready.is_read_closed())
                        && let Some(end) = self.read().await?
                    {
                        return Ok(end);
                    }
                }
                Event::Socket(Err(_)) => return Ok(self.child_gone().await),
            }
        }
    }

    /// Whether the rest of a large frame is to stay where it is, because the host has too much to answer. The child
    /// cannot go on meanwhile, because its socket has no room for so much.
    fn holds_back(&mut self) -> bool {
        if !self.calls.load().is_full() || self.child.end.get().is_some() {
            return false;
        }
        let begun = self.reader.buffer();
        let header = begun.first_chunk::<HEADER_BYTES>().and_then(|header| parse_header(*header).ok());
        header.is_some_and(|(_, length)| (HEADER_BYTES + length as usize).saturating_sub(begun.len()) > LARGE_REST)
    }

    /// Reads all that there is, as long as there is room for what it asks of the host.
    async fn read(&mut self) -> Result<Option<End>, Violation> {
        if std::mem::take(&mut self.unread) {
            self.watched.clock().resume(self.shared.now());
        }
        loop {
            while let Some(frame) = self.reader.next()? {
                match self.conversation.hear(frame)? {
                    Heard::Nothing => {}
                    Heard::Call(call) => self.calls.start(call),
                    Heard::Abort(id) => self.calls.abort(id),
                    Heard::Waiting => self.watched.clock().wait(self.shared.now()),
                    Heard::Done(done) => {
                        let now = self.shared.now();
                        let clock = self.watched.clock().clone();
                        self.handles = done.handles;
                        return match self.overruled() {
                            Some(end) => Ok(Some(end)),
                            None => End::done(*done, &clock, now, &self.bounds, &self.shared.limits).map(Some),
                        };
                    }
                    Heard::Memory => {
                        return Ok(Some(
                            self.overruled()
                                .unwrap_or_else(|| End::memory(&self.bounds, None, self.bounds.memory_bytes)),
                        ));
                    }
                }
            }
            if self.holds_back() {
                if self.conversation.waits_for_the_caller() {
                    // It waits for the host, although it cannot say so.
                    self.watched.clock().wait(self.shared.now());
                }
                self.unread = true;
                return Ok(None);
            }
            let room = if self.reader.has_partial_frame() { LARGE_READ } else { SMALL_READ };
            match sys::receive_now(self.child.as_raw_fd(), self.reader.buffer(), room) {
                Ok(0) => return Ok(Some(self.child_gone().await)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(Some(self.child_gone().await)),
            }
        }
    }

    /// Ends the clocks; says what the run is if it was us who ended it, whatever the child says or how it goes.
    fn overruled(&self) -> Option<End> {
        let killed = self.watched.clock().finish(self.shared.now());
        // Its figures come with the report of its end.
        let end = killed.map(|bound| End::bound(bound, &self.bounds, 0));
        end.or_else(|| self.shared.is_disposed().then_some(End::Disposed))
    }

    /// The channel has ended without a last word.
    async fn child_gone(&mut self) -> End {
        // One that only closed its channel must not live on; one that is dead keeps its own status.
        self.child.kill();
        if let Some(end) = self.overruled() {
            return end;
        }
        let end = self.reaped(REAP_BOUND).await;
        End::died(end, &self.bounds, self.conversation.started())
    }

    /// How the child ended, if the zygote tells in time.
    async fn reaped(&self, bound: Duration) -> Option<ChildEnd> {
        if let Some(end) = self.child.end.get() {
            return Some(*end);
        }
        let told = {
            let _runtime = self.runtime.enter();
            tokio::time::timeout(bound, self.child.end.wait())
        };
        told.await.ok().copied()
    }

    fn reply(&mut self, answer: Answer) {
        // An answer's turn is over here; at most one answer is in the outbox beyond its bound.
        self.conversation.answer(answer.id);
        self.watched.clock().resume(self.shared.now());
        let frame = answer.frame.encode();
        if self.outbox.is_empty() {
            self.outbox = frame;
            self.flush();
        } else {
            self.outbox.extend_from_slice(&frame);
        }
        if let Some(call) = self.conversation.next_held() {
            self.calls.start(call);
        }
    }

    fn flush(&mut self) {
        let mut sent = 0;
        while sent < self.outbox.len() {
            match sys::send_now(self.child.as_raw_fd(), &self.outbox[sent..]) {
                Ok(more) => sent += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // A child that is gone is noticed where it is read.
                Err(_) => sent = self.outbox.len(),
            }
        }
        self.outbox.drain(..sent);
    }

    async fn stats(&self, end: &End) -> Stats {
        let now = self.shared.now();
        let (wall, host_wait) = {
            let clock = self.watched.clock();
            (clock.wall(now), clock.host_wait(now))
        };
        if !self.ended_by_itself && !end.has_figures() {
            // It has had no last word, or none that counts: the report of its end has them.
            self.child.kill();
            self.reaped(REPORT_BOUND).await;
        }
        let reported = |end: ChildEnd| match end {
            ChildEnd::Reaped(exit) => Some(self.watched.since_start(Duration::from_micros(exit.cpu_us))),
            ChildEnd::Orphaned => None,
        };
        let cpu = match self.child.end.get().copied().and_then(reported).or_else(|| self.watched.cpu()) {
            Some(cpu) => cpu,
            None => self.reaped(REPORT_BOUND).await.and_then(reported).unwrap_or_default(),
        };
        Stats {
            wall_ms: milliseconds(wall),
            cpu_ms: milliseconds(cpu),
            queue_ms: milliseconds(self.queued),
            host_calls: self.conversation.started(),
            host_wait_ms: milliseconds(host_wait),
            peak_memory_bytes: self.peak_memory(),
        }
    }

    /// What the kernel saw of a child that could not say it itself.
    fn peak_memory(&self) -> u64 {
        match self.child.end.get() {
            Some(ChildEnd::Reaped(exit)) => exit.peak_rss_kib * 1024,
            _ => 0,
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let now = self.shared.now();
        if !self.stays {
            // Also after its last word: a child has nothing left to do, and one that is not honest must not stay.
            self.child.kill();
        }
        self.watchdog.release(self.child.id);
        let held = {
            let mut clock = self.watched.clock();
            clock.finish(now);
            clock.wall(now)
        };
        if !self.ended_by_itself {
            self.calls.cancel();
        }
        if let Some(ticket) = self.ticket {
            self.shared.finished(ticket, held, if self.stays { Rest::Retained } else { Rest::Nothing });
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Enough for what most runs say in all.
const SMALL_READ: usize = 4 << 10;

/// For the rest of a large frame.
const LARGE_READ: usize = 256 << 10;

/// Bytes that wait for a child that does not read, beyond which further answers stay where they are. The last answer may
/// go beyond it.
const OUTBOX: usize = 1 << 20;

/// More than a socket has room for.
const LARGE_REST: usize = 1 << 20;

/// How long a run's figures may wait for the zygote's report; a child that was killed is gone within a few milliseconds.
const REPORT_BOUND: Duration = Duration::from_millis(30);

/// How long the zygote may take to tell how a child ended.
const REAP_BOUND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
