//! Modules that the caller sends along: how the engine finds them and what it loads for them.

mod builtins;
mod graph;
#[cfg(test)]
mod hold;

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int, c_void};

use codemode_protocol::text;
use rquickjs::qjs;
use url::Url;

use super::alloc::Charge;
use super::errors;
use super::js::{Cx, Js, Kind, Pending, Val};
use super::program::FILE;
use super::state::{State, state};
use super::web;
use graph::Graph;

/// The modules of a run.
pub(super) struct Modules {
    graph: RefCell<Graph>,
    charge: RefCell<Charge>,
    /// Loads so far, failed ones included.
    loads: Cell<u32>,
    /// Loads that are under way, each for an import of the one before it.
    depth: Cell<u32>,
    /// What was loaded since the outermost load began.
    batch: RefCell<Vec<String>>,
    /// Where the run's stack begins, and how far it may go.
    stack: Cell<(usize, usize)>,
}

impl Modules {
    pub(super) fn new() -> Self {
        Self {
            graph: RefCell::default(),
            charge: RefCell::new(Charge::NONE),
            loads: Cell::new(0),
            depth: Cell::new(0),
            batch: RefCell::default(),
            stack: Cell::new((0, usize::MAX)),
        }
    }

    /// Takes the modules of a run, which may use `stack` bytes of stack from its caller's frame on.
    pub(super) fn begin(&self, modules: Vec<(String, String)>, stack: usize) {
        let graph = Graph::new(modules);
        self.charge.borrow_mut().resize(graph.bytes());
        self.graph.replace(graph);
        self.loads.set(0);
        self.stack.set((stack_position(), stack));
    }

    /// The source of the module that the engine calls `name`.
    pub(super) fn source(&self, name: &str) -> Option<String> {
        self.graph.borrow().find(name).map(|found| found.source.to_owned())
    }

    fn resolve(&self, importer: &str, specifier: &str) -> Result<String, String> {
        self.graph.borrow().resolve(importer, specifier).map(str::to_owned)
    }

    /// Compiles the module that the engine calls `name`, and by the engine's doing all that it imports.
    fn load(&self, state: &State, name: &CStr) -> Js<*mut qjs::JSModuleDef> {
        if name.to_str().is_ok_and(builtins::is_builtin) {
            // No key of the caller's is given a builtin's name.
            let module = web::node_module(&state.cx.ctx(), name);
            return if module.is_null() { Err(Pending) } else { Ok(module) };
        }
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        let loaded = self.compile(state, name);
        self.depth.set(depth);
        if loaded.is_ok() {
            self.batch.borrow_mut().push(name.to_string_lossy().into_owned());
        }
        if depth == 0 {
            let batch = self.batch.take();
            if loaded.is_err() {
                // The engine has freed the modules that failed and keeps those that succeeded, with pointers to the
                // freed ones where imports go in a circle. Under another name nothing finds them any more.
                let mut graph = self.graph.borrow_mut();
                batch.iter().for_each(|name| graph.forget(name));
            }
        }
        // The context holds the module; the value was one more reference.
        loaded.map(|module| definition(&module))
    }

    fn compile(&self, state: &State, name: &CStr) -> Js<Val> {
        let cx = state.cx;
        let loads = self.loads.get() + 1;
        self.loads.set(loads);
        if loads > MOST_LOADS {
            return Err(cx.throw_range_error(&c_text(text::too_many_modules(MOST_LOADS))));
        }
        let (base, bound) = self.stack.get();
        if base.abs_diff(stack_position()) > bound {
            return Err(cx.throw_range_error(c"Maximum call stack size exceeded"));
        }
        let text = name.to_string_lossy();
        let (key, source) = {
            let graph = self.graph.borrow();
            let Some(found) = graph.find(&text) else { return Err(throw_missing(state, &text)) };
            (found.key.to_owned(), found.source.to_owned())
        };
        let charge = Charge::of(2 * source.len());
        let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let compiled = cx.eval(&source, name, 1, flags);
        drop(charge);
        match compiled {
            Ok(module) => {
                set_address(cx, &module, &key)?;
                Ok(module)
            }
            Err(Pending) => {
                let thrown = cx.exception();
                name_place(state, &thrown, &text, &key);
                Err(cx.throw(thrown))
            }
        }
    }
}

/// Has the engine ask here for modules. The program's own `import.meta` is made here as well: the engine finds it by
/// the program's name at the first module of that name.
pub(super) fn install(cx: Cx) -> Js<()> {
    // SAFETY: a live runtime; the functions keep to the engine's interface.
    unsafe {
        qjs::JS_SetModuleLoaderFunc2(
            cx.runtime(),
            Some(resolve),
            Some(load),
            Some(check_attributes),
            std::ptr::null_mut(),
        );
    }
    let module = cx.eval("", FILE, 1, qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY)?;
    set_address(cx, &module, &FILE.to_string_lossy())
}

/// Sets `import.meta.url`: an address that relative ones can be resolved against, and behind which there is nothing.
fn set_address(cx: Cx, module: &Val, key: &str) -> Js<()> {
    let address = Url::parse("file:///").map(|mut url| {
        url.set_path(key);
        url.to_string()
    });
    let address = cx.string(address.as_deref().unwrap_or(key))?;
    // SAFETY: the value is a module, whose definition lives as long as the context.
    let meta = cx.own(unsafe { qjs::JS_GetImportMeta(cx.0, definition(module)) })?;
    meta.define(c"url", address, qjs::JS_PROP_C_W_E)
}

/// The definition in a module value.
pub(super) fn definition(module: &Val) -> *mut qjs::JSModuleDef {
    // SAFETY: a module value holds a pointer, which is only copied.
    unsafe { qjs::JS_VALUE_GET_PTR(module.raw()) }.cast()
}

/// Appends the place to the message of an error that the parser threw about the module `name`. The engine's error says
/// it only in its stack.
fn name_place(state: &State, thrown: &Val, name: &str, key: &str) {
    let amend = || -> Js<()> {
        let Some((line, column)) = errors::place_in(state, thrown, name) else { return Ok(()) };
        let message = thrown.get_own(c"message")?;
        if message.kind() != Kind::String {
            return Ok(());
        }
        let message = text::in_module(&message.to_text()?, &text::shortened(key, SPECIFIER_SHOWN), line, column);
        thrown.define(c"message", state.cx.string(&message)?, qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE)
    };
    if thrown.is_error() && amend().is_err() {
        drop(state.cx.exception());
    }
}

fn throw_missing(state: &State, specifier: &str) -> Pending {
    let cx = state.cx;
    let thrown = cx.string(&text::no_such_module(&text::shortened(specifier, SPECIFIER_SHOWN))).and_then(|message| {
        let mut args = [message.raw()];
        // SAFETY: live values; the result is a reference of its own.
        cx.own(unsafe { qjs::JS_CallConstructor(cx.0, state.captured.error.raw(), 1, args.as_mut_ptr()) })
    });
    match thrown {
        Ok(error) => cx.throw(error),
        Err(pending) => pending,
    }
}

unsafe extern "C" fn resolve(
    cx: *mut qjs::JSContext,
    importer: *const c_char,
    specifier: *const c_char,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: the engine passes C strings.
    let (importer, specifier) = unsafe { (CStr::from_ptr(importer), CStr::from_ptr(specifier)) };
    let state = state();
    let resolved = if specifier.count_bytes() > LONGEST_SPECIFIER {
        Err(String::from_utf8_lossy(&specifier.to_bytes()[..LONGEST_SPECIFIER]).into_owned())
    } else {
        state.modules.resolve(&importer.to_string_lossy(), &specifier.to_string_lossy())
    };
    match resolved {
        Ok(name) => {
            let name = c_text(name);
            // SAFETY: the engine copies the C string with its own allocator, and frees it there.
            unsafe { qjs::js_strdup(cx, name.as_ptr()) }
        }
        Err(missing) => {
            let Pending = throw_missing(state, &missing);
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn load(
    _: *mut qjs::JSContext,
    name: *const c_char,
    _: *mut c_void,
    _: qjs::JSValue,
) -> *mut qjs::JSModuleDef {
    // SAFETY: the engine passes a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let state = state();
    state.modules.load(state, name).unwrap_or(std::ptr::null_mut())
}

/// Refuses every import attribute: there is nothing but JavaScript.
unsafe extern "C" fn check_attributes(_: *mut qjs::JSContext, _: *mut c_void, attributes: qjs::JSValue) -> c_int {
    let state = state();
    let refused = || -> Js<()> {
        let keys = state.cx.borrow(attributes).own_keys()?;
        if keys.len() == 0 {
            return Ok(());
        }
        let name = keys.text(0)?;
        let name = super::js::lossy(name.bytes());
        let refusal = text::import_attribute_refused(&text::shortened(&name, SPECIFIER_SHOWN));
        Err(state.cx.throw_type_error(&c_text(refusal)))
    };
    if refused().is_ok() { 0 } else { -1 }
}

/// Text for the engine's interface; what follows a zero byte is lost.
fn c_text(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let at = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(at);
        CString::new(bytes).unwrap_or_default()
    })
}

/// About where the stack is now.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0u8;
    std::ptr::addr_of!(here).addr()
}

/// Loads of one run. The engine looks modules up one by one and follows re-exports by recursion that is not bounded, so
/// their number has to be.
const MOST_LOADS: u32 = 5000;

/// Bytes of a specifier that is looked for at all.
const LONGEST_SPECIFIER: usize = 64 * 1024;

/// Bytes of a specifier that texts show.
const SPECIFIER_SHOWN: u64 = 1024;
