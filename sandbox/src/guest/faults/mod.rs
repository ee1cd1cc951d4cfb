//! What errors say: V8's messages in the place of the engine's own, and stacks that begin with the message.
//!
//! Hosts and models know V8's texts. The engine asks for an error's stack when it makes the error, before anybody has
//! seen it; the answer comes from here. An error of the engine's own, not of a program's `new Error`, gets V8's message
//! there if that follows from what is known ([`table`], [`calls`]); every stack gets its first line, the lines and
//! columns of the caller's own source, and no frames of ours.

mod calls;
mod circle;
mod json_syntax;
mod natives;
mod prepare;
#[cfg(test)]
mod seeds;
mod table;
mod words;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt::Write as _;
use std::rc::Rc;

use rquickjs::qjs;

use super::js::{Cx, Js, Kind, Pending, Val, answer};
use super::program::NAME;
use super::stack::Lines;
use super::state::{State, state};
use calls::Source;
use table::{Fault, Thrower};

/// What is kept about errors.
pub(super) struct Faults {
    /// The program's `Error.prepareStackTrace`.
    prepare: RefCell<Option<Val>>,
    /// Whether that is being asked.
    is_asking: Cell<bool>,
    /// Bytes of stack that the run may use.
    stack: Cell<usize>,
    /// The program as it was compiled, and the number of its first line there.
    program: RefCell<Option<(Rc<str>, i32)>>,
    /// How its lines relate to the caller's own.
    lines: Cell<Lines>,
    /// What is said of a source that does not parse, where that is known better than the parser knows it.
    parse_message: Cell<Option<&'static str>>,
    /// Sources that were looked through, by file.
    sources: RefCell<Vec<(String, Option<Rc<Source>>)>>,
}

impl Faults {
    pub(super) const fn new() -> Self {
        Self {
            prepare: RefCell::new(None),
            is_asking: Cell::new(false),
            stack: Cell::new(0),
            program: RefCell::new(None),
            lines: Cell::new(Lines::NONE),
            parse_message: Cell::new(None),
            sources: RefCell::new(Vec::new()),
        }
    }

    /// What is new for a run: its program and its stack.
    pub(super) fn begin(&self, program: Rc<str>, lines: Lines) {
        self.program.replace(Some((program, lines.module())));
        self.lines.set(lines);
        self.sources.borrow_mut().clear();
    }

    /// Runs `compile`; an error of the parser's gets that message.
    pub(super) fn with_parse_message<T>(&self, message: &'static str, compile: impl FnOnce() -> T) -> T {
        self.parse_message.set(Some(message));
        let compiled = compile();
        self.parse_message.set(None);
        compiled
    }

    /// The stack that the engine was given.
    pub(super) fn set_stack(&self, bytes: usize) {
        self.stack.set(bytes);
    }

    fn source(&self, state: &State, file: &str) -> Option<Rc<Source>> {
        if let Some((_, source)) = self.sources.borrow().iter().find(|(name, _)| name == file) {
            return source.clone();
        }
        let text = match file {
            NAME => self.program.borrow().clone(),
            _ => state.modules.source(file).map(|text| (Rc::from(text), 1)),
        };
        let source = text.and_then(|(text, line)| Source::new(text, line)).map(Rc::new);
        self.sources.borrow_mut().push((file.to_owned(), source.clone()));
        source
    }
}

/// Has the engine ask here for stacks, and replaces the natives whose messages depend on what they were given.
pub(super) fn install(state: &State) -> Js<()> {
    let cx = state.cx;
    state.faults.set_stack(super::run::LEAST_STACK);
    // Has to be set before the accessor of that name stands in the place of the engine's.
    state.captured.error.set(c"prepareStackTrace", hook(cx)?)?;
    prepare::install(state)?;
    natives::install(state)
}

/// The object that the engine calls. Of a class of its own: a function would be refused where the stack is used up, which
/// is where the error about that is made.
fn hook(cx: Cx) -> Js<Val> {
    let mut class = 0;
    let definition = qjs::JSClassDef {
        class_name: c"StackTrace".as_ptr(),
        finalizer: None,
        gc_mark: None,
        call: Some(called),
        exotic: std::ptr::null_mut(),
    };
    // SAFETY: a live runtime; the engine copies the definition.
    unsafe {
        qjs::JS_NewClassID(cx.runtime(), &raw mut class);
        if qjs::JS_NewClass(cx.runtime(), class, &raw const definition) < 0 {
            return Err(Pending);
        }
        cx.own(qjs::JS_NewObjectClass(cx.0, class))
    }
}

/// The engine's question: `(error, call sites)`. Never undefined: the engine would ask again.
unsafe extern "C" fn called(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    _: c_int,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { super::js::arguments(argc, argv) };
    let [error, sites, ..] = args else { return qjs::JS_NULL };
    let state = state();
    let (error, sites) = (state.cx.borrow(*error), state.cx.borrow(*sites));
    // The stack of a thread is larger than what a run is given, for this.
    let stack = state.faults.stack.get();
    // SAFETY: a live runtime; the room is there by the contract of `serve`.
    unsafe { qjs::JS_SetMaxStackSize(state.cx.runtime(), (stack + HEADROOM) as qjs::size_t) };
    let prepare = state.faults.prepare.borrow().clone();
    // What a program has to say of a DOMException's stack it would say while the exception is made.
    let prepare = prepare.filter(|_| error.class_id() != state.captured.classes.dom_exception);
    let made = stack_of(state, &error, &sites).and_then(|made| match (made, &prepare) {
        (Some((text, sites)), Some(_)) => prepare::Stack::of(state, &error, text, &sites).map(Some),
        (Some((text, _)), None) => Ok(Some(prepare::Stack::Made(text))),
        (None, _) => Ok(None),
    });
    // SAFETY: as above.
    unsafe { qjs::JS_SetMaxStackSize(state.cx.runtime(), stack as qjs::size_t) };
    match (made, prepare) {
        (Ok(Some(prepare::Stack::Made(stack))), _) => stack.into_raw(),
        (Ok(Some(prepare::Stack::AskNow(sites))), Some(prepare)) => {
            answer(prepare.call_with(&state.captured.error, &[&error, &sites]).map(|stack| match stack.kind() {
                Kind::Undefined => state.cx.take(qjs::JS_NULL),
                _ => stack,
            }))
        }
        (Ok(_), _) => qjs::JS_NULL,
        (Err(pending), _) => answer(Err(pending)),
    }
}

/// One entry of a stack.
struct Site {
    /// Empty for a function without one.
    name: String,
    /// Where; nothing for a native.
    place: Option<(String, i32, i32)>,
    /// Whether it was called with `new`.
    is_constructor: bool,
    /// Whether it stands for a source that does not parse, not for a call.
    is_source: bool,
}

/// The stack of an error, and the sites that it names; nothing for what has one or is no error. Gives an error of the engine's own its message first.
fn stack_of(state: &State, error: &Val, sites: &Val) -> Js<Option<(Val, Vec<Site>)>> {
    if !error.is_object() {
        return Ok(None);
    }
    let sites = read_sites(state, sites)?;
    let is_made_by_program = is_made_by_program(state.cx, &sites);
    if !is_made_by_program {
        // What is only thrown once more is asked about as well.
        let is_fresh = error.is_error() && state.captured.stack_of(error)?.is_undefined();
        if !is_fresh {
            return Ok(None);
        }
        if let Some(message) = message_for(state, error, &sites)? {
            // V8 has no such class, and a stack that is used up is a RangeError wherever that is found.
            if state.captured.error_kind(error) == Some("InternalError") || message == STACK_USED_UP {
                state.captured.make_range_error(error)?;
            }
            let flags = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
            error.define(c"message", state.cx.string(&message)?, flags)?;
        }
    }
    let sites = shown(sites, state.faults.lines.get());
    let mut frames = String::new();
    sites.iter().for_each(|site| write_frame(&mut frames, site));
    let header =
        state.captured.error_text(error).and_then(|text| state.captured.prefix(state.cx, &text, LONGEST_HEADER));
    let header = header.unwrap_or_else(|Pending| {
        drop(state.cx.exception());
        state.cx.undefined()
    });
    let mut text = if header.is_string() { header.text()?.bytes().to_vec() } else { b"Error".to_vec() };
    text.extend_from_slice(frames.as_bytes());
    // SAFETY: the bytes are copied.
    let stack = unsafe { qjs::JS_NewStringLen(state.cx.0, text.as_ptr().cast(), text.len() as qjs::size_t) };
    state.cx.own(stack).map(|stack| Some((stack, sites)))
}

fn read_sites(state: &State, sites: &Val) -> Js<Vec<Site>> {
    let methods = &state.captured.call_site;
    let mut read = Vec::new();
    for at in 0..sites.length()? {
        let site = sites.get_index(at)?;
        let name = methods.function_name.call_with(&site, &[])?;
        let name = if name.is_string() { name.to_text()? } else { String::new() };
        let is_native = methods.is_native.call_with(&site, &[])?.kind() == Kind::Bool(true);
        let number = |method: &Val| -> Js<i32> {
            Ok(match method.call_with(&site, &[])?.kind() {
                Kind::Int(number) => number,
                _ => -1,
            })
        };
        let place = match is_native {
            true => None,
            false => {
                let file = methods.file_name.call_with(&site, &[])?;
                let file = if file.is_string() { file.to_text()? } else { String::new() };
                Some((file, number(&methods.line)?, number(&methods.column)?))
            }
        };
        let is_source = methods.function.call_with(&site, &[])?.kind() == Kind::Null;
        let is_constructor = methods.is_constructor.call_with(&site, &[])?.kind() == Kind::Bool(true);
        read.push(Site { name, place, is_constructor, is_source });
    }
    Ok(read)
}

/// Whether an error comes from a constructor or a function that a program called, and not from the engine: the engine
/// leaves that function out of the stack, so that the calls under way are one more than the sites.
fn is_made_by_program(cx: Cx, sites: &[Site]) -> bool {
    if sites.first().is_some_and(|site| site.is_source) {
        return false;
    }
    let is_native_at = |level: usize| {
        // SAFETY: a live context; the reference to the name is freed.
        unsafe {
            let name = qjs::JS_GetScriptOrModuleName(cx.0, level as c_int);
            qjs::JS_FreeAtom(cx.0, name);
            name == qjs::JS_ATOM_NULL
        }
    };
    match sites.iter().position(|site| site.place.is_some()) {
        Some(first_of_code) => is_native_at(first_of_code),
        // Natives all the way: nothing is known.
        None => true,
    }
}

/// V8's message for an error of the engine's own.
fn message_for(state: &State, error: &Val, sites: &[Site]) -> Js<Option<String>> {
    let Some(site) = sites.first() else { return Ok(None) };
    let Some(kind) = state.captured.error_kind(error) else { return Ok(None) };
    let message = error.get_own(c"message")?;
    if !message.is_string() {
        return Ok(None);
    }
    let message = message.to_text()?;
    let (by, file) = match &site.place {
        _ if site.is_source => (Thrower::Parser(state.faults.parse_message.get()), ""),
        None => (Thrower::Native(&site.name), ""),
        Some((file, line, column)) => (Thrower::Code(&site.name, (*line, *column)), file.as_str()),
    };
    let fault = Fault { kind, message: &message, by };
    Ok(table::rewrite(&fault, || state.faults.source(state, file), |chain| is_callable(state, chain)))
}

/// Whether a global, or an own member of one, is a function. Runs nothing of the program's.
fn is_callable(state: &State, chain: &str) -> bool {
    let mut value = state.cx.global();
    for name in chain.split('.') {
        match value.own_data(name) {
            Ok(Some(member)) => value = member,
            Ok(None) => return false,
            Err(Pending) => {
                drop(state.cx.exception());
                return false;
            }
        }
    }
    value.is_function()
}

/// The sites that are the caller's own, at the caller's own lines: none of ours, none of preludes, and no natives that
/// those called.
fn shown(sites: Vec<Site>, lines: Lines) -> Vec<Site> {
    let mut is_ours = false;
    let own = sites.into_iter().rev().filter_map(|mut site| {
        if let Some((file, line, _)) = &mut site.place {
            let is_program = file == NAME;
            if is_program {
                *line = lines.callers(*line);
            }
            // The Web surface comes from no file, and what JSON is read from is none.
            let is_hidden = matches!(file.as_str(), "" | "<null>" | "<input>");
            is_ours = is_hidden || (is_program && *line < 1 && !site.is_source);
        }
        (!is_ours).then_some(site)
    });
    let mut own: Vec<Site> = own.collect();
    own.reverse();
    // Ours calls the engine's of the same name.
    let is_wrapped = |one: &Site| one.place.is_none() && matches!(one.name.as_str(), "parse" | "stringify");
    own.dedup_by(|next, before| is_wrapped(before) && is_wrapped(next) && before.name == next.name);
    own
}

/// Writes a line of a stack.
fn write_frame(out: &mut String, site: &Site) {
    let name = if site.name.is_empty() { "<anonymous>" } else { &site.name };
    // Writing into a string does not fail.
    let _ = match &site.place {
        None => write!(out, "\n    at {name} (native)"),
        Some((file, line, column)) if site.name.is_empty() => write!(out, "\n    at {file}:{line}:{column}"),
        Some((file, line, column)) => write!(out, "\n    at {name} ({file}:{line}:{column})"),
    };
}

/// What the contract says of a stack that is used up.
const STACK_USED_UP: &str = "Maximum call stack size exceeded";

/// UTF-16 units of an error's text that its stack begins with.
const LONGEST_HEADER: i32 = 64 * 1024;

/// Bytes of stack that are used here beyond what the run may use.
const HEADROOM: usize = 256 * 1024;
