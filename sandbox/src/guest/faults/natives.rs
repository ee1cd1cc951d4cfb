//! Natives whose messages depend on what they were given: the engine's own are called, and what they throw about their
//! arguments is thrown with V8's message.

use std::ffi::c_int;

use rquickjs::qjs;

use crate::guest::js::{Js, Pending, Plain, Val, answer, arguments};
use crate::guest::state::{State, state};

/// Puts ours in the place of the engine's.
pub(super) fn install(state: &State) -> Js<()> {
    let cx = state.cx;
    let json = cx.global().get(c"JSON")?;
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    let flags = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
    json.define(c"parse", cx.plain_function(parse as Plain, c"parse", 2, kind)?, flags)?;
    json.define(c"stringify", cx.plain_function(stringify as Plain, c"stringify", 3, kind)?, flags)
}

unsafe extern "C" fn parse(
    _: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) };
    let state = state();
    answer(parsed(state, &state.cx.borrow(this), args))
}

fn parsed(state: &State, this: &Val, args: &[qjs::JSValue]) -> Js<Val> {
    let cx = state.cx;
    let given = args.first().map_or_else(|| cx.undefined(), |text| cx.borrow(*text));
    // Once: it may run code of the program's.
    let text = if given.is_string() { given } else { cx.to_string(&given)? };
    let reviver = args.get(1).map_or_else(|| cx.undefined(), |reviver| cx.borrow(*reviver));
    state.captured.json_parse.call_with(this, &[&text, &reviver]).map_err(|pending| {
        let thrown = cx.exception();
        // What a reviver throws is thrown after the whole text was read.
        let message = match state.captured.error_kind(&thrown) {
            Some("SyntaxError") => text.units().ok().and_then(|units| super::json_syntax::message(&units)),
            _ => None,
        };
        let Pending = pending;
        match message {
            Some(message) => state.captured.throw(cx, &state.captured.syntax_error, &message),
            None => cx.throw(thrown),
        }
    })
}

unsafe extern "C" fn stringify(
    _: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) };
    let state = state();
    let cx = state.cx;
    let mut given = args.iter().map(|arg| cx.borrow(*arg));
    let mut next = || given.next().unwrap_or_else(|| cx.undefined());
    let (value, replacer, space) = (next(), next(), next());
    let written = state.captured.json_stringify.call_with(&cx.borrow(this), &[&value, &replacer, &space]);
    answer(written.map_err(|pending| {
        let thrown = cx.exception();
        let Pending = pending;
        let is_circle = matches!(state.captured.error_kind(&thrown), Some("TypeError"))
            && thrown
                .own_data("message")
                .is_ok_and(|message| message.is_some_and(|text| text.is_text("circular reference")));
        // With a replacer other values are written than those that are there.
        let message = (is_circle && replacer.is_undefined()).then(|| super::circle::message(state, &value)).flatten();
        match message {
            Some(message) => state.captured.throw(cx, &state.captured.type_error, &message),
            None => cx.throw(thrown),
        }
    }))
}
