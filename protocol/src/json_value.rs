//! Values and those of `serde_json`, both ways.

use serde_json::{Map, Number, Value as Json};

use crate::{
    EnvelopeError,
    capnweb::{Object, Value},
    envelope::{binary_object, iso_date},
};

impl From<Json> for Value {
    /// Plain data as it stands; a number becomes the nearest double, as in JavaScript.
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(flag),
            Json::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Self::from(text),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(members) => {
                Self::Object(members.into_iter().map(|(name, member)| (name, Self::from(member))).collect())
            }
        }
    }
}

impl TryFrom<&Value> for Json {
    type Error = EnvelopeError;

    /// As [`to_json`](crate::to_json) writes it; undefined is null, and a lone surrogate, which a Rust string cannot
    /// hold, the replacement character.
    fn try_from(value: &Value) -> Result<Self, EnvelopeError> {
        convert(value, DEPTH)
    }
}

fn convert(value: &Value, depth: usize) -> Result<Json, EnvelopeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EnvelopeError::Unserializable("The value is nested too deep"));
    };
    Ok(match value {
        Value::Undefined | Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Number(number) => json_number(*number),
        Value::String(text) => Json::String(text.to_string_lossy().into_owned()),
        Value::Url(href) => Json::String(href.to_string()),
        Value::Date(ms) => iso_date(*ms).map_or(Json::Null, Json::String),
        Value::Bytes(kind, bytes) => {
            let members = binary_object(*kind, bytes);
            members.into_iter().map(|(name, text)| (name.to_owned(), Json::String(text))).collect()
        }
        Value::Headers(_) => Json::Object(Map::new()),
        Value::Error(error) => members(&error.props, depth)?,
        Value::Object(object) => members(object, depth)?,
        Value::Array(items) => Json::Array(items.iter().map(|item| convert(item, depth)).collect::<Result<_, _>>()?),
        Value::BigInt(_) => return Err(EnvelopeError::Unserializable("Do not know how to serialize a BigInt")),
        Value::Encoded(_) | Value::Stub(_) | Value::Local(_) => {
            return Err(EnvelopeError::Unserializable("The value holds a reference, which JSON cannot carry"));
        }
    })
}

fn members(object: &Object, depth: usize) -> Result<Json, EnvelopeError> {
    let kept = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
    let members = kept.map(|(name, value)| Ok((name.to_string_lossy().into_owned(), convert(value, depth)?)));
    Ok(Json::Object(members.collect::<Result<_, EnvelopeError>>()?))
}

/// Whole numbers as such: `42` and not `42.0`, so that they are equal to what `json!` makes of an integer.
fn json_number(number: f64) -> Json {
    const WHOLE: f64 = 9_223_372_036_854_775_808.0;
    if number == number.trunc() && number.abs() < WHOLE {
        return Json::from(number as i64);
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

const DEPTH: usize = 512;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_survives_the_way_there_and_back() {
        let json = json!({"a": [1, -2.5, true, null, "\u{1f600}"], "z": {}, "b": []});
        assert_eq!(Json::try_from(&Value::from(json.clone())).unwrap(), json);
    }

    #[test]
    fn a_number_becomes_a_double() {
        assert_eq!(Value::from(json!(u64::MAX)), Value::Number(18_446_744_073_709_551_615.0));
        assert_eq!(Value::from(json!(7)), Value::from(7));
    }
}
