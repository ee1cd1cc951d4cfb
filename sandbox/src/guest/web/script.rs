//! Making the functions of compiled scripts. They carry no source and no positions: a builtin's `toString` shows no
//! source and a stack trace no line of ours.

use rquickjs::{Ctx, Error, FromJs, Function, Result, Value, qjs};

/// Makes the function that a script is.
///
/// # Errors
/// The engine's exception when memory runs out.
///
/// # Safety
/// `bytecode` was written by this very engine.
pub(super) unsafe fn load<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Function<'js>> {
    // SAFETY: by this function's own contract; the engine copies what it keeps.
    let value = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let code = qjs::JS_ReadObject(raw, bytecode.as_ptr(), bytecode.len() as _, qjs::JS_READ_OBJ_BYTECODE as i32);
        // Frees `code`.
        owned(ctx, if qjs::JS_IsException(code) { code } else { qjs::JS_EvalFunction(raw, code) })?
    };
    Function::from_js(ctx, value)
}

/// Takes ownership of a raw value, or reports the exception that it stands for.
///
/// # Safety
/// `raw` is a value of `ctx` whose one reference the caller gives away.
pub(super) unsafe fn owned<'js>(ctx: &Ctx<'js>, raw: qjs::JSValue) -> Result<Value<'js>> {
    // SAFETY: by this function's own contract.
    unsafe {
        if qjs::JS_IsException(raw) {
            return Err(Error::Exception);
        }
        Ok(Value::from_raw(ctx.clone(), raw))
    }
}
