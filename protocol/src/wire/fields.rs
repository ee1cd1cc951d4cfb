//! Reading members of a peer's object into the types of the contract.

use crate::{
    ExecutorError, TimeBound,
    capnweb::{Object, Value},
};

/// The members of `value`, which must be an object.
pub(super) fn object(field: &str, value: Value) -> Result<Object, ExecutorError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(wrong(field, "an object", &other)),
    }
}

/// A string of well-formed Unicode.
pub(super) fn string(field: &str, value: Value) -> Result<String, ExecutorError> {
    match value {
        Value::String(text) => match text.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(ExecutorError::invalid(field, "holds a lone surrogate; it must be well-formed Unicode")),
        },
        other => Err(wrong(field, "a string", &other)),
    }
}

/// A boolean.
pub(super) fn boolean(field: &str, value: Value) -> Result<bool, ExecutorError> {
    value.as_bool().ok_or_else(|| wrong(field, "a boolean", &value))
}

/// A number of at least 1, its fraction dropped.
pub(super) fn positive(field: &str, value: Value) -> Result<u64, ExecutorError> {
    let number = value.as_number().ok_or_else(|| wrong(field, "a number", &value))?;
    if !(number >= 1.0 && number.is_finite()) {
        return Err(ExecutorError::invalid(
            field,
            format_args!("is {number}; it must be a finite number of at least 1"),
        ));
    }
    Ok(number as u64)
}

/// A bound in milliseconds: absent, null, or a number of at least 1.
pub(super) fn time_bound(members: &mut Object, field: &str) -> Result<TimeBound, ExecutorError> {
    Ok(match take(members, field) {
        None => TimeBound::Default,
        Some(Value::Null) => TimeBound::Ceiling,
        Some(value) => TimeBound::Milliseconds(positive(field, value)?),
    })
}

/// A number that a figure may be.
pub(super) fn figure(field: &str, value: Value) -> Result<f64, ExecutorError> {
    value.as_number().ok_or_else(|| wrong(field, "a number", &value))
}

/// An array's elements.
pub(super) fn array(field: &str, value: Value) -> Result<Vec<Value>, ExecutorError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(wrong(field, "an array", &other)),
    }
}

/// One of the texts that `parse` knows.
pub(super) fn named<T>(
    field: &str,
    value: Value,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, ExecutorError> {
    let text = string(field, value)?;
    parse(&text).ok_or_else(|| ExecutorError::invalid(field, format_args!("is {text:?}; it must be {expected}")))
}

/// A member that is set: one that is undefined counts as absent.
pub(super) fn take(object: &mut Object, field: &str) -> Option<Value> {
    object.remove(field).filter(|value| !matches!(value, Value::Undefined))
}

pub(super) fn wrong(field: &str, expected: &str, found: &Value) -> ExecutorError {
    ExecutorError::invalid(field, format_args!("must be {expected}, not {}", kind(found)))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Undefined => "undefined",
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::BigInt(_) => "a bigint",
        Value::Date(_) => "a date",
        Value::Bytes(..) => "binary data",
        Value::Url(_) => "a URL",
        Value::Headers(_) => "headers",
        Value::Error(_) => "an error",
        Value::Array(_) => "an array",
        Value::Object(_) | Value::Encoded(_) => "an object",
        Value::Stub(_) | Value::Local(_) => "a function",
    }
}
