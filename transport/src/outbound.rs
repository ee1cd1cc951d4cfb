//! The frames that wait to be written, by whose doing they wait, and since when nothing moved.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use crate::{
    options::STALL_STEP,
    socket::{Frame, Socket, SocketError},
};

/// What made us queue a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A frame of the peer, at once: reading must pause when these pile up.
    Reading,
    /// A call or an answer of ours.
    Own,
}

#[derive(Debug, Default)]
pub(crate) struct Outbound {
    queue: VecDeque<(Frame, Cause)>,
    bytes: usize,
    reading_bytes: usize,
    /// Frames ever queued, and ever handed to the socket.
    queued: u64,
    handed: u64,
    /// Bytes of the frame handed over last: it and one small buffer are all that the socket can hold.
    in_socket: usize,
    unflushed: bool,
    /// Answers to pings that the socket holds.
    pongs: usize,
    /// What the peer had taken at the last look, where that can be seen.
    taken: Option<u64>,
    /// Since when the socket takes nothing.
    blocked: Option<Duration>,
    /// When it was last looked at what the peer has taken.
    looked: Duration,
}

impl Outbound {
    pub(crate) fn push(&mut self, frame: Frame, cause: Cause) {
        let bytes = frame.bytes();
        self.bytes += bytes;
        if cause == Cause::Reading {
            self.reading_bytes += bytes;
        }
        self.queued += 1;
        self.queue.push_back((frame, cause));
    }

    /// Bytes that wait here; what the socket holds, one message at most beside its buffer, is not counted.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Those of them that reading alone produced.
    pub(crate) fn reading_bytes(&self) -> usize {
        self.reading_bytes
    }

    /// The number that the next queued frame gets.
    pub(crate) fn next_frame(&self) -> u64 {
        self.queued
    }

    /// Whether the frame of this number was handed to the socket. Frames that were not have never left.
    pub(crate) fn is_handed(&self, frame: u64) -> bool {
        frame < self.handed
    }

    /// The socket answers a ping: it is to be flushed.
    pub(crate) fn answer_ping(&mut self) {
        self.pongs += 1;
        self.unflushed = true;
    }

    /// Answers to pings that the socket may still hold.
    pub(crate) fn unanswered_pings(&self) -> usize {
        self.pongs
    }

    /// When a peer that takes nothing has had its time.
    pub(crate) fn stalled_at(&self, write_stall: Duration) -> Option<Duration> {
        let whole = if self.taken.is_some() { 0 } else { self.in_socket };
        let steps = u32::try_from(whole / STALL_STEP).unwrap_or(u32::MAX).saturating_add(1);
        self.blocked.map(|since| since.saturating_add(write_stall.saturating_mul(steps)))
    }

    /// When to look again at a socket that takes nothing: bytes that the peer takes from the network's buffers wake
    /// nobody, and seen late they would move the deadline too far.
    pub(crate) fn look_at(&self, write_stall: Duration) -> Option<Duration> {
        let stalled = self.stalled_at(write_stall)?;
        Some(if self.taken.is_some() { stalled.min(self.looked + write_stall / LOOKS) } else { stalled })
    }

    /// Hands over as much as the socket takes, then flushes once. Ready when nothing waits any more.
    pub(crate) fn poll<S: Socket>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
        now: Duration,
    ) -> Poll<Result<(), SocketError>> {
        let done = self.poll_hand_over(socket, cx);
        match done {
            Poll::Ready(_) => self.blocked = None,
            Poll::Pending => {
                let taken = socket.traffic().map(|traffic| traffic.taken);
                if taken != self.taken {
                    self.taken = taken;
                    self.blocked = None;
                }
                self.blocked.get_or_insert(now);
                self.looked = now;
            }
        }
        done
    }

    fn poll_hand_over<S: Socket>(&mut self, socket: &mut S, cx: &mut Context<'_>) -> Poll<Result<(), SocketError>> {
        while !self.queue.is_empty() {
            ready!(Pin::new(&mut *socket).poll_ready(cx))?;
            let Some((frame, cause)) = self.queue.pop_front() else { break };
            let bytes = frame.bytes();
            self.bytes -= bytes;
            if cause == Cause::Reading {
                self.reading_bytes -= bytes;
            }
            self.handed += 1;
            self.in_socket = bytes;
            self.unflushed = true;
            // Where bytes can be seen, only they are progress.
            if self.taken.is_none() {
                self.blocked = None;
            }
            Pin::new(&mut *socket).start_send(frame)?;
        }
        if self.unflushed {
            ready!(Pin::new(socket).poll_flush(cx))?;
            self.unflushed = false;
            self.in_socket = 0;
            self.pongs = 0;
        }
        Poll::Ready(Ok(()))
    }
}

/// Looks within one stall deadline.
const LOOKS: u32 = 10;
