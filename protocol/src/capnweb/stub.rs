//! The local handle of an object that lives at the peer.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// A reference to an object of the peer. Cloning it is local; when the last clone is dropped the release is queued
/// and the session's waker is woken, so dropping never does I/O.
#[derive(Clone)]
pub struct Stub {
    handle: Arc<Handle>,
}

impl Stub {
    /// Whether this is the peer's main object.
    pub fn is_main(&self) -> bool {
        self.handle.id == 0
    }

    pub(crate) fn new(shared: &Arc<Shared>, id: i64, generation: u64) -> Self {
        Self { handle: Arc::new(Handle { shared: Arc::clone(shared), id, generation }) }
    }

    pub(crate) fn from_handle(handle: Arc<Handle>) -> Self {
        Self { handle }
    }

    pub(crate) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// The id of the import, if it belongs to the session that owns `shared`.
    pub(crate) fn id_in(&self, shared: &Arc<Shared>) -> Option<i64> {
        Arc::ptr_eq(&self.handle.shared, shared).then_some(self.handle.id)
    }
}

impl PartialEq for Stub {
    fn eq(&self, other: &Self) -> bool {
        self.handle.id == other.handle.id && Arc::ptr_eq(&self.handle.shared, &other.handle.shared)
    }
}

impl Eq for Stub {}

impl fmt::Debug for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stub({})", self.handle.id)
    }
}

pub(crate) struct Handle {
    shared: Arc<Shared>,
    id: i64,
    /// Tells a handle from an older one of the same id whose release was still queued when the peer sent the id again.
    generation: u64,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.id == 0 {
            return;
        }
        let waker = {
            let mut inner = self.shared.lock();
            if inner.closed {
                return;
            }
            inner.dropped.push(Dropped { id: self.id, generation: self.generation });
            inner.waker.clone()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The import whose last handle is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropped {
    pub(crate) id: i64,
    pub(crate) generation: u64,
}

/// What stubs and their session have in common.
#[derive(Default)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    dropped: Vec<Dropped>,
    waker: Option<Waker>,
    closed: bool,
}

impl Shared {
    pub(crate) fn set_waker(&self, waker: Waker) {
        self.lock().waker = Some(waker);
    }

    pub(crate) fn take_dropped(&self) -> Vec<Dropped> {
        std::mem::take(&mut self.lock().dropped)
    }

    pub(crate) fn has_dropped(&self) -> bool {
        !self.lock().dropped.is_empty()
    }

    /// From now on drops are not recorded: there is nobody left to release to.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.dropped = Vec::new();
        inner.waker = None;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing under the lock can leave the queue half-changed, so a poisoned lock is still good.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
