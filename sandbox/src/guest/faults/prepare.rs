//! `Error.prepareStackTrace`, which is asked when a stack is read, as in V8: to make an error runs no code of a
//! program's. And `Error.prototype.stack`, through which stacks are read and replaced.

use std::ffi::c_int;

use rquickjs::qjs;

use super::Site;
use crate::guest::js::{Js, Pending, Val, answer};
use crate::guest::state::{State, state};

/// What the engine gets for an error's stack.
pub(super) enum Stack {
    /// That: a text, or what stands for one until it is read.
    Made(Val),
    /// The target of `Error.captureStackTrace` gets an own property, so the program is asked at once, about these sites.
    AskNow(Val),
}

impl Stack {
    /// The stack of an error where the program has a hook.
    pub(super) fn of(state: &State, error: &Val, text: Val, sites: &[Site]) -> Js<Self> {
        let objects = objects(state, sites)?;
        if !error.is_error() || !state.captured.stack_of(error)?.is_undefined() {
            return Ok(Self::AskNow(objects));
        }
        let unread = state.cx.bare_object()?;
        unread.define(SITES, objects, FLAGS)?;
        unread.define(STACK, text, FLAGS)?;
        Ok(Self::Made(unread))
    }
}

/// Call sites as a program sees them.
fn objects(state: &State, sites: &[Site]) -> Js<Val> {
    let cx = state.cx;
    // SAFETY: a live context; the reference is ours.
    let array = cx.own(unsafe { qjs::JS_NewArray(cx.0) })?;
    for (at, site) in sites.iter().enumerate() {
        let name = if site.name.is_empty() { cx.take(qjs::JS_NULL) } else { cx.string(&site.name)? };
        let (file, line, column) = match &site.place {
            Some((file, line, column)) => (cx.string(file)?, cx.int(*line), cx.int(*column)),
            None => (cx.take(qjs::JS_NULL), cx.take(qjs::JS_NULL), cx.take(qjs::JS_NULL)),
        };
        let constructs = cx.take(if site.is_constructor { qjs::JS_TRUE } else { qjs::JS_FALSE });
        let object = state.captured.make_site.call(&[&name, &file, &line, &column, &constructs])?;
        // SAFETY: a live array; the reference to the object goes to the engine.
        let code = unsafe {
            let flags = qjs::JS_PROP_C_W_E as c_int;
            qjs::JS_DefinePropertyValueUint32(cx.0, array.raw(), at as u32, object.into_raw(), flags)
        };
        if code < 0 {
            return Err(Pending);
        }
    }
    Ok(array)
}

/// Puts ours in the place of the engine's accessors.
pub(super) fn install(state: &State) -> Js<()> {
    let cx = state.cx;
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    let error = &state.captured.error;
    let getter = cx.plain_function(read_prepare, c"get prepareStackTrace", 0, kind)?;
    let setter = cx.plain_function(write_prepare, c"set prepareStackTrace", 1, kind)?;
    error.define_accessor(c"prepareStackTrace", getter, setter, qjs::JS_PROP_CONFIGURABLE)?;
    let getter = cx.plain_function(read_stack, c"get stack", 0, kind)?;
    let setter = cx.plain_function(write_stack, c"set stack", 1, kind)?;
    error.get(c"prototype")?.define_accessor(c"stack", getter, setter, qjs::JS_PROP_CONFIGURABLE)
}

unsafe extern "C" fn read_stack(
    _: *mut qjs::JSContext,
    this: qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    let state = state();
    answer(stack(state, &state.cx.borrow(this)))
}

fn stack(state: &State, error: &Val) -> Js<Val> {
    let kept = state.captured.stack_of(error)?;
    if !kept.is_object() {
        return Ok(kept);
    }
    let (sites, stack) = (kept.get_own(SITES)?, kept.get_own(STACK)?);
    let prepare = state.faults.prepare.borrow().clone();
    let Some(prepare) = prepare.filter(|_| sites.is_object()) else { return Ok(stack) };
    // A hook that reads a stack gets the text.
    if state.faults.is_asking.replace(true) {
        return Ok(stack);
    }
    // Once.
    let asked = kept.define(SITES, state.cx.undefined(), FLAGS);
    let prepared = asked.and_then(|()| prepare.call_with(&state.captured.error, &[error, &sites]));
    state.faults.is_asking.set(false);
    let prepared = prepared?;
    kept.define(STACK, prepared.clone(), FLAGS)?;
    Ok(prepared)
}

/// Any value becomes the object's own, and of an error, as in V8, one that is not enumerated.
unsafe extern "C" fn write_stack(
    _: *mut qjs::JSContext,
    this: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { crate::guest::js::arguments(argc, argv) };
    let state = state();
    let this = state.cx.borrow(this);
    if !this.is_object() {
        return answer(Err(state.cx.throw_type_error(c"not an object")));
    }
    let value = args.first().map_or_else(|| state.cx.undefined(), |value| state.cx.borrow(*value));
    let flags = if this.is_error() { FLAGS } else { qjs::JS_PROP_C_W_E };
    answer(this.define(STACK, value, flags).map(|()| state.cx.undefined()))
}

unsafe extern "C" fn read_prepare(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    let state = state();
    let prepare = state.faults.prepare.borrow().clone();
    prepare.unwrap_or_else(|| state.cx.undefined()).into_raw()
}

unsafe extern "C" fn write_prepare(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { crate::guest::js::arguments(argc, argv) };
    let state = state();
    let given = args.first().map(|value| state.cx.borrow(*value));
    // What was there is dropped after the borrow has ended.
    let before = state.faults.prepare.replace(given.filter(Val::is_function));
    drop(before);
    qjs::JS_UNDEFINED
}

const SITES: &std::ffi::CStr = c"sites";
const STACK: &std::ffi::CStr = c"stack";
const FLAGS: u32 = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
