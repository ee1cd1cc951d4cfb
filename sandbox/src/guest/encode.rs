//! The result's encoding: a walk over the program's value, straight to Cap'n Web expression text.
//!
//! The walk keeps its own stack, so depth is bounded by the contract and not by ours, and it looks at the clock, because
//! a proxy can make it endless. What cannot be carried ends it with a text that names the path.

use codemode_protocol::{ResultLimits, capnweb::is_dropped_key, text};

use super::js::{Js, Keys, Kind, Pending, Val, lossy};
use super::json::push_number;
use super::output::{Output, Padding};
use super::state::State;
use super::views::{Binary, BinaryKind};
use super::web;

/// What a result may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) limits: ResultLimits,
    /// UTF-16 units of the text once it is escaped again.
    pub(super) escaped_units: u64,
    /// What becomes of functions inside the value.
    pub(super) functions: Functions<'a>,
    /// Keys that JavaScript peers drop are written all the same.
    pub(super) allow_dropped_keys: bool,
    /// Bytes of an error's name or message.
    pub(super) error_bytes: u64,
}

/// What becomes of functions in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Functions<'a> {
    /// They end the run.
    Refuse,
    /// Those inside vanish.
    Drop,
    /// They become handles, which begin with this.
    Keep(&'a str),
}

/// Why there is no encoding.
pub(super) enum Refusal {
    /// The value cannot be carried; the outcome's text.
    Text(String),
    /// Memory ran out on the way.
    Threw(Val),
    /// A clock ran out.
    Interrupted,
}

/// Encodes the result of a run.
pub(super) fn encode(state: &State, value: Val, rules: Rules<'_>) -> Result<String, Refusal> {
    // A unit takes at most three bytes, so the byte bound never cuts what the unit bound allows.
    let bound = rules.limits.units.saturating_mul(3);
    let mut walk = Walk { state, rules, out: Output::new(bound), open: Vec::new(), nodes: 0 };
    match walk.value(value).and_then(|()| walk.run()) {
        Ok(()) => {}
        Err(Stop::Refused(reason)) => return Err(Refusal::Text(text::result_refused(&walk.path(), &reason))),
        Err(Stop::Over(bound)) => return Err(Refusal::Text(text::result_over_bound(&walk.path(), &bound))),
        Err(Stop::Interrupted) => return Err(Refusal::Interrupted),
        Err(Stop::Threw) => {
            let thrown = state.cx.exception();
            if state.clock.found().is_some() {
                return Err(Refusal::Interrupted);
            }
            if super::alloc::refused() {
                return Err(Refusal::Threw(thrown));
            }
            let message = super::errors::describe(state, &thrown, rules.error_bytes).text;
            return Err(Refusal::Text(text::result_refused(&walk.path(), &format!("cannot be read: {message}"))));
        }
    }
    walk.out.finish().ok_or_else(|| {
        Refusal::Text(text::result_over_bound(
            "result",
            &format!("takes more than {} UTF-16 units", rules.limits.units),
        ))
    })
}

/// Why the walk stopped where it is.
enum Stop {
    Refused(String),
    Over(String),
    Interrupted,
    Threw,
}

impl From<Pending> for Stop {
    fn from(Pending: Pending) -> Self {
        Self::Threw
    }
}

struct Walk<'a> {
    state: &'a State,
    rules: Rules<'a>,
    out: Output,
    open: Vec<Open>,
    nodes: u64,
}

/// A container that is being written; `next` is one past the child under way.
enum Open {
    Array { array: Val, length: i64, next: i64 },
    Object { object: Val, keys: Keys, next: usize, first: bool },
}

impl Open {
    fn container(&self) -> &Val {
        match self {
            Self::Array { array, .. } => array,
            Self::Object { object, .. } => object,
        }
    }
}

impl Walk<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        while let Some(top) = self.open.last_mut() {
            match top {
                Open::Array { array, length, next } => {
                    if next == length {
                        self.open.pop();
                        self.out.push("]]");
                        continue;
                    }
                    let index = *next;
                    *next += 1;
                    let element = array.get_index(index)?;
                    if index > 0 {
                        self.out.push(",");
                    }
                    if self.vanishes(&element)? { self.undefined()? } else { self.value(element)? }
                }
                Open::Object { object, keys, next, .. } => {
                    if *next == keys.len() {
                        self.open.pop();
                        self.out.push("}");
                        continue;
                    }
                    let at = *next;
                    *next += 1;
                    let member = object.get_atom(keys.atom(at))?;
                    if !self.vanishes(&member)? {
                        self.key(at)?;
                        self.value(member)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether `value` is a function that is to be left out.
    fn vanishes(&self, value: &Val) -> Result<bool, Stop> {
        Ok(self.rules.functions == Functions::Drop && value.is_function())
    }

    fn key(&mut self, at: usize) -> Result<(), Stop> {
        let Some(Open::Object { keys, first, .. }) = self.open.last_mut() else { return Ok(()) };
        let key = keys.text(at)?;
        if !self.rules.allow_dropped_keys
            && let Ok(name) = std::str::from_utf8(key.bytes())
            && is_dropped_key(name)
        {
            return Err(Stop::Refused("has a key that JavaScript peers drop".into()));
        }
        if !std::mem::replace(first, false) {
            self.out.push(",");
        }
        self.out.push_string(key.bytes());
        self.out.push(":");
        Ok(())
    }

    fn undefined(&mut self) -> Result<(), Stop> {
        self.count()?;
        self.out.push("[\"undefined\"]");
        Ok(())
    }

    /// Counts a value and looks at all bounds that grow.
    fn count(&mut self) -> Result<(), Stop> {
        let limits = self.rules.limits;
        // A value that holds no others is a level too, as receivers count.
        if self.open.len() as u64 >= limits.depth {
            return Err(Stop::Over(format!("nests deeper than {} levels", limits.depth)));
        }
        self.nodes += 1;
        if self.nodes > limits.nodes {
            return Err(Stop::Over(format!("brings the result over {} values", limits.nodes)));
        }
        self.check_size()?;
        if self.nodes.is_multiple_of(1024) && self.state.clock.check().is_some() {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), Stop> {
        let limits = self.rules.limits;
        if self.out.units() > limits.units {
            return Err(Stop::Over(format!("brings the result over {} UTF-16 units once encoded", limits.units)));
        }
        if self.out.escaped_units() > self.rules.escaped_units {
            let bound = self.rules.escaped_units;
            return Err(Stop::Over(format!("brings the result over {bound} UTF-16 units once escaped as text")));
        }
        Ok(())
    }

    /// Writes a value; a container is opened, its children follow.
    fn value(&mut self, value: Val) -> Result<(), Stop> {
        self.count()?;
        match value.kind() {
            Kind::Undefined | Kind::Other => self.out.push("[\"undefined\"]"),
            Kind::Null => self.out.push("null"),
            Kind::Bool(true) => self.out.push("true"),
            Kind::Bool(false) => self.out.push("false"),
            Kind::Int(_) => push_number(&mut self.out, &value)?,
            Kind::Float => self.float(&value)?,
            Kind::String => self.string(&value)?,
            Kind::BigInt => self.bigint(&value)?,
            Kind::Symbol => return Err(Stop::Refused("is a symbol".into())),
            Kind::Object => self.object(value)?,
        }
        self.check_size()
    }

    /// Writes what stands in an object that was made of a primitive, as a JSON round trip does.
    fn primitive(&mut self, value: &Val) -> Result<(), Stop> {
        match value.kind() {
            Kind::Bool(is_true) => self.out.push(if is_true { "true" } else { "false" }),
            Kind::Float => self.float(value)?,
            Kind::String => self.string(value)?,
            Kind::BigInt => self.bigint(value)?,
            _ => push_number(&mut self.out, value)?,
        }
        Ok(())
    }

    fn float(&mut self, value: &Val) -> Result<(), Stop> {
        let number = value.float();
        if number.is_nan() {
            self.out.push("[\"nan\"]");
        } else if number.is_infinite() {
            self.out.push(if number > 0.0 { "[\"inf\"]" } else { "[\"-inf\"]" });
        } else if number == 0.0 && number.is_sign_negative() {
            self.out.push("-0");
        } else {
            push_number(&mut self.out, value)?;
        }
        Ok(())
    }

    fn string(&mut self, value: &Val) -> Result<(), Stop> {
        let units = value.length()?;
        if units as u64 > self.rules.limits.units {
            return Err(Stop::Over(format!(
                "is a string of {units} UTF-16 units and brings the result over {}",
                self.rules.limits.units
            )));
        }
        self.out.push_string(value.text()?.bytes());
        Ok(())
    }

    fn bigint(&mut self, value: &Val) -> Result<(), Stop> {
        let bound = self.rules.limits.digits;
        let over = || Stop::Over(format!("is a BigInt of more than {bound} digits"));
        // Decimal digits cost quadratic time, hexadecimal ones linear: the size is known before the price is paid.
        let (cx, captured) = (self.state.cx, &self.state.captured);
        let hexadecimal = captured.bigint_text(cx, value, 16)?.len() as u64;
        if hexadecimal.saturating_sub(2) as f64 * 4.0 * std::f64::consts::LOG10_2 > bound as f64 {
            return Err(over());
        }
        let decimal = captured.bigint_text(cx, value, 10)?;
        // JavaScript peers count the sign and drop their whole session above the bound.
        if decimal.len() as u64 > bound {
            return Err(over());
        }
        self.out.push("[\"bigint\",\"");
        self.out.push(&decimal);
        self.out.push("\"]");
        Ok(())
    }

    fn object(&mut self, value: Val) -> Result<(), Stop> {
        let classes = self.state.captured.classes;
        let class = value.class_id();
        if value.is_function() {
            return self.function(&value);
        }
        if value.is_promise() {
            return Err(Stop::Refused("is a promise".into()));
        }
        if class == classes.generator || class == classes.async_generator {
            return Err(Stop::Refused("is a generator".into()));
        }
        if class == classes.shared_buffer {
            return Err(Stop::Refused("is a SharedArrayBuffer".into()));
        }
        // SAFETY: a live value.
        if unsafe { rquickjs::qjs::JS_IsDate(value.raw()) } {
            return self.date(&value);
        }
        if value.is_error() || class == classes.dom_exception {
            return self.error(&value);
        }
        if let Some(binary) = Binary::of(self.state, &value) {
            return self.binary(&binary);
        }
        if let Some(href) = self.href(&value)? {
            return self.url(&href);
        }
        match self.state.captured.primitive_in(&value)? {
            Some(primitive) => self.primitive(&primitive),
            None => self.open(value),
        }
    }

    /// The address of a value that is a URL inside, whatever it looks like.
    fn href(&self, value: &Val) -> Js<Option<Val>> {
        let cx = self.state.cx;
        let ctx = cx.ctx();
        // SAFETY: a live value of this context, whose new reference goes to the new owner.
        let value = unsafe { rquickjs::Value::from_raw(ctx.clone(), value.clone().into_raw()) };
        // An error of the binding is an exception that is pending.
        let href = web::url_href(&ctx, &value).map_err(|_| Pending)?;
        // SAFETY: a live value, of which a new reference is made.
        href.map(|href| cx.own(unsafe { rquickjs::qjs::JS_DupValue(cx.0, href.as_raw()) })).transpose()
    }

    fn url(&mut self, href: &Val) -> Result<(), Stop> {
        // A receiver drops its whole session over an address that it cannot read.
        if !std::str::from_utf8(href.text()?.bytes()).is_ok_and(|href| url::Url::parse(href).is_ok()) {
            return Err(Stop::Refused("is a URL that cannot be read back".into()));
        }
        self.out.push("[\"url\",");
        self.string(href)?;
        self.out.push("]");
        Ok(())
    }

    fn function(&mut self, value: &Val) -> Result<(), Stop> {
        let Functions::Keep(nonce) = self.rules.functions else {
            return Err(Stop::Refused("is a function".into()));
        };
        // A handle is an object that holds a string.
        let limits = self.rules.limits;
        self.nodes += 1;
        if self.open.len() as u64 + 1 >= limits.depth {
            return Err(Stop::Over(format!("nests deeper than {} levels", limits.depth)));
        }
        self.state.handles.write(&mut self.out, value, nonce);
        Ok(())
    }

    fn date(&mut self, value: &Val) -> Result<(), Stop> {
        let time = self.state.captured.date_value(value)?;
        if time.is_nan() {
            self.out.push("[\"date\",null]");
        } else {
            // A Date holds whole milliseconds within 8.64e15.
            self.out.push(&format!("[\"date\",{}]", time as i64));
        }
        Ok(())
    }

    fn error(&mut self, value: &Val) -> Result<(), Stop> {
        let name = self.error_part(value, c"name", "Error")?;
        let message = self.error_part(value, c"message", "")?;
        self.out.push("[\"error\",");
        self.out.push_string(name.as_bytes());
        self.out.push(",");
        self.out.push_string(message.as_bytes());
        self.out.push("]");
        Ok(())
    }

    fn error_part(&self, value: &Val, property: &std::ffi::CStr, absent: &str) -> Js<String> {
        let part = value.get(property)?;
        if part.is_undefined() {
            return Ok(absent.to_owned());
        }
        super::errors::cut_text(self.state, &self.state.captured.stringify(&part)?, self.rules.error_bytes)
    }

    fn binary(&mut self, binary: &Binary) -> Result<(), Stop> {
        let kind = match binary.kind {
            BinaryKind::Bytes => None,
            BinaryKind::Buffer => Some("ArrayBuffer"),
            BinaryKind::DataView => Some("DataView"),
            BinaryKind::View(name @ "Float16Array") => return Err(Stop::Refused(format!("is a {name}"))),
            BinaryKind::View(name) => Some(name),
        };
        let bytes = binary.bytes(self.state.cx);
        if bytes.len() as u64 / 3 * 4 > self.rules.limits.units {
            let units = self.rules.limits.units;
            return Err(Stop::Over(format!(
                "holds {} bytes and brings the result over {units} UTF-16 units",
                bytes.len()
            )));
        }
        self.out.push("[\"bytes\",");
        self.out.push_base64(bytes, Padding::Without);
        if let Some(kind) = kind {
            self.out.push(&format!(",\"{kind}\""));
        }
        self.out.push("]");
        Ok(())
    }

    fn open(&mut self, value: Val) -> Result<(), Stop> {
        let identity = value.identity();
        if self.open.iter().any(|open| open.container().identity() == identity) {
            return Err(Stop::Refused("refers back to an object that contains it (a cycle)".into()));
        }
        if value.is_array() {
            let length = value.length()?;
            self.out.push("[[");
            self.open.push(Open::Array { array: value, length, next: 0 });
        } else {
            let keys = value.own_keys()?;
            self.out.push("{");
            self.open.push(Open::Object { object: value, keys, next: 0, first: true });
        }
        Ok(())
    }

    /// Where the walk is: `result.items[3].cb`. A deep path keeps its first and last steps.
    fn path(&self) -> String {
        let steps: Vec<String> = self.open.iter().filter_map(step).collect();
        let mut path = String::from("result");
        for (at, step) in steps.iter().enumerate() {
            let from_end = steps.len() - at;
            if at < PATH_STEPS || from_end <= PATH_STEPS {
                path.push_str(step);
            } else if at == PATH_STEPS {
                path.push('…');
            }
        }
        path
    }
}

/// The step from a container to the child that is under way; none before its first child.
fn step(open: &Open) -> Option<String> {
    match open {
        Open::Array { next, .. } => (*next > 0).then(|| format!("[{}]", next - 1)),
        Open::Object { keys, next, .. } => {
            let key = keys.text(next.checked_sub(1)?).ok()?;
            let name = lossy(key.bytes());
            let name = text::shortened(&name, KEY_BYTES);
            Some(if is_identifier(&name) { format!(".{name}") } else { format!("[{:?}]", &*name) })
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$'))
        && characters.all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}

/// Steps of a path that are shown at either end.
const PATH_STEPS: usize = 8;

/// Bytes of a key that are shown in a path.
const KEY_BYTES: u64 = 256;
