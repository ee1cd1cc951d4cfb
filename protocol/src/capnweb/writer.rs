//! Writing values as expressions, and the bounds of what we send.

use std::fmt::Write as _;
use std::sync::Arc;

use super::expression::EncodeError;
use super::json_text::{write_string, write_text};
use super::jsstring::{JsString, utf16_units};
use super::stub::Stub;
use super::tags;
use super::target::{PathKey, Target};
use super::value::{BytesKind, ErrorValue, Object, Value};

type Result<T> = std::result::Result<T, EncodeError>;

/// Turns objects into ids of the session that a message is for.
pub(crate) trait Carry {
    /// The id of an object of the peer.
    fn stub(&mut self, stub: &Stub) -> Result<i64>;
    /// A new id for an object of ours.
    fn local(&mut self, target: &Arc<dyn Target>) -> Result<i64>;
}

/// Bounds of what is written.
#[derive(Clone, Copy)]
pub(crate) struct WriteBounds {
    pub(crate) depth: usize,
    pub(crate) bigint_digits: usize,
    pub(crate) units: usize,
}

pub(crate) struct Writer<'c> {
    out: String,
    bounds: WriteBounds,
    carry: Option<&'c mut dyn Carry>,
}

impl<'c> Writer<'c> {
    /// Without `carry` only data can be written.
    pub(crate) fn new(bounds: WriteBounds, carry: Option<&'c mut dyn Carry>) -> Self {
        Self { out: String::with_capacity(64), bounds, carry }
    }

    /// Text of the message that is JSON already.
    pub(crate) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(crate) fn integer(&mut self, integer: i64) {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{integer}");
    }

    /// The text, if it is not too long for the peer.
    pub(crate) fn finish(self) -> Result<String> {
        let limit = self.bounds.units;
        // There are never more units than bytes.
        if self.out.len() > limit && utf16_units(self.out.as_bytes()) > limit {
            return Err(EncodeError::TooLarge { limit });
        }
        Ok(self.out)
    }

    /// A bare list, as arguments are sent.
    pub(crate) fn list(&mut self, items: &[Value], depth: usize) -> Result<()> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.value(item, depth)?;
        }
        self.out.push(']');
        Ok(())
    }

    pub(crate) fn path(&mut self, path: &[PathKey]) {
        self.out.push('[');
        for (at, key) in path.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            match key {
                PathKey::Name(name) => self.string(name),
                PathKey::Index(index) => {
                    let _ = write!(self.out, "{index}");
                }
            }
        }
        self.out.push(']');
    }

    pub(crate) fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        if depth >= self.bounds.depth {
            return Err(EncodeError::TooDeep { limit: self.bounds.depth });
        }
        match value {
            Value::Undefined => self.raw(r#"["undefined"]"#),
            Value::Null => self.raw("null"),
            Value::Bool(true) => self.raw("true"),
            Value::Bool(false) => self.raw("false"),
            Value::Number(number) => self.number(*number),
            Value::String(text) => {
                self.room(text.len())?;
                self.string(text);
            }
            Value::Array(items) => {
                self.out.push('[');
                self.list(items, depth + 1)?;
                self.out.push(']');
            }
            Value::Object(object) => self.object(object, depth)?,
            Value::Error(error) => self.error(error, depth)?,
            leaf => self.leaf(leaf)?,
        }
        self.room(0)
    }

    /// Values without values inside, kept out of the recursion.
    #[inline(never)]
    fn leaf(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::BigInt(text) => {
                let digits = tags::bigint_digits(text).ok_or(EncodeError::Invalid(tags::BAD_BIGINT))?;
                if digits > self.bounds.bigint_digits {
                    return Err(EncodeError::TooManyDigits { limit: self.bounds.bigint_digits });
                }
                let _ = write!(self.out, r#"["bigint","{text}"]"#);
            }
            Value::Date(ms) => {
                self.raw(r#"["date","#);
                let ms = tags::clip_date(*ms);
                if ms.is_nan() {
                    self.raw("null")
                } else {
                    self.number(ms)
                }
                self.out.push(']');
            }
            Value::Bytes(kind, bytes) => {
                if !tags::fits_kind(bytes.len(), *kind) {
                    return Err(EncodeError::Invalid(tags::BAD_LENGTH));
                }
                self.room(bytes.len())?;
                self.raw(r#"["bytes",""#);
                tags::encode_base64(bytes, &mut self.out);
                self.out.push('"');
                if *kind != BytesKind::Uint8Array {
                    let _ = write!(self.out, r#","{}""#, kind.name());
                }
                self.out.push(']');
            }
            Value::Url(href) => {
                if !tags::is_url(href) {
                    return Err(EncodeError::Invalid(tags::BAD_URL));
                }
                self.raw(r#"["url","#);
                self.text(href);
                self.out.push(']');
            }
            Value::Headers(pairs) => {
                self.raw(r#"["headers",["#);
                for (at, (name, value)) in pairs.iter().enumerate() {
                    if !tags::is_header(name, value) {
                        return Err(EncodeError::Invalid(tags::BAD_HEADER));
                    }
                    self.raw(if at > 0 { ",[" } else { "[" });
                    self.text(name);
                    self.out.push(',');
                    self.text(value);
                    self.out.push(']');
                }
                self.raw("]]");
            }
            Value::Encoded(text) => {
                self.room(text.len())?;
                self.raw(text);
            }
            Value::Stub(stub) => {
                let id = self.carry.as_deref_mut().ok_or(EncodeError::Reference)?.stub(stub)?;
                let _ = write!(self.out, r#"["import",{id}]"#);
            }
            Value::Local(target) => {
                let id = self.carry.as_deref_mut().ok_or(EncodeError::Reference)?.local(target)?;
                let _ = write!(self.out, r#"["export",{id}]"#);
            }
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, object: &Object, depth: usize) -> Result<()> {
        self.out.push('{');
        for (at, (key, value)) in object.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.string(key);
            self.out.push(':');
            self.value(value, depth + 1)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// `["error", name, message, stack?, props?]`. Properties that cannot be written are left out, as JavaScript does:
    /// an error that cannot be told is worse than one told in part.
    fn error(&mut self, error: &ErrorValue, depth: usize) -> Result<()> {
        self.raw(r#"["error","#);
        self.room(error.name.len() + error.message.len())?;
        self.text(&error.name);
        self.out.push(',');
        self.text(&error.message);
        let mut props =
            error.props.iter().filter(|(key, _)| !["name", "message", "stack"].iter().any(|own| key == own));
        let first = props.next();
        match &error.stack {
            Some(stack) => {
                self.out.push(',');
                self.room(stack.len())?;
                self.text(stack);
            }
            None if first.is_some() => self.raw(",null"),
            None => {}
        }
        if let Some(first) = first {
            self.raw(",{");
            let mut separator = "";
            for (key, value) in std::iter::once(first).chain(props) {
                let mark = self.out.len();
                self.raw(separator);
                self.string(key);
                self.out.push(':');
                match self.value(value, depth + 1) {
                    Ok(()) => separator = ",",
                    Err(EncodeError::TooLarge { limit }) => return Err(EncodeError::TooLarge { limit }),
                    Err(_) => self.out.truncate(mark),
                }
            }
            self.out.push('}');
        }
        self.out.push(']');
        Ok(())
    }

    /// JavaScript's notation where it matters: integers without exponent.
    fn number(&mut self, number: f64) {
        let _ = if number.is_nan() {
            self.out.write_str(r#"["nan"]"#)
        } else if number.is_infinite() {
            self.out.write_str(if number > 0.0 { r#"["inf"]"# } else { r#"["-inf"]"# })
        } else if number == 0.0 {
            self.out.write_str(if number.is_sign_negative() { "-0" } else { "0" })
        } else if (1e-6..1e21).contains(&number.abs()) {
            write!(self.out, "{number}")
        } else {
            write!(self.out, "{number:e}")
        };
    }

    fn string(&mut self, string: &JsString) {
        write_string(string, &mut self.out);
    }

    fn text(&mut self, text: &str) {
        write_text(text, &mut self.out);
    }

    /// Fails as soon as the message cannot fit any more, before memory is spent on it.
    fn room(&self, more: usize) -> Result<()> {
        // One unit is at most three bytes.
        if (self.out.len() + more) / 3 > self.bounds.units {
            return Err(EncodeError::TooLarge { limit: self.bounds.units });
        }
        Ok(())
    }
}
