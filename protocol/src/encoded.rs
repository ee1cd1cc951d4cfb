//! A result in the form in which it travels.

use std::sync::Arc;

use crate::{
    EnvelopeError, ResultLimits,
    capnweb::{
        DataLimits, DecodeError, DroppedKeys, EncodeError, Value,
        expression::{check_data_only, parse, write},
    },
};

/// One value as Cap'n Web expression text, data tags only, checked once and passed on without being parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded(Arc<str>);

impl Encoded {
    /// Checks a text that a sandbox or a server sent. One pass; no tree is built.
    ///
    /// # Errors
    /// The text is no data expression, is over a bound, or holds a key that JavaScript peers drop.
    pub fn check(text: impl Into<Arc<str>>, limits: &ResultLimits) -> Result<Self, DecodeError> {
        let text = text.into();
        check_data_only(&text, &data_limits(limits))?;
        Ok(Self(text))
    }

    /// The encoding of `value`.
    ///
    /// # Errors
    /// The value holds a stub or a local object, or is nested too deep.
    pub fn from_value(value: &Value) -> Result<Self, EncodeError> {
        Ok(Self(write(value)?.into()))
    }

    /// The value. Its cost grows with the size of the text; a value that was checked always decodes.
    ///
    /// # Errors
    /// None for a text that passed [`Encoded::check`].
    pub fn decode(&self) -> Result<Value, DecodeError> {
        let unbounded = ResultLimits { depth: u64::MAX, digits: u64::MAX, nodes: u64::MAX, units: u64::MAX };
        parse(&self.0, &DataLimits { dropped_keys: DroppedKeys::Allow, depth: 512, ..data_limits(&unbounded) })
    }

    /// The value as JSON, as `JSON.stringify` makes it: undefined members vanish, and undefined itself, in an array or
    /// as the whole, is null, as are NaN and the infinities; dates are ISO strings, errors their own members. Binary
    /// values are tagged objects, as in host calls.
    ///
    /// ```
    /// use codemode_protocol::{Encoded, ResultLimits};
    ///
    /// let result = Encoded::check(r#"{"at":["date",0],"list":[[1,["undefined"]]]}"#, &ResultLimits::default())?;
    /// assert_eq!(result.to_json()?, serde_json::json!({"at": "1970-01-01T00:00:00.000Z", "list": [1, null]}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value holds a BigInt, which JSON cannot carry.
    pub fn to_json(&self) -> Result<serde_json::Value, EnvelopeError> {
        serde_json::Value::try_from(&self.decode()?)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Encoded> for Arc<str> {
    fn from(encoded: Encoded) -> Self {
        encoded.0
    }
}

fn data_limits(limits: &ResultLimits) -> DataLimits {
    let size = |bound: u64| usize::try_from(bound).unwrap_or(usize::MAX);
    DataLimits {
        depth: size(limits.depth),
        bigint_digits: size(limits.digits),
        nodes: size(limits.nodes),
        utf16_units: size(limits.units),
        dropped_keys: DroppedKeys::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_checked_text_is_passed_on_as_it_came() {
        let text = "{\"a\":[[1,[\"undefined\"]]]}";
        let encoded = Encoded::check(text, &ResultLimits::default()).unwrap();
        assert_eq!(encoded.as_str(), text);
        assert_eq!(Encoded::from_value(&encoded.decode().unwrap()).unwrap(), encoded);
    }

    #[test]
    fn json_is_what_a_javascript_caller_would_write() {
        let json = |text: &str| Encoded::check(text, &ResultLimits::default()).unwrap().to_json();
        for (text, expected) in [
            ("42", json!(42)),
            ("1.5", json!(1.5)),
            ("-0", json!(0)),
            ("9007199254740992", json!(9_007_199_254_740_992_u64)),
            ("1e21", json!(1e21)),
            ("[\"undefined\"]", json!(null)),
            ("[\"nan\"]", json!(null)),
            ("[\"bytes\",\"AQI\"]", json!({"__codemode_binary_v1__": "Uint8Array", "data": "AQI="})),
            ("{\"b\":1,\"a\":[\"undefined\"],\"c\":[\"url\",\"https://a/\"]}", json!({"b": 1, "c": "https://a/"})),
            ("\"\\ud800\"", json!("\u{fffd}")),
        ] {
            assert_eq!(json(text).unwrap(), expected, "{text}");
        }
        let error = json("[\"bigint\",\"1\"]").unwrap_err();
        assert_eq!(error.to_string(), "Do not know how to serialize a BigInt");
        let deep = format!("{}1{}", "[[".repeat(199), "]]".repeat(199));
        assert!(json(&deep).is_ok());
    }

    #[test]
    fn a_reference_or_a_dropped_key_is_refused() {
        for text in ["[\"export\",-1]", "[\"import\",0]", "{\"toJSON\":1}", "{", "[1]", "[\"pipeline\",0,[\"x\"],[]]"] {
            assert!(Encoded::check(text, &ResultLimits::default()).is_err(), "{text}");
        }
    }
}
