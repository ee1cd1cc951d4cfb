//! The console: lines leave as they are written, so they survive a kill.

use std::cell::Cell;
use std::ffi::{CStr, c_int};

use codemode_protocol::{LogLevel, text};
use rquickjs::qjs;

use super::js::{Cx, Js, Kind, Val, answer, arguments, lossy};
use super::state::{State, state};
use crate::frame::{LogBounds, encode_log};

/// What a method writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Its arguments by `String()`, joined by one space: all that some readers of logs keep, so nothing else touches it.
    Plain,
    /// What the Web surface's script makes of the arguments, if it makes anything.
    Rendered,
    /// Nothing: it only changes what a terminal would show.
    Never,
}

/// Every method, in the order of its number.
const METHODS: &[(&CStr, LogLevel, Line)] = &[
    (c"log", LogLevel::Log, Line::Plain),
    (c"info", LogLevel::Info, Line::Plain),
    (c"debug", LogLevel::Debug, Line::Plain),
    (c"warn", LogLevel::Warn, Line::Plain),
    (c"error", LogLevel::Error, Line::Plain),
    (c"assert", LogLevel::Info, Line::Rendered),
    (c"clear", LogLevel::Info, Line::Never),
    (c"count", LogLevel::Info, Line::Rendered),
    (c"countReset", LogLevel::Info, Line::Rendered),
    (c"dir", LogLevel::Info, Line::Rendered),
    (c"dirxml", LogLevel::Info, Line::Rendered),
    (c"group", LogLevel::Info, Line::Rendered),
    (c"groupCollapsed", LogLevel::Info, Line::Rendered),
    (c"groupEnd", LogLevel::Info, Line::Rendered),
    (c"profile", LogLevel::Info, Line::Never),
    (c"profileEnd", LogLevel::Info, Line::Never),
    (c"table", LogLevel::Info, Line::Rendered),
    (c"time", LogLevel::Info, Line::Rendered),
    (c"timeEnd", LogLevel::Info, Line::Rendered),
    (c"timeLog", LogLevel::Info, Line::Rendered),
    (c"timeStamp", LogLevel::Info, Line::Never),
    (c"trace", LogLevel::Info, Line::Rendered),
];

/// What is left of the console's bounds.
#[derive(Debug)]
pub(super) struct Logs {
    bounds: Cell<LogBounds>,
    lines: Cell<u32>,
    bytes: Cell<u64>,
    full: Cell<bool>,
}

impl Logs {
    pub(super) const fn new() -> Self {
        Self {
            bounds: Cell::new(LogBounds { line_bytes: 0, lines: 0, total_bytes: 0 }),
            lines: Cell::new(0),
            bytes: Cell::new(0),
            full: Cell::new(false),
        }
    }

    /// Sets the bounds of a run.
    pub(super) fn begin(&self, bounds: LogBounds) {
        self.bounds.set(bounds);
        self.lines.set(0);
        self.bytes.set(0);
        self.full.set(false);
    }

    fn write(&self, state: &State, level: LogLevel, method: &str, message: &str) {
        if self.full.get() {
            return;
        }
        let bounds = self.bounds.get();
        let message = text::cut(message, u64::from(bounds.line_bytes));
        let bytes = self.bytes.get() + message.len() as u64;
        let over = if self.lines.get() >= bounds.lines {
            Some(format!("over {} lines", bounds.lines))
        } else if bytes > bounds.total_bytes {
            Some(format!("over {} bytes in all", bounds.total_bytes))
        } else {
            None
        };
        let time = state.clock.elapsed_ms();
        if let Some(bound) = over {
            self.full.set(true);
            state.socket.write(&encode_log(LogLevel::Warn, "warn", time, &text::logs_cut(&bound)));
            return;
        }
        self.lines.set(self.lines.get() + 1);
        self.bytes.set(bytes);
        state.socket.write(&encode_log(level, method, time, &message));
    }
}

/// Puts `console` on the global object.
pub(super) fn install(cx: Cx) -> Js<()> {
    let console = cx.object()?;
    // A namespace object inherits from an empty object of its own.
    console.set_prototype(&cx.object()?)?;
    for (number, (name, ..)) in METHODS.iter().enumerate() {
        let method = cx.function(native, name, 0, number as c_int, &[])?;
        console.define(name, method, qjs::JS_PROP_C_W_E)?;
    }
    super::globals::tag(cx, &console, "console")?;
    cx.global().define(c"console", console, qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE)
}

unsafe extern "C" fn native(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    number: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) };
    let state = state();
    answer(write(state, number, args).map(|()| state.cx.undefined()))
}

fn write(state: &State, number: c_int, args: &[qjs::JSValue]) -> Js<()> {
    let Some((name, level, line)) = usize::try_from(number).ok().and_then(|number| METHODS.get(number)) else {
        return Ok(());
    };
    let name = name.to_str().unwrap_or_default();
    let message = match line {
        Line::Never => return Ok(()),
        Line::Plain => {
            let args: Vec<Val> = args.iter().map(|arg| state.cx.borrow(*arg)).collect();
            Some(render(state, &args)?)
        }
        Line::Rendered => rendered(state, name, args)?,
    };
    if let Some(message) = message {
        state.logs.write(state, *level, name, &message);
    }
    Ok(())
}

/// What the script makes of the arguments; no more of it than a line can hold.
fn rendered(state: &State, method: &str, args: &[qjs::JSValue]) -> Js<Option<String>> {
    let cx = state.cx;
    let raw = super::web::console_text(&cx.ctx(), method, args);
    let text = cx.own(raw)?;
    if text.is_undefined() {
        return Ok(None);
    }
    let room = i32::try_from(state.logs.bounds.get().line_bytes.saturating_add(1)).unwrap_or(i32::MAX);
    Ok(Some(state.captured.prefix(cx, &text, room)?.to_text()?))
}

/// All arguments by `String()`, joined by one space. What is beyond the line's bound is converted, for its effects and
/// its exceptions, but not kept.
fn render(state: &State, args: &[Val]) -> Js<String> {
    let room = state.logs.bounds.get().line_bytes as usize + 1;
    let mut message = String::new();
    for (at, arg) in args.iter().enumerate() {
        if at > 0 && message.len() < room {
            message.push(' ');
        }
        let string = match arg.kind() {
            Kind::String => arg.clone(),
            _ => state.captured.stringify(arg)?,
        };
        if message.len() < room {
            let prefix = state.captured.prefix(state.cx, &string, i32::try_from(room).unwrap_or(i32::MAX))?;
            message.push_str(&lossy(prefix.text()?.bytes()));
        }
    }
    Ok(message)
}
