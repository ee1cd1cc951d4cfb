//! Outcomes as JSON: what `JSON.parse(JSON.stringify(outcome))` makes of them, on both sides.

use codemode_adapter::CodemodeResult;
use codemode_protocol::{
    ExecutorError,
    capnweb::{BytesKind, JsString, Object, Value as Wire},
    to_json,
};
use serde_json::{Map, Number, Value, json};

/// Our outcome.
pub(crate) fn ours(outcome: Result<CodemodeResult, ExecutorError>) -> Value {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            return json!({ "threw": { "name": error.code.as_str(), "message": error.message } });
        }
    };
    let mut members = Map::new();
    if let Some(result) = outcome.result {
        match result.decode() {
            Ok(value) => members.extend(json_of(&value).map(|value| ("result".to_owned(), value))),
            Err(error) => members.extend([("unreadable".to_owned(), error.to_string().into())]),
        }
    }
    members.extend(outcome.error.map(|error| ("error".to_owned(), error.into())));
    members.extend(outcome.logs.map(|logs| ("logs".to_owned(), logs.into())));
    canonical(Value::Object(members))
}

/// The same JSON with its numbers as JavaScript has them, so that equal values are equal.
pub fn canonical(value: Value) -> Value {
    match value {
        Value::Number(number) => number_of(number.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, canonical(value))).collect(),
        other => other,
    }
}

/// `None` is undefined. What JSON refuses is written in words, as `reference/worker.mjs` does.
fn json_of(value: &Wire) -> Option<Value> {
    Some(match value {
        Wire::Undefined | Wire::Stub(_) | Wire::Local(_) | Wire::Encoded(_) => return None,
        Wire::Null => Value::Null,
        Wire::Bool(flag) => (*flag).into(),
        Wire::Number(number) => number_of(*number),
        Wire::String(text) => text_of(text),
        Wire::BigInt(digits) => json!({ "$bigint": digits }),
        Wire::Date(_) => to_json(value).ok().flatten().and_then(|text| serde_json::from_str(&text).ok())?,
        // Indexed views list their elements; the others have no members of their own.
        Wire::Bytes(BytesKind::ArrayBuffer | BytesKind::DataView, _) => json!({}),
        Wire::Bytes(kind, bytes) => elements(*kind, bytes),
        Wire::Url(href) => href.as_str().into(),
        Wire::Headers(_) => json!({}),
        Wire::Error(error) => members_of(&error.props),
        Wire::Array(items) => items.iter().map(|item| json_of(item).unwrap_or(Value::Null)).collect(),
        Wire::Object(object) => members_of(object),
    })
}

fn members_of(object: &Object) -> Value {
    let member = |(key, value): &(JsString, Wire)| Some((key.to_string_lossy().into_owned(), json_of(value)?));
    object.iter().filter_map(member).collect()
}

fn text_of(text: &JsString) -> Value {
    text.as_str().map_or_else(|| json!({ "$utf16": text.to_utf16() }), Value::from)
}

fn number_of(number: f64) -> Value {
    // JSON has one zero, and one way to write an integer.
    if number.trunc() == number && number.abs() < EXACT {
        return (number as i64).into();
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn elements(kind: BytesKind, bytes: &[u8]) -> Value {
    let list: Vec<Value> = match kind {
        BytesKind::Int8Array => bytes.iter().map(|byte| number_of(f64::from(*byte as i8))).collect(),
        BytesKind::Int16Array => read(bytes, |word| f64::from(i16::from_le_bytes(word))),
        BytesKind::Uint16Array => read(bytes, |word| f64::from(u16::from_le_bytes(word))),
        BytesKind::Int32Array => read(bytes, |word| f64::from(i32::from_le_bytes(word))),
        BytesKind::Uint32Array => read(bytes, |word| f64::from(u32::from_le_bytes(word))),
        BytesKind::Float32Array => read(bytes, |word| f64::from(f32::from_le_bytes(word))),
        BytesKind::Float64Array => read(bytes, f64::from_le_bytes),
        BytesKind::BigInt64Array => bigints(bytes, |word| i64::from_le_bytes(word).to_string()),
        BytesKind::BigUint64Array => bigints(bytes, |word| u64::from_le_bytes(word).to_string()),
        _ => bytes.iter().map(|byte| number_of(f64::from(*byte))).collect(),
    };
    list.into_iter().enumerate().map(|(at, element)| (at.to_string(), element)).collect()
}

fn read<const WIDTH: usize>(bytes: &[u8], number: fn([u8; WIDTH]) -> f64) -> Vec<Value> {
    bytes.as_chunks().0.iter().map(|word| number_of(number(*word))).collect()
}

fn bigints(bytes: &[u8], digits: fn([u8; 8]) -> String) -> Vec<Value> {
    bytes.as_chunks().0.iter().map(|word| json!({ "$bigint": digits(*word) })).collect()
}

/// Integers below it are exact in a double, and so in both of the numbers that JSON is read as.
const EXACT: f64 = 9_007_199_254_740_992.0;
