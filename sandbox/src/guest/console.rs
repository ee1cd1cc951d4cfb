//! The console: lines leave as they are written, so they survive a kill.

use std::cell::Cell;
use std::ffi::{CStr, c_int};

use codemode_protocol::{LogLevel, text};
use rquickjs::qjs;

use super::js::{Cx, Js, Kind, Val, answer, arguments, lossy};
use super::state::{State, state};
use crate::frame::{LogBounds, encode_log};

/// What a method does with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Writes it.
    Always,
    /// Writes it when the first argument is false.
    Unless,
    /// Only changes what a terminal would show.
    Never,
}

/// Every method, in the order of its number.
const METHODS: &[(&CStr, LogLevel, Line)] = &[
    (c"log", LogLevel::Log, Line::Always),
    (c"info", LogLevel::Info, Line::Always),
    (c"debug", LogLevel::Debug, Line::Always),
    (c"warn", LogLevel::Warn, Line::Always),
    (c"error", LogLevel::Error, Line::Always),
    (c"assert", LogLevel::Info, Line::Unless),
    (c"clear", LogLevel::Info, Line::Never),
    (c"count", LogLevel::Info, Line::Always),
    (c"countReset", LogLevel::Info, Line::Never),
    (c"dir", LogLevel::Info, Line::Always),
    (c"dirxml", LogLevel::Info, Line::Always),
    (c"group", LogLevel::Info, Line::Always),
    (c"groupCollapsed", LogLevel::Info, Line::Always),
    (c"groupEnd", LogLevel::Info, Line::Never),
    (c"profile", LogLevel::Info, Line::Never),
    (c"profileEnd", LogLevel::Info, Line::Never),
    (c"table", LogLevel::Info, Line::Always),
    (c"time", LogLevel::Info, Line::Never),
    (c"timeEnd", LogLevel::Info, Line::Always),
    (c"timeLog", LogLevel::Info, Line::Always),
    (c"timeStamp", LogLevel::Info, Line::Never),
    (c"trace", LogLevel::Info, Line::Always),
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
    for (number, (name, ..)) in METHODS.iter().enumerate() {
        let method = cx.function(native, name, 0, number as c_int, &[])?;
        console.define(name, method, qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE)?;
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
    let mut args: Vec<Val> = args.iter().map(|arg| state.cx.borrow(*arg)).collect();
    if *line == Line::Unless && !args.is_empty() {
        let condition = args.remove(0);
        // SAFETY: a live value; no guest code runs.
        if unsafe { qjs::JS_ToBool(state.cx.0, condition.raw()) } != 0 {
            return Ok(());
        }
    }
    let message = render(state, &args)?;
    if *line != Line::Never {
        state.logs.write(state, *level, name.to_str().unwrap_or_default(), &message);
    }
    Ok(())
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
