//! Values as JSON text, indented. What JSON cannot say is written as the help of `run` describes.

use std::fmt::{self, Write};

use base64::{Engine, engine::general_purpose::STANDARD};
use codemode_protocol::{
    BINARY_TAG,
    capnweb::{JsString, Value},
};

/// Displays a value as JSON.
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self.0, 0)
    }
}

fn write_value(out: &mut dyn Write, value: &Value, depth: usize) -> fmt::Result {
    match value {
        Value::Undefined | Value::Null => out.write_str("null"),
        Value::Bool(flag) => write!(out, "{flag}"),
        Value::Number(number) => write_number(out, *number),
        Value::String(text) => write_string(out, text),
        Value::BigInt(digits) => write!(out, "\"{digits}\""),
        Value::Date(ms) => match iso(*ms) {
            Some(text) => write!(out, "\"{text}\""),
            None => out.write_str("null"),
        },
        Value::Bytes(kind, bytes) => {
            let data = STANDARD.encode(bytes);
            let members = [(BINARY_TAG.into(), Value::from(kind.name())), ("data".into(), Value::from(data))];
            write_members(out, members.iter().map(|(name, value)| (name, value)), depth)
        }
        Value::Url(href) => write_string(out, &href.as_str().into()),
        Value::Headers(pairs) => {
            let pairs = pairs.iter();
            let pairs: Vec<_> = pairs
                .map(|(name, value)| Value::Array(vec![Value::from(name.as_str()), Value::from(value.as_str())]))
                .collect();
            write_items(out, &pairs, depth)
        }
        Value::Error(error) => {
            let own = [("name".into(), error.name.as_str().into()), ("message".into(), error.message.as_str().into())];
            let stack = error.stack.as_deref().map(|stack| ("stack".into(), Value::from(stack)));
            let members: Vec<(JsString, Value)> = own.into_iter().chain(stack).collect();
            write_members(out, members.iter().chain(error.props.iter()).map(|(name, value)| (name, value)), depth)
        }
        Value::Array(items) => write_items(out, items, depth),
        Value::Object(object) => write_members(out, object.iter().map(|(name, value)| (name, value)), depth),
        // Results are data only.
        Value::Encoded(_) | Value::Stub(_) | Value::Local(_) => out.write_str("null"),
    }
}

fn write_items(out: &mut dyn Write, items: &[Value], depth: usize) -> fmt::Result {
    if items.is_empty() {
        return out.write_str("[]");
    }
    let mut before = '[';
    for item in items {
        out.write_char(before)?;
        before = ',';
        line(out, depth + 1)?;
        write_value(out, item, depth + 1)?;
    }
    line(out, depth)?;
    out.write_char(']')
}

fn write_members<'a>(
    out: &mut dyn Write,
    members: impl Iterator<Item = (&'a JsString, &'a Value)>,
    depth: usize,
) -> fmt::Result {
    let mut members = members.filter(|(_, value)| !matches!(value, Value::Undefined)).peekable();
    if members.peek().is_none() {
        return out.write_str("{}");
    }
    let mut before = '{';
    for (name, value) in members {
        out.write_char(before)?;
        before = ',';
        line(out, depth + 1)?;
        write_string(out, name)?;
        out.write_str(": ")?;
        write_value(out, value, depth + 1)?;
    }
    line(out, depth)?;
    out.write_char('}')
}

fn line(out: &mut dyn Write, depth: usize) -> fmt::Result {
    write!(out, "\n{:width$}", "", width = depth * 2)
}

fn write_number(out: &mut dyn Write, number: f64) -> fmt::Result {
    let size = number.abs();
    if !number.is_finite() {
        out.write_str("null")
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        write!(out, "{number:e}")
    } else {
        // Adding zero makes the negative zero a plain one, as JSON.stringify does.
        write!(out, "{}", number + 0.0)
    }
}

fn write_string(out: &mut dyn Write, text: &JsString) -> fmt::Result {
    out.write_char('"')?;
    for unit in char::decode_utf16(text.to_utf16()) {
        match unit {
            Ok('"') => out.write_str("\\\"")?,
            Ok('\\') => out.write_str("\\\\")?,
            Ok('\n') => out.write_str("\\n")?,
            Ok('\r') => out.write_str("\\r")?,
            Ok('\t') => out.write_str("\\t")?,
            // Also the controls beyond ASCII, which JSON would allow and a terminal would obey.
            Ok(control) if control.is_control() => write!(out, "\\u{:04x}", u32::from(control))?,
            Ok(character) => out.write_char(character)?,
            Err(lone) => write!(out, "\\u{:04x}", lone.unpaired_surrogate())?,
        }
    }
    out.write_char('"')
}

/// A time in milliseconds since 1970 as `Date.prototype.toISOString` writes it; none when it is no date.
fn iso(ms: f64) -> Option<String> {
    const LARGEST: f64 = 8.64e15;
    if ms.is_nan() || ms.abs() > LARGEST {
        return None;
    }
    let ms = ms.trunc() as i64;
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    let (hour, minute, second, milli) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"))
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from March of year 0, leap days are the last of their year and 400 years repeat.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use codemode_protocol::capnweb::{BytesKind, ErrorValue, Object};

    use super::*;

    fn compact(value: Value) -> String {
        Json(&value).to_string().split('\n').map(str::trim).collect()
    }

    #[test]
    fn what_json_cannot_say_is_written_as_documented() {
        let object: Object = [("gone", Value::Undefined), ("kept", Value::Null)].into_iter().collect();
        let cases = [
            (Value::Undefined, "null"),
            (Value::Number(f64::NAN), "null"),
            (Value::Number(-0.0), "0"),
            (Value::Number(1e21), "1e21"),
            (Value::Number(1.5e-7), "1.5e-7"),
            (Value::Number(0.1), "0.1"),
            (Value::Number(9_007_199_254_740_991.0), "9007199254740991"),
            (Value::BigInt("-12345678901234567890".into()), "\"-12345678901234567890\""),
            (Value::Date(0.0), "\"1970-01-01T00:00:00.000Z\""),
            (Value::Date(f64::NAN), "null"),
            (
                Value::Bytes(BytesKind::Uint8Array, vec![1, 2]),
                "{\"__codemode_binary_v1__\": \"Uint8Array\",\"data\": \"AQI=\"}",
            ),
            (Value::Url("https://a/".into()), "\"https://a/\""),
            (Value::Array(vec![Value::Undefined, 1.into()]), "[null,1]"),
            (Value::Object(object), "{\"kept\": null}"),
            (Value::Object(Object::new()), "{}"),
            (
                ErrorValue::new("TypeError", "bad").with_code("E").into(),
                "{\"name\": \"TypeError\",\"message\": \"bad\",\"code\": \"E\"}",
            ),
            (Value::from("a\"\\\n\u{1b}\u{9b}é😀"), "\"a\\\"\\\\\\n\\u001b\\u009bé😀\""),
            (Value::String(JsString::from_utf16(&[0xd800, 0x61])), "\"\\ud800a\""),
        ];
        for (value, expected) in cases {
            assert_eq!(compact(value.clone()), expected, "{value:?}");
        }
    }

    #[test]
    fn nested_values_are_indented() {
        let inner: Object = [("b", Value::Array(vec![1.into()]))].into_iter().collect();
        let value = Value::Object([("a", Value::Object(inner))].into_iter().collect());
        assert_eq!(Json(&value).to_string(), "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}");
    }

    #[test]
    fn dates_are_written_as_javascript_writes_them() {
        for (ms, expected) in [
            (1_700_000_000_123.0, "2023-11-14T22:13:20.123Z"),
            (951_782_400_000.0, "2000-02-29T00:00:00.000Z"),
            (-1.0, "1969-12-31T23:59:59.999Z"),
            (-62_198_755_200_000.0, "-000001-01-01T00:00:00.000Z"),
            (8.64e15, "+275760-09-13T00:00:00.000Z"),
        ] {
            assert_eq!(iso(ms).as_deref(), Some(expected));
        }
        assert_eq!(iso(8.64e15 + 1.0), None);
    }
}
