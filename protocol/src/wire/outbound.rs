//! Outbound requests and their responses on the wire (PROTOCOL.md, "Interface"): the one argument of a call on the
//! outbound function, `{method, url, headers, body}`, and its answer `{status, statusText, headers, body}`.

use super::fields::{array, figure, object, string, take};
use crate::{
    ExecutorError, OutboundRequest, OutboundResponse,
    capnweb::{BytesKind, Object, Value},
};

/// The arguments of a call on an outbound function.
pub fn outbound_arguments(request: OutboundRequest) -> Vec<Value> {
    let OutboundRequest { method, url, headers, body } = request;
    let mut members = Object::new();
    members.insert("method", Value::from(method));
    members.insert("url", Value::from(url));
    members.insert("headers", headers_to_value(headers));
    members.insert("body", body.map_or(Value::Null, |body| Value::Bytes(BytesKind::Uint8Array, body)));
    vec![Value::Object(members)]
}

/// The request in a call on an outbound function.
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn outbound_call(args: Vec<Value>) -> Result<OutboundRequest, ExecutorError> {
    let mut members = object("request", args.into_iter().next().unwrap_or_default())?;
    let mut member = |name: &str| take(&mut members, name).unwrap_or_default();
    Ok(OutboundRequest {
        method: string("method", member("method"))?,
        url: string("url", member("url"))?,
        headers: headers_from_value(member("headers"))?,
        body: body_from_value(member("body"))?,
    })
}

/// The answer of an outbound function.
pub fn outbound_response_to_value(response: OutboundResponse) -> Value {
    let OutboundResponse { status, status_text, headers, body } = response;
    let mut members = Object::new();
    members.insert("status", Value::Number(f64::from(status)));
    members.insert("statusText", Value::from(status_text));
    members.insert("headers", headers_to_value(headers));
    members.insert("body", Value::Bytes(BytesKind::Uint8Array, body));
    Value::Object(members)
}

/// The response that a peer's outbound function gave. Everything but the status may be absent; `headers` may also be a
/// `Headers` object, `body` null.
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn outbound_response_from_value(value: Value) -> Result<OutboundResponse, ExecutorError> {
    let mut members = object("response", value)?;
    let mut member = |name: &str| take(&mut members, name);
    let status = figure("status", member("status").unwrap_or_default())?;
    if !(200.0..=599.0).contains(&status) || status.fract() != 0.0 {
        return Err(ExecutorError::invalid("status", format_args!("is {status}; it must be from 200 to 599")));
    }
    Ok(OutboundResponse {
        status: status as u16,
        status_text: member("statusText").map_or(Ok(String::new()), |text| string("statusText", text))?,
        headers: member("headers").map_or(Ok(Vec::new()), headers_from_value)?,
        body: member("body").map_or(Ok(None), body_from_value)?.unwrap_or_default(),
    })
}

fn headers_to_value(headers: Vec<(String, String)>) -> Value {
    let pairs = headers.into_iter().map(|(name, value)| Value::Array(vec![Value::from(name), Value::from(value)]));
    Value::Array(pairs.collect())
}

fn headers_from_value(value: Value) -> Result<Vec<(String, String)>, ExecutorError> {
    if let Value::Headers(headers) = value {
        return Ok(headers);
    }
    let pairs = array("headers", value)?.into_iter().enumerate();
    pairs
        .map(|(at, pair)| {
            let field = format!("headers[{at}]");
            match <[Value; 2]>::try_from(array(&field, pair)?) {
                Ok([name, value]) => Ok((string(&field, name)?, string(&field, value)?)),
                Err(_) => Err(ExecutorError::invalid(field, "must be a name and a value")),
            }
        })
        .collect()
}

fn body_from_value(value: Value) -> Result<Option<Vec<u8>>, ExecutorError> {
    match value {
        Value::Bytes(_, bytes) => Ok(Some(bytes)),
        Value::Null | Value::Undefined => Ok(None),
        _ => Err(ExecutorError::invalid("body", "must be binary data or null")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> Vec<(String, String)> {
        vec![("set-cookie".into(), "a=1".into()), ("set-cookie".into(), "b=2".into())]
    }

    #[test]
    fn requests_and_responses_survive_the_wire() {
        for body in [None, Some(Vec::new()), Some(vec![0, 255])] {
            let request = OutboundRequest { method: "PUT".into(), url: "https://h/".into(), headers: headers(), body };
            assert_eq!(outbound_call(outbound_arguments(request.clone())).unwrap(), request);
        }
        let response =
            OutboundResponse { status: 404, status_text: "Not Found".into(), headers: headers(), body: vec![1] };
        assert_eq!(outbound_response_from_value(outbound_response_to_value(response.clone())).unwrap(), response);
    }

    #[test]
    fn what_a_peer_leaves_off_is_empty() {
        let value = Value::Object([("status", Value::Number(204.0)), ("body", Value::Null)].into_iter().collect());
        let response = outbound_response_from_value(value).unwrap();
        assert_eq!(
            response,
            OutboundResponse { status: 204, status_text: String::new(), headers: vec![], body: vec![] }
        );
        let members = [("status", Value::Number(200.0)), ("headers", Value::Headers(headers()))];
        assert_eq!(
            outbound_response_from_value(Value::Object(members.into_iter().collect())).unwrap().headers,
            headers()
        );
    }

    #[test]
    fn a_wrong_member_is_named() {
        let with = |name: &str, value: Value| {
            let mut members = Object::new();
            if name != "status" {
                members.insert("status", Value::Number(200.0));
            }
            members.insert(name, value);
            outbound_response_from_value(Value::Object(members)).unwrap_err().message
        };
        let cases = [
            (with("status", Value::Number(99.0)), "status: is 99; it must be from 200 to 599"),
            (with("status", "200".into()), "status: must be a number, not a string"),
            (with("body", "text".into()), "body: must be binary data or null"),
            (with("headers", Value::Array(vec![Value::Null])), "headers[0]: must be an array, not null"),
            (with("headers", Value::Array(vec![Value::Array(vec![])])), "headers[0]: must be a name and a value"),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }
}
