//! Executions whose result holds handles: their children wait, clocks stopped, until a function is called, or until
//! they are closed, expire or die.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use codemode_protocol::{ErrorCode, ExecutorError, Limits, text};
use tokio::{
    runtime::Handle,
    sync::{Mutex as Queue, OwnedMutexGuard},
    time::Instant,
};
use uuid::Uuid;

use super::{child::ForkedChild, queue::Tenant, shared::Reservation};
use crate::frame::{FrameReader, RunSpec};

/// The executions that a pool retains.
#[derive(Debug)]
pub(super) struct Retained {
    node: String,
    most: usize,
    ttl: Duration,
    entries: Mutex<HashMap<Uuid, Arc<Entry>>>,
}

/// One execution. Calls of it wait in a queue, first come, first served.
#[derive(Debug)]
struct Entry {
    /// To whom it belongs.
    tenant: Tenant,
    child: Arc<ForkedChild>,
    /// Its memory, given back with the entry.
    _memory: Option<Reservation>,
    /// Absent while a call is under way, and for good once one has ended the execution.
    parked: Arc<Queue<Option<Parked>>>,
}

/// A child that waits for a call, and what is known of its run.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) child: Arc<ForkedChild>,
    pub(super) reader: FrameReader,
    /// What its socket had no room for yet.
    pub(super) outbox: Vec<u8>,
    /// The run's, without its sources.
    pub(super) spec: RunSpec,
    /// Functions that it holds.
    pub(super) handles: u32,
    /// When it began to wait.
    pub(super) since: Instant,
    /// The CPU of its life until then.
    pub(super) cpu: Option<Duration>,
    /// Its memory, until the execution is retained, which then has it.
    pub(super) memory: Option<Reservation>,
}

impl Parked {
    /// Whether the child has done nothing since it began to wait. One that is honest is blocked on its socket; no clock
    /// runs for one that is not.
    fn is_idle(&self) -> bool {
        match (self.cpu, self.child.cpu()) {
            (Some(before), Some(now)) => now <= before + IDLE_CPU,
            // One that is gone is noticed by its end.
            (None, _) | (_, None) => true,
        }
    }
}

impl Retained {
    pub(super) fn new(node: String, limits: &Limits) -> Self {
        Self {
            node,
            most: usize::try_from(limits.max_retained).unwrap_or(usize::MAX),
            ttl: Duration::from_millis(limits.handle_ttl_ms),
            entries: Mutex::default(),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.entries().len()
    }

    /// Retains an execution of `tenant` under a new id, unless there are as many as may be: then its child is killed.
    pub(super) fn keep(self: &Arc<Self>, mut parked: Parked, tenant: Tenant, runtime: &Handle) -> Option<String> {
        let (uuid, child) = (Uuid::new_v4(), parked.child.clone());
        let memory = parked.memory.take();
        let parked = Arc::new(Queue::new(Some(parked)));
        let entry = Arc::new(Entry { tenant, child: child.clone(), _memory: memory, parked });
        {
            let mut entries = self.entries();
            if entries.len() >= self.most {
                child.kill();
                return None;
            }
            entries.insert(uuid, entry.clone());
        }
        runtime.spawn(expire(Arc::downgrade(self), uuid, Arc::downgrade(&entry), child, self.ttl));
        Some(format!("{}.{uuid}", self.node))
    }

    /// Waits for the execution's turn and takes it. What is not given back by [`Turn::give_back`] is gone.
    ///
    /// # Errors
    /// `HANDLE_NOT_FOUND`, and the same when it is another tenant's.
    pub(super) async fn take(
        self: &Arc<Self>,
        execution_id: &str,
        tenant: &Tenant,
    ) -> Result<(Turn, Parked), ExecutorError> {
        let uuid = self.uuid(execution_id)?;
        let entry = self.entries().get(&uuid).filter(|entry| entry.tenant == *tenant).cloned();
        let entry = entry.ok_or_else(|| not_found(execution_id))?;
        let mut place = entry.parked.clone().lock_owned().await;
        let parked = place.take();
        // The place is the last owner of what it holds once the entry is removed.
        let turn = Turn { retained: self.clone(), uuid, place };
        match parked {
            Some(parked) if turn.is_listed() && parked.child.end.get().is_none() => Ok((turn, parked)),
            _ => Err(not_found(execution_id)),
        }
    }

    /// Ends an execution; one that is not there, or is another tenant's, is fine.
    ///
    /// # Errors
    /// `HANDLE_NOT_FOUND` when it belongs to another node: closing it here would not end it.
    pub(super) fn close(&self, execution_id: &str, tenant: &Tenant) -> Result<(), ExecutorError> {
        match self.uuid(execution_id) {
            Ok(uuid) => {
                let is_own = self.entries().get(&uuid).is_some_and(|entry| entry.tenant == *tenant);
                if is_own {
                    self.remove(uuid);
                }
            }
            Err(error) if error.message == text::execution_not_found(execution_id) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Ends all of them.
    pub(super) fn close_all(&self) {
        let entries = std::mem::take(&mut *self.entries());
        entries.values().for_each(|entry| entry.child.kill());
    }

    fn remove(&self, uuid: Uuid) {
        // The lock is gone before the child is killed.
        let entry = self.entries().remove(&uuid);
        if let Some(entry) = entry {
            entry.child.kill();
        }
    }

    fn uuid(&self, execution_id: &str) -> Result<Uuid, ExecutorError> {
        let parts = execution_id.rsplit_once('.');
        let parts = parts.and_then(|(node, uuid)| Some((node, Uuid::try_parse(uuid).ok()?)));
        match parts {
            Some((node, uuid)) if node == self.node => Ok(uuid),
            Some((node, _)) => {
                let message = text::execution_elsewhere(execution_id, node, &self.node);
                Err(ExecutorError::new(ErrorCode::HandleNotFound, message))
            }
            None => Err(not_found(execution_id)),
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Entry>>> {
        // Only insertions and removals happen under this lock, so it is whole after a panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An execution's turn: nobody else calls it meanwhile. Dropping it without giving the child back ends the execution.
#[derive(Debug)]
pub(super) struct Turn {
    retained: Arc<Retained>,
    uuid: Uuid,
    place: OwnedMutexGuard<Option<Parked>>,
}

impl Turn {
    /// Whether the execution was not closed meanwhile.
    pub(super) fn is_listed(&self) -> bool {
        self.retained.entries().contains_key(&self.uuid)
    }

    /// Gives the child back for the next call.
    pub(super) fn give_back(mut self, parked: Parked) {
        if self.is_listed() {
            *self.place = Some(parked);
        } else {
            parked.child.kill();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.place.is_none() {
            self.retained.remove(self.uuid);
        }
    }
}

/// Ends an execution when its child dies, or when nobody has called it for so long.
async fn expire(retained: Weak<Retained>, uuid: Uuid, entry: Weak<Entry>, child: Arc<ForkedChild>, ttl: Duration) {
    let idle = async {
        loop {
            let Some(queue) = entry.upgrade().map(|entry| entry.parked.clone()) else { return };
            // Waits while a call is under way; whoever comes during the look below waits for that.
            let parked = queue.lock().await;
            let Some(due) = parked.as_ref().map(|parked| parked.since + ttl) else { return };
            let is_idle = parked.as_ref().is_some_and(Parked::is_idle);
            if !is_idle {
                tracing::warn!("a sandbox was at work where it had to wait, and was killed");
            }
            if due <= Instant::now() || !is_idle {
                if let Some(retained) = retained.upgrade() {
                    retained.remove(uuid);
                }
                return;
            }
            drop(parked);
            tokio::time::sleep_until(due.min(Instant::now() + LOOK)).await;
        }
    };
    tokio::select! {
        () = idle => {}
        _ = child.end.wait() => {
            if let Some(retained) = retained.upgrade() {
                retained.remove(uuid);
            }
        }
    }
}

/// The error of an execution that is not there.
pub(super) fn not_found(execution_id: &str) -> ExecutorError {
    ExecutorError::new(ErrorCode::HandleNotFound, text::execution_not_found(execution_id))
}

/// How often a child that waits is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What reaching its wait may cost a child after its last word.
const IDLE_CPU: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::process::Command;

    use codemode_protocol::ExecuteRequest;

    use super::*;
    use crate::{
        frame::OutboundSpec,
        sys::{self, Pidfd},
        zygote::ChildId,
    };

    fn parked(program: &str) -> (std::process::Child, Parked) {
        let process = Command::new("sh").args(["-c", program]).spawn().unwrap();
        let (ours, _) = sys::socket_pair(libc::SOCK_STREAM).unwrap();
        let pid = process.id().cast_signed();
        let child = Arc::new(ForkedChild::new(ChildId(0), pid, ours, Pidfd::open(pid).unwrap()));
        let limits = Limits::default();
        let request = ExecuteRequest::new("");
        let bounds = request.bounds(&limits);
        let spec = super::super::specify::specify(request, &bounds, &limits, OutboundSpec::Blocked);
        let (since, cpu) = (Instant::now(), child.cpu());
        (
            process,
            Parked {
                child,
                reader: FrameReader::new(),
                outbox: Vec::new(),
                spec,
                handles: 1,
                since,
                cpu,
                memory: None,
            },
        )
    }

    #[tokio::test]
    async fn a_child_that_works_while_it_has_to_wait_is_killed() {
        let retained = Arc::new(Retained::new("n".to_owned(), &Limits::default()));
        let (mut spins, spinning) = parked("while :; do :; done");
        let (mut sleeps, sleeping) = parked("exec sleep 60");
        let ids = [spinning, sleeping].map(|child| retained.keep(child, None, &Handle::current()).unwrap());
        // Ends by the kill and by nothing else.
        tokio::task::spawn_blocking(move || spins.wait().unwrap()).await.unwrap();
        assert_eq!(retained.take(&ids[0], &None).await.unwrap_err().code, ErrorCode::HandleNotFound);
        let (turn, child) = retained.take(&ids[1], &None).await.unwrap();
        turn.give_back(child);
        retained.close_all();
        assert!(!sleeps.wait().unwrap().success());
    }
}
