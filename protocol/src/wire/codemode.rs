//! [`CodemodeRequest`] on the wire.

use super::{
    fields::{array, named, object, string, take, wrong},
    request::{modules_from_value, outbound_from_value, provider_from_value},
};
use crate::{CodemodeRequest, ExecutorError, ResultEncoding, TimeBound, capnweb::Value};

/// The request of a `codemode` call that a peer sent. Its rules are checked by [`CodemodeRequest::validate`].
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn codemode_request_from_value(value: Value) -> Result<CodemodeRequest, ExecutorError> {
    let mut members = object("request", value)?;
    let code = take(&mut members, "code").ok_or_else(|| ExecutorError::invalid("code", "is missing"))?;
    let mut request = CodemodeRequest { code: string("code", code)?, ..CodemodeRequest::default() };
    if let Some(value) = take(&mut members, "providers") {
        let providers = array("providers", value)?.into_iter().enumerate();
        request.providers = providers.map(|(at, value)| provider_from_value(at, value)).collect::<Result<_, _>>()?;
    }
    if let Some(value) = take(&mut members, "connectors") {
        let connectors = array("connectors", value)?.into_iter().enumerate();
        let name = |(at, value)| string(&format!("connectors[{at}]"), value);
        request.connectors = connectors.map(name).collect::<Result<_, _>>()?;
    }
    request.modules = take(&mut members, "modules").map(modules_from_value).transpose()?;
    request.timeout = match take(&mut members, "timeout") {
        None => TimeBound::Default,
        Some(Value::Null) => TimeBound::Ceiling,
        Some(value) => TimeBound::Milliseconds(milliseconds(value)?),
    };
    if let Some(value) = take(&mut members, "outbound") {
        request.outbound = outbound_from_value(value)?;
    }
    if let Some(value) = take(&mut members, "resultEncoding") {
        request.result_encoding = named("resultEncoding", value, "\"value\" or \"text\"", ResultEncoding::from_text)?;
    }
    request.id = take(&mut members, "id").map(|value| string("id", value)).transpose()?;
    Ok(request)
}

/// The dialect takes 0 too, as its own executor does.
fn milliseconds(value: Value) -> Result<u64, ExecutorError> {
    let number = value.as_number().ok_or_else(|| wrong("timeout", "a number", &value))?;
    if !(number >= 0.0 && number.is_finite()) {
        let rule = format_args!("is {number}; it must be a finite number of at least 0");
        return Err(ExecutorError::invalid("timeout", rule));
    }
    Ok(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutboundMode, ProviderDescriptor, capnweb::Object};

    fn object(members: &[(&str, Value)]) -> Value {
        Value::Object(members.iter().cloned().collect::<Object>())
    }

    #[test]
    fn every_member_is_read_and_unknown_ones_are_ignored() {
        let provider = object(&[("name", "git-hub".into()), ("tools", Value::Array(vec!["list issues".into()]))]);
        let value = object(&[
            ("code", "1 + 2".into()),
            ("providers", Value::Array(vec![provider])),
            ("connectors", Value::Array(vec!["mail".into()])),
            ("modules", object(&[("m", "export {}".into())])),
            ("timeout", Value::Number(0.0)),
            ("outbound", "blocked".into()),
            ("resultEncoding", "text".into()),
            ("id", "123e4567-e89b-12d3-a456-426614174000".into()),
            ("memoryLimit", "ignored".into()),
        ]);
        let expected = CodemodeRequest {
            code: "1 + 2".into(),
            providers: vec![ProviderDescriptor {
                name: "git-hub".into(),
                tools: vec!["list issues".into()],
                ..ProviderDescriptor::default()
            }],
            connectors: vec!["mail".into()],
            modules: Some([("m".into(), "export {}".into())].into()),
            timeout: TimeBound::Milliseconds(0),
            outbound: OutboundMode::Blocked,
            result_encoding: ResultEncoding::Text,
            id: Some("123e4567-e89b-12d3-a456-426614174000".into()),
        };
        assert_eq!(codemode_request_from_value(value).unwrap(), expected);
        let ceiling = object(&[("code", "1".into()), ("timeout", Value::Null), ("providers", Value::Undefined)]);
        assert_eq!(codemode_request_from_value(ceiling).unwrap().timeout, TimeBound::Ceiling);
    }

    #[test]
    fn a_wrong_type_is_named() {
        let with = |name: &str, value: Value| object(&[("code", "1".into()), (name, value)]);
        let cases = [
            (Value::Undefined, "request: must be an object, not undefined"),
            (object(&[]), "code: is missing"),
            (object(&[("code", 1.into())]), "code: must be a string, not a number"),
            (with("connectors", "mail".into()), "connectors: must be an array, not a string"),
            (with("connectors", Value::Array(vec![Value::Null])), "connectors[0]: must be a string, not null"),
            (with("timeout", Value::Number(-1.0)), "timeout: is -1; it must be a finite number of at least 0"),
            (with("timeout", Value::Number(f64::NAN)), "timeout: is NaN; it must be a finite number of at least 0"),
            (with("timeout", "1".into()), "timeout: must be a number, not a string"),
            (with("outbound", Value::Null), "outbound: must be a string, not null"),
            (with("providers", Value::Array(vec![object(&[])])), "providers[0].name: is missing"),
        ];
        for (value, expected) in cases {
            assert_eq!(codemode_request_from_value(value).unwrap_err().message, expected);
        }
    }
}
