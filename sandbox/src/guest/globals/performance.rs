//! `performance`: its origin is the beginning of the run, where the engine's own would be that of the zygote.

use std::ffi::c_int;

use rquickjs::qjs;

use crate::guest::js::{Atom, Cx, Js, Pending};
use crate::guest::state::state;

pub(super) fn install(cx: Cx) -> Js<()> {
    let performance = cx.object()?;
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    let flags = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE;
    performance.define(c"now", cx.plain_function(now, c"now", 0, kind)?, flags)?;
    let getter = cx.plain_function(time_origin, c"get timeOrigin", 0, kind)?;
    let key = Atom::of(cx, cx.string("timeOrigin")?.raw())?;
    // SAFETY: live values; the reference to the getter goes to the engine.
    let code = unsafe {
        let flags = (qjs::JS_PROP_CONFIGURABLE | qjs::JS_PROP_ENUMERABLE) as c_int;
        qjs::JS_DefinePropertyGetSet(cx.0, performance.raw(), key.raw(), getter.into_raw(), qjs::JS_UNDEFINED, flags)
    };
    if code < 0 {
        return Err(Pending);
    }
    super::tag(cx, &performance, "Performance")?;
    cx.global().define(c"performance", performance, flags)
}

unsafe extern "C" fn now(_: *mut qjs::JSContext, _: qjs::JSValue, _: c_int, _: *mut qjs::JSValue) -> qjs::JSValue {
    // Microseconds are enough for any program.
    qjs::JS_NewFloat64((state().clock.elapsed_ms() * 1000.0).floor() / 1000.0)
}

unsafe extern "C" fn time_origin(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    qjs::JS_NewFloat64(state().clock.origin_ms())
}
