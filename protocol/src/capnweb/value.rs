//! The values that cross the wire.

use std::fmt;
use std::sync::Arc;

use super::jsstring::JsString;
use super::stub::Stub;
use super::target::Target;

/// A JavaScript value as the wire knows it.
///
/// Equality is JavaScript's `Object.is`, structurally: `NaN` equals itself, `0` and `-0` differ, functions are equal
/// when they are the same object.
#[derive(Clone, Default)]
pub enum Value {
    /// `undefined`, distinct from `null` and from a missing key.
    #[default]
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; NaN, the infinities and `-0` included.
    Number(f64),
    /// A string.
    String(JsString),
    /// A BigInt in decimal: an optional `-`, then digits.
    BigInt(String),
    /// A Date in milliseconds since 1970; NaN is an invalid date.
    Date(f64),
    /// Binary data, little-endian, with the kind of its view.
    Bytes(BytesKind, Vec<u8>),
    /// A URL by its `href`.
    Url(String),
    /// A Headers object as name and value pairs.
    Headers(Vec<(String, String)>),
    /// An Error.
    Error(Box<ErrorValue>),
    /// An array; holes are `Undefined`.
    Array(Vec<Value>),
    /// A plain object.
    Object(Object),
    /// An expression that is already encoded, data tags only (see [`check_data_only`](super::expression::check_data_only));
    /// written verbatim. Only ever sent, never received.
    Encoded(Arc<str>),
    /// An object of the peer of this session.
    Stub(Stub),
    /// An object of ours: exported when sent, and what arrives when the peer hands our own export back.
    Local(Arc<dyn Target>),
}

/// A plain object: keys in insertion order, each at most once when it came from the wire.
#[derive(Clone, Default, PartialEq)]
pub struct Object {
    entries: Vec<(JsString, Value)>,
}

/// An Error. Class identity does not cross the wire except for the built-in names; put what a program must recognise
/// into `props`, such as `code`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorValue {
    /// The class name, such as `Error` or `TypeError`.
    pub name: String,
    /// The message.
    pub message: String,
    /// The stack, withheld unless set.
    pub stack: Option<String>,
    /// The own enumerable properties other than name, message and stack.
    pub props: Object,
}

/// The class that binary data has in JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the JavaScript classes of the same name")]
pub enum BytesKind {
    #[default]
    Uint8Array,
    ArrayBuffer,
    DataView,
    Int8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
    Float32Array,
    Float64Array,
}

impl Value {
    /// An Error value of class `Error`.
    pub fn error(message: impl Into<String>) -> Self {
        ErrorValue::new("Error", message).into()
    }

    /// The text of a string without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The array's elements.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The error.
    pub fn as_error(&self) -> Option<&ErrorValue> {
        match self {
            Value::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Whether this is `undefined` or `null`.
    pub fn is_nullish(&self) -> bool {
        matches!(self, Value::Undefined | Value::Null)
    }
}

impl ErrorValue {
    /// An error without properties; the stack is withheld.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), stack: None, props: Object::new() }
    }

    /// Adds the property `code`, the one thing that a peer can rely on.
    pub fn with_code(mut self, code: &str) -> Self {
        self.props.insert("code", Value::from(code));
        self
    }

    /// The property `code`, if it is a string.
    pub fn code(&self) -> Option<&str> {
        self.props.get("code").and_then(Value::as_str)
    }
}

impl fmt::Display for ErrorValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl Object {
    /// An empty object.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The value of a key. Linear in the number of keys.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.get_wtf8(key.as_bytes())
    }

    pub(crate) fn get_wtf8(&self, key: &[u8]) -> Option<&Value> {
        // From the end, because the last of equal keys wins.
        self.entries.iter().rev().find(|(name, _)| name.as_wtf8() == key).map(|(_, value)| value)
    }

    /// Sets a key, keeping its place if it is already there. Linear in the number of keys.
    pub fn insert(&mut self, key: impl Into<JsString>, value: Value) {
        let key = key.into();
        match self.entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, place)) => *place = value,
            None => self.entries.push((key, value)),
        }
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(name, _)| *name == *key)?;
        Some(self.entries.remove(at).1)
    }

    /// The entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (JsString, Value)> {
        self.entries.iter()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    pub(crate) fn entries_mut(&mut self) -> &mut Vec<(JsString, Value)> {
        &mut self.entries
    }
}

impl From<Vec<(JsString, Value)>> for Object {
    fn from(entries: Vec<(JsString, Value)>) -> Self {
        Self { entries }
    }
}

impl<K: Into<JsString>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().map(|(key, value)| (key.into(), value)).collect() }
    }
}

impl IntoIterator for Object {
    type Item = (JsString, Value);
    type IntoIter = std::vec::IntoIter<(JsString, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = &'a (JsString, Value);
    type IntoIter = std::slice::Iter<'a, (JsString, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl BytesKind {
    /// Every kind with its name and the size of one element in bytes.
    const ALL: [(BytesKind, &'static str, usize); 13] = [
        (BytesKind::Uint8Array, "Uint8Array", 1),
        (BytesKind::ArrayBuffer, "ArrayBuffer", 1),
        (BytesKind::DataView, "DataView", 1),
        (BytesKind::Int8Array, "Int8Array", 1),
        (BytesKind::Uint8ClampedArray, "Uint8ClampedArray", 1),
        (BytesKind::Int16Array, "Int16Array", 2),
        (BytesKind::Uint16Array, "Uint16Array", 2),
        (BytesKind::Int32Array, "Int32Array", 4),
        (BytesKind::Uint32Array, "Uint32Array", 4),
        (BytesKind::BigInt64Array, "BigInt64Array", 8),
        (BytesKind::BigUint64Array, "BigUint64Array", 8),
        (BytesKind::Float32Array, "Float32Array", 4),
        (BytesKind::Float64Array, "Float64Array", 8),
    ];

    /// The name of the JavaScript class.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Bytes per element: the length of the data is a multiple of it.
    pub fn element_size(self) -> usize {
        Self::ALL[self as usize].2
    }

    /// The kind with this class name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(kind, _, _)| *kind)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Number(f64::from(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(f64::from(number))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into())
    }
}

impl From<JsString> for Value {
    fn from(text: JsString) -> Self {
        Value::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::Array(items)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Value::Object(object)
    }
}

impl From<ErrorValue> for Value {
    fn from(error: ErrorValue) -> Self {
        Value::Error(Box::new(error))
    }
}

impl From<Stub> for Value {
    fn from(stub: Stub) -> Self {
        Value::Stub(stub)
    }
}

impl From<Arc<dyn Target>> for Value {
    fn from(target: Arc<dyn Target>) -> Self {
        Value::Local(target)
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    /// `None` becomes `undefined`.
    fn from(value: Option<V>) -> Self {
        value.map_or(Value::Undefined, Into::into)
    }
}

fn same_number(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits()
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) | (Value::Date(a), Value::Date(b)) => same_number(*a, *b),
            (Value::String(a), Value::String(b)) => a == b,
            (Value::BigInt(a), Value::BigInt(b)) | (Value::Url(a), Value::Url(b)) => a == b,
            (Value::Bytes(a_kind, a), Value::Bytes(b_kind, b)) => a_kind == b_kind && a == b,
            (Value::Headers(a), Value::Headers(b)) => a == b,
            (Value::Error(a), Value::Error(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            (Value::Encoded(a), Value::Encoded(b)) => a == b,
            (Value::Stub(a), Value::Stub(b)) => a == b,
            (Value::Local(a), Value::Local(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
            _ => false,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Undefined => f.write_str("undefined"),
            Value::Null => f.write_str("null"),
            Value::Bool(flag) => write!(f, "{flag}"),
            Value::Number(number) => write!(f, "{number:?}"),
            Value::String(text) => write!(f, "{text:?}"),
            Value::BigInt(digits) => write!(f, "{digits}n"),
            Value::Date(ms) => write!(f, "Date({ms})"),
            Value::Bytes(kind, bytes) => write!(f, "{}({bytes:?})", kind.name()),
            Value::Url(href) => write!(f, "URL({href:?})"),
            Value::Headers(pairs) => f.debug_tuple("Headers").field(pairs).finish(),
            Value::Error(error) => error.fmt(f),
            Value::Array(items) => f.debug_list().entries(items).finish(),
            Value::Object(object) => object.fmt(f),
            Value::Encoded(text) => write!(f, "Encoded({text})"),
            Value::Stub(stub) => stub.fmt(f),
            Value::Local(_) => f.write_str("Local(..)"),
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(key, value)| (key, value))).finish()
    }
}
