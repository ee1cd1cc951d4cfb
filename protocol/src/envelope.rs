//! The JSON that host calls ride in: arguments one way, the result envelope the other (PROTOCOL.md, "Interface").
//!
//! Binary values are tagged objects inside the JSON, `{"__codemode_binary_v1__": kind, "data": base64}`; they decode to
//! a `Uint8Array` unless the kind says `ArrayBuffer`.

use std::collections::{BTreeMap, btree_map::Entry};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::capnweb::{
    BytesKind, DecodeError, JsString, Object, Value,
    decode::has_repeated_key,
    json_text::{write_string, write_text},
    reader::Reader,
};

/// The key that marks a binary value inside the JSON of a host call.
pub const BINARY_TAG: &str = "__codemode_binary_v1__";

const BINARY_DATA: &str = "data";
const DEPTH: usize = 512;

/// Why a host call's JSON could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The text is not JSON.
    #[error(transparent)]
    Syntax(#[from] DecodeError),
    /// The JSON is neither `{"result": …}` nor `{"error": "message"}` nor `{}`.
    #[error("neither {{\"result\": …}} nor {{\"error\": \"message\"}}")]
    Shape,
    /// The value holds what JSON cannot carry.
    #[error("{0}")]
    Unserializable(&'static str),
}

/// The arguments of a host call: a JSON array; empty text means none, and any other JSON is one argument.
///
/// # Errors
/// The text is not JSON.
pub fn parse_dispatch_arguments(args_json: &str) -> Result<Vec<Value>, EnvelopeError> {
    if args_json.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    Ok(match read_json(args_json)? {
        Value::Array(args) => args,
        single => vec![single],
    })
}

/// What an envelope says: a value, or the message of a tool error.
///
/// # Errors
/// The text is not JSON or no envelope.
pub fn parse_envelope(envelope_json: &str) -> Result<Result<Value, String>, EnvelopeError> {
    let Value::Object(mut envelope) = read_json(envelope_json)? else { return Err(EnvelopeError::Shape) };
    match (envelope.remove("result"), envelope.remove("error")) {
        (_, Some(Value::String(message))) => Ok(Err(message.into_string_lossy())),
        (Some(result), None) => Ok(Ok(result)),
        (None, None) => Ok(Ok(Value::Undefined)),
        _ => Err(EnvelopeError::Shape),
    }
}

/// The envelope of a result; `{}` when it is undefined.
///
/// # Errors
/// The value holds a BigInt or a reference, or is nested too deep.
pub fn encode_result(value: &Value) -> Result<String, EnvelopeError> {
    let mut json = String::from("{");
    if !matches!(value, Value::Undefined) {
        json.push_str("\"result\":");
        write_json(value, &mut json, DEPTH)?;
    }
    json.push('}');
    Ok(json)
}

/// The envelope of a tool error.
pub fn encode_error(message: &str) -> String {
    let mut json = String::from("{\"error\":");
    write_text(message, &mut json);
    json.push('}');
    json
}

/// `value` as JSON text, as `JSON.stringify` makes it: undefined members vanish, in arrays they are null, as are NaN and
/// the infinities; dates are ISO strings. Binary values are tagged objects. `None` for undefined.
///
/// # Errors
/// The value holds a BigInt or a reference, or is nested too deep.
pub fn to_json(value: &Value) -> Result<Option<String>, EnvelopeError> {
    if matches!(value, Value::Undefined) {
        return Ok(None);
    }
    let mut json = String::new();
    write_json(value, &mut json, DEPTH)?;
    Ok(Some(json))
}

/// The value of a JSON text; binary tags are decoded.
///
/// # Errors
/// The text is not JSON.
pub fn from_json(json: &str) -> Result<Value, EnvelopeError> {
    read_json(json)
}

fn write_json(value: &Value, json: &mut String, depth: usize) -> Result<(), EnvelopeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EnvelopeError::Unserializable("The value is nested too deep"));
    };
    match value {
        Value::Undefined | Value::Null => json.push_str("null"),
        Value::Bool(flag) => json.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(*number, json),
        Value::String(text) => write_string(text, json),
        Value::Url(href) => write_text(href, json),
        Value::Date(ms) => match iso_date(*ms) {
            Some(text) => write_text(&text, json),
            None => json.push_str("null"),
        },
        Value::Bytes(kind, bytes) => {
            let [(tag, kind), (data, base64)] = binary_object(*kind, bytes);
            json.push_str(&format!("{{\"{tag}\":\"{kind}\",\"{data}\":\"{base64}\"}}"));
        }
        Value::Headers(_) => json.push_str("{}"),
        Value::Error(error) => write_members(&error.props, json, depth)?,
        Value::Object(object) => write_members(object, json, depth)?,
        Value::Array(items) => {
            json.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    json.push(',');
                }
                write_json(item, json, depth)?;
            }
            json.push(']');
        }
        Value::BigInt(_) => return Err(EnvelopeError::Unserializable("Do not know how to serialize a BigInt")),
        Value::Encoded(_) | Value::Stub(_) | Value::Local(_) => {
            return Err(EnvelopeError::Unserializable("The value holds a reference, which JSON cannot carry"));
        }
    }
    Ok(())
}

/// The members of the tagged object of a binary value.
pub(crate) fn binary_object(kind: BytesKind, bytes: &[u8]) -> [(&'static str, String); 2] {
    let kind = if kind == BytesKind::ArrayBuffer { "ArrayBuffer" } else { "Uint8Array" };
    [(BINARY_TAG, kind.to_owned()), (BINARY_DATA, STANDARD.encode(bytes))]
}

fn write_members(object: &Object, json: &mut String, depth: usize) -> Result<(), EnvelopeError> {
    json.push('{');
    let mut first = true;
    for (key, value) in object.iter().filter(|(_, value)| !matches!(value, Value::Undefined)) {
        if !std::mem::take(&mut first) {
            json.push(',');
        }
        write_string(key, json);
        json.push(':');
        write_json(value, json, depth)?;
    }
    json.push('}');
    Ok(())
}

fn write_number(number: f64, json: &mut String) {
    if !number.is_finite() {
        json.push_str("null");
    } else if number == number.trunc() && number.abs() < 1e15 {
        json.push_str(&format!("{}", number as i64));
    } else {
        json.push_str(&format!("{number:?}"));
    }
}

fn read_json(json: &str) -> Result<Value, EnvelopeError> {
    let mut reader = Reader::new(json, usize::MAX);
    let value = read_value(&mut reader, DEPTH)?;
    reader.finish()?;
    Ok(value)
}

fn read_value(reader: &mut Reader<'_>, depth: usize) -> Result<Value, EnvelopeError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(EnvelopeError::Unserializable("The JSON is nested too deep"));
    };
    match reader.peek() {
        Some(b'"') => return Ok(Value::String(reader.string()?)),
        Some(b't') => reader.word("true").map(|()| Value::Bool(true)),
        Some(b'f') => reader.word("false").map(|()| Value::Bool(false)),
        Some(b'n') => reader.word("null").map(|()| Value::Null),
        Some(b'[') => {
            reader.expect(b'[', "")?;
            let mut items = Vec::new();
            let mut more = !reader.eat(b']');
            while more {
                items.push(read_value(reader, depth)?);
                more = reader.more(b']')?;
            }
            return Ok(Value::Array(items));
        }
        Some(b'{') => {
            reader.expect(b'{', "")?;
            let mut members = Vec::new();
            let mut more = !reader.eat(b'}');
            while more {
                let key = reader.raw_key()?.decode();
                members.push((key, read_value(reader, depth)?));
                more = reader.more(b'}')?;
            }
            let object = Object::from(if has_repeated_key(&members) { keep_last(members) } else { members });
            return Ok(tagged_bytes(&object).unwrap_or(Value::Object(object)));
        }
        _ => reader.number().map(Value::Number),
    }
    .map_err(EnvelopeError::from)
}

/// As `JSON.parse` does: the last of equal keys wins, in the place of the first.
fn keep_last(members: Vec<(JsString, Value)>) -> Vec<(JsString, Value)> {
    let mut places: BTreeMap<JsString, usize> = BTreeMap::new();
    let mut kept: Vec<(JsString, Value)> = Vec::with_capacity(members.len());
    for (key, value) in members {
        match places.entry(key.clone()) {
            Entry::Occupied(place) => kept[*place.get()].1 = value,
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}

fn tagged_bytes(object: &Object) -> Option<Value> {
    let kind = match object.get(BINARY_TAG)?.as_str()? {
        "Uint8Array" | "ArrayBufferView" => BytesKind::Uint8Array,
        "ArrayBuffer" => BytesKind::ArrayBuffer,
        _ => return None,
    };
    Some(Value::Bytes(kind, STANDARD.decode(object.get(BINARY_DATA)?.as_str()?).ok()?))
}

/// `Date.prototype.toISOString` (ECMA-262, section 21.4.1.32); `None` for an invalid date.
pub(crate) fn iso_date(ms: f64) -> Option<String> {
    if !(ms.is_finite() && ms.abs() <= 8.64e15) {
        return None;
    }
    let ms = ms.trunc() as i64;
    let (days, time) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // Days since 0000-03-01, in cycles of 400 years: the civil-from-days algorithm.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
    };
    let (hours, minutes, seconds) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60);
    Some(format!("{year}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", time % 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_array_one_value_or_nothing() {
        let cases = [("", 0), ("  ", 0), ("[]", 0), ("[1,2]", 2), ("{\"a\":1}", 1), ("null", 1), ("\"x\"", 1)];
        for (json, count) in cases {
            assert_eq!(parse_dispatch_arguments(json).unwrap().len(), count, "{json}");
        }
        assert!(parse_dispatch_arguments("[1").is_err());
    }

    #[test]
    fn an_envelope_is_a_result_an_error_or_nothing() {
        assert_eq!(parse_envelope("{\"result\":1}").unwrap(), Ok(Value::Number(1.0)));
        assert_eq!(parse_envelope("{\"error\":\"\"}").unwrap(), Err(String::new()));
        assert_eq!(parse_envelope("{}").unwrap(), Ok(Value::Undefined));
        for bad in ["", "1", "[]", "{\"error\":1}", "{\"result\":"] {
            assert!(parse_envelope(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_last_of_equal_keys_wins_in_the_place_of_the_first() {
        let value = from_json("{\"a\":1,\"b\":2,\"a\":3}").unwrap();
        assert_eq!(to_json(&value).unwrap().as_deref(), Some("{\"a\":3,\"b\":2}"));
    }

    #[test]
    fn binary_values_survive_an_envelope() {
        for value in [Value::Bytes(BytesKind::Uint8Array, vec![0, 255]), Value::Bytes(BytesKind::ArrayBuffer, vec![])] {
            let json = encode_result(&value).unwrap();
            assert_eq!(parse_envelope(&json).unwrap(), Ok(value));
        }
        let view = Value::Bytes(BytesKind::Int16Array, vec![1, 0]);
        let json = encode_result(&view).unwrap();
        assert_eq!(parse_envelope(&json).unwrap(), Ok(Value::Bytes(BytesKind::Uint8Array, vec![1, 0])));
    }

    #[test]
    fn values_become_the_json_that_stringify_makes() {
        let object = |members: Vec<(&str, Value)>| Value::Object(members.into_iter().collect());
        let cases = [
            (Value::Undefined, "{}"),
            (Value::Array(vec![Value::Undefined, Value::Number(f64::NAN)]), "{\"result\":[null,null]}"),
            (object(vec![("a", Value::Undefined), ("b", Value::Null)]), "{\"result\":{\"b\":null}}"),
            (Value::Date(0.0), "{\"result\":\"1970-01-01T00:00:00.000Z\"}"),
            (Value::Date(-62_198_755_200_000.0), "{\"result\":\"-000001-01-01T00:00:00.000Z\"}"),
            (Value::Date(951_782_400_001.0), "{\"result\":\"2000-02-29T00:00:00.001Z\"}"),
            (Value::Date(253_402_300_800_000.0), "{\"result\":\"+010000-01-01T00:00:00.000Z\"}"),
            (Value::Date(f64::NAN), "{\"result\":null}"),
            (Value::Number(-0.0), "{\"result\":0}"),
            (Value::Number(1e21), "{\"result\":1e21}"),
            (Value::Number(0.1), "{\"result\":0.1}"),
            (Value::from("a\"\u{7f}\n"), "{\"result\":\"a\\\"\u{7f}\\n\"}"),
        ];
        for (value, expected) in cases {
            assert_eq!(encode_result(&value).unwrap(), expected);
        }
        assert!(encode_result(&Value::BigInt("1".into())).is_err());
    }

    #[test]
    fn a_lone_surrogate_survives_both_ways() {
        let lone = Value::String(JsString::from_utf16(&[0xd800, 0x61]));
        let json = encode_result(&lone).unwrap();
        assert_eq!(json, "{\"result\":\"\\ud800a\"}");
        assert_eq!(parse_envelope(&json).unwrap(), Ok(lone));
    }
}
