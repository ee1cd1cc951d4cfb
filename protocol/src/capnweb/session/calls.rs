//! Calls of ours: sending them, cancelling them, and what their answers settle.

use super::cells::Sink;
use super::exports::Exporter;
use super::imports::Owner;
use super::memory::{Source, Stored};
use super::plan::{CellId, Expr};
use super::queue::Item;
use super::{CallId, CallMode, Fault, Output, Session};
use crate::capnweb::expression::EncodeError;
use crate::capnweb::stub::Stub;
use crate::capnweb::target::PathKey;
use crate::capnweb::text;
use crate::capnweb::value::Value;
use crate::capnweb::writer::{WriteBounds, Writer};

/// How the peer answered.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Answer {
    Resolve,
    Reject,
}

impl Session {
    /// Calls an object of the peer, or reads a property when `args` is `None`. On `Err` nothing was sent, and the
    /// session goes on. On a closed session the call settles with the close error.
    pub fn call(
        &mut self,
        target: &Stub,
        path: Vec<PathKey>,
        args: Option<Vec<Value>>,
        mode: CallMode,
    ) -> Result<CallId, EncodeError> {
        let id = target.id_in(&self.shared).ok_or(EncodeError::ForeignStub)?;
        self.send_own_call(id, &path, args.as_deref(), mode)
    }

    /// Calls the result of a call that has not settled yet.
    pub fn call_pipelined(
        &mut self,
        on: CallId,
        path: Vec<PathKey>,
        args: Option<Vec<Value>>,
        mode: CallMode,
    ) -> Result<CallId, EncodeError> {
        if !self.imports.is_awaited(on.0) && !self.is_closed() {
            return Err(EncodeError::CallSettled);
        }
        self.send_own_call(on.0, &path, args.as_deref(), mode)
    }

    /// Releases a call before its answer: it does not settle any more, and a peer like ours cancels it. Does nothing
    /// when the call has settled.
    pub fn cancel_call(&mut self, call: CallId) {
        if self.imports.remove_call(call.0).is_some() {
            self.send_release(call.0, 1);
        } else if let Some(cell) = self.settling.remove(&call) {
            if let Some(entry) = self.cells.get_mut(cell) {
                entry.sinks.retain(|sink| *sink != Sink::Settle(call));
                // Our interest was a sink, not a hold; the hold is there to be given back.
                self.cells.hold(cell);
                self.cancel_cell(cell);
            }
            self.release_dropped();
        } else {
            self.queue.forget_settled(call);
        }
    }

    fn send_own_call(
        &mut self,
        subject: i64,
        path: &[PathKey],
        args: Option<&[Value]>,
        mode: CallMode,
    ) -> Result<CallId, EncodeError> {
        if let Some(error) = &self.closed {
            let error = error.clone();
            let call = CallId(self.imports.use_call());
            if mode == CallMode::Pull {
                self.queue.push(Item::Output(Output::Settled { call, result: Err(error) }));
            }
            return Ok(call);
        }
        self.release_dropped();
        let id = self.send_call(subject, path, args)?;
        let call = CallId(id);
        match mode {
            CallMode::Pull => {
                self.imports.await_call(id, Owner::Application(call));
                self.send_pull(id);
            }
            CallMode::Forget => self.send_release(id, 1),
        }
        Ok(call)
    }

    /// Sends a push and returns its id.
    pub(super) fn send_call(
        &mut self,
        subject: i64,
        path: &[PathKey],
        args: Option<&[Value]>,
    ) -> Result<i64, EncodeError> {
        let bounds = self.write_bounds();
        let mark = self.exports.mark();
        let mut exporter = Exporter { exports: &mut self.exports, shared: &self.shared, limit: self.limits.exports };
        let mut writer = Writer::new(bounds, Some(&mut exporter));
        writer.raw(r#"["push",["pipeline","#);
        writer.integer(subject);
        writer.raw(",");
        writer.path(path);
        let mut written = Ok(());
        if let Some(args) = args {
            writer.raw(",");
            written = writer.list(args, 1);
        }
        writer.raw("]]");
        match written.and_then(|()| writer.finish()) {
            Ok(text) => {
                self.queue.send(text);
                Ok(self.imports.use_call())
            }
            Err(error) => {
                self.exports.roll_back(mark);
                Err(error)
            }
        }
    }

    pub(super) fn send_pull(&mut self, id: i64) {
        self.queue.send(format!(r#"["pull",{id}]"#));
    }

    pub(super) fn send_release(&mut self, id: i64, count: u64) {
        self.queue.send(format!(r#"["release",{id},{count}]"#));
    }

    /// Sends the releases of stubs that were dropped meanwhile.
    pub(super) fn release_dropped(&mut self) {
        if !self.shared.has_dropped() {
            return;
        }
        for dropped in self.shared.take_dropped() {
            if let Some(count) = self.imports.drop_handle(dropped) {
                self.send_release(dropped.id, count);
            }
        }
    }

    /// A call of ours was answered. Its id is released at once, whatever becomes of the value.
    pub(super) fn call_answered(&mut self, id: i64, answer: Answer, expr: Expr) -> Result<(), Fault> {
        let Some(owner) = self.imports.remove_call(id) else {
            // Released before the answer came: what came with it goes back.
            self.discard(expr);
            return Ok(());
        };
        self.send_release(id, 1);
        let call = match owner {
            Owner::Cell(cell) => return self.settle_by_peer(cell, answer, expr),
            Owner::Application(call) => call,
        };
        let result = match answer {
            Answer::Reject => Err(self.rejection(expr)),
            Answer::Resolve if expr.unsupported.is_some() => {
                let error = text::unsupported(expr.unsupported.unwrap_or_default());
                self.discard(expr);
                Err(error.into())
            }
            Answer::Resolve if expr.holes.is_empty() => Ok(expr.value),
            Answer::Resolve => return self.settle_later(call, expr),
        };
        self.queue.push(Item::Output(Output::Settled { call, result }));
        Ok(())
    }

    /// Settles a cell with what the peer answered.
    pub(super) fn settle_by_peer(&mut self, cell: CellId, answer: Answer, expr: Expr) -> Result<(), Fault> {
        match answer {
            Answer::Resolve => self.start_into(expr, cell),
            Answer::Reject => {
                let error = Stored::new(self.rejection(expr), Source::Peer, &self.held);
                self.settle(cell, Err(error));
                Ok(())
            }
        }
    }

    /// An answer that waits for a promise or a call of the peer.
    fn settle_later(&mut self, call: CallId, expr: Expr) -> Result<(), Fault> {
        let cell = self.start(expr)?;
        if let Some(entry) = self.cells.get_mut(cell) {
            match entry.state.clone() {
                None => {
                    entry.sinks.push(Sink::Settle(call));
                    self.settling.insert(call, cell);
                    self.release_cell(cell);
                }
                Some(outcome) => {
                    self.release_cell(cell);
                    self.settle_call(call, outcome);
                }
            }
        }
        Ok(())
    }

    /// What was thrown. An error is told at once, so what it says of things to come is left out.
    fn rejection(&mut self, mut expr: Expr) -> Value {
        let value = std::mem::take(&mut expr.value);
        self.discard(expr);
        value
    }

    pub(super) fn write_bounds(&self) -> WriteBounds {
        WriteBounds {
            depth: self.limits.depth,
            bigint_digits: self.limits.bigint_digits,
            units: self.limits.outbound_units,
        }
    }
}
