//! [`InvokeOptions`] on the wire.

use super::{
    fields::{boolean, named, object, string, take, time_bound},
    request::outbound_from_value,
};
use crate::{
    ExecutorError, InvokeOptions, OutboundMode, ResultEncoding, TimeBound,
    capnweb::{Object, Value},
};

/// The options as an object that holds just the members that the caller set.
pub fn invoke_options_to_value(options: &InvokeOptions) -> Value {
    let mut members = Object::new();
    let mut set = |name: &str, value: Value| members.insert(name, value);
    for (name, bound) in [("timeout", options.timeout), ("cpuTime", options.cpu_time)] {
        match bound {
            TimeBound::Default => {}
            TimeBound::Ceiling => set(name, Value::Null),
            TimeBound::Milliseconds(ms) => set(name, Value::Number(ms as f64)),
        }
    }
    for (name, flag) in [("countHostWaits", options.count_host_waits), ("dropFunctions", options.drop_functions)] {
        if flag {
            set(name, Value::Bool(true));
        }
    }
    if options.outbound != OutboundMode::Default {
        set("outbound", Value::from(options.outbound.as_str()));
    }
    if options.result_encoding != ResultEncoding::Value {
        set("resultEncoding", Value::from(options.result_encoding.as_str()));
    }
    if let Some(id) = &options.id {
        set("id", Value::from(id.as_str()));
    }
    Value::Object(members)
}

/// The options that a peer sent; undefined and null are none. Their rules are checked by [`InvokeOptions::validate`].
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn invoke_options_from_value(value: Value) -> Result<InvokeOptions, ExecutorError> {
    if value.is_nullish() {
        return Ok(InvokeOptions::default());
    }
    let mut members = object("options", value)?;
    let mut options = InvokeOptions {
        timeout: time_bound(&mut members, "timeout")?,
        cpu_time: time_bound(&mut members, "cpuTime")?,
        ..InvokeOptions::default()
    };
    for (name, flag) in
        [("countHostWaits", &mut options.count_host_waits), ("dropFunctions", &mut options.drop_functions)]
    {
        if let Some(value) = take(&mut members, name) {
            *flag = boolean(name, value)?;
        }
    }
    if let Some(value) = take(&mut members, "outbound") {
        options.outbound = outbound_from_value(value)?;
    }
    if let Some(value) = take(&mut members, "resultEncoding") {
        options.result_encoding = named("resultEncoding", value, "\"value\" or \"text\"", ResultEncoding::from_text)?;
    }
    options.id = take(&mut members, "id").map(|value| string("id", value)).transpose()?;
    Ok(options)
}

/// The first three arguments of a call of a handle: execution, handle, and the JSON of the arguments, which may be
/// absent.
///
/// # Errors
/// `INVALID_REQUEST` when one is no string.
pub fn invoke_call(args: [Value; 3]) -> Result<[String; 3], ExecutorError> {
    let [execution, handle, args_json] = args;
    let args_json = if args_json.is_nullish() { String::new() } else { string("argsJson", args_json)? };
    Ok([execution_id(execution)?, string("handleId", handle)?, args_json])
}

/// The id of a retained execution.
///
/// # Errors
/// `INVALID_REQUEST` when it is no string.
pub fn execution_id(value: Value) -> Result<String, ExecutorError> {
    string("executionId", value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_wire_and_none_are_the_default() {
        let full = InvokeOptions {
            timeout: TimeBound::Milliseconds(5),
            count_host_waits: true,
            cpu_time: TimeBound::Ceiling,
            outbound: OutboundMode::Stub,
            result_encoding: ResultEncoding::Text,
            drop_functions: true,
            id: Some("123e4567-e89b-12d3-a456-426614174000".into()),
        };
        for options in [full, InvokeOptions::default()] {
            assert_eq!(invoke_options_from_value(invoke_options_to_value(&options)).unwrap(), options);
        }
        for none in [Value::Undefined, Value::Null] {
            assert_eq!(invoke_options_from_value(none).unwrap(), InvokeOptions::default());
        }
    }

    #[test]
    fn a_wrong_argument_is_named() {
        let call =
            |execution: Value, handle: Value, args: Value| invoke_call([execution, handle, args]).unwrap_err().message;
        let cases = [
            (call(Value::Null, "h".into(), "[]".into()), "executionId: must be a string, not null"),
            (call("e".into(), Value::Undefined, "[]".into()), "handleId: must be a string, not undefined"),
            (call("e".into(), "h".into(), Value::Array(vec![])), "argsJson: must be a string, not an array"),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }
}
