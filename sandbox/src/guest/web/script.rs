//! Loading the embedded scripts: compiled in the zygote, then stripped of source and positions, so that a builtin's
//! `toString` shows no source and a stack trace no line of ours.

use std::ffi::{CStr, CString};

use rquickjs::{Ctx, Error, FromJs, Function, Result, Value, qjs};

/// A script is one function expression; this is its name in messages about the script itself and its text.
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
}

/// Compiles `script` and evaluates it to the function that it is.
///
/// # Errors
/// The engine's exception when the script does not compile.
pub(super) fn load<'js>(ctx: &Ctx<'js>, script: &Script) -> Result<Function<'js>> {
    let source = CString::new(script.source)?;
    let name = CString::new(script.name)?;
    let bytecode = compile(ctx, &source, &name)?;
    // SAFETY: the bytes were written a moment ago by this very engine; without ROM_DATA the engine copies what it keeps.
    let value = unsafe {
        let code = qjs::JS_ReadObject(
            ctx.as_raw().as_ptr(),
            bytecode.as_ptr(),
            bytecode.len() as _,
            qjs::JS_READ_OBJ_BYTECODE as i32,
        );
        if qjs::JS_IsException(code) {
            return Err(Error::Exception);
        }
        // Frees `code`.
        qjs::JS_EvalFunction(ctx.as_raw().as_ptr(), code)
    };
    // SAFETY: `value` is an owned value of this context.
    let value = unsafe { owned(ctx, value)? };
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

fn compile(ctx: &Ctx<'_>, source: &CStr, name: &CStr) -> Result<Vec<u8>> {
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_STRICT | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let mut strip = qjs::JS_WRITE_OBJ_BYTECODE as i32;
    if STRIPPED {
        strip |= (qjs::JS_WRITE_OBJ_STRIP_SOURCE | qjs::JS_WRITE_OBJ_STRIP_DEBUG) as i32;
    }
    // SAFETY: the source is NUL-terminated; every value made here is freed here; the written bytes are copied out
    // before they are freed.
    unsafe {
        let raw = ctx.as_raw().as_ptr();
        let code = qjs::JS_Eval(raw, source.as_ptr(), source.to_bytes().len() as _, name.as_ptr(), flags as i32);
        if qjs::JS_IsException(code) {
            return Err(Error::Exception);
        }
        let mut len = 0;
        let bytes = qjs::JS_WriteObject(raw, &raw mut len, code, strip);
        qjs::JS_FreeValue(raw, code);
        if bytes.is_null() {
            return Err(Error::Exception);
        }
        let copy = std::slice::from_raw_parts(bytes, len as usize).to_vec();
        qjs::js_free(raw, bytes.cast());
        Ok(copy)
    }
}

/// Turn off while looking for a mistake in a script: stack traces then show its lines.
const STRIPPED: bool = true;
