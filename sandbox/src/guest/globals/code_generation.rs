//! Code from strings is off: `eval` and every function constructor throw. The engine's own ones
//! become unreachable: each hangs on one prototype and, `Function` and `eval`, on the global object.

use std::ffi::{CString, c_int};

use codemode_protocol::text::CODE_GENERATION_REFUSED;
use rquickjs::qjs;

use crate::guest::js::{Cx, Js, Pending, answer};
use crate::guest::state::state;

pub(super) fn install(cx: Cx) -> Js<()> {
    let prototypes = cx.eval(include_str!("function_prototypes.js"), c"function_prototypes.js", 1, 0)?;
    let mut function = None;
    for at in 0..prototypes.length()? {
        let entry = prototypes.get_index(at)?;
        let name = CString::new(entry.get_index(0)?.to_text()?).unwrap_or_default();
        let kind = qjs::JSCFunctionEnum_JS_CFUNC_constructor_or_func;
        let constructor = cx.plain_function(refuse, &name, 1, kind)?;
        // SAFETY: two live objects; defines `prototype` and `constructor` on them.
        let code = unsafe { qjs::JS_SetConstructor(cx.0, constructor.raw(), entry.get_index(1)?.raw()) };
        if code < 0 {
            return Err(Pending);
        }
        match &function {
            None => {
                cx.global().define(&name, constructor.clone(), HIDDEN)?;
                function = Some(constructor);
            }
            // The other constructors inherit from `Function`.
            Some(function) => constructor.set_prototype(function)?,
        }
    }
    let eval = cx.plain_function(refuse, c"eval", 1, qjs::JSCFunctionEnum_JS_CFUNC_generic)?;
    cx.global().define(c"eval", eval, HIDDEN)
}

unsafe extern "C" fn refuse(_: *mut qjs::JSContext, _: qjs::JSValue, _: c_int, _: *mut qjs::JSValue) -> qjs::JSValue {
    let state = state();
    let cx = state.cx;
    let thrown = cx.string(CODE_GENERATION_REFUSED).and_then(|message| {
        let mut args = [message.raw()];
        // SAFETY: live values; the result is a reference of its own.
        cx.own(unsafe { qjs::JS_CallConstructor(cx.0, state.captured.eval_error.raw(), 1, args.as_mut_ptr()) })
    });
    answer(thrown.and_then(|error| Err(cx.throw(error))))
}

const HIDDEN: u32 = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
