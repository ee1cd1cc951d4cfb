//! What values cost: counting memory that a peer makes us hold, and copying values within a budget.

use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::capnweb::expression::{self, DataLimits};
use crate::capnweb::jsstring::JsString;
use crate::capnweb::value::{ErrorValue, Object, Value};

/// Memory that is held for one purpose. What it is charged for gives it back when it is dropped.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicUsize>);

/// A share of a gauge.
pub(crate) struct Charge {
    gauge: Gauge,
    bytes: usize,
}

impl Gauge {
    pub(crate) fn charge(&self, bytes: usize) -> Charge {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Charge { gauge: self.clone(), bytes }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.gauge.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A value that several entries may share, with what it costs.
pub(crate) struct Stored {
    pub(crate) value: Value,
    pub(crate) size: Size,
    pub(crate) source: Source,
    _charge: Charge,
}

/// Who made a value.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// It came off the wire: no encoded text inside.
    Peer,
    /// The application made it.
    Own,
}

impl Stored {
    pub(crate) fn new(value: Value, source: Source, gauge: &Gauge) -> Arc<Self> {
        let size = Size::of(&value);
        Arc::new(Self { value, size, source, _charge: gauge.charge(size.bytes) })
    }
}

/// What a value costs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    /// An estimate of the memory, in bytes.
    pub(crate) bytes: usize,
}

/// What an allocation costs beyond its bytes.
const ALLOCATION: usize = 16;

impl Size {
    pub(crate) fn of(value: &Value) -> Self {
        let mut size = Self { nodes: 0, bytes: size_of::<Value>() };
        size.add(value);
        size
    }

    pub(crate) fn of_args(args: Option<&[Value]>) -> Self {
        let mut size = Self::default();
        for arg in args.unwrap_or_default() {
            size.bytes += size_of::<Value>();
            size.add(arg);
        }
        size
    }

    fn add(&mut self, value: &Value) {
        self.nodes += 1;
        match value {
            Value::Array(items) => {
                self.bytes += ALLOCATION + items.capacity() * size_of::<Value>();
                items.iter().for_each(|item| self.add(item));
            }
            Value::Object(object) => self.add_object(object),
            Value::Error(error) => {
                self.bytes += shallow(value);
                self.add_object(&error.props);
            }
            leaf => self.bytes += shallow(leaf),
        }
    }

    fn add_object(&mut self, object: &Object) {
        self.bytes += ALLOCATION + object.capacity() * size_of::<(JsString, Value)>();
        for (key, value) in object {
            self.bytes += ALLOCATION + key.heap_bytes();
            self.add(value);
        }
    }
}

/// Heap memory of one value without those inside it.
fn shallow(value: &Value) -> usize {
    ALLOCATION
        + match value {
            Value::String(text) => text.heap_bytes(),
            Value::BigInt(text) | Value::Url(text) => text.len(),
            Value::Bytes(_, bytes) => bytes.len(),
            Value::Headers(pairs) => pairs
                .iter()
                .map(|(name, value)| 2 * (size_of::<String>() + ALLOCATION) + name.len() + value.len())
                .sum(),
            Value::Error(error) => {
                size_of::<ErrorValue>()
                    + error.name.len()
                    + error.message.len()
                    + error.stack.as_ref().map_or(0, String::len)
            }
            Value::Encoded(text) => text.len(),
            _ => return 0,
        }
}

/// How much may still be copied for one message.
pub(crate) struct Budget {
    pub(crate) nodes: usize,
    pub(crate) bytes: usize,
    /// The bounds for text that was encoded already.
    pub(crate) data: DataLimits,
}

/// Why a copy was not made.
pub(crate) enum CopyError {
    OverNodes,
    OverBytes,
    /// The application handed over encoded text that is not an expression.
    Broken,
}

impl Budget {
    /// A copy of a value as an application may see it. Every part is paid for before it is copied.
    pub(crate) fn copy(&mut self, value: &Value) -> Result<Value, CopyError> {
        self.pay(1, size_of::<Value>() + ALLOCATION + shallow(value))?;
        Ok(match value {
            Value::Array(items) => {
                let mut copy = Vec::with_capacity(items.len());
                for item in items {
                    copy.push(self.copy(item)?);
                }
                Value::Array(copy)
            }
            Value::Object(object) => Value::Object(self.copy_object(object)?),
            Value::Error(error) => Value::Error(Box::new(ErrorValue {
                name: error.name.clone(),
                message: error.message.clone(),
                stack: error.stack.clone(),
                props: self.copy_object(&error.props)?,
            })),
            Value::Encoded(text) => self.decode(text)?,
            leaf => leaf.clone(),
        })
    }

    /// The value of encoded text.
    pub(crate) fn decode(&mut self, text: &str) -> Result<Value, CopyError> {
        let limits = DataLimits { nodes: self.nodes, ..self.data.clone() };
        match expression::parse(text, &limits) {
            Ok(value) => {
                let size = Size::of(&value);
                self.pay(size.nodes, size.bytes)?;
                Ok(value)
            }
            Err(expression::DecodeError::Limit { .. }) => Err(CopyError::OverNodes),
            Err(_) => Err(CopyError::Broken),
        }
    }

    fn copy_object(&mut self, object: &Object) -> Result<Object, CopyError> {
        let mut copy = Vec::with_capacity(object.len());
        for (key, value) in object {
            self.pay(0, size_of::<JsString>() + ALLOCATION + key.heap_bytes())?;
            copy.push((key.clone(), self.copy(value)?));
        }
        Ok(copy.into())
    }

    fn pay(&mut self, nodes: usize, bytes: usize) -> Result<(), CopyError> {
        self.nodes = self.nodes.checked_sub(nodes).ok_or(CopyError::OverNodes)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(CopyError::OverBytes)?;
        Ok(())
    }
}
