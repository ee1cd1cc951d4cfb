//! What runs inside a child: the engine with its globals, made once in the zygote, and the one run that a child serves.
//!
//! One process, one thread, one runtime, one context, one run. [`Engine::new`] prepares everything that can be prepared
//! once; [`serve`] takes a forked child from there to its end. Between them and the engine lies [`js`], which owns
//! values; everything that natives need to know is in [`state`].

mod alloc;
mod body;
mod captured;
mod clock;
mod console;
mod dispatch;
mod encode;
mod errors;
mod event_loop;
mod faults;
mod globals;
mod handles;
#[cfg(test)]
mod hold;
mod hot_pages;
mod js;
mod json;
mod modules;
mod namespace;
mod outbound;
mod output;
mod program;
mod quiet;
mod run;
mod serve;
mod socket;
mod stack;
mod state;
mod views;
mod web;

use rquickjs::{Context, Runtime, qjs};

use hot_pages::HotPages;
pub(crate) use serve::serve;

/// Runtime, context, globals and prelude, ready to be forked.
pub(crate) struct Engine {
    state: &'static state::State,
    /// What a child writes to, whatever its program is.
    hot: Option<HotPages>,
}

impl Engine {
    /// Builds the engine in the zygote, once per process. Runs an ordinary program, so that what the engine makes on
    /// first use is shared by all children.
    ///
    /// # Errors
    /// A readable text when the engine cannot be set up; the zygote cannot work then.
    pub(crate) fn new() -> Result<Self, String> {
        let heap = web::holes::end_of_heap();
        let runtime = Runtime::new_with_alloc(alloc::Counting).map_err(|error| format!("no runtime: {error}"))?;
        let context = Context::full(&runtime).map_err(|error| format!("no context: {error}"))?;
        let cx = js::Cx(context.as_raw().as_ptr());
        // The runtime is never freed: a value that is still referenced would make that abort. Children exit instead.
        std::mem::forget(context);
        std::mem::forget(runtime);
        alloc::attach(cx.runtime());
        // SAFETY: a live runtime.
        unsafe {
            qjs::JS_UpdateStackTop(cx.runtime());
            qjs::JS_SetCanBlock(cx.runtime(), false);
        }
        let failed = |what: &str| format!("the engine's {what} could not be prepared");
        let captured = captured::Captured::take(cx).map_err(|_| failed("intrinsics"))?;
        let state = state::State::new(cx, captured).install();
        // SAFETY: a live runtime; the handler keeps to the engine's interface and finds the state installed.
        unsafe { qjs::JS_SetInterruptHandler(cx.runtime(), Some(interrupt), std::ptr::null_mut()) };
        globals::install(cx).map_err(|_| failed("globals"))?;
        modules::install(cx).map_err(|_| failed("modules"))?;
        faults::install(state).map_err(|_| failed("errors"))?;
        state.random.reseed()?;
        // Once before the Web surface is made, so that the places on the engine's pages that a program needs are free
        // when they are put aside for programs, and once after it.
        serve::warm_up(state, serve::ORDINARY);
        let hot = HotPages::of_heap(heap);
        install_web(cx).map_err(|_| failed("Web surface"))?;
        serve::warm_up(state, serve::ORDINARY);
        // SAFETY: a live runtime.
        unsafe { qjs::JS_RunGC(cx.runtime()) };
        Ok(Self { state, hot })
    }
}

/// Makes the Web surface; its requests go to the host.
fn install_web(cx: js::Cx) -> rquickjs::Result<()> {
    let ctx = cx.ctx();
    let fetch = outbound::hook(cx).map_err(|js::Pending| rquickjs::Error::Exception)?;
    // SAFETY: a live value of this context whose reference goes to the new owner.
    let fetch = unsafe { rquickjs::Value::from_raw(ctx.clone(), fetch.into_raw()) };
    let host = web::WebHost {
        charge: alloc::fits,
        used: Some(alloc::used),
        fetch: fetch.into_function(),
        program: program::FILE.to_str().unwrap_or_default(),
    };
    web::install(&ctx, host)
}

/// The polite path of the clocks, and the place from which the collector is tuned. True makes the engine throw what the
/// guest cannot catch, if it does not swallow it; the clock remembers either way.
unsafe extern "C" fn interrupt(_: *mut qjs::JSRuntime, _: *mut std::ffi::c_void) -> std::ffi::c_int {
    alloc::tune();
    std::ffi::c_int::from(state::state().clock.check().is_some())
}

#[cfg(test)]
mod tests;
