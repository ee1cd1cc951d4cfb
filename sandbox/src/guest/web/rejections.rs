//! Rejections that nobody handles (HTML, 8.1.5.7): the program is told of them by `unhandledrejection` events when no jobs
//! are left, and by `rejectionhandled` events when one is handled after all. Nothing is kept before it listens.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::c_void;
use std::ptr::NonNull;

use rquickjs::{Ctx, Function, Result, Value, qjs};

use super::Web;

/// What the program has not been told yet, and what it has been.
pub(super) struct Rejections<'js> {
    /// Dispatches the event: `(type, promise, reason)`.
    tell: Function<'js>,
    state: RefCell<Untold<'js>>,
}

impl<'js> Rejections<'js> {
    pub(super) fn new(tell: Function<'js>) -> Self {
        Self { tell, state: RefCell::default() }
    }
}

/// Promises are known by their addresses. One that is freed may leave its address to another, which is then no longer
/// taken for it: only a promise that was rejected without a handler is ever handled late, and being rejected comes first.
#[derive(Default)]
struct Untold<'js> {
    /// In the order of their events. What was handled in time leaves a gap, which is at neither end.
    queue: VecDeque<Option<Notice<'js>>>,
    /// Notices that have left the front of the queue.
    gone: usize,
    /// Where the rejections that wait are, counted with those that are gone.
    places: HashMap<usize, usize>,
    /// Rejected promises whose event is over, and which are still not handled.
    told: HashSet<usize>,
    /// The promise whose event is being dispatched, until it is handled.
    telling: Option<usize>,
}

/// One event.
struct Notice<'js> {
    kind: Kind,
    promise: Value<'js>,
    reason: Value<'js>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unhandled,
    HandledLate,
}

impl<'js> Untold<'js> {
    fn push(&mut self, notice: Notice<'js>) {
        if self.queue.len() < MOST {
            if notice.kind == Kind::Unhandled {
                self.places.insert(address(&notice.promise), self.gone + self.queue.len());
            }
            self.queue.push_back(Some(notice));
        }
    }

    /// A promise was rejected that nobody handles.
    fn rejected(&mut self, promise: Value<'js>, reason: Value<'js>) {
        self.told.remove(&address(&promise));
        self.push(Notice { kind: Kind::Unhandled, promise, reason });
    }

    /// A promise that was rejected before is handled now. What the program is not going to be told comes back, to be
    /// freed when nobody looks at the queue.
    fn handled(&mut self, promise: Value<'js>, reason: Value<'js>) -> Option<Notice<'js>> {
        let at = address(&promise);
        if let Some(place) = self.places.remove(&at) {
            let notice = self.queue.get_mut(place - self.gone).and_then(Option::take);
            while let Some(None) = self.queue.back() {
                self.queue.pop_back();
            }
            self.close_front();
            return notice;
        }
        if self.telling == Some(at) {
            self.telling = None;
        } else if self.told.remove(&at) {
            self.push(Notice { kind: Kind::HandledLate, promise, reason });
        }
        None
    }

    fn next(&mut self) -> Option<Notice<'js>> {
        let notice = self.queue.pop_front().flatten()?;
        self.gone += 1;
        self.close_front();
        if notice.kind == Kind::Unhandled {
            let at = address(&notice.promise);
            self.places.remove(&at);
            self.telling = Some(at);
        }
        Some(notice)
    }

    fn close_front(&mut self) {
        while let Some(None) = self.queue.front() {
            self.queue.pop_front();
            self.gone += 1;
        }
    }

    /// The event is over.
    fn end(&mut self) {
        if let Some(at) = self.telling.take()
            && self.told.len() < MOST
        {
            self.told.insert(at);
        }
    }
}

/// `trackRejections()`: from now on the program is told.
pub(super) fn track(ctx: Ctx<'_>) {
    // SAFETY: a live runtime; the function keeps to the engine's interface.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetHostPromiseRejectionTracker(runtime, Some(tracker), std::ptr::null_mut());
    }
}

unsafe extern "C" fn tracker(
    raw: *mut qjs::JSContext,
    promise: qjs::JSValue,
    reason: qjs::JSValue,
    is_handled: bool,
    _: *mut c_void,
) {
    let Some(raw) = NonNull::new(raw) else { return };
    // SAFETY: the engine passes its context and two live values, of which these are references of their own.
    let (ctx, promise, reason) = unsafe {
        let ctx = Ctx::from_raw(raw);
        let owned = |value| Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw.as_ptr(), value));
        let (promise, reason) = (owned(promise), owned(reason));
        (ctx, promise, reason)
    };
    let Some(web) = ctx.userdata::<Web<'_>>() else { return };
    if is_handled {
        let untold = web.rejections.state.borrow_mut().handled(promise, reason);
        drop(untold);
    } else {
        web.rejections.state.borrow_mut().rejected(promise, reason);
    }
}

/// How many events there are to dispatch at most, and none only when there are none. The event loop does so when no jobs
/// are left, and runs the jobs of one before the next.
pub(crate) fn untold_rejections(ctx: &Ctx<'_>) -> usize {
    ctx.userdata::<Web<'_>>().map_or(0, |web| web.rejections.state.borrow().queue.len())
}

/// Dispatches the next event, if there is one.
///
/// # Errors
/// Only what a program cannot catch: an interrupt. What its listeners throw is reported as an `error` event.
pub(crate) fn tell_rejection(ctx: &Ctx<'_>) -> Result<()> {
    let (tell, notice) = {
        let Some(web) = ctx.userdata::<Web<'_>>() else { return Ok(()) };
        let Some(notice) = web.rejections.state.borrow_mut().next() else { return Ok(()) };
        (web.rejections.tell.clone(), notice)
    };
    let name = match notice.kind {
        Kind::Unhandled => "unhandledrejection",
        Kind::HandledLate => "rejectionhandled",
    };
    let told = tell.call::<_, ()>((name, notice.promise.clone(), notice.reason.clone()));
    if let Some(web) = ctx.userdata::<Web<'_>>() {
        web.rejections.state.borrow_mut().end();
    }
    told
}

fn address(promise: &Value<'_>) -> usize {
    // SAFETY: the engine tracks promises, which are objects.
    unsafe { qjs::JS_VALUE_GET_PTR(promise.as_raw()) as usize }
}

/// Events that wait, and promises that are remembered: what a program makes beyond that it is not told.
const MOST: usize = 4096;
