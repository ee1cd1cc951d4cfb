//! A cancellation flag that can be awaited, shared by the session engine and the native contract.
//!
//! The source and its tokens are independent: dropping the source does not cancel, because most work ends by being
//! finished, not by being called off.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The side that raises the cancellation. Clones raise the same one.
#[derive(Clone, Debug, Default)]
pub struct CancelSource {
    state: Arc<State>,
}

/// The side that observes the cancellation. Clones observe the same one.
#[derive(Clone, Debug)]
pub struct CancelToken {
    state: Arc<State>,
}

/// Resolves when the cancellation is raised; made by [`CancelToken::cancelled`].
#[derive(Debug)]
pub struct Cancelled {
    state: Arc<State>,
    /// Where our waker is registered, once polled.
    key: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    raised: AtomicBool,
    wakers: Mutex<Wakers>,
}

#[derive(Debug, Default)]
struct Wakers {
    next: u64,
    waiting: BTreeMap<u64, Waker>,
}

impl CancelSource {
    /// A source that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token of this source.
    pub fn token(&self) -> CancelToken {
        CancelToken { state: Arc::clone(&self.state) }
    }

    /// Raises the cancellation and wakes everyone who awaits it. Raising it again does nothing.
    pub fn cancel(&self) {
        if self.state.raised.swap(true, Ordering::AcqRel) {
            return;
        }
        let waiting = std::mem::take(&mut self.state.wakers().waiting);
        for waker in waiting.into_values() {
            waker.wake();
        }
    }

    /// Whether [`CancelSource::cancel`] has been called.
    pub fn is_cancelled(&self) -> bool {
        self.state.is_raised()
    }
}

impl CancelToken {
    /// A token that nobody can raise.
    pub fn never() -> Self {
        CancelSource::new().token()
    }

    /// Whether the cancellation has been raised.
    pub fn is_cancelled(&self) -> bool {
        self.state.is_raised()
    }

    /// A future that resolves once the cancellation is raised; at once if it already is.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { state: Arc::clone(&self.state), key: None }
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.state.is_raised() {
            return Poll::Ready(());
        }
        let state = Arc::clone(&self.state);
        let mut wakers = state.wakers();
        // Looked at again under the lock: `cancel` raises the flag before it takes the wakers.
        if state.is_raised() {
            return Poll::Ready(());
        }
        let key = *self.key.get_or_insert_with(|| {
            wakers.next += 1;
            wakers.next
        });
        match wakers.waiting.get_mut(&key) {
            Some(known) => known.clone_from(cx.waker()),
            None => {
                wakers.waiting.insert(key, cx.waker().clone());
            }
        }
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let forgotten = self.state.wakers().waiting.remove(&key);
            drop(forgotten);
        }
    }
}

impl State {
    fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }

    fn wakers(&self) -> MutexGuard<'_, Wakers> {
        // A panic elsewhere cannot leave the map half-changed, so a poisoned lock is still good.
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn poll_once(future: &mut Cancelled, count: &Arc<Count>) -> Poll<()> {
        let waker = Waker::from(Arc::clone(count));
        Pin::new(future).poll(&mut Context::from_waker(&waker))
    }

    #[test]
    fn raising_wakes_every_waiter_once() {
        let source = CancelSource::new();
        let count = Arc::new(Count::default());
        let (mut first, mut second) = (source.token().cancelled(), source.token().cancelled());
        assert!(poll_once(&mut first, &count).is_pending());
        assert!(poll_once(&mut first, &count).is_pending());
        assert!(poll_once(&mut second, &count).is_pending());
        source.cancel();
        source.cancel();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(poll_once(&mut first, &count).is_ready());
        assert!(source.token().is_cancelled());
    }

    #[test]
    fn a_dropped_waiter_leaves_no_waker_behind() {
        let source = CancelSource::new();
        let count = Arc::new(Count::default());
        let mut waiting = source.token().cancelled();
        assert!(poll_once(&mut waiting, &count).is_pending());
        drop(waiting);
        assert!(source.state.wakers().waiting.is_empty());
        source.cancel();
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn dropping_the_source_does_not_cancel() {
        let source = CancelSource::new();
        let token = source.token();
        drop(source);
        assert!(!token.is_cancelled());
    }
}
