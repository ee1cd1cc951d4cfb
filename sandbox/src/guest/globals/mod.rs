//! The global surface that the engine itself does not bring, or brings in a form that a sandbox cannot have. All of it
//! is made once, in the zygote. What browsers have is the [Web surface](super::web)'s.

mod code_generation;
mod random;

use std::ffi::c_int;

use rquickjs::qjs;

pub(super) use random::Random;

use super::console;
use super::js::{Cx, Js, Val};

/// Prepares the global object.
pub(super) fn install(cx: Cx) -> Js<()> {
    console::install(cx)?;
    code_generation::install(cx)?;
    random::install(cx)
}

/// Names an object for `Object.prototype.toString`.
pub(super) fn tag(cx: Cx, object: &Val, name: &str) -> Js<()> {
    let symbol = cx.global().get(c"Symbol")?.get(c"toStringTag")?;
    let key = super::js::Atom::of(cx, symbol.raw())?;
    let value = cx.string(name)?;
    // SAFETY: a live object and key; the reference to the value goes to the engine.
    let code = unsafe {
        let flags = qjs::JS_PROP_CONFIGURABLE as c_int;
        qjs::JS_DefinePropertyValue(cx.0, object.raw(), key.raw(), value.into_raw(), flags)
    };
    if code < 0 { Err(super::js::Pending) } else { Ok(()) }
}
