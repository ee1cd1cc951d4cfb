//! How a session ends, and what happens then, in which order.

use super::imports::Owner;
use super::queue::Item;
use super::{CallId, CloseOrigin, CloseReason, Fault, Output, Session};
use crate::capnweb::text;
use crate::capnweb::value::{ErrorValue, Value};
use crate::capnweb::writer::Writer;

impl Session {
    /// Ends the session with `["abort", error]`. Answers that are queued still leave before it.
    pub fn abort(&mut self, error: ErrorValue) {
        if self.is_closed() {
            return;
        }
        self.release_dropped();
        let reason = error.message.clone();
        let error = Value::from(error);
        let frame = abort_frame(self, &error);
        self.queue.close(true);
        self.queue.send(frame);
        self.end(error, CloseOrigin::Local, text::CLOSE_CODE, &reason);
    }

    /// Ends the session cleanly, without an abort frame. Answers that are queued still leave before.
    pub fn close(&mut self) {
        if self.is_closed() {
            return;
        }
        self.queue.close(true);
        self.end(Value::error(text::CLEAN_CLOSE), CloseOrigin::Local, text::CLOSE_CODE, text::CLEAN_CLOSE);
    }

    /// The connection ended; 1006 and an empty reason if it did so without a close frame.
    pub fn transport_closed(&mut self, code: u16, reason: &str) {
        if self.is_closed() {
            return;
        }
        self.queue.close(false);
        self.end(Value::error(text::peer_closed(code, reason)), CloseOrigin::Transport, code, reason);
    }

    /// The peer broke a rule or a bound.
    pub(super) fn fail(&mut self, fault: &Fault) {
        self.abort(fault.error());
    }

    /// The peer sent `abort`.
    pub(super) fn end_by_peer(&mut self, error: Value) {
        let reason = match &error {
            Value::Error(error) => error.message.clone(),
            Value::String(text) => text.to_string(),
            _ => String::new(),
        };
        self.queue.close(false);
        self.end(error, CloseOrigin::Peer, text::CLOSE_CODE, &reason);
    }

    /// Calls of ours settle, calls of the peer are cancelled, everything is dropped, the driver closes the socket.
    fn end(&mut self, error: Value, origin: CloseOrigin, close_code: u16, reason: &str) {
        self.closed = Some(error.clone());
        self.shared.close();
        let settling = std::mem::take(&mut self.settling).into_keys();
        let awaited = self.imports.take_calls().into_values().filter_map(|owner| match owner {
            Owner::Application(call) => Some(call),
            Owner::Cell(_) => None,
        });
        let mut calls: Vec<CallId> = settling.chain(awaited).collect();
        calls.sort_unstable();
        for call in calls {
            self.queue.push(Item::Output(Output::Settled { call, result: Err(error.clone()) }));
        }
        for running in std::mem::take(&mut self.running).into_values() {
            running.cancel.cancel();
        }
        self.jobs.clear();
        self.ready.clear();
        self.cells.clear();
        self.exports.clear();
        self.imports.clear();
        self.queue.push(Item::Output(Output::Closed(CloseReason {
            error,
            close_code,
            close_reason: cut(reason, text::CLOSE_REASON_BYTES).to_owned(),
            origin,
        })));
    }
}

fn abort_frame(session: &Session, error: &Value) -> String {
    let mut writer = Writer::new(session.write_bounds(), None);
    writer.raw(r#"["abort","#);
    let written = writer.value(error, 0);
    writer.raw("]");
    written
        .and_then(|()| writer.finish())
        .unwrap_or_else(|_| format!(r#"["abort",["error","Error","{}"]]"#, text::UNSENDABLE_ERROR))
}

/// The longest prefix of at most `bytes` bytes that ends between characters.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
