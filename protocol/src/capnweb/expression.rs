//! Expressions: the JSON encoding of values. This module is for data alone; references need a session.

use std::fmt;

use super::check;
use super::decode::{Bounds, Decoder};
use super::jsstring::utf16_units;
use super::limits::WireLimits;
pub use super::limits::{DataLimits, DroppedKeys};
use super::value::Value;
use super::writer::{WriteBounds, Writer};

/// Why a text is not an acceptable expression. Nothing of the input is repeated except a dropped key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The text is not JSON.
    Syntax {
        /// Byte offset.
        at: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// The JSON is not a legal expression or message.
    Expression {
        /// Byte offset.
        at: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A bound was exceeded.
    Limit {
        /// The name of the bound.
        bound: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A key that JavaScript peers would silently drop.
    DroppedKey {
        /// The key.
        key: String,
    },
}

/// Why [`check_data_only`] refused a text.
pub type CheckError = DecodeError;

/// Why a value could not be sent. It concerns the one call or result only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The message would exceed this many UTF-16 units.
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// Values are nested this deep or deeper.
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// A BigInt has more digits than this.
    TooManyDigits {
        /// The bound.
        limit: usize,
    },
    /// The peer would hold more objects of ours than this.
    TooManyExports {
        /// The bound.
        limit: usize,
    },
    /// The value cannot be written, such as a BigInt that is not decimal.
    Invalid(&'static str),
    /// A reference to an object where only data may stand.
    Reference,
    /// A stub that belongs to another session.
    ForeignStub,
    /// A call on a result that is not pending any more.
    CallSettled,
}

/// Parses a data expression into a value. Keys are kept whatever `dropped_keys` says.
pub fn parse(text: &str, limits: &DataLimits) -> Result<Value, DecodeError> {
    check::check_units(text, limits)?;
    let mut decoder = Decoder::new(text, limits.nodes, Bounds::data(limits.depth, limits.bigint_digits), None);
    let expr = decoder.expr()?;
    decoder.reader().finish()?;
    Ok(expr.value)
}

/// Writes a value as a data expression, within the default bounds of the wire. Stubs and local objects are refused.
pub fn write(value: &Value) -> Result<String, EncodeError> {
    let limits = WireLimits::default();
    let bounds = WriteBounds { depth: limits.depth, bigint_digits: limits.bigint_digits, units: limits.outbound_units };
    let mut writer = Writer::new(bounds, None);
    writer.value(value, 0)?;
    writer.finish()
}

/// The length of a JSON string literal of `text`, quotes included, in UTF-16 units: what a text costs inside a message.
pub fn escaped_units(text: &str) -> usize {
    let bytes = text.as_bytes();
    let escapes: usize = bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' | 0x08 | 0x0C | b'\n' | b'\r' | b'\t' => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    utf16_units(bytes) + escapes + 2
}

/// Checks that a text is a well-formed data expression within the bounds, without building the value.
pub fn check_data_only(text: &str, limits: &DataLimits) -> Result<(), CheckError> {
    check::check(text, limits)
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Syntax { at, problem } => write!(f, "not JSON at byte {at}: {problem}"),
            DecodeError::Expression { at, problem } => write!(f, "bad expression at byte {at}: {problem}"),
            DecodeError::Limit { bound, limit } => write!(f, "{bound} exceed the limit of {limit}"),
            DecodeError::DroppedKey { key } => {
                write!(f, "the key {key:?} cannot be carried: JavaScript peers drop it")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::TooLarge { limit } => write!(f, "the message exceeds {limit} UTF-16 units"),
            EncodeError::TooDeep { limit } => write!(f, "the value is nested {limit} levels deep or deeper"),
            EncodeError::TooManyDigits { limit } => write!(f, "a BigInt exceeds {limit} digits"),
            EncodeError::TooManyExports { limit } => write!(f, "the peer holds {limit} objects already"),
            EncodeError::Invalid(problem) => f.write_str(problem),
            EncodeError::Reference => f.write_str("a reference cannot be written as data"),
            EncodeError::ForeignStub => f.write_str("the stub belongs to another session"),
            EncodeError::CallSettled => f.write_str("the call has been settled already"),
        }
    }
}

impl std::error::Error for EncodeError {}
