//! [`ExecuteRequest`] on the wire.

use std::collections::BTreeMap;

use super::fields::{array, boolean, named, object, positive, string, take, time_bound};
use crate::{
    ExecuteRequest, ExecutorError, OutboundMode, ProviderDescriptor, ResultEncoding, TimeBound,
    capnweb::{Object, Value},
};

/// The request as an object that holds just the members that the caller set.
pub fn request_to_value(request: &ExecuteRequest) -> Value {
    let mut members = Object::new();
    let mut set = |name: &str, value: Value| members.insert(name, value);
    set("code", Value::from(request.code.as_str()));
    if !request.providers.is_empty() {
        set("providers", Value::Array(request.providers.iter().map(provider_to_value).collect()));
    }
    if let Some(modules) = &request.modules {
        let modules = modules.iter().map(|(name, source)| (name.as_str(), Value::from(source.as_str())));
        set("modules", Value::Object(modules.collect()));
    }
    for (name, bound) in [("timeout", request.timeout), ("cpuTime", request.cpu_time)] {
        match bound {
            TimeBound::Default => {}
            TimeBound::Ceiling => set(name, Value::Null),
            TimeBound::Milliseconds(ms) => set(name, Value::Number(ms as f64)),
        }
    }
    for (name, flag) in [
        ("countHostWaits", request.count_host_waits),
        ("dropFunctions", request.drop_functions),
        ("retainHandles", request.retain_handles),
    ] {
        if flag {
            set(name, Value::Bool(true));
        }
    }
    for (name, bytes) in [("memoryLimit", request.memory_limit), ("stackLimit", request.stack_limit)] {
        if let Some(bytes) = bytes {
            set(name, Value::Number(bytes as f64));
        }
    }
    if request.outbound != OutboundMode::Default {
        set("outbound", Value::from(request.outbound.as_str()));
    }
    if request.result_encoding != ResultEncoding::Value {
        set("resultEncoding", Value::from(request.result_encoding.as_str()));
    }
    for (name, text) in [("id", &request.id), ("traceparent", &request.traceparent)] {
        if let Some(text) = text {
            set(name, Value::from(text.as_str()));
        }
    }
    Value::Object(members)
}

/// The request that a peer sent. Its rules are checked by [`ExecuteRequest::validate`].
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn request_from_value(value: Value) -> Result<ExecuteRequest, ExecutorError> {
    let mut members = object("request", value)?;
    let code = take(&mut members, "code").ok_or_else(|| ExecutorError::invalid("code", "is missing"))?;
    let mut request = ExecuteRequest::new(string("code", code)?);
    if let Some(value) = take(&mut members, "providers") {
        let providers = array("providers", value)?.into_iter().enumerate();
        request.providers = providers.map(|(at, value)| provider_from_value(at, value)).collect::<Result<_, _>>()?;
    }
    if let Some(value) = take(&mut members, "modules") {
        request.modules = Some(modules_from_value(value)?);
    }
    request.timeout = time_bound(&mut members, "timeout")?;
    request.cpu_time = time_bound(&mut members, "cpuTime")?;
    request.memory_limit = take(&mut members, "memoryLimit").map(|value| positive("memoryLimit", value)).transpose()?;
    request.stack_limit = take(&mut members, "stackLimit").map(|value| positive("stackLimit", value)).transpose()?;
    for (name, flag) in [
        ("countHostWaits", &mut request.count_host_waits),
        ("dropFunctions", &mut request.drop_functions),
        ("retainHandles", &mut request.retain_handles),
    ] {
        if let Some(value) = take(&mut members, name) {
            *flag = boolean(name, value)?;
        }
    }
    if let Some(value) = take(&mut members, "outbound") {
        request.outbound = outbound_from_value(value)?;
    }
    if let Some(value) = take(&mut members, "resultEncoding") {
        request.result_encoding = named("resultEncoding", value, "\"value\" or \"text\"", ResultEncoding::from_text)?;
    }
    request.id = take(&mut members, "id").map(|value| string("id", value)).transpose()?;
    request.traceparent = take(&mut members, "traceparent").map(|value| string("traceparent", value)).transpose()?;
    Ok(request)
}

pub(super) fn outbound_from_value(value: Value) -> Result<OutboundMode, ExecutorError> {
    named("outbound", value, "\"default\", \"blocked\" or \"stub\"", OutboundMode::from_text)
}

pub(super) fn modules_from_value(value: Value) -> Result<BTreeMap<String, String>, ExecutorError> {
    let modules = object("modules", value)?.into_iter();
    modules
        .map(|(name, source)| {
            let name = string("modules", Value::String(name))?;
            let source = string(&format!("modules[{name:?}]"), source)?;
            Ok((name, source))
        })
        .collect()
}

fn provider_to_value(provider: &ProviderDescriptor) -> Value {
    let mut members = Object::new();
    members.insert("name", Value::from(provider.name.as_str()));
    let tools = provider.tools.iter().map(|tool| Value::from(tool.as_str()));
    members.insert("tools", Value::Array(tools.collect()));
    for (name, source) in [("prelude", &provider.prelude), ("proxySource", &provider.proxy_source)] {
        if let Some(source) = source {
            members.insert(name, Value::from(source.as_str()));
        }
    }
    if let Some(positional) = provider.positional_args {
        members.insert("positionalArgs", Value::Bool(positional));
    }
    Value::Object(members)
}

pub(super) fn provider_from_value(position: usize, value: Value) -> Result<ProviderDescriptor, ExecutorError> {
    let at = |name: &str| format!("providers[{position}].{name}");
    let mut members = object(&format!("providers[{position}]"), value)?;
    let name = take(&mut members, "name").ok_or_else(|| ExecutorError::invalid(at("name"), "is missing"))?;
    let tools = match take(&mut members, "tools") {
        None => Vec::new(),
        Some(value) => array(&at("tools"), value)?
            .into_iter()
            .enumerate()
            .map(|(tool, value)| string(&at(&format!("tools[{tool}]")), value))
            .collect::<Result<_, _>>()?,
    };
    let mut text = |name: &str| take(&mut members, name).map(|value| string(&at(name), value)).transpose();
    Ok(ProviderDescriptor {
        name: string(&at("name"), name)?,
        tools,
        prelude: text("prelude")?,
        proxy_source: text("proxySource")?,
        positional_args: take(&mut members, "positionalArgs")
            .map(|value| boolean(&at("positionalArgs"), value))
            .transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(members: &[(&str, Value)]) -> Value {
        Value::Object(members.iter().map(|(name, value)| (*name, value.clone())).collect())
    }

    #[test]
    fn a_request_survives_the_wire() {
        let full = ExecuteRequest {
            code: "async () => 1".into(),
            providers: vec![ProviderDescriptor {
                name: "api".into(),
                tools: vec!["a".into()],
                prelude: Some("1".into()),
                positional_args: Some(false),
                proxy_source: Some("x => x".into()),
            }],
            modules: Some([("m".into(), "export {}".into())].into()),
            timeout: TimeBound::Milliseconds(5),
            count_host_waits: true,
            outbound: OutboundMode::Blocked,
            memory_limit: Some(1 << 20),
            stack_limit: Some(4096),
            cpu_time: TimeBound::Ceiling,
            drop_functions: true,
            retain_handles: true,
            result_encoding: ResultEncoding::Text,
            id: Some("123e4567-e89b-12d3-a456-426614174000".into()),
            traceparent: Some("00-0-0-00".into()),
        };
        for request in [full, ExecuteRequest::new("x")] {
            assert_eq!(request_from_value(request_to_value(&request)).unwrap(), request);
        }
    }

    #[test]
    fn members_that_nobody_set_are_left_off() {
        let Value::Object(members) = request_to_value(&ExecuteRequest::new("x")) else { panic!("not an object") };
        assert_eq!(members.len(), 1);
    }

    #[test]
    fn undefined_is_absent_and_unknown_members_are_ignored() {
        let value = object(&[("code", "x".into()), ("timeout", Value::Undefined), ("later", Value::Null)]);
        assert_eq!(request_from_value(value).unwrap(), ExecuteRequest::new("x"));
    }

    #[test]
    fn a_wrong_type_is_named_with_its_member() {
        let code = || ("code", Value::from("x"));
        let provider = |members: &[(&str, Value)]| ("providers", Value::Array(vec![object(members)]));
        let cases = [
            (Value::Null, "request: must be an object, not null"),
            (object(&[]), "code: is missing"),
            (object(&[("code", Value::Number(1.0))]), "code: must be a string, not a number"),
            (object(&[code(), ("providers", Value::Null)]), "providers: must be an array, not null"),
            (object(&[code(), provider(&[])]), "providers[0].name: is missing"),
            (
                object(&[code(), provider(&[("name", "a".into()), ("tools", Value::Array(vec![Value::Null]))])]),
                "providers[0].tools[0]: must be a string, not null",
            ),
            (object(&[code(), ("timeout", "1".into())]), "timeout: must be a number, not a string"),
            (
                object(&[code(), ("timeout", Value::Number(0.5))]),
                "timeout: is 0.5; it must be a finite number of at least 1",
            ),
            (
                object(&[code(), ("memoryLimit", Value::Number(f64::NAN))]),
                "memoryLimit: is NaN; it must be a finite number of at least 1",
            ),
            (
                object(&[code(), ("outbound", "open".into())]),
                "outbound: is \"open\"; it must be \"default\", \"blocked\" or \"stub\"",
            ),
            (
                object(&[code(), ("modules", object(&[("m", Value::Null)]))]),
                "modules[\"m\"]: must be a string, not null",
            ),
            (
                object(&[code(), ("dropFunctions", Value::Number(1.0))]),
                "dropFunctions: must be a boolean, not a number",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(request_from_value(value).unwrap_err().message, expected);
        }
    }
}
