//! What the guest threw, in words. Reading an error may run guest code, which may throw again; a
//! part that cannot be read is left out.

use codemode_protocol::{ErrorDetails, text};

use super::js::{Atom, Js, Kind, Promise, Val, lossy};
use super::json::write_arguments;
use super::output::Output;
use super::program::NAME;
use super::stack::{frames, place_of, position};
use super::state::State;

/// A thrown value in words.
#[derive(Debug)]
pub(super) struct Described {
    /// The outcome's `error`; never empty.
    pub(super) text: String,
    /// The outcome's `errorDetails`.
    pub(super) details: ErrorDetails,
}

/// Describes a thrown value; every text is cut at `bound` bytes.
pub(super) fn describe(state: &State, thrown: &Val, bound: u64) -> Described {
    let mut details =
        ErrorDetails { name: String::new(), message: String::new(), stack: None, line: None, column: None };
    if let Some(message) = message_of(state, thrown, bound) {
        details.name = property(state, thrown, c"name", bound).unwrap_or_else(|| "Error".into());
        if let Some(stack) = property(state, thrown, c"stack", bound) {
            let frames = frames(&stack, &details.name, &message);
            (details.line, details.column) = position(frames, NAME).unzip();
            details.stack = Some(stack);
        }
        details.message = message;
    } else {
        details.name = type_name(thrown).into();
        details.message = render(state, thrown, bound);
    }
    let text = [&details.message, &details.name].into_iter().find(|text| !text.is_empty());
    Described { text: text.cloned().unwrap_or_else(|| "Error".into()), details }
}

/// The message of an Error, or of any object that has an own string of that name.
fn message_of(state: &State, thrown: &Val, bound: u64) -> Option<String> {
    if !thrown.is_object() || thrown.is_function() {
        return None;
    }
    let is_error = thrown.is_error() || thrown.class_id() == state.captured.classes.dom_exception;
    if !is_error {
        let key = readable(state, state.cx.string("message"))?;
        let key = readable(state, Atom::of(state.cx, key.raw()))?;
        if !readable(state, thrown.has_own(key.raw()))? || !readable(state, thrown.get(c"message"))?.is_string() {
            return None;
        }
    }
    Some(property(state, thrown, c"message", bound).unwrap_or_default())
}

/// A property as text; absent when it is undefined, no primitive, or cannot be read.
fn property(state: &State, value: &Val, name: &std::ffi::CStr, bound: u64) -> Option<String> {
    let property = readable(state, value.get(name))?;
    if property.is_undefined() || property.is_object() {
        return None;
    }
    let string = readable(state, state.captured.stringify(&property))?;
    readable(state, cut_text(state, &string, bound))
}

/// Drops an exception that came of reading.
fn readable<T>(state: &State, result: Js<T>) -> Option<T> {
    if result.is_err() {
        drop(state.cx.exception());
    }
    result.ok()
}

/// A readable rendering of what is no error.
fn render(state: &State, thrown: &Val, bound: u64) -> String {
    let rendered = match thrown.kind() {
        Kind::String if thrown.length().is_ok_and(|length| length == 0) => Some("an empty string was thrown".into()),
        Kind::Object if thrown.is_function() => {
            property(state, thrown, c"name", bound).map(|name| format!("[function {name}]"))
        }
        Kind::Object => plain_data(state, thrown, bound),
        _ => readable(state, state.captured.stringify(thrown))
            .and_then(|string| readable(state, cut_text(state, &string, bound))),
    };
    rendered.map_or_else(
        || format!("a value of type {} was thrown", type_name(thrown)),
        |text| text::cut(&text, bound).into_owned(),
    )
}

fn plain_data(state: &State, thrown: &Val, bound: u64) -> Option<String> {
    if let Some(Promise::Pending | Promise::Fulfilled(_) | Promise::Rejected(_)) = thrown.promise() {
        return Some("[promise]".into());
    }
    let mut out = Output::new(bound);
    readable(state, write_arguments(state, &mut out, std::slice::from_ref(thrown)))?;
    // One argument in an array: the rendering stands between the brackets.
    let text = out.finish()?;
    Some(text.get(1..text.len() - 1)?.to_owned())
}

/// What `typeof` says.
pub(super) fn type_name(value: &Val) -> &'static str {
    match value.kind() {
        Kind::Undefined | Kind::Other => "undefined",
        Kind::Bool(_) => "boolean",
        Kind::Int(_) | Kind::Float => "number",
        Kind::BigInt => "bigint",
        Kind::String => "string",
        Kind::Symbol => "symbol",
        Kind::Object if value.is_function() => "function",
        Kind::Object | Kind::Null => "object",
    }
}

/// The text of a string value, cut at `bound` bytes with a marker. A huge string is never converted whole.
pub(super) fn cut_text(state: &State, string: &Val, bound: u64) -> Js<String> {
    Ok(text::cut(&beginning(state, string, bound)?, bound).into_owned())
}

/// The text of a name, cut at `bound` bytes for a place inside another text.
pub(super) fn shortened(state: &State, name: &Val, bound: u64) -> Js<String> {
    Ok(text::shortened(&beginning(state, name, bound)?, bound).into_owned())
}

/// As many units of a string as bytes are allowed, and one more, so that a cut sees that there is more.
fn beginning(state: &State, string: &Val, bound: u64) -> Js<String> {
    let units = i32::try_from(bound.saturating_add(1)).unwrap_or(i32::MAX);
    let prefix = state.captured.prefix(state.cx, string, units)?;
    let whole = prefix.text()?;
    Ok(lossy(whole.bytes()).into_owned())
}

/// Line and column at which a source did not parse: the parser's errors name them first of all. A line of a prelude is
/// below one.
pub(super) fn place_in(state: &State, thrown: &Val, file: &str) -> Option<(i32, i32)> {
    let stack = property(state, thrown, c"stack", STACK_BYTES)?;
    stack.lines().find_map(|line| place_of(line, file))
}

/// Bytes of a stack that are looked at.
const STACK_BYTES: u64 = 16 * 1024;
