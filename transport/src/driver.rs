//! The task that owns a session: one loop over one closed set of events. It obeys; the session decides.

use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use codemode_protocol::capnweb::{
    CallId, CallMode, CloseOrigin, ErrorValue, Output, Session, SessionConfig, Target, Value, text,
};
use tokio::{
    sync::oneshot,
    time::{Instant, Sleep, sleep_until},
};

use crate::{
    closing::{self, Farewell},
    connection::{CallError, CallTracker, Closed, Connection, Refused, Sent},
    invoke,
    liveness::{Liveness, Verdict},
    mailbox::{Call, Command, Ending, Mail, Mailbox},
    options::TransportOptions,
    outbound::{Cause, Outbound},
    socket::{Frame, Socket, SocketError},
};

/// Makes a session over `socket` whose main object is `main`, and the future that drives it: spawn it or await it, it
/// is ready when the socket has been closed. Nothing is sent before it is polled, so `main` can be given its own
/// connection first. Dropping it ends the session as a dead connection does.
///
/// ```
/// use codemode_protocol::capnweb::{Value, target_fn};
/// use codemode_transport::{TransportOptions, memory, start};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), codemode_transport::CallError> {
/// let (near, far, _kill) = memory::pair();
/// let echo = target_fn(|mut call| async move { Ok(call.args.take().map(Value::Array).unwrap_or_default()) });
/// let nothing = target_fn(|_| async { Err(Value::error("nothing to call here")) });
/// let (server, serving) = start(far, echo, TransportOptions::default());
/// let (client, driving) = start(near, nothing, TransportOptions::default());
/// tokio::spawn(serving);
/// tokio::spawn(driving);
///
/// let answer = client.call(&client.main(), &["echo"], vec![Value::from(7)]).await?;
/// assert_eq!(answer, Value::Array(vec![Value::from(7)]));
/// # drop(server);
/// # Ok(())
/// # }
/// ```
pub fn start<S: Socket>(
    socket: S,
    main: Arc<dyn Target>,
    options: TransportOptions,
) -> (Connection, impl Future<Output = Arc<Closed>> + Send + 'static) {
    let mailbox = Arc::new(Mailbox::new(options.queued_calls, options.queued_bytes));
    let mut session = Session::new(SessionConfig { main, limits: options.limits.clone() }, Duration::ZERO);
    session.set_waker(Waker::from(mailbox.clone()));
    let connection = Connection::new(mailbox.clone(), session.main());
    let driver = Driver {
        guard: Guard(mailbox.clone()),
        session: Owned(session),
        mailbox,
        liveness: Liveness::new(options.ping_interval, options.pong_deadline, Duration::ZERO),
        outbound: Outbound::default(),
        calls: HashMap::new(),
        batch: VecDeque::new(),
        epoch: Instant::now(),
        timer: None,
        armed: None,
        turn: Turn::Mail,
        unwritten: 0,
        paused: false,
        read: 0,
        readable: true,
        end: None,
        socket,
        options,
    };
    (connection, driver.run())
}

struct Driver<S> {
    // First, so that a dropped driver announces its end before the calls that it holds are dropped.
    guard: Guard,
    session: Owned,
    mailbox: Arc<Mailbox>,
    socket: S,
    options: TransportOptions,
    outbound: Outbound,
    liveness: Liveness,
    /// Our calls without an answer.
    calls: HashMap<CallId, Waiting>,
    /// Commands fetched and not yet done.
    batch: VecDeque<Command>,
    /// The zero of the session's clock.
    epoch: Instant,
    /// Allocated once, when a deadline is first waited for.
    timer: Option<Pin<Box<Sleep>>>,
    /// What the timer is set to; it may be earlier than what is due by now, never later.
    armed: Option<Duration>,
    turn: Turn,
    /// Events since the socket was last given what waits for it.
    unwritten: usize,
    /// Whether reading waits for the peer to drain what reading produced.
    paused: bool,
    /// What had been read from the network at the last look.
    read: u64,
    /// Whether the socket can still be read.
    readable: bool,
    end: Option<Arc<Closed>>,
}

struct Waiting {
    reply: oneshot::Sender<Result<Value, CallError>>,
    tracker: CallTracker,
    /// The number of the call's first frame.
    frame: u64,
}

/// Everything that can happen to a connection.
enum Event {
    Command(Command),
    Ending(Ending),
    Poked,
    Frame(Frame),
    SocketEnded,
    SocketFailed(SocketError),
    Timeout,
}

/// Who is asked first, mailbox or socket, so that neither starves the other.
#[derive(Clone, Copy)]
enum Turn {
    Mail,
    Socket,
}

/// Events handled before what they produced is written: a burst is flushed once, a flood delays nobody for long.
const BURST: usize = 64;

impl<S: Socket> Driver<S> {
    async fn run(mut self) -> Arc<Closed> {
        self.pump(Cause::Own);
        let closed = loop {
            if let Some(closed) = self.end.take() {
                break closed;
            }
            let event = poll_fn(|cx| self.poll_event(cx)).await;
            self.handle(event);
        };
        tracing::debug!(code = closed.code, reason = closed.reason, origin = ?closed.origin, "session ended");
        let Driver { guard, session, socket, outbound, options, readable, calls, .. } = self;
        // What the session holds, targets among it, is let go before the socket takes its time.
        drop((session, calls));
        let farewell = match closed.origin {
            CloseOrigin::Transport if closed.code == text::CLOSE_CODE_ABNORMAL => Farewell::Dead,
            CloseOrigin::Transport => Farewell::Answer,
            CloseOrigin::Local | CloseOrigin::Peer => {
                Farewell::Close { code: closed.code, reason: closed.reason.clone(), readable }
            }
        };
        closing::part(socket, outbound, farewell, options.close_wait).await;
        drop(guard);
        closed
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            let skipped = self.unwritten >= BURST;
            if !skipped && let Some(event) = self.next_arrival(cx) {
                self.unwritten += 1;
                return Poll::Ready(event);
            }
            self.unwritten = 0;
            let gates = (self.takes_commands(), self.paused);
            let now = self.now();
            self.listen(now);
            match self.outbound.poll(&mut self.socket, cx, now) {
                Poll::Ready(Ok(())) if self.liveness.is_queued() => {
                    let written = self.socket.traffic().map_or(0, |traffic| traffic.written);
                    self.liveness.flushed(now, written);
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Event::SocketFailed(error)),
                Poll::Pending => {}
            }
            self.regulate(now);
            self.mailbox.note_outbound(self.outbound.bytes());
            if skipped || gates != (self.takes_commands(), self.paused) {
                continue;
            }
            if self.poll_timer(cx).is_ready() {
                return Poll::Ready(Event::Timeout);
            }
            if self.mailbox.park(cx, gates.0).is_pending() {
                self.turn = Turn::Mail;
                return Poll::Pending;
            }
        }
    }

    /// What came from the handles and from the peer.
    fn next_arrival(&mut self, cx: &mut Context<'_>) -> Option<Event> {
        if let Some(command) = self.next_in_batch() {
            return Some(Event::Command(command));
        }
        match self.turn {
            Turn::Mail => self.next_mail().inspect(|_| self.turn = Turn::Socket).or_else(|| self.next_frame(cx)),
            Turn::Socket => self.next_frame(cx).inspect(|_| self.turn = Turn::Mail).or_else(|| self.next_mail()),
        }
    }

    fn next_mail(&mut self) -> Option<Event> {
        match self.mailbox.fetch(self.takes_commands(), &mut self.batch)? {
            Mail::Commands => self.next_in_batch().map(Event::Command),
            Mail::Poked => Some(Event::Poked),
            Mail::Ending(ending) => Some(Event::Ending(ending)),
        }
    }

    fn next_frame(&mut self, cx: &mut Context<'_>) -> Option<Event> {
        if self.paused || !self.readable {
            return None;
        }
        match Pin::new(&mut self.socket).poll_next(cx) {
            Poll::Ready(Some(Ok(frame))) => Some(Event::Frame(frame)),
            Poll::Ready(Some(Err(error))) => Some(Event::SocketFailed(error)),
            Poll::Ready(None) => Some(Event::SocketEnded),
            Poll::Pending => None,
        }
    }

    fn next_in_batch(&mut self) -> Option<Command> {
        if self.takes_commands() { self.batch.pop_front() } else { None }
    }

    fn takes_commands(&self) -> bool {
        self.outbound.bytes() < self.options.outbound_bytes
    }

    /// Pauses and resumes reading. A pause is no silence of the peer's.
    fn regulate(&mut self, now: Duration) {
        let paused = self.outbound.reading_bytes() >= self.options.outbound_bytes;
        if self.paused && !paused {
            self.liveness.heard(now);
        }
        self.paused = paused;
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(due) = self.due() else { return Poll::Pending };
            let timer = match &mut self.timer {
                Some(timer) => timer,
                none => none.insert(Box::pin(sleep_until(self.epoch + due))),
            };
            // Most deadlines move away before they come: a timer that fires too early is cheaper than one that is set
            // at every event.
            if self.armed.is_none_or(|armed| armed > due) {
                timer.as_mut().reset(self.epoch + due);
                self.armed = Some(due);
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.armed = None;
            if self.now() >= due {
                return Poll::Ready(());
            }
        }
    }

    fn due(&self) -> Option<Duration> {
        let liveness = if self.paused { None } else { self.liveness.due() };
        let stall = self.outbound.look_at(self.options.write_stall);
        [self.session.0.poll_timeout(), liveness, stall].into_iter().flatten().min()
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Command(command) => self.command(command),
            Event::Poked => self.pump(Cause::Own),
            Event::Ending(ending) => {
                while let Some(command) = self.batch.pop_front()
                    && self.end.is_none()
                {
                    self.command(command);
                }
                match ending {
                    Ending::Close => self.session.0.close(),
                    Ending::Abort(error) => self.session.0.abort(error),
                }
                self.pump(Cause::Own);
            }
            Event::Frame(frame) => self.frame(frame),
            Event::SocketEnded => {
                self.readable = false;
                self.session.0.transport_closed(text::CLOSE_CODE_ABNORMAL, "");
                self.pump(Cause::Own);
            }
            Event::SocketFailed(error) => {
                self.readable = false;
                match error {
                    SocketError::TooLarge { .. } => self.abort(text::CODE_LIMIT_EXCEEDED, &error.to_string()),
                    SocketError::Violation(_) => self.abort(text::CODE_PROTOCOL_VIOLATION, &error.to_string()),
                    SocketError::Lost(why) => self.lost(&why),
                }
            }
            Event::Timeout => self.timeout(),
        }
    }

    fn command(&mut self, command: Command) {
        self.mailbox.taken(command.bytes());
        match command {
            Command::Call(call) => self.call(call),
            Command::Notify { target, path, args, .. } => {
                if let Err(error) = self.session.0.call(&target, path, Some(args), CallMode::Forget) {
                    tracing::warn!(%error, "a notification could not be sent");
                }
            }
            Command::Cancel(place) => {
                if let Some(&call) = place.get()
                    && self.calls.remove(&call).is_some()
                {
                    self.session.0.cancel_call(call);
                }
            }
            Command::Respond { id, result } => self.session.0.respond(id, result),
            Command::Passed(waiting) => {
                // Whoever waited may have lost interest.
                let _ = waiting.send(self.session.0.stats());
            }
        }
        self.pump(Cause::Own);
    }

    fn call(&mut self, call: Call) {
        // Dropped before anything was sent: the peer never hears of it.
        if call.reply.is_closed() {
            return;
        }
        let frame = self.outbound.next_frame();
        match self.session.0.call(&call.target, call.path, call.args, CallMode::Pull) {
            Ok(id) => {
                // The place is this call's alone, so it is empty.
                let _ = call.place.set(id);
                self.calls.insert(id, Waiting { reply: call.reply, tracker: call.tracker, frame });
            }
            Err(error) => {
                let _ = call.reply.send(Err(CallError::Refused(Refused::Unencodable(error.to_string()))));
            }
        }
    }

    fn frame(&mut self, frame: Frame) {
        let now = self.now();
        self.liveness.heard(now);
        match frame {
            Frame::Text(message) => self.session.0.receive(&message, now),
            Frame::Binary => self.session.0.receive_binary(now),
            Frame::Ping => return self.pinged(),
            Frame::Pong => return,
            Frame::Close { code, reason } => self.session.0.transport_closed(code, &reason),
        }
        self.pump(Cause::Reading);
        self.regulate(now);
    }

    /// The socket keeps its answers to pings in a buffer of its own, so they are counted here.
    fn pinged(&mut self) {
        self.outbound.answer_ping();
        let bound = self.options.unanswered_pings;
        if self.outbound.unanswered_pings() > bound {
            self.abort(
                text::CODE_LIMIT_EXCEEDED,
                &format!("more than {bound} pings whose answers were not read, which is the bound. Read them."),
            );
        }
    }

    /// Bytes of a message that is still on its way are life too, and those of ours that arrive give a ping its time.
    fn listen(&mut self, now: Duration) {
        let Some(traffic) = self.socket.traffic() else { return };
        self.liveness.taken(now, traffic.taken);
        if traffic.read != self.read {
            self.read = traffic.read;
            self.liveness.heard(now);
        }
    }

    fn timeout(&mut self) {
        let now = self.now();
        if self.outbound.stalled_at(self.options.write_stall).is_some_and(|due| now >= due) {
            let ms = self.options.write_stall.as_millis();
            self.abort(
                text::CODE_LIMIT_EXCEEDED,
                &format!("nothing was read for {ms} ms, which is the bound. Read the socket while calls run."),
            );
            return;
        }
        match if self.paused { Verdict::Fine } else { self.liveness.check(now) } {
            Verdict::Fine => {}
            Verdict::Ping => self.outbound.push(Frame::Ping, Cause::Own),
            Verdict::Dead => {
                let ms = self.options.pong_deadline.as_millis();
                self.lost(&format!("no answer to a ping within {ms} ms"));
                return;
            }
        }
        self.session.0.handle_timeout(now);
        self.pump(Cause::Own);
    }

    fn abort(&mut self, code: &str, message: &str) {
        self.session.0.abort(ErrorValue::new("Error", message).with_code(code));
        self.pump(Cause::Own);
    }

    fn lost(&mut self, why: &str) {
        self.readable = false;
        self.session.0.transport_closed(text::CLOSE_CODE_ABNORMAL, why);
        self.pump(Cause::Own);
    }

    /// Does what the session says, until it says nothing more. Called after every input, so that whatever settles
    /// together with the session's end settled because of it.
    fn pump(&mut self, cause: Cause) {
        let mut broken = Vec::new();
        while let Some(output) = self.session.0.poll_output() {
            match output {
                Output::Send(message) => self.outbound.push(Frame::Text(message.into()), cause),
                Output::Invoke { id, target, call } => {
                    if let Some(result) = invoke::start(id, target, call, &self.mailbox) {
                        self.session.0.respond(id, result);
                    }
                }
                Output::Settled { call, result } => {
                    let Some(waiting) = self.calls.remove(&call) else { continue };
                    if self.session.0.is_closed() {
                        broken.push(waiting);
                    } else {
                        waiting.tracker.answered();
                        // Whoever dropped the call has its cancellation on the way; the result is dropped here.
                        let _ = waiting.reply.send(result.map_err(CallError::Thrown));
                    }
                }
                Output::Closed(reason) => self.ended(Arc::new(reason.into()), mem::take(&mut broken)),
            }
        }
    }

    /// Announces the end before any call fails by it.
    fn ended(&mut self, closed: Arc<Closed>, broken: Vec<Waiting>) {
        self.mailbox.finish(closed.clone());
        let left = self.calls.drain().map(|(_, waiting)| waiting);
        for waiting in broken.into_iter().chain(left) {
            let sent = if self.outbound.is_handed(waiting.frame) { Sent::Yes } else { Sent::No };
            // The caller may have lost interest.
            let _ = waiting.reply.send(Err(CallError::Broken { closed: closed.clone(), sent }));
        }
        for command in self.batch.drain(..) {
            command.fail(&closed);
        }
        self.end = Some(closed);
    }
}

/// A session that ends with its driver: targets' cancel tokens are raised even when the driver is only dropped.
struct Owned(Session);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.transport_closed(text::CLOSE_CODE_ABNORMAL, "");
    }
}

/// Announces the end of a driver that was dropped half-way.
struct Guard(Arc<Mailbox>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.finish(Arc::new(Closed::abandoned()));
    }
}
