//! Fuzz functions: what must hold whatever a program is, and whatever it passes to a tool.
//!
//! They panic when something does not hold. Ordinary tests drive them from a seeded generator, `fuzz/` by coverage.

use crate::{
    SeparatedImports, capnweb::Value, first_element, from_json, members, parse_dispatch_arguments, parse_envelope,
    separate_imports, to_json,
};

/// One text as a program: nothing is lost between its imports and its body, and neither holds what belongs to the other.
pub fn imports(data: &[u8]) {
    let code = String::from_utf8_lossy(data);
    let SeparatedImports { imports, body } = separate_imports(&code);
    assert_eq!(format!("{imports}{body}"), code);
    assert_eq!(separate_imports(body).imports, "", "{code:?}");
    assert_eq!(separate_imports(imports).imports, imports, "{code:?}");
}

/// One text as the arguments of a host call and as an envelope: what looks into it without building its values finds
/// what is built, and what is built can be written and read again.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(args) = parse_dispatch_arguments(&text)
        && !text.trim_ascii().is_empty()
    {
        assert_eq!(first_element(&text).map(from_json), args.first().cloned().map(Ok), "{text:?}");
        args.iter().for_each(held_by_json);
    }
    let envelope = parse_envelope(&text);
    let Ok(Value::Object(object)) = from_json(&text) else {
        assert!(envelope.is_err(), "{text:?}");
        return;
    };
    let found = members(&text, ["result", "error"]).expect("an object");
    for (name, part) in ["result", "error"].into_iter().zip(found) {
        assert_eq!(part.map(from_json), object.get(name).cloned().map(Ok), "{text:?}");
    }
    match envelope {
        Ok(Ok(value)) => assert_eq!(&value, object.get("result").unwrap_or(&Value::Undefined)),
        Ok(Err(_)) => assert!(matches!(object.get("error"), Some(Value::String(_)))),
        Err(_) => assert!(object.get("error").is_some(), "{text:?}"),
    }
}

/// Plain data is written in one way.
fn held_by_json(value: &Value) {
    let written = to_json(value).expect("what was read can be written").expect("no JSON is undefined");
    let again = from_json(&written).expect("what was written is JSON");
    assert_eq!(to_json(&again), Ok(Some(written)));
}
