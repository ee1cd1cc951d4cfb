//! Values and their text: round trips by property, and texts that are not what they should be.

use codemode_protocol::capnweb::expression::{self, DataLimits, DecodeError, DroppedKeys};
use codemode_protocol::capnweb::{BytesKind, ErrorValue, JsString, Object, Value, is_dropped_key};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::harness::{Peer, echo};

fn limits() -> DataLimits {
    DataLimits { depth: 256, dropped_keys: DroppedKeys::Allow, ..DataLimits::default() }
}

fn js_string() -> impl Strategy<Value = JsString> {
    prop_oneof![
        4 => "\\PC{0,12}".prop_map(JsString::from),
        1 => ".{0,6}".prop_map(JsString::from),
        1 => vec(any::<u16>(), 0..6).prop_map(|units| JsString::from_utf16(&units)),
        1 => vec(0xD7FFu16..0xE001, 0..6).prop_map(|units| JsString::from_utf16(&units)),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), any::<i32>().prop_map(f64::from), Just(-0.0), Just(f64::MAX), Just(5e-324), Just(1e21)]
}

fn bytes() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        BytesKind::Uint8Array,
        BytesKind::ArrayBuffer,
        BytesKind::DataView,
        BytesKind::Int16Array,
        BytesKind::Uint32Array,
        BytesKind::BigInt64Array,
        BytesKind::Float64Array,
    ]);
    (kinds, vec(any::<u8>(), 0..40)).prop_map(|(kind, mut bytes)| {
        bytes.truncate(bytes.len() / kind.element_size() * kind.element_size());
        Value::Bytes(kind, bytes)
    })
}

/// Entries with distinct keys, as objects from the wire have them.
fn entries(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    let key = prop_oneof![8 => js_string(), 1 => Just("__proto__".into()), 1 => Just("toJSON".into())];
    vec((key, value), 0..12).prop_map(|entries| {
        let mut object = Object::new();
        for (key, value) in entries {
            object.insert(key, value);
        }
        object
    })
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        js_string().prop_map(Value::String),
        "(0|-?[1-9][0-9]{0,40})".prop_map(Value::BigInt),
        (-8.64e15..8.64e15).prop_map(Value::Date),
        Just(Value::Date(f64::NAN)),
        bytes(),
        "https://h/[a-z]{0,5}".prop_map(Value::Url),
        vec(("[a-z-]{1,8}", "[ -~\u{a0}-\u{ff}]{0,8}"), 0..4).prop_map(Value::Headers),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            entries(inner.clone()).prop_map(Value::Object),
            (".{0,8}", ".{0,8}", prop::option::of(".{0,8}"), entries(inner)).prop_map(
                |(name, message, stack, props)| {
                    let own = |key: &JsString| ["name", "message", "stack"].iter().any(|name| key == name);
                    let props = props.into_iter().filter(|(key, _)| !own(key)).collect();
                    ErrorValue { name, message, stack, props }.into()
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_survives_the_round_trip(value in value()) {
        let text = expression::write(&value).unwrap();
        let limits = limits();
        prop_assert_eq!(expression::check_data_only(&text, &limits), Ok(()));
        prop_assert_eq!(expression::parse(&text, &limits).unwrap(), value.clone());
        // Through two sessions as well, and as text inside another value.
        let mut peer = Peer::new(echo());
        let push = format!(r#"["push",["pipeline",0,["echo"],[{text}]]]"#);
        let answers = peer.feed(&[&push, r#"["pull",1]"#]);
        prop_assert_eq!(&answers[0], &format!(r#"["resolve",1,{text}]"#));
        let wrapped = Value::Array(vec![Value::Encoded(text.as_str().into())]);
        prop_assert_eq!(expression::parse(&expression::write(&wrapped).unwrap(), &limits).unwrap(), Value::Array(vec![value]));
    }

    #[test]
    fn what_is_checked_is_what_can_be_parsed(value in value(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:0-9a-z\\\\ ]{0,3}", cut in 0..3usize) {
        let mut text: Vec<char> = expression::write(&value).unwrap().chars().collect();
        let at = at.index(text.len());
        let end = text.len().min(at + cut);
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let limits = limits();
        let parsed = expression::parse(&text, &limits);
        let checked = expression::check_data_only(&text, &limits);
        // The check is stricter about escapes where no encoder needs them, and never laxer.
        if checked.is_ok() {
            prop_assert!(parsed.is_ok(), "{text}: {parsed:?}");
        } else if !text.contains('\\') {
            prop_assert!(parsed.is_err(), "{text}: {checked:?}");
        }
    }

    #[test]
    fn any_text_is_judged_without_panic(text in ".{0,60}") {
        let _ = expression::parse(&text, &limits());
        let _ = expression::check_data_only(&text, &limits());
    }
}

#[track_caller]
fn refused(text: &str) -> DecodeError {
    let error = expression::check_data_only(text, &DataLimits::default()).expect_err(text);
    if !matches!(error, DecodeError::DroppedKey { .. }) {
        expression::parse(text, &DataLimits::default()).expect_err(text);
    }
    error
}

#[test]
fn what_would_cost_a_javascript_peer_its_session_is_refused() {
    let cases = [
        "",
        "[]",
        "[1,2]",
        "[[1],[2]]",
        "[[1]",
        "[null]",
        r#"["foo",1]"#,
        r#"["undefined",1]"#,
        r#"["bigint"]"#,
        r#"["bigint",5]"#,
        r#"["bigint","zz"]"#,
        r#"["bigint",""]"#,
        r#"["bigint","0x10"]"#,
        r#"["date"]"#,
        r#"["date","x"]"#,
        r#"["date",1,2]"#,
        r#"["bytes"]"#,
        r#"["bytes",5]"#,
        r#"["bytes","A"]"#,
        r#"["bytes","AQ=I"]"#,
        r#"["bytes","*"]"#,
        r#"["bytes","AQID","Int16Array"]"#,
        r#"["bytes","AQID","Array"]"#,
        r#"["bytes","AQID",null]"#,
        r#"["url","nope"]"#,
        r#"["url","https://[bad"]"#,
        r#"["url",1]"#,
        r#"["headers"]"#,
        r#"["headers",[["a"]]]"#,
        r#"["headers",[["a","b","c"]]]"#,
        r#"["headers",[["a b","c"]]]"#,
        r#"["headers",[["a","\n"]]]"#,
        r#"["headers",{"a":"b"}]"#,
        r#"["error"]"#,
        r#"["error","Error"]"#,
        r#"["error",1,"m"]"#,
        r#"["error","Error","m",5]"#,
        r#"["error","Error","m",null,[]]"#,
        r#"["error","Error","m",null,{"a":["foo"]}]"#,
        r#"["error","Error","m",null,{},1]"#,
        r#"{"a":1,}"#,
        r#"{"a":[1]}"#,
        "1 2",
        "tru",
        "NaN",
        "'a'",
        "\u{feff}1",
    ];
    for case in cases {
        refused(case);
    }
}

#[test]
fn reference_tags_never_pass_for_data() {
    for tag in ["export", "promise", "writable", "readable", "import", "pipeline"] {
        for id in ["-1", "0", "1"] {
            refused(&format!(r#"["{tag}",{id}]"#));
            refused(&format!(r#"[[{{"deep":["error","E","m",null,{{"p":["{tag}",{id}]}}]}}]]"#));
        }
    }
    refused(r#"["remap",0,[],[],[]]"#);
    refused(r#"["request","http://h/",{}]"#);
    refused(r#"["response",null,{}]"#);
    refused(r#"["blob","text/plain",["readable",1]]"#);
    refused(r#"["\u0065xport",-1]"#);
}

#[test]
fn dropped_keys_are_refused_however_they_are_spelled() {
    for key in ["__proto__", "constructor", "toString", "toJSON", "hasOwnProperty", "valueOf", "__defineGetter__"] {
        assert!(is_dropped_key(key));
        let spelled: String = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        for text in [key, &spelled] {
            assert_eq!(refused(&format!(r#"[[{{"{text}":1}}]]"#)), DecodeError::DroppedKey { key: key.into() });
            assert_eq!(
                refused(&format!(r#"["error","E","m",null,{{"{text}":1}}]"#)),
                DecodeError::DroppedKey { key: key.into() }
            );
        }
        let allowed = DataLimits { dropped_keys: DroppedKeys::Allow, ..DataLimits::default() };
        assert_eq!(expression::check_data_only(&format!(r#"{{"{key}":1}}"#), &allowed), Ok(()));
    }
    assert!(!is_dropped_key("code"));
}

#[test]
fn each_bound_of_a_data_expression_is_exact() {
    let nested = |levels: usize| format!("{}1{}", "[[".repeat(levels), "]]".repeat(levels));
    let within = [
        nested(199),
        format!(r#"["bigint","-{}"]"#, "1".repeat(16_383)),
        format!("[[{}1]]", "1,".repeat(99)),
        format!("\"{}\"", "é".repeat(62)),
    ];
    let over = [
        nested(200),
        format!(r#"["bigint","-{}"]"#, "1".repeat(16_384)),
        format!("[[{}1]]", "1,".repeat(100)),
        format!("\"{}\"", "é".repeat(63)),
    ];
    let limits = [
        DataLimits::default(),
        DataLimits::default(),
        DataLimits { nodes: 101, ..DataLimits::default() },
        DataLimits { utf16_units: 64, ..DataLimits::default() },
    ];
    for ((within, over), limits) in within.iter().zip(&over).zip(&limits) {
        assert_eq!(expression::check_data_only(within, limits), Ok(()));
        expression::parse(within, limits).unwrap();
        assert!(matches!(expression::check_data_only(over, limits), Err(DecodeError::Limit { .. })));
        assert!(matches!(expression::parse(over, limits), Err(DecodeError::Limit { .. })));
    }
}

#[test]
fn the_deepest_value_fits_into_a_small_stack() {
    let run = || {
        let text = format!("{}1{}", r#"{"a":[["#.repeat(127), "]]}".repeat(127));
        let limits = limits();
        expression::check_data_only(&text, &limits).unwrap();
        let value = expression::parse(&text, &limits).unwrap();
        assert_eq!(expression::write(&value).unwrap(), text);
        let mut peer = Peer::new(echo());
        let push = format!(r#"["push",["pipeline",0,["echo"],[{text}]]]"#);
        assert_eq!(peer.feed(&[&push, r#"["pull",1]"#]), [format!(r#"["resolve",1,{text}]"#)]);
        // Nested calls are the deepest thing that a message can ask for.
        let calls = format!("{}1{}", r#"["pipeline",0,["echo"],["#.repeat(250), "]]".repeat(250));
        assert_eq!(peer.feed(&[&format!(r#"["push",{calls}]"#), r#"["pull",2]"#]), [r#"["resolve",2,1]"#]);
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn numbers_beyond_the_range_and_negative_zero_are_read_as_javascript_reads_them() {
    let parse = |text| expression::parse(text, &limits()).unwrap();
    assert_eq!(parse("1e400"), Value::Number(f64::INFINITY));
    assert_eq!(parse("-0"), Value::Number(-0.0));
    assert_eq!(expression::write(&parse("-0")).unwrap(), "-0");
    assert_eq!(parse(r#"["date",9e15]"#), Value::Date(f64::NAN));
    assert_eq!(parse(r#"["bigint","-007"]"#), Value::BigInt("-7".into()));
    assert_eq!(parse(r#"["bytes","AQI="]"#), parse(r#"["bytes","A\u0051I"]"#));
}

#[test]
fn escaped_length_counts_what_the_text_costs_inside_a_message() {
    for text in ["", "plain", "a\"b\\c\n\u{1}\u{1f}é😀"] {
        let written = expression::write(&text.into()).unwrap();
        assert_eq!(expression::escaped_units(text), written.encode_utf16().count());
    }
}
