//! What arrives: frames, the time, the end of the connection.

use std::time::Duration;

use super::calls::Answer;
use super::cells::{Producer, Sink};
use super::exports::PeerCallKind;
use super::imports::Settles;
use super::message::{self, Message};
use super::{Fault, Session};
use crate::capnweb::decode::{Bounds, Decoder};
use crate::capnweb::text;
use crate::capnweb::value::ErrorValue;

impl Session {
    /// Takes one text frame. Stop calling it while [`Session::outbound_bytes`] is over the driver's bound: that is the
    /// only backpressure a peer feels.
    pub fn receive(&mut self, text: &str, now: Duration) {
        if self.is_closed() {
            return;
        }
        self.now = self.now.max(now);
        self.release_dropped();
        if let Err(fault) = self.take_message(text) {
            self.fail(&fault);
        }
        self.release_dropped();
    }

    /// Takes a binary frame: a protocol error.
    pub fn receive_binary(&mut self, now: Duration) {
        if !self.is_closed() {
            self.now = self.now.max(now);
            self.fail(&Fault::Illegal(text::BINARY_FRAME));
        }
    }

    /// Does what was due at [`Session::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Duration) {
        if self.is_closed() {
            return;
        }
        self.now = self.now.max(now);
        while let Some(id) = self.imports.overdue(self.now) {
            let Some(cell) = self.imports.remove_promise(id) else { break };
            self.send_release(id, 1);
            let error = ErrorValue::new("Error", text::PROMISE_OVERDUE).with_code(text::CODE_LIMIT_EXCEEDED);
            self.settle(cell, Err(self.own_error(error)));
            self.release_cell(cell);
        }
        self.finish_work();
    }

    /// When [`Session::handle_timeout`] wants to be called, on the clock of [`Session::new`].
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.imports.next_deadline()
    }

    /// Runs what has become possible. Only a peer's message can make that go over a bound.
    pub(super) fn finish_work(&mut self) {
        if let Err(fault) = self.run_ready() {
            self.fail(&fault);
        }
        self.release_dropped();
    }

    fn take_message(&mut self, text: &str) -> Result<(), Fault> {
        if text.len() > self.limits.message_bytes {
            return Err(Fault::limit("bytes of one message", self.limits.message_bytes));
        }
        let (nodes, bounds) = (self.limits.nodes, Bounds::of(&self.limits));
        let message = message::decode(&mut Decoder::new(text, nodes, bounds, Some(self)))?;
        match message {
            Message::Push(expr) => {
                self.check_peer_calls()?;
                let cell = self.start(expr)?;
                self.exports.add_call(cell, PeerCallKind::Push);
            }
            Message::Stream(expr) => {
                self.check_peer_calls()?;
                let cell = self.start(expr)?;
                let id = self.exports.add_call(cell, PeerCallKind::Stream);
                self.pull(id)?;
            }
            Message::Pipe => {
                self.check_peer_calls()?;
                if self.exports.pipes() >= self.limits.pipes {
                    return Err(Fault::limit("open pipes", self.limits.pipes));
                }
                let cell = self.cells.create(Producer::Other);
                self.settle(cell, Err(self.own_error(text::unsupported("pipes"))));
                self.exports.add_call(cell, PeerCallKind::Pipe);
            }
            Message::Pull(id) => self.pull(id)?,
            Message::Release(id, count) => self.release(id, count)?,
            Message::Resolve(id, expr) => self.take_answer(id, Answer::Resolve, expr)?,
            Message::Reject(id, expr) => self.take_answer(id, Answer::Reject, expr)?,
            Message::Abort(mut expr) => {
                let error = std::mem::take(&mut expr.value);
                self.discard(expr);
                self.end_by_peer(error);
                return Ok(());
            }
        }
        self.run_ready()
    }

    fn check_peer_calls(&self) -> Result<(), Fault> {
        if self.exports.calls() >= self.limits.peer_calls {
            return Err(Fault::limit("calls that were not released", self.limits.peer_calls));
        }
        Ok(())
    }

    /// The peer wants the result of its call.
    fn pull(&mut self, id: i64) -> Result<(), Fault> {
        let call = self.exports.call_mut(id).ok_or(Fault::Illegal("pull of an id that was not pushed"))?;
        if std::mem::replace(&mut call.pulled, true) {
            return Ok(());
        }
        let cell = call.cell;
        let Some(entry) = self.cells.get_mut(cell) else { return Ok(()) };
        match entry.state.clone() {
            Some(outcome) => self.answer(id, outcome),
            None => entry.sinks.push(Sink::Answer(id)),
        }
        Ok(())
    }

    /// The peer gives references back.
    fn release(&mut self, id: i64, count: u64) -> Result<(), Fault> {
        if id == 0 {
            return Err(Fault::Illegal("release of the main object"));
        }
        if id < 0 {
            return self.exports.release_object(id, count).map_err(Fault::Illegal);
        }
        if count > 1 && self.exports.call(id).is_some() {
            return Err(Fault::Illegal("release of more references than were given"));
        }
        let call = self.exports.remove_call(id).ok_or(Fault::Illegal("release of an id that does not exist"))?;
        if let Some(cell) = self.cells.get_mut(call.cell) {
            cell.sinks.retain(|sink| *sink != Sink::Answer(id));
        }
        // A call that was never pulled is fire-and-forget and runs on; one that was is cancelled.
        if call.pulled {
            self.cancel_cell(call.cell)
        } else {
            self.release_cell(call.cell)
        }
        Ok(())
    }

    fn take_answer(&mut self, id: i64, answer: Answer, expr: super::plan::Expr) -> Result<(), Fault> {
        match id {
            0 => Err(Fault::Illegal("an answer for the main object")),
            1.. => self.call_answered(id, answer, expr),
            _ => match self.imports.settles(id) {
                Settles::Promise(cell) => {
                    self.imports.remove_promise(id);
                    self.send_release(id, 1);
                    self.settle_by_peer(cell, answer, expr)?;
                    self.release_cell(cell);
                    Ok(())
                }
                Settles::Object => Err(Fault::Illegal("an answer for an object")),
                Settles::Nothing => {
                    self.discard(expr);
                    Ok(())
                }
            },
        }
    }
}
