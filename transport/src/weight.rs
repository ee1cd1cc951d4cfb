//! What arguments take while they wait to be encoded.

use codemode_protocol::capnweb::Value;

/// Bytes that `values` hold, within a small factor: texts and bytes by their length, everything else by a flat rate.
pub(crate) fn weight(values: &[Value]) -> usize {
    // No recursion: how deep a value goes is checked when it is encoded, which comes later.
    let mut bytes = 0_usize;
    let mut left: Vec<&Value> = values.iter().collect();
    while let Some(value) = left.pop() {
        bytes = bytes.saturating_add(FLAT);
        match value {
            Value::String(text) => bytes = bytes.saturating_add(text.as_wtf8().len()),
            Value::BigInt(text) | Value::Url(text) => bytes = bytes.saturating_add(text.len()),
            Value::Encoded(text) => bytes = bytes.saturating_add(text.len()),
            Value::Bytes(_, content) => bytes = bytes.saturating_add(content.len()),
            Value::Headers(pairs) => {
                let length = |(name, value): &(String, String)| FLAT + name.len() + value.len();
                bytes = bytes.saturating_add(pairs.iter().map(length).sum());
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    bytes
}

const FLAT: usize = size_of::<Value>();
