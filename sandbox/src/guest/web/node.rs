//! Node's modules as the engine's module loader wants them: modules without source, over the exports that a late script
//! returned. A late script is bytecode that is evaluated when a program first asks for it, so that one that does not
//! pays nothing.

use std::ffi::{CStr, CString, c_int};

use rquickjs::{Ctx, Error, Exception, Function, IntoJs, Object, Result, qjs};

use super::Web;
use super::compiler::Script;
use super::script;

/// The names of Node's modules that exist.
pub(crate) const NODE_MODULES: &[&str] = &[
    "node:buffer",
    "node:crypto",
    "node:events",
    "node:path",
    "node:path/posix",
    "node:process",
    "node:timers/promises",
    "node:url",
    "node:util",
    "node:util/types",
];

/// Scripts that are evaluated when they are first asked for.
pub(super) const LATE_SCRIPTS: &[Script] = scripts![
    "node/late/buffer.js",
    "node/late/comparisons.js",
    "node/late/console.js",
    "node/late/crypto.js",
    "node/late/events.js",
    "node/late/format.js",
    "node/late/inspect.js",
    "node/late/path-posix.js",
    "node/late/layout.js",
    "node/late/path.js",
    "node/late/process.js",
    "node/late/text.js",
    "node/late/timers.js",
    "node/late/types.js",
    "node/late/url.js",
    "node/late/util.js",
];

/// Makes the engine's module of this name, which is one of [`NODE_MODULES`]. Null when that failed; an exception is
/// pending then.
pub(crate) fn node_module(ctx: &Ctx<'_>, name: &CStr) -> *mut qjs::JSModuleDef {
    declare(ctx, name).unwrap_or_else(|error| {
        raise(ctx, &error);
        std::ptr::null_mut()
    })
}

fn declare(ctx: &Ctx<'_>, name: &CStr) -> Result<*mut qjs::JSModuleDef> {
    let raw = ctx.as_raw().as_ptr();
    let exports = exports(ctx, name)?;
    // SAFETY: a live context; the engine copies the name.
    let module = unsafe { qjs::JS_NewCModule(raw, name.as_ptr(), Some(fill)) };
    if module.is_null() {
        return Err(Error::Exception);
    }
    for key in exports.keys::<String>() {
        let key = CString::new(key?)?;
        // SAFETY: a module that was made a moment ago; the engine copies the name.
        if unsafe { qjs::JS_AddModuleExport(raw, module, key.as_ptr()) } < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(module)
}

/// Leaves an exception pending for an error that may not be one.
fn raise(ctx: &Ctx<'_>, error: &Error) {
    if !matches!(error, Error::Exception) {
        let _ = Exception::throw_type(ctx, &error.to_string());
    }
}

/// Gives the module's exports their values; the engine calls it when it evaluates the module.
unsafe extern "C" fn fill(raw: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> c_int {
    // SAFETY: the engine calls with its live context and a module of ours.
    let ctx = unsafe { Ctx::from_raw(std::ptr::NonNull::new_unchecked(raw)) };
    let fill = || -> Result<()> {
        // SAFETY: a live module; the name's text is freed by the engine's own function.
        let name = unsafe {
            let atom = qjs::JS_GetModuleName(raw, module);
            let text = qjs::JS_AtomToCStringLen(raw, std::ptr::null_mut(), atom);
            qjs::JS_FreeAtom(raw, atom);
            if text.is_null() {
                return Err(Error::Exception);
            }
            let name = CStr::from_ptr(text).to_owned();
            qjs::JS_FreeCString(raw, text);
            name
        };
        let exports = exports(&ctx, &name)?;
        for entry in exports.props::<String, rquickjs::Value<'_>>() {
            let (key, value) = entry?;
            let key = CString::new(key)?;
            // SAFETY: a live module; the value's new reference goes to the engine.
            let set = unsafe {
                let value = qjs::JS_DupValue(raw, value.as_raw());
                qjs::JS_SetModuleExport(raw, module, key.as_ptr(), value)
            };
            if set < 0 {
                return Err(Error::Exception);
            }
        }
        Ok(())
    };
    match fill() {
        Ok(()) => 0,
        Err(error) => {
            raise(&ctx, &error);
            -1
        }
    }
}

/// The exports of a module, in an object without a prototype.
fn exports<'js>(ctx: &Ctx<'js>, name: &CStr) -> Result<Object<'js>> {
    let find = ctx.userdata::<Web<'js>>().map(|web| web.node_module.clone()).ok_or(Error::Unknown)?;
    find.call((name.to_string_lossy().into_owned().into_js(ctx)?,))
}

/// `lateScript(name) -> function`: the late script of this name, not yet called.
pub(super) fn late_script<'js>(ctx: Ctx<'js>, name: String) -> Result<Function<'js>> {
    let at = LATE_SCRIPTS.iter().position(|script| script.name.strip_prefix("web/") == Some(name.as_str()));
    let web = ctx.userdata::<Web<'js>>().ok_or(Error::Unknown)?;
    let bytecode = at.and_then(|at| web.late_scripts.get(at)).ok_or(Error::Unknown)?;
    // SAFETY: compiled by the engine that is linked into this process, before the fork.
    unsafe { script::load(&ctx, bytecode) }
}
