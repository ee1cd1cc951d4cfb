//! Results of the peer's calls: from the application into cells, from cells to whoever waits, and out as frames.

use std::sync::Arc;

use super::cells::{Settled, Sink};
use super::exports::{Exporter, PeerCallKind};
use super::memory::{Source, Stored};
use super::plan::CellId;
use super::queue::Item;
use super::{CallId, InvocationId, Output, Session};
use crate::capnweb::expression::EncodeError;
use crate::capnweb::text;
use crate::capnweb::value::{ErrorValue, Value};
use crate::capnweb::writer::{Carry, Writer};

/// Results smaller than this are kept for later calls however much is retained: their number is bounded anyway.
const ALWAYS_KEPT: usize = 1024;

impl Session {
    /// The application finished a call of the peer. Drop what the call held first: stubs released by then are released
    /// on the wire before the answer.
    pub fn respond(&mut self, invocation: InvocationId, result: Result<Value, Value>) {
        let Some(running) = self.running.remove(&invocation) else { return };
        let cell = running.result;
        self.release_dropped();
        let store = |value| Stored::new(value, Source::Own, &self.retained);
        let settled = result.map(store).map_err(store);
        let (Ok(stored) | Err(stored)) = &settled;
        let forget = stored.size.bytes > ALWAYS_KEPT && self.retained.bytes() > self.limits.retained_bytes;
        self.settle(cell, settled);
        if forget && self.cells.get(cell).is_some() {
            let error = ErrorValue::new("Error", text::FORGOTTEN_RESULT).with_code(text::CODE_OVERLOADED);
            let error = Err(self.own_error(error));
            if let Some(cell) = self.cells.get_mut(cell) {
                cell.state = Some(error);
            }
        }
        self.finish_work();
    }

    /// The next thing to do, or `None` until something else happens.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.release_dropped();
        loop {
            match self.queue.pop()? {
                Item::Output(Output::Closed(reason)) => {
                    // Answers written after the end may have exported; nobody is left to call.
                    self.exports.clear();
                    return Some(Output::Closed(reason));
                }
                Item::Output(output) => return Some(output),
                // Released by the peer while the answer waited: it needs none.
                Item::Answer { id, stream: false, .. } if !self.is_closed() && self.exports.call(id).is_none() => {}
                Item::Answer { id, outcome, .. } => return Some(Output::Send(self.write_answer(id, &outcome))),
            }
        }
    }

    /// Settles a cell and tells whoever waits for it.
    pub(super) fn settle(&mut self, cell: CellId, settled: Settled) {
        let sinks = self.cells.settle(cell, &settled);
        let mut sinks = sinks.into_iter().peekable();
        let mut settled = Some(settled);
        while let Some(sink) = sinks.next() {
            // The last one gets the only reference that is left, so that it need not copy.
            let outcome = if sinks.peek().is_some() { settled.clone() } else { settled.take() };
            match (sink, outcome) {
                (Sink::Job(job), _) => self.job_input_settled(job),
                (Sink::Answer(id), Some(outcome)) => self.answer(id, outcome),
                (Sink::Settle(call), Some(outcome)) => self.settle_call(call, outcome),
                (_, None) => {}
            }
        }
    }

    /// Tells our application how its call ended.
    pub(super) fn settle_call(&mut self, call: CallId, outcome: Settled) {
        self.settling.remove(&call);
        let result = match outcome {
            Ok(stored) => Ok(self.unshare(stored)),
            Err(stored) => Err(self.unshare(stored)),
        };
        self.queue.push(Item::Output(Output::Settled { call, result }));
    }

    /// Queues the answer of a call that was pulled.
    pub(super) fn answer(&mut self, id: i64, outcome: Settled) {
        let Some(call) = self.exports.call(id) else { return };
        let stream = call.kind == PeerCallKind::Stream;
        if stream && let Some(call) = self.exports.remove_call(id) {
            self.release_cell(call.cell);
        }
        self.queue.push(Item::Answer { id, stream, outcome });
    }

    fn write_answer(&mut self, id: i64, outcome: &Settled) -> String {
        let error = match outcome {
            Ok(stored) => match self.write_resolve(id, &stored.value) {
                Ok(text) => return text,
                Err(error) => self.encode_error(&error),
            },
            Err(stored) => Arc::clone(stored),
        };
        write_reject(self, id, &error.value)
            .or_else(|error| write_reject(self, id, &self.encode_error(&error).value))
            .unwrap_or_else(|_| format!(r#"["reject",{id},["error","Error","{}"]]"#, text::UNSENDABLE_ERROR))
    }

    fn write_resolve(&mut self, id: i64, value: &Value) -> Result<String, EncodeError> {
        let bounds = self.write_bounds();
        let mark = self.exports.mark();
        let mut exporter = Exporter { exports: &mut self.exports, shared: &self.shared, limit: self.limits.exports };
        let mut writer = Writer::new(bounds, Some(&mut exporter as &mut dyn Carry));
        writer.raw(r#"["resolve","#);
        writer.integer(id);
        writer.raw(",");
        let written = writer.value(value, 0);
        writer.raw("]");
        let text = written.and_then(|()| writer.finish());
        if text.is_err() {
            self.exports.roll_back(mark);
        }
        text
    }

    /// An error that we made.
    pub(super) fn own_error(&self, error: ErrorValue) -> Arc<Stored> {
        Stored::new(error.into(), Source::Peer, &self.held)
    }

    pub(super) fn type_error(&self, message: String) -> Arc<Stored> {
        self.own_error(ErrorValue::new("TypeError", message))
    }

    /// What a call is rejected with whose values cannot be sent.
    pub(super) fn encode_error(&self, error: &EncodeError) -> Arc<Stored> {
        let value = ErrorValue::new("TypeError", error.to_string());
        self.own_error(match error {
            EncodeError::TooManyExports { .. } => value.with_code(text::CODE_OVERLOADED),
            EncodeError::TooLarge { .. } | EncodeError::TooDeep { .. } | EncodeError::TooManyDigits { .. } => {
                value.with_code(text::CODE_LIMIT_EXCEEDED)
            }
            _ => value,
        })
    }
}

/// Errors carry no references: JavaScript peers drop them on arrival.
fn write_reject(session: &Session, id: i64, value: &Value) -> Result<String, EncodeError> {
    let mut writer = Writer::new(session.write_bounds(), None);
    writer.raw(r#"["reject","#);
    writer.integer(id);
    writer.raw(",");
    writer.value(value, 0)?;
    writer.raw("]");
    writer.finish()
}
