//! Results: of calls of the peer, of promises it sent, of calls inside its messages.
//!
//! A cell lives as long as something holds it (an entry of a table, a job that waits for it) or will settle it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::memory::Stored;
use super::pipeline::JobId;
use super::plan::CellId;
use super::{CallId, InvocationId};

/// A result that is known: the value, or what was thrown.
pub(crate) type Settled = Result<Arc<Stored>, Arc<Stored>>;

pub(crate) struct Cell {
    pub(crate) state: Option<Settled>,
    holders: usize,
    /// Who is told when it settles, in order.
    pub(crate) sinks: Vec<Sink>,
    pub(crate) producer: Producer,
}

/// Who is told that a result is known.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sink {
    /// The peer, which pulled its call with this id.
    Answer(i64),
    /// A job that needs it.
    Job(JobId),
    /// Our application.
    Settle(CallId),
}

/// Who will settle a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Producer {
    /// The message being handled, or a call of ours to the peer.
    Other,
    /// The application, running a call.
    Running(InvocationId),
    /// A job that waits.
    Parked(JobId),
    /// The peer, by settling its promise with this id.
    Promise(i64),
}

/// What became of a cell after one hold less.
pub(crate) enum Left {
    Held,
    /// Gone.
    Dropped,
    /// Nobody wants it, and it has yet to settle.
    Unwanted(Producer),
}

#[derive(Default)]
pub(crate) struct Cells {
    next: u64,
    live: BTreeMap<CellId, Cell>,
}

impl Cells {
    /// A cell that is not settled, with one hold, which belongs to the caller.
    pub(crate) fn create(&mut self, producer: Producer) -> CellId {
        self.next += 1;
        let id = CellId(self.next);
        self.live.insert(id, Cell { state: None, holders: 1, sinks: Vec::new(), producer });
        id
    }

    pub(crate) fn get(&self, id: CellId) -> Option<&Cell> {
        self.live.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: CellId) -> Option<&mut Cell> {
        self.live.get_mut(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }

    pub(crate) fn is_pending(&self, id: CellId) -> bool {
        self.live.get(&id).is_some_and(|cell| cell.state.is_none())
    }

    pub(crate) fn hold(&mut self, id: CellId) {
        if let Some(cell) = self.live.get_mut(&id) {
            cell.holders += 1;
        }
    }

    /// Gives one hold back.
    pub(crate) fn release(&mut self, id: CellId) -> Left {
        let Some(cell) = self.live.get_mut(&id) else { return Left::Dropped };
        cell.holders = cell.holders.saturating_sub(1);
        match (cell.holders, cell.producer) {
            (0, _) if cell.state.is_some() => {
                self.live.remove(&id);
                Left::Dropped
            }
            // A promise is held by its import too.
            (0, producer) | (1, producer @ Producer::Promise(_)) if cell.sinks.is_empty() && cell.state.is_none() => {
                Left::Unwanted(producer)
            }
            _ => Left::Held,
        }
    }

    /// Settles a cell and returns who must be told.
    pub(crate) fn settle(&mut self, id: CellId, settled: &Settled) -> Vec<Sink> {
        let Some(cell) = self.live.get_mut(&id) else { return Vec::new() };
        let sinks = std::mem::take(&mut cell.sinks);
        if cell.holders == 0 {
            self.live.remove(&id);
        } else {
            cell.state = Some(settled.clone());
            cell.producer = Producer::Other;
        }
        sinks
    }

    pub(crate) fn forget(&mut self, id: CellId) {
        self.live.remove(&id);
    }

    pub(crate) fn clear(&mut self) {
        self.live.clear();
    }
}
