//! Arguments of host calls: JSON as `JSON.stringify` makes it, with binary values tagged, written
//! without building anything and counted against its bound while it grows.

use codemode_protocol::BINARY_TAG;
use rquickjs::qjs;

use super::js::{Cx, Js, Keys, Kind, Pending, Val};
use super::output::{Output, Padding};
use super::state::State;
use super::views::{Binary, BinaryKind};

/// Writes `args` as a JSON array. Past the bound of `out` the rest is still visited, to know the size.
///
/// # Errors
/// What `JSON.stringify` throws: a BigInt, a cycle, or what a getter or `toJSON` threw.
pub(super) fn write_arguments(state: &State, out: &mut Output, args: &[Val]) -> Js<()> {
    let mut writer = Writer { state, cx: state.cx, out, open: Vec::new(), values: 0 };
    writer.out.push("[");
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            writer.out.push(",");
        }
        writer.element(arg.clone(), index as i64)?;
        writer.run()?;
    }
    writer.out.push("]");
    Ok(())
}

struct Writer<'a> {
    state: &'a State,
    cx: Cx,
    out: &'a mut Output,
    open: Vec<Open>,
    values: u32,
}

/// A container that is being written.
enum Open {
    Array { array: Val, length: i64, next: i64 },
    Object { object: Val, keys: Keys, next: usize, first: bool },
}

/// What a value becomes.
enum Form {
    Absent,
    Null,
    Literal(&'static str),
    Number(Val),
    Text(Val),
    Raw(Val),
    Binary(Binary),
    Array(Val),
    Object(Val),
}

impl Writer<'_> {
    /// Writes everything below what is open.
    fn run(&mut self) -> Js<()> {
        while let Some(top) = self.open.last_mut() {
            match top {
                Open::Array { array, length, next } => {
                    if next == length {
                        self.out.push("]");
                        self.open.pop();
                        continue;
                    }
                    let index = *next;
                    *next += 1;
                    let element = array.get_index(index)?;
                    if index > 0 {
                        self.out.push(",");
                    }
                    self.element(element, index)?;
                }
                Open::Object { object, keys, next, .. } => {
                    if *next == keys.len() {
                        self.out.push("}");
                        self.open.pop();
                        continue;
                    }
                    let at = *next;
                    *next += 1;
                    let value = object.get_atom(keys.atom(at))?;
                    self.member(value, at)?;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, value: Val, index: i64) -> Js<()> {
        match self.form(value, |cx| cx.string(&index.to_string()))? {
            Form::Absent => {
                self.out.push("null");
                Ok(())
            }
            form => self.write(form),
        }
    }

    fn member(&mut self, value: Val, at: usize) -> Js<()> {
        let Some(Open::Object { keys, .. }) = self.open.last() else { return Ok(()) };
        let key = keys.text(at)?;
        let form = self.form(value, |cx| {
            // SAFETY: the key's bytes are copied.
            cx.own(unsafe { qjs::JS_NewStringLen(cx.0, key.bytes().as_ptr().cast(), key.bytes().len() as qjs::size_t) })
        })?;
        if matches!(form, Form::Absent) {
            return Ok(());
        }
        let Some(Open::Object { first, .. }) = self.open.last_mut() else { return Ok(()) };
        if !std::mem::replace(first, false) {
            self.out.push(",");
        }
        self.out.push_string(key.bytes());
        self.out.push(":");
        self.write(form)
    }

    /// Applies `toJSON`, unwraps boxed primitives and classifies.
    fn form(&mut self, value: Val, key: impl FnOnce(Cx) -> Js<Val>) -> Js<Form> {
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(1024) && self.state.clock.check().is_some() {
            return Err(self.cx.throw_type_error(c"interrupted"));
        }
        let value = self.after_to_json(value, key)?;
        Ok(match value.kind() {
            Kind::Undefined | Kind::Symbol | Kind::Other => Form::Absent,
            Kind::Null => Form::Null,
            Kind::Bool(true) => Form::Literal("true"),
            Kind::Bool(false) => Form::Literal("false"),
            Kind::Int(_) => Form::Number(value),
            Kind::Float if value.float().is_finite() => Form::Number(value),
            Kind::Float => Form::Null,
            Kind::String => Form::Text(value),
            Kind::BigInt => return Err(self.cx.throw_type_error(c"Do not know how to serialize a BigInt")),
            Kind::Object if value.is_function() => Form::Absent,
            Kind::Object => self.object_form(value)?,
        })
    }

    fn after_to_json(&self, value: Val, key: impl FnOnce(Cx) -> Js<Val>) -> Js<Val> {
        if !matches!(value.kind(), Kind::Object | Kind::BigInt) {
            return Ok(value);
        }
        let to_json = value.get(c"toJSON")?;
        if to_json.is_function() { to_json.call_with(&value, &[&key(self.cx)?]) } else { Ok(value) }
    }

    fn object_form(&self, value: Val) -> Js<Form> {
        let classes = self.state.captured.classes;
        let class = value.class_id();
        if class == classes.number {
            // SAFETY: a live value; the result is a reference of its own.
            let number = self.cx.own(unsafe { qjs::JS_ToNumber(self.cx.0, value.raw()) })?;
            let finite = !matches!(number.kind(), Kind::Float if !number.float().is_finite());
            return Ok(if finite { Form::Number(number) } else { Form::Null });
        }
        if class == classes.string {
            // SAFETY: a live value; the result is a reference of its own.
            return Ok(Form::Text(self.cx.own(unsafe { qjs::JS_ToString(self.cx.0, value.raw()) })?));
        }
        if class == classes.boolean {
            let text = value.get(c"valueOf").and_then(|convert| convert.call_with(&value, &[]))?;
            return Ok(Form::Literal(if text.kind() == Kind::Bool(true) { "true" } else { "false" }));
        }
        if class == classes.bigint {
            return Err(self.cx.throw_type_error(c"Do not know how to serialize a BigInt"));
        }
        if class == classes.raw_json {
            return Ok(Form::Raw(value.get(c"rawJSON")?));
        }
        if let Some(binary) = Binary::of(self.state, &value) {
            return Ok(Form::Binary(binary));
        }
        self.refuse_cycle(&value)?;
        Ok(if value.is_array() { Form::Array(value) } else { Form::Object(value) })
    }

    fn refuse_cycle(&self, value: &Val) -> Js<()> {
        let identity = value.identity();
        let cyclic = self.open.iter().any(|open| match open {
            Open::Array { array: container, .. } | Open::Object { object: container, .. } => {
                container.identity() == identity
            }
        });
        if cyclic {
            return Err(self.cx.throw_type_error(c"Converting circular structure to JSON"));
        }
        if self.open.len() >= DEPTH {
            return Err(self.cx.throw_range_error(c"Maximum call stack size exceeded"));
        }
        Ok(())
    }

    fn write(&mut self, form: Form) -> Js<()> {
        match form {
            Form::Absent | Form::Null => self.out.push("null"),
            Form::Literal(text) => self.out.push(text),
            Form::Number(number) => push_number(self.out, &number)?,
            Form::Text(text) => self.out.push_string(text.text()?.bytes()),
            Form::Raw(text) => self.out.push(&text.to_text()?),
            Form::Binary(binary) => {
                let kind = match binary.kind {
                    BinaryKind::Bytes => "Uint8Array",
                    BinaryKind::Buffer => "ArrayBuffer",
                    BinaryKind::DataView | BinaryKind::View(_) => "ArrayBufferView",
                };
                self.out.push(&format!("{{\"{BINARY_TAG}\":\"{kind}\",\"data\":"));
                self.out.push_base64(binary.bytes(self.cx), Padding::With);
                self.out.push("}");
            }
            Form::Array(array) => {
                let length = array.length()?;
                self.out.push("[");
                self.open.push(Open::Array { array, length, next: 0 });
            }
            Form::Object(object) => {
                let keys = object.own_keys()?;
                self.out.push("{");
                self.open.push(Open::Object { object, keys, next: 0, first: true });
            }
        }
        Ok(())
    }
}

/// Appends a finite number as JavaScript writes it.
pub(super) fn push_number(out: &mut Output, number: &Val) -> Result<(), Pending> {
    match number.kind() {
        Kind::Int(value) => out.push(&value.to_string()),
        _ => out.push(&number.to_text()?),
    }
    Ok(())
}

/// Nesting of arguments; the engine's own writer ends at about the same depth, by its stack.
const DEPTH: usize = 5000;
