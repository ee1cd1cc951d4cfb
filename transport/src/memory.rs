//! A connection within one process, with a switch that breaks it in the ways in which networks break.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_util::{Sink, Stream};

use crate::socket::{Frame, Socket, SocketError};

/// Two ends of one connection, each direction holding [`CAPACITY`] bytes, and the switch that breaks it.
pub fn pair() -> (MemorySocket, MemorySocket, KillSwitch) {
    pair_with_capacity(CAPACITY)
}

/// The same as [`pair`]; a direction takes the next frame while it holds fewer than `capacity` bytes.
pub fn pair_with_capacity(capacity: usize) -> (MemorySocket, MemorySocket, KillSwitch) {
    let wire = Arc::new(Wire { pipes: Mutex::default(), capacity });
    let end = |side| MemorySocket { wire: wire.clone(), side, closing: false };
    (end(Side::Near), end(Side::Far), KillSwitch { wire: wire.clone() })
}

/// What one direction of [`pair`] holds before it takes no more, in bytes.
pub const CAPACITY: usize = 256 << 10;

/// One end of a connection in memory. It answers pings and close frames, as WebSockets do.
#[derive(Debug)]
pub struct MemorySocket {
    wire: Arc<Wire>,
    side: Side,
    /// Whether our close frame was sent: nothing may follow it.
    closing: bool,
}

/// Breaks the connection of a [`pair`].
#[derive(Clone, Debug)]
pub struct KillSwitch {
    wire: Arc<Wire>,
}

/// One end of a [`pair`], and the direction that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first socket.
    Near,
    /// The second socket.
    Far,
}

#[derive(Debug)]
struct Wire {
    /// By the side that writes.
    pipes: Mutex<[Pipe; 2]>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Pipe {
    frames: VecDeque<Frame>,
    bytes: usize,
    state: State,
    frozen: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// The writer is gone; what it wrote can still be read.
    Ended,
    /// Cut: what was under way is lost.
    Cut,
}

impl KillSwitch {
    /// Cuts both directions at once; what is under way is lost.
    pub fn cut(&self) {
        self.cut_from(Side::Near);
        self.cut_from(Side::Far);
    }

    /// Cuts what `writer` writes, and only that: it fails to write, the other side fails to read.
    pub fn cut_from(&self, writer: Side) {
        let mut pipes = self.wire.pipes();
        let pipe = &mut pipes[writer as usize];
        let lost = std::mem::take(&mut pipe.frames);
        pipe.bytes = 0;
        pipe.state = State::Cut;
        let wakers = pipe.wakers();
        drop(pipes);
        drop(lost);
        wake(wakers);
    }

    /// Holds what `writer` writes back from its reader, as a network does that drops every packet: the writer goes on
    /// until the direction is full.
    pub fn freeze(&self, writer: Side) {
        self.wire.pipes()[writer as usize].frozen = true;
    }

    /// Delivers what [`KillSwitch::freeze`] held back.
    pub fn thaw(&self, writer: Side) {
        let mut pipes = self.wire.pipes();
        pipes[writer as usize].frozen = false;
        let wakers = pipes[writer as usize].wakers();
        drop(pipes);
        wake(wakers);
    }

    /// Bytes that `writer` has written and its reader has not taken.
    pub fn under_way(&self, writer: Side) -> usize {
        self.wire.pipes()[writer as usize].bytes
    }
}

impl Wire {
    fn pipes(&self) -> MutexGuard<'_, [Pipe; 2]> {
        // Nothing under the lock can panic half-way through a change, so a poisoned lock is still good.
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Side {
    fn other(self) -> Self {
        match self {
            Side::Near => Side::Far,
            Side::Far => Side::Near,
        }
    }
}

impl Pipe {
    fn wakers(&mut self) -> [Option<Waker>; 2] {
        [self.reader.take(), self.writer.take()]
    }

    /// Appends an answer that needs no room.
    fn append(&mut self, frame: Frame) -> Option<Waker> {
        if self.state != State::Open {
            return None;
        }
        self.bytes += frame.bytes();
        self.frames.push_back(frame);
        self.reader.take()
    }
}

fn wake(wakers: [Option<Waker>; 2]) {
    wakers.into_iter().flatten().for_each(Waker::wake);
}

fn lost() -> SocketError {
    SocketError::Lost("the connection was cut".to_owned())
}

impl Stream for MemorySocket {
    type Item = Result<Frame, SocketError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let wire = self.wire.clone();
        let mut pipes = wire.pipes();
        let incoming = &mut pipes[self.side.other() as usize];
        if incoming.state == State::Cut {
            return Poll::Ready(Some(Err(lost())));
        }
        let frame = if incoming.frozen { None } else { incoming.frames.pop_front() };
        let Some(frame) = frame else {
            if incoming.state == State::Ended && !incoming.frozen {
                return Poll::Ready(None);
            }
            incoming.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        incoming.bytes -= frame.bytes();
        let writer = incoming.writer.take();
        let answer = match &frame {
            Frame::Ping if !self.closing => Some(Frame::Pong),
            Frame::Close { code, reason } if !self.closing => {
                self.closing = true;
                Some(Frame::Close { code: *code, reason: reason.clone() })
            }
            _ => None,
        };
        let reader = answer.and_then(|answer| pipes[self.side as usize].append(answer));
        drop(pipes);
        wake([reader, writer]);
        Poll::Ready(Some(Ok(frame)))
    }
}

impl Sink<Frame> for MemorySocket {
    type Error = SocketError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        let mut pipes = self.wire.pipes();
        let outgoing = &mut pipes[self.side as usize];
        if outgoing.state != State::Open {
            return Poll::Ready(Err(lost()));
        }
        if outgoing.bytes >= self.wire.capacity {
            outgoing.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Frame) -> Result<(), SocketError> {
        if self.closing {
            return Err(SocketError::Lost("the close frame was sent".to_owned()));
        }
        self.closing = matches!(frame, Frame::Close { .. });
        let mut pipes = self.wire.pipes();
        let outgoing = &mut pipes[self.side as usize];
        if outgoing.state != State::Open {
            return Err(lost());
        }
        let reader = outgoing.append(frame);
        drop(pipes);
        wake([reader, None]);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        match self.wire.pipes()[self.side as usize].state {
            State::Open | State::Ended => Poll::Ready(Ok(())),
            State::Cut => Poll::Ready(Err(lost())),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        self.poll_flush(cx)
    }
}

impl Socket for MemorySocket {}

impl Drop for MemorySocket {
    /// The other side reads what was written, then the end; it can write no more.
    fn drop(&mut self) {
        let mut pipes = self.wire.pipes();
        let mut wakers = Vec::new();
        for (pipe, state) in [(self.side, State::Ended), (self.side.other(), State::Cut)] {
            let pipe = &mut pipes[pipe as usize];
            if pipe.state != State::Cut {
                pipe.state = state;
            }
            wakers.push(pipe.wakers());
        }
        drop(pipes);
        wakers.into_iter().for_each(wake);
    }
}
