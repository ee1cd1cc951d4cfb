//! What a value is inside, whatever its prototype says.

use std::ffi::{CStr, c_int};

use rquickjs::{Ctx, Object, Result, Value, qjs};

use super::super::script::owned;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("classId", plain(ctx, c"classId", 1, class_id)?)?;
    natives.set("put", plain(ctx, c"put", 3, put)?)?;
    natives.set("proxyTarget", plain(ctx, c"proxyTarget", 1, proxy_target)?)?;
    natives.set("proxyHandler", plain(ctx, c"proxyHandler", 1, proxy_handler)?)?;
    natives.set("promiseState", plain(ctx, c"promiseState", 1, promise_state)?)?;
    natives.set("promiseResult", plain(ctx, c"promiseResult", 1, promise_result)?)?;
    natives.set("promiseThen", plain(ctx, c"promiseThen", 3, promise_then)?)
}

/// A function over the engine's plain interface: these are called for every value of a clone.
fn plain<'js>(ctx: &Ctx<'js>, name: &CStr, length: c_int, function: Plain) -> Result<Value<'js>> {
    let kind = qjs::JSCFunctionEnum_JS_CFUNC_generic;
    // SAFETY: the function keeps to the engine's interface.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        owned(ctx, qjs::JS_NewCFunction2(raw, Some(function), name.as_ptr(), length, kind, 0))
    }
}

type Plain = unsafe extern "C" fn(*mut qjs::JSContext, qjs::JSValue, c_int, *mut qjs::JSValue) -> qjs::JSValue;

/// `classId(object)`: the engine's number of an object's class; 0 for what is no object. Scripts learn the numbers from
/// samples.
unsafe extern "C" fn class_id(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says.
    unsafe {
        let value = *arguments;
        let id = if qjs::JS_IsObject(value) { qjs::JS_GetClassID(value) } else { 0 };
        qjs::JS_MKVAL(qjs::JS_TAG_INT, id as i32)
    }
}

/// `put(object, key, value)`: CreateDataProperty, which runs no setter.
unsafe extern "C" fn put(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says; the atom is freed and the
    // value's new reference given away.
    unsafe {
        let atom = qjs::JS_ValueToAtom(ctx, *arguments.add(1));
        let value = qjs::JS_DupValue(ctx, *arguments.add(2));
        let done = qjs::JS_DefinePropertyValue(ctx, *arguments, atom, value, qjs::JS_PROP_C_W_E as c_int);
        qjs::JS_FreeAtom(ctx, atom);
        if done < 0 { qjs::JS_EXCEPTION } else { qjs::JS_UNDEFINED }
    }
}

/// `proxyTarget(proxy)`: its target; null when it is revoked.
unsafe extern "C" fn proxy_target(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says; the answer is a new
    // reference, or an exception that is taken back.
    unsafe { or_null(ctx, qjs::JS_GetProxyTarget(ctx, *arguments)) }
}

/// `proxyHandler(proxy)`: its handler; null when it is revoked.
unsafe extern "C" fn proxy_handler(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: as in `proxy_target`.
    unsafe { or_null(ctx, qjs::JS_GetProxyHandler(ctx, *arguments)) }
}

/// The value, or null for an exception, which is dropped.
///
/// # Safety
/// `value` is a reference of its own, or the mark of the exception that is pending in `ctx`.
unsafe fn or_null(ctx: *mut qjs::JSContext, value: qjs::JSValue) -> qjs::JSValue {
    // SAFETY: by this function's own contract.
    unsafe {
        if !qjs::JS_IsException(value) {
            return value;
        }
        qjs::JS_FreeValue(ctx, qjs::JS_GetException(ctx));
        qjs::JS_NULL
    }
}

/// `promiseState(promise)`: 0 while it is pending, 1 when it is fulfilled, 2 when it is rejected.
unsafe extern "C" fn promise_state(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says.
    let state = unsafe { qjs::JS_PromiseState(ctx, *arguments) };
    let number = match state {
        qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => 1,
        qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => 2,
        _ => 0,
    };
    qjs::JS_MKVAL(qjs::JS_TAG_INT, number)
}

/// `promiseResult(promise)`: what it is settled with.
unsafe extern "C" fn promise_result(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says; the answer is a new reference.
    unsafe { qjs::JS_PromiseResult(ctx, *arguments) }
}

/// `promiseThen(promise, fulfilled, rejected)`: PerformPromiseThen with a new promise of the language's own. It reads no
/// property: a program's `then`, `constructor` and species have no say in it.
unsafe extern "C" fn promise_then(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    arguments: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes at least as many arguments as the function's length says; the answer is a new reference.
    unsafe { qjs::JS_PromiseThen(ctx, *arguments, *arguments.add(1), *arguments.add(2)) }
}
