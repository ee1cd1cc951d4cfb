//! The Web surface of a program: timers, events, encodings, structured clone, streams, fetch types.
//!
//! Written as scripts of our own that are evaluated once, in the zygote, before any guest code, plus natives where
//! JavaScript is slow or cannot say it. Every script gets one object, `lib`, on which scripts leave what later ones
//! need; it is never reachable from a program. Scripts take the intrinsics they use from `lib` (file
//! `primordials.js`), so a program that patches prototypes changes nothing but its own objects.
//!
//! To add an API: a script in `js/` that is listed in [`SCRIPTS`] behind what it uses, natives in `native/`, cases and a
//! corpus in `tests/web/`. `webidl.js` has what makes a class look as Web IDL wants.
//!
//! What a run needs of its own (time origin, pending timers) lives in [`Web`], and [`reset_for_run`] makes it new.

macro_rules! scripts {
    ($($first:path;)? $($name:literal),* $(,)?) => {
        &[$($first,)? $(Script { name: concat!("web/", $name), source: include_str!(concat!("js/", $name)) }),*]
    };
}

pub(crate) mod address;
pub(crate) mod base64url;
pub(crate) mod codec;
mod compiler;
pub(crate) mod data_url;
pub(crate) mod decoder;
pub(crate) mod deflate;
pub(crate) mod form;
pub(crate) mod gcm;
pub(crate) mod holes;
mod intl;
mod native;
mod node;
pub(crate) mod pattern;
mod rejections;
mod script;
mod stack;
mod timer_queue;
pub(crate) mod wtf8;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rquickjs::{Array, Ctx, Error, Function, JsLifetime, Object, Result, Value, qjs};

use compiler::{Compiled, Script};
use holes::Holes;
pub(crate) use node::{NODE_MODULES, node_module};
use rejections::Rejections;
pub(crate) use rejections::{tell_rejection, untold_rejections};
pub(crate) use timer_queue::{TimerId, TimerQueue};

/// What the engine lends to the Web surface.
pub(crate) struct WebHost<'js> {
    /// Whether this many bytes of native memory can be had now. Asked before a native makes a big buffer: the
    /// program then sees a catchable error where the allocator would have to end the process.
    pub(crate) charge: fn(usize) -> bool,
    /// Bytes that the engine's allocator holds, if it counts: the places that are free on the engine's pages now are
    /// then kept for programs. The engine has run a program like theirs before, so that there are enough.
    pub(crate) used: Option<fn() -> usize>,
    /// Performs one request: called with `(method, url, [[name, value]…], bytes | null, signal)` where bytes is a
    /// Uint8Array, it returns a promise of `{status, statusText, headers: [[name, value]…], body: Uint8Array | null}`.
    /// Redirects are followed by our `fetch`, each hop through this function. `None`: every request is refused, as
    /// network access is off.
    pub(crate) fetch: Option<Function<'js>>,
    /// What stacks call a program.
    pub(crate) program: &'static str,
}

/// The state of the Web surface in one context.
pub(crate) struct Web<'js> {
    timers: RefCell<TimerQueue>,
    /// Calls the callback of a timer.
    fire: Function<'js>,
    /// Reports an exception to the program.
    report: Function<'js>,
    rejections: Rejections<'js>,
    /// The address of a value that is a URL; undefined for any other.
    url_href: Function<'js>,
    /// Whether this run has made a URL.
    urls: Cell<bool>,
    origin: Cell<Instant>,
    /// Milliseconds since the epoch at the origin.
    origin_epoch: Cell<f64>,
    charge: fn(usize) -> bool,
    /// Finds the exports of one of Node's modules.
    node_module: Function<'js>,
    /// Says what a method of the console writes.
    console_text: Function<'js>,
    /// Bytecode of the late scripts, in their order.
    late_scripts: Vec<Box<[u8]>>,
}

// SAFETY: the only lifetime inside is that of the functions, and `Changed` differs in nothing else.
unsafe impl<'js> JsLifetime<'js> for Web<'js> {
    type Changed<'to> = Web<'to>;
}

impl Web<'_> {
    /// Time since the origin of this run.
    pub(crate) fn now(&self) -> Duration {
        self.origin.get().elapsed()
    }
}

/// Installs every global of the Web surface. Called once per context, in the zygote, before any guest code.
///
/// # Errors
/// The engine's exception: a script of ours is wrong or memory ran out; the engine cannot be used then.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, host: WebHost<'js>) -> Result<()> {
    let held = host.used.map(|used| (used, Holes::take(ctx, used)));
    make(ctx, host)?;
    if let Some((used, held)) = held {
        ctx.run_gc();
        // Filled for ever.
        std::mem::forget(Holes::take(ctx, used));
        held.give_back();
    }
    Ok(())
}

fn make<'js>(ctx: &Ctx<'js>, host: WebHost<'js>) -> Result<()> {
    let lib = Object::new(ctx.clone())?;
    lib.set_prototype(None)?;
    lib.set("global", ctx.globals())?;
    lib.set("native", native::functions(ctx)?)?;
    lib.set("fetchHook", host.fetch)?;
    lib.set("programName", host.program)?;
    for bytecode in Compiled::new(SCRIPTS)?.iter() {
        // SAFETY: compiled a moment ago by the engine that is linked into this process.
        unsafe { script::load(ctx, bytecode) }?.call::<_, ()>((lib.clone(),))?;
    }
    let web = Web {
        timers: RefCell::default(),
        fire: lib.get("fireTimer")?,
        report: lib.get("report")?,
        rejections: Rejections::new(lib.get("tellRejection")?),
        url_href: lib.get("urlHref")?,
        urls: Cell::new(false),
        origin: Cell::new(Instant::now()),
        origin_epoch: Cell::new(epoch_ms()),
        charge: host.charge,
        node_module: lib.get("nodeModule")?,
        console_text: lib.get("consoleText")?,
        late_scripts: Compiled::new(node::LATE_SCRIPTS)?.iter().map(Box::from).collect(),
    };
    // Nothing can be reading the store: no guest code has run and natives borrow it only while they run.
    let _ = ctx.store_userdata(web);
    Ok(())
}

/// Gives a forked child state of its own: a time origin, and no timers. Touches no JavaScript object.
pub(crate) fn reset_for_run(ctx: &Ctx<'_>) {
    if let Some(web) = ctx.userdata::<Web<'_>>() {
        web.timers.replace(TimerQueue::default());
        web.urls.set(false);
        web.origin.set(Instant::now());
        web.origin_epoch.set(epoch_ms());
    }
}

/// How long until the next timer is due: zero when one is due already, `None` when no timer is pending. A pending
/// timer means that the program is not stalled.
pub(crate) fn next_timer(ctx: &Ctx<'_>) -> Option<Duration> {
    let web = ctx.userdata::<Web<'_>>()?;
    let due = web.timers.borrow().next_due()?;
    Some(due.saturating_sub(web.now()))
}

/// Fires the first timer that is due, if one is; says whether one was. Jobs that its callback queued have not run
/// yet: the event loop runs them before it fires the next.
///
/// # Errors
/// Only what a program cannot catch: an interrupt. What the callback throws is reported as an `error` event.
pub(crate) fn fire_timer(ctx: &Ctx<'_>) -> Result<bool> {
    let (fire, id) = {
        let Some(web) = ctx.userdata::<Web<'_>>() else { return Ok(false) };
        let now = web.now();
        let Some(id) = web.timers.borrow_mut().take_due(now) else { return Ok(false) };
        (web.fire.clone(), id)
    };
    fire.call::<_, ()>((id.0,))?;
    Ok(true)
}

/// Takes the exception that is pending, which a job has thrown, and reports it as an `error` event, unless it is one that
/// programs cannot catch.
pub(crate) fn report_pending(ctx: &Ctx<'_>) {
    // SAFETY: a live context.
    if !unsafe { qjs::JS_HasException(ctx.as_raw().as_ptr()) } {
        return;
    }
    let thrown = ctx.catch();
    // SAFETY: a live value.
    if unsafe { qjs::JS_IsUncatchableError(thrown.as_raw()) } {
        return;
    }
    let report = ctx.userdata::<Web<'_>>().map(|web| web.report.clone());
    if report.is_some_and(|report| report.call::<_, ()>((thrown,)).is_err()) {
        drop(ctx.catch());
    }
}

/// The address of a value that is a `URL`, whatever its prototype and its members say; `None` for any other. Runs no code
/// of the program.
///
/// # Errors
/// The engine's exception when memory runs out.
pub(crate) fn url_href<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Value<'js>>> {
    let href = {
        let Some(web) = ctx.userdata::<Web<'_>>() else { return Ok(None) };
        // A result may have a million objects: nobody is asked about them when none can be a URL.
        if !web.urls.get() {
            return Ok(None);
        }
        web.url_href.clone()
    };
    let href: Value<'js> = href.call((value.clone(),))?;
    Ok(href.is_string().then_some(href))
}

/// The text that a method of the console writes for its arguments: a string, undefined when it writes nothing, or the
/// mark of an exception that is pending.
pub(crate) fn console_text(ctx: &Ctx<'_>, method: &str, args: &[qjs::JSValue]) -> qjs::JSValue {
    let text = || -> Result<Value<'_>> {
        let render = ctx.userdata::<Web<'_>>().map(|web| web.console_text.clone()).ok_or(Error::Unknown)?;
        let list = Array::new(ctx.clone())?;
        for (at, arg) in args.iter().enumerate() {
            // SAFETY: a live value of this context; the new reference is the array's.
            let arg = unsafe { Value::from_raw(ctx.clone(), qjs::JS_DupValue(ctx.as_raw().as_ptr(), *arg)) };
            list.set(at, arg)?;
        }
        render.call((method, list))
    };
    // SAFETY: the reference is given to the caller.
    text().map_or(qjs::JS_EXCEPTION, |text| unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), text.as_raw()) })
}

fn epoch_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0
}

/// In the order in which they run: each may use what the ones before it left on `lib`.
const SCRIPTS: &[Script] = scripts![
    stack::NEED_STACK;
    "primordials.js",
    "webidl.js",
    "promise.js",
    "events.js",
    "timers.js",
    "abort.js",
    "encoding.js",
    "clone.js",
    "performance.js",
    "streams.js",
    "readable.js",
    "writable.js",
    "pipe.js",
    "transform.js",
    "urlsearchparams.js",
    "url.js",
    "urlpattern.js",
    "headers.js",
    "blob.js",
    "formdata.js",
    "body.js",
    "response.js",
    "request.js",
    "fetch.js",
    "crypto.js",
    "crypto_algorithms.js",
    "crypto_keys.js",
    "subtle.js",
    "digest_stream.js",
    "compression.js",
    "node/errors.js",
    "node/buffer.js",
    "node/numbers.js",
    "node/modules.js",
    "node/process.js",
    "intl/core.js",
    "intl/number.js",
    "intl/date.js",
    "intl/text.js",
    "intl/duration.js",
    "intl/locale.js",
    "intl/methods.js",
    "date.js",
];
