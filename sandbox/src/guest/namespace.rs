//! Namespaces: what a program sees of a provider.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::ffi::c_int;
use std::rc::Rc;

use rquickjs::qjs;

use super::dispatch;
use super::js::{Atom, Cx, Js, Val, answer, arguments};
use super::state::{State, state};
use crate::frame::{ProviderSpec, ToolNames};

/// The providers of the run.
#[derive(Debug)]
pub(super) struct Namespaces {
    all: RefCell<Vec<Rc<Provider>>>,
}

/// One provider, as calls need it.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) positional_args: bool,
    tools: ToolNames,
    index: OnceCell<HashSet<Vec<u8>>>,
    lookups: Cell<u32>,
}

impl Namespaces {
    pub(super) const fn new() -> Self {
        Self { all: RefCell::new(Vec::new()) }
    }

    /// Sets the providers of a run.
    pub(super) fn begin(&self, providers: &mut [ProviderSpec]) {
        let all = providers.iter_mut().map(|spec| {
            Rc::new(Provider {
                name: spec.name.clone(),
                positional_args: spec.positional_args,
                tools: std::mem::take(&mut spec.tools),
                index: OnceCell::new(),
                lookups: Cell::new(0),
            })
        });
        self.all.replace(all.collect());
    }

    /// The provider at `index`, as bound into natives.
    pub(super) fn provider(&self, index: i32) -> Option<Rc<Provider>> {
        self.all.borrow().get(usize::try_from(index).ok()?).cloned()
    }
}

impl Provider {
    /// Whether the host says that it answers `tool`. A few lookups scan the names; then they are put into a set, so
    /// that neither many names nor many calls cost much.
    pub(super) fn knows(&self, tool: &[u8]) -> bool {
        if self.tools.is_empty() {
            return true;
        }
        if self.index.get().is_none() && self.lookups.get() < SCANS {
            self.lookups.set(self.lookups.get() + 1);
            return self.tools.iter().any(|name| name == tool);
        }
        self.index.get_or_init(|| self.tools.iter().map(<[u8]>::to_vec).collect()).contains(tool)
    }
}

/// A namespace whose reads dispatch.
pub(super) fn proxy(state: &State, index: i32) -> Js<Val> {
    let cx = state.cx;
    // Traps are looked up on the handler, so it inherits nothing that a program could put in its way.
    let handler = cx.bare_object()?;
    handler.define(c"get", cx.function(read, c"get", 3, index, &[])?, 0)?;
    let target = cx.object()?;
    // SAFETY: two live objects, of which the proxy takes references of its own.
    cx.own(unsafe { qjs::JS_NewProxy(cx.0, target.raw(), handler.raw()) })
}

/// The raw dispatcher that a `proxySource` gets: `(tool, ...args) => Promise`.
pub(super) fn dispatcher(state: &State, index: i32) -> Js<Val> {
    state.cx.function(raw_call, c"dispatch", 1, index, &[])
}

/// The `get` trap: `(target, property, receiver)`.
unsafe extern "C" fn read(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    index: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) };
    let state = state();
    let [target, property, ..] = args else { return qjs::JS_UNDEFINED };
    answer(read_property(state.cx, &state.cx.borrow(*target), &state.cx.borrow(*property), index))
}

fn read_property(cx: Cx, target: &Val, property: &Val, index: i32) -> Js<Val> {
    let key = Atom::of(cx, property.raw())?;
    if target.has_own(key.raw())? {
        return target.get_atom(key.raw());
    }
    if !property.is_string() {
        return Ok(cx.undefined());
    }
    let name = property.text()?;
    // A namespace is no promise: awaiting one must not call the host.
    if name.bytes() == b"then" {
        return Ok(cx.undefined());
    }
    // As in the dialect, whose members are arrow functions of no name.
    let member = cx.function(call, c"", 0, index, &[property])?;
    state().captured.as_async(member)
}

/// A tool function of a namespace.
unsafe extern "C" fn call(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    index: c_int,
    data: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values, and the one value that was bound.
    let (args, tool) = unsafe { (arguments(argc, argv), *data) };
    let state = state();
    let args = args.iter().map(|arg| state.cx.borrow(*arg)).collect();
    answer(dispatch::call(state, index, &state.cx.borrow(tool), args))
}

unsafe extern "C" fn raw_call(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    index: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) };
    let state = state();
    let mut args = args.iter().map(|arg| state.cx.borrow(*arg));
    let tool = args.next().unwrap_or_else(|| state.cx.undefined());
    answer(state.captured.stringify(&tool).and_then(|tool| dispatch::call(state, index, &tool, args.collect())))
}

/// Lookups that scan before a set is built.
const SCANS: u32 = 4;
