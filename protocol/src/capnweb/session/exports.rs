//! What the peer refers to at our side: results of its calls under positive ids, objects of ours under negative ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::CellId;
use crate::capnweb::expression::EncodeError;
use crate::capnweb::stub::{Shared, Stub};
use crate::capnweb::target::Target;
use crate::capnweb::writer::Carry;

/// A call of the peer that it has not released.
pub(crate) struct PeerCall {
    pub(crate) cell: CellId,
    pub(crate) kind: PeerCallKind,
    pub(crate) pulled: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PeerCallKind {
    Push,
    /// Pulled and released without being asked.
    Stream,
    Pipe,
}

/// An object of ours that the peer holds.
struct Exported {
    target: Arc<dyn Target>,
    /// Always one when we export under fresh ids, counted all the same.
    refs: u64,
}

#[derive(Default)]
pub(crate) struct Exports {
    /// How many positive ids the peer has used.
    last_call: i64,
    calls: BTreeMap<i64, PeerCall>,
    pipes: usize,
    /// How many negative ids we have used.
    used: i64,
    objects: BTreeMap<i64, Exported>,
}

impl Exports {
    /// Stores a call of the peer under the next id, which it counts as we do.
    pub(crate) fn add_call(&mut self, cell: CellId, kind: PeerCallKind) -> i64 {
        self.last_call += 1;
        self.pipes += usize::from(kind == PeerCallKind::Pipe);
        self.calls.insert(self.last_call, PeerCall { cell, kind, pulled: false });
        self.last_call
    }

    pub(crate) fn call(&self, id: i64) -> Option<&PeerCall> {
        self.calls.get(&id)
    }

    pub(crate) fn call_mut(&mut self, id: i64) -> Option<&mut PeerCall> {
        self.calls.get_mut(&id)
    }

    pub(crate) fn remove_call(&mut self, id: i64) -> Option<PeerCall> {
        let call = self.calls.remove(&id)?;
        self.pipes -= usize::from(call.kind == PeerCallKind::Pipe);
        Some(call)
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn pipes(&self) -> usize {
        self.pipes
    }

    pub(crate) fn object(&self, id: i64) -> Option<&Arc<dyn Target>> {
        self.objects.get(&id).map(|exported| &exported.target)
    }

    pub(crate) fn objects(&self) -> usize {
        self.objects.len()
    }

    /// Exports an object under a fresh id: JavaScript peers release one reference only, however often an id came.
    fn add_object(&mut self, target: &Arc<dyn Target>) -> i64 {
        self.used += 1;
        self.objects.insert(-self.used, Exported { target: Arc::clone(target), refs: 1 });
        -self.used
    }

    /// Takes back `count` references of an object.
    pub(crate) fn release_object(&mut self, id: i64, count: u64) -> Result<(), &'static str> {
        let exported = self.objects.get_mut(&id).ok_or("release of an id that does not exist")?;
        exported.refs = exported.refs.checked_sub(count).ok_or("release of more references than were given")?;
        if exported.refs == 0 {
            self.objects.remove(&id);
        }
        Ok(())
    }

    /// Where to go back to if a message is not sent after all.
    pub(crate) fn mark(&self) -> i64 {
        self.used
    }

    /// Forgets what was exported since the mark; its ids have not left the house.
    pub(crate) fn roll_back(&mut self, mark: i64) {
        while self.used > mark {
            self.objects.remove(&-self.used);
            self.used -= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.objects.clear();
        self.pipes = 0;
    }
}

/// Exports what one message mentions.
pub(crate) struct Exporter<'s> {
    pub(crate) exports: &'s mut Exports,
    pub(crate) shared: &'s Arc<Shared>,
    pub(crate) limit: usize,
}

impl Carry for Exporter<'_> {
    fn stub(&mut self, stub: &Stub) -> Result<i64, EncodeError> {
        stub.id_in(self.shared).ok_or(EncodeError::ForeignStub)
    }

    fn local(&mut self, target: &Arc<dyn Target>) -> Result<i64, EncodeError> {
        if self.exports.objects() >= self.limit {
            return Err(EncodeError::TooManyExports { limit: self.limit });
        }
        Ok(self.exports.add_object(target))
    }
}
