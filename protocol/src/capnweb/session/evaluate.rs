//! What the reference tags of a message mean in this session.

use super::Session;
use super::cells::Producer;
use super::exports::PeerCallKind;
use super::plan::{CellId, Subject};
use crate::capnweb::decode::{Problem, References};
use crate::capnweb::value::Value;
use std::sync::Arc;

impl References for Session {
    fn subject(&mut self, id: i64) -> Result<Subject, Problem> {
        let subject = match id {
            0 => Some(Subject::Target(Arc::clone(&self.own_main))),
            ..0 => self.exports.object(id).map(|target| Subject::Target(Arc::clone(target))),
            _ => self.exports.call(id).map(|call| Subject::Cell(call.cell)),
        };
        subject.ok_or(Problem::Illegal("a reference to an id that does not exist"))
    }

    fn export(&mut self, id: i64) -> Result<Value, Problem> {
        self.check_new_import(id)?;
        let stub = self.imports.introduce(id, &self.shared);
        stub.map(Value::Stub).ok_or(Problem::Illegal("an export under the id of a promise"))
    }

    fn promise(&mut self, id: i64) -> Result<CellId, Problem> {
        self.check_new_import(id)?;
        if self.imports.contains(id) {
            return Err(Problem::Illegal("a promise under an id that is in use"));
        }
        if self.imports.promises() >= self.limits.promises {
            return Err(Problem::Limit { bound: "unsettled promises", limit: self.limits.promises });
        }
        let cell = self.cells.create(Producer::Promise(id));
        self.imports.add_promise(id, cell, self.now.saturating_add(self.limits.promise_deadline));
        Ok(cell)
    }

    fn readable(&mut self, id: i64) -> Result<(), Problem> {
        match self.exports.call(id) {
            Some(call) if call.kind == PeerCallKind::Pipe => Ok(()),
            _ => Err(Problem::Illegal("a reference to a pipe that does not exist")),
        }
    }
}

impl Session {
    fn check_new_import(&self, id: i64) -> Result<(), Problem> {
        if id >= 0 {
            return Err(Problem::Illegal("an object introduced under an id that is not negative"));
        }
        if self.imports.objects() >= self.limits.imports && !self.imports.contains(id) {
            return Err(Problem::Limit { bound: "objects held of the peer", limit: self.limits.imports });
        }
        Ok(())
    }
}
