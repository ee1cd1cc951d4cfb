//! What we refer to at the peer's side: results of our calls under positive ids, its objects and promises under
//! negative ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::CallId;
use super::plan::CellId;
use crate::capnweb::stub::{Dropped, Handle, Shared, Stub};

/// Who waits for a call of ours.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    /// The application.
    Application(CallId),
    /// A call of the peer that led back to the peer; this is its result.
    Cell(CellId),
}

enum Import {
    Object {
        /// How often the peer introduced it; all are released together.
        refs: u64,
        generation: u64,
        handle: Weak<Handle>,
    },
    Promise(CellId),
}

/// What an id of the peer names.
pub(crate) enum Settles {
    Promise(CellId),
    Nothing,
    /// Something that cannot be settled.
    Object,
}

#[derive(Default)]
pub(crate) struct Imports {
    /// How many positive ids we have used.
    last_call: i64,
    calls: BTreeMap<i64, Owner>,
    objects: BTreeMap<i64, Import>,
    promises: usize,
    /// When promises are due, oldest first; some may be settled already.
    deadlines: VecDeque<(Duration, i64)>,
    generation: u64,
}

impl Imports {
    /// Counts a call that was sent.
    pub(crate) fn use_call(&mut self) -> i64 {
        self.last_call += 1;
        self.last_call
    }

    pub(crate) fn await_call(&mut self, id: i64, owner: Owner) {
        self.calls.insert(id, owner);
    }

    pub(crate) fn is_awaited(&self, id: i64) -> bool {
        self.calls.contains_key(&id)
    }

    pub(crate) fn remove_call(&mut self, id: i64) -> Option<Owner> {
        self.calls.remove(&id)
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn take_calls(&mut self) -> BTreeMap<i64, Owner> {
        std::mem::take(&mut self.calls)
    }

    pub(crate) fn objects(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn promises(&self) -> usize {
        self.promises
    }

    pub(crate) fn contains(&self, id: i64) -> bool {
        self.objects.contains_key(&id)
    }

    /// Counts a reference to an object of the peer. `None` if the id is that of a promise.
    pub(crate) fn introduce(&mut self, id: i64, shared: &Arc<Shared>) -> Option<Stub> {
        match self.objects.get_mut(&id) {
            Some(Import::Promise(_)) => None,
            Some(Import::Object { refs, generation, handle }) => {
                *refs += 1;
                if let Some(handle) = handle.upgrade() {
                    return Some(Stub::from_handle(handle));
                }
                // The last handle is gone but its release has not been sent: a new one takes over all references.
                self.generation += 1;
                *generation = self.generation;
                let stub = Stub::new(shared, id, self.generation);
                *handle = Arc::downgrade(stub.handle());
                Some(stub)
            }
            None => {
                self.generation += 1;
                let stub = Stub::new(shared, id, self.generation);
                let handle = Arc::downgrade(stub.handle());
                self.objects.insert(id, Import::Object { refs: 1, generation: self.generation, handle });
                Some(stub)
            }
        }
    }

    /// The number of references to release, if the dropped handle was the current one.
    pub(crate) fn drop_handle(&mut self, dropped: Dropped) -> Option<u64> {
        match self.objects.get(&dropped.id) {
            Some(Import::Object { refs, generation, .. }) if *generation == dropped.generation => {
                let refs = *refs;
                self.objects.remove(&dropped.id);
                Some(refs)
            }
            _ => None,
        }
    }

    pub(crate) fn add_promise(&mut self, id: i64, cell: CellId, due: Duration) {
        self.objects.insert(id, Import::Promise(cell));
        self.promises += 1;
        self.deadlines.push_back((due, id));
    }

    /// What `resolve` and `reject` of a negative id concern.
    pub(crate) fn settles(&self, id: i64) -> Settles {
        match self.objects.get(&id) {
            Some(Import::Promise(cell)) => Settles::Promise(*cell),
            Some(Import::Object { .. }) => Settles::Object,
            None => Settles::Nothing,
        }
    }

    pub(crate) fn remove_promise(&mut self, id: i64) -> Option<CellId> {
        let Some(Import::Promise(cell)) = self.objects.get(&id) else { return None };
        let cell = *cell;
        self.objects.remove(&id);
        self.promises -= 1;
        self.drop_stale_deadlines();
        Some(cell)
    }

    /// When the oldest promise is due.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.front().map(|(due, _)| *due)
    }

    /// The oldest promise, if it is due.
    pub(crate) fn overdue(&self, now: Duration) -> Option<i64> {
        self.deadlines.front().filter(|(due, _)| *due <= now).map(|(_, id)| *id)
    }

    /// Keeps the oldest deadline one of a live promise, and the queue no longer than twice the promises.
    fn drop_stale_deadlines(&mut self) {
        let objects = &self.objects;
        let live = |id: &i64| matches!(objects.get(id), Some(Import::Promise(_)));
        while self.deadlines.front().is_some_and(|(_, id)| !live(id)) {
            self.deadlines.pop_front();
        }
        if self.deadlines.len() > 2 * self.promises + 16 {
            self.deadlines.retain(|(_, id)| live(id));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.objects.clear();
        self.deadlines.clear();
        self.promises = 0;
    }
}
