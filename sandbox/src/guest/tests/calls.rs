//! Namespaces and host calls.

use codemode_protocol::Termination;

use super::harness::{Answer, check_results, host, provider, run, run_in_fork, run_spec, spec};
use crate::frame::ProviderSpec;

fn sent(args: &str) -> String {
    let ran = run(&format!("async () => {{ await api.tool({args}) }}"));
    assert_eq!(ran.result(), "[\"undefined\"]", "{args}");
    ran.calls[0].2.clone()
}

#[test]
fn arguments_are_plain_json_with_tagged_binary_values() {
    let cases = [
        ("", "[]"),
        ("undefined", "[null]"),
        ("1, undefined, 3", "[1,null,3]"),
        ("{ a: undefined, b: 1, c() {}, d: Symbol() }", "[{\"b\":1}]"),
        ("NaN, Infinity, -0", "[null,null,0]"),
        ("new Date(0)", "[\"1970-01-01T00:00:00.000Z\"]"),
        ("new Map([[1, 2]]), new Set([1]), /x/", "[{},{},{}]"),
        ("() => 1, { f() {} }", "[null,{}]"),
        ("[1, , () => 1]", "[[1,null,null]]"),
        ("Object(1), Object('s'), Object(false)", "[1,\"s\",false]"),
        ("{ toJSON(key) { return ['j', key] } }", "[[\"j\",\"0\"]]"),
        ("{ a: { toJSON: (key) => key } }", "[{\"a\":\"a\"}]"),
        ("JSON.rawJSON('1e1000')", "[1e1000]"),
        ("'\\ud800\\n\"é'", "[\"\\ud800\\n\\\"é\"]"),
        ("new Uint8Array([1, 2])", "[{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AQI=\"}]"),
        ("new Uint8Array([1, 2]).buffer", "[{\"__codemode_binary_v1__\":\"ArrayBuffer\",\"data\":\"AQI=\"}]"),
        ("{ v: new Int16Array([1]) }", "[{\"v\":{\"__codemode_binary_v1__\":\"ArrayBufferView\",\"data\":\"AQA=\"}}]"),
        ("new Uint8Array([0, 1, 2]).subarray(1, 2)", "[{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AQ==\"}]"),
        ("new DataView(new ArrayBuffer(3), 1)", "[{\"__codemode_binary_v1__\":\"ArrayBufferView\",\"data\":\"AAA=\"}]"),
        ("Object.create({ inherited: 1 })", "[{}]"),
        ("new Proxy([1], {}), new Proxy({ a: 1 }, {})", "[[1],{\"a\":1}]"),
        ("1e21, 0.5, 2 ** 53", "[1e+21,0.5,9007199254740992]"),
    ];
    for (args, expected) in cases {
        assert_eq!(sent(args), expected, "{args}");
    }
}

#[test]
fn arguments_agree_with_the_engines_own_json() {
    let values = "[{}, [], [[]], { a: [1, 'two', null, { b: true }] }, 'x', 1.5, [undefined], { a: undefined },
        new Date(5), Object.assign([1, 2], { extra: 1 }), new Error('e'), new (class A { x = 1; y() {} })()]";
    let code = format!("async () => {{ const v = {values}; await api.tool(v); return JSON.stringify([v]) }}");
    let ran = run(&code);
    let expected: String = serde_json::from_str(ran.result()).unwrap();
    assert_eq!(ran.calls[0].2, expected);
}

#[test]
fn what_json_cannot_carry_rejects_the_call_and_crosses_nothing() {
    let cases = [
        ("1n", "TypeError: Do not know how to serialize a BigInt"),
        ("{ a: [Object(1n)] }", "TypeError: Do not know how to serialize a BigInt"),
        ("(() => { const o = {}; o.o = [o]; return o })()", "TypeError: Converting circular structure to JSON"),
        ("{ get a() { throw new RangeError('mine') } }", "RangeError: mine"),
        (
            "(() => { let v = 1; for (let i = 0; i < 9000; i++) v = [v]; return v })()",
            "RangeError: Maximum call stack size exceeded",
        ),
    ];
    for (args, expected) in cases {
        let ran = run(&format!(
            "async () => {{ const call = api.tool({args}); try {{ await call }} catch (e) {{ return e.name + ': ' + e.message }} }}"
        ));
        assert_eq!(ran.result(), format!("\"{expected}\""), "{args}");
        assert!(ran.calls.is_empty());
    }
}

#[test]
fn envelopes_become_values_or_errors() {
    let cases = [
        (r#"{"result":[1,{"a":null}]}"#, "[[1,{\"a\":null}]]"),
        ("{}", "[\"undefined\"]"),
        (r#"{"result":null}"#, "null"),
        (r#"{"result":{"__codemode_binary_v1__":"Uint8Array","data":"AQI="}}"#, "[\"bytes\",\"AQI\"]"),
        (
            r#"{"result":[{"v":{"__codemode_binary_v1__":"ArrayBuffer","data":"AQI="}}]}"#,
            "[[{\"v\":[\"bytes\",\"AQI\",\"ArrayBuffer\"]}]]",
        ),
        (r#"{"result":{"__codemode_binary_v1__":"ArrayBufferView","data":""}}"#, "[\"bytes\",\"\"]"),
        (r#"{"result":{"\u005f_codemode_binary_v1__":"Uint8Array","data":"AQI="}}"#, "[\"bytes\",\"AQI\"]"),
        (
            r#"{"result":{"__codemode_binary_v1__":"Other","data":"AQI="}}"#,
            "{\"__codemode_binary_v1__\":\"Other\",\"data\":\"AQI=\"}",
        ),
        (r#"{"error":"boom"}"#, "\"Error: boom\""),
        (r#"{"error":""}"#, "\"Error: \""),
        (r#"{"error":"both","result":1}"#, "\"Error: both\""),
    ];
    let malformed = [
        "",
        "null",
        "[]",
        "1",
        "{",
        "{\"result\":1",
        "{\"error\":5}",
        "{\"other\":1}",
        "not json",
        "{\"result\":01}",
        r#"{"result":{"__codemode_binary_v1__":"Uint8Array","data":"*"}}"#,
    ];
    let call = |envelope: &str| {
        let envelope = serde_json::to_string(envelope).unwrap();
        format!(
            "async () => {{ try {{ return await api.raw({envelope}) }} catch (e) {{ return e.name + ': ' + e.message }} }}"
        )
    };
    for (envelope, expected) in cases {
        assert_eq!(run(&call(envelope)).result(), expected, "{envelope}");
    }
    for envelope in malformed {
        let expected = "\"Error: The host answered api.raw with something that is no result envelope\"";
        assert_eq!(run(&call(envelope)).result(), expected, "{envelope}");
    }
    let rejected = "async () => { try { await api.reject() } catch (e) { return [e instanceof Error, e.message] } }";
    assert_eq!(run(rejected).result(), "[[true,\"rejected\"]]");
}

#[test]
fn a_polluted_prototype_does_not_reach_envelopes_or_namespaces() {
    let code = "async () => {
        Object.prototype.error = 'polluted'; Object.prototype.result = 'polluted';
        Object.prototype.get = () => 'trapped'; Object.prototype.has = () => true;
        Array.prototype.toJSON = undefined;
        return [await api.tool(), await api.echo(1)]
    }";
    assert_eq!(run(code).result(), "[[[\"undefined\"],[[1]]]]");
}

#[test]
fn names_dispatch_except_symbols_then_and_own_properties() {
    check_results(&[
        (
            "async () => [typeof api.then, typeof api[Symbol.iterator], typeof api.anything, typeof api.toString]",
            "[[\"undefined\",\"undefined\",\"function\",\"function\"]]",
        ),
        ("async () => { await api; return 'not a promise' }", "\"not a promise\""),
        ("async () => { api.own = (x) => x * 2; return api.own(4) }", "8"),
        ("async () => { Object.defineProperty(api, 'then', { value: 1 }); return api.then }", "1"),
        ("async () => { api.x = 1; delete api.x; return api.echo('again') }", "[[\"again\"]]"),
        (
            "async () => [api.tool.name, api.tool() instanceof Promise, api.tool.constructor.name, api.tool.length]",
            "[[\"\",true,\"AsyncFunction\",0]]",
        ),
        (
            "async () => { try { api = 1 } catch (e) { return [e.name, e.message, typeof api] } }",
            "[[\"TypeError\",\"Assignment to constant variable.\",\"object\"]]",
        ),
        ("async () => { const { echo } = api; return echo(1) }", "[[1]]"),
    ]);
    let ran = run(
        "async () => { await api.toString(); await api.constructor('x'); await api.__proto__(); await api['list-issues'](); await api['']() }",
    );
    let tools: Vec<&str> = ran.calls.iter().map(|(_, tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["toString", "constructor", "__proto__", "list-issues", ""]);
}

#[test]
fn a_listed_namespace_refuses_other_tools_without_crossing() {
    let mut spec = spec(
        "async () => { const seen = []; for (const tool of ['known', 'no', 'toString', 'known', 'n9999', 'nope', 'n0'])
            try { seen.push(await api[tool]()) } catch (e) { seen.push(e.message) } return seen }",
    );
    spec.providers[0].tools = (0..10_000).map(|n| format!("n{n}")).chain(["known".into()]).collect();
    let ran = run_spec(&spec);
    let expected = "[[[\"undefined\"],\"Tool \\\"no\\\" not found\",\"Tool \\\"toString\\\" not found\",[\"undefined\"],[\"undefined\"],\"Tool \\\"nope\\\" not found\",[\"undefined\"]]]";
    assert_eq!(ran.result(), expected);
    assert_eq!(ran.calls.len(), 4);
}

#[test]
fn a_provider_without_positional_arguments_passes_exactly_one() {
    let mut spec =
        spec("async () => { await api.a(); await api.b(undefined, 2); await api.c({ x: 1 }, 2); await api.d(null) }");
    spec.providers = vec![ProviderSpec { positional_args: false, ..provider("api") }];
    let args: Vec<String> = run_spec(&spec).calls.into_iter().map(|(_, _, args)| args).collect();
    assert_eq!(args, ["[{}]", "[{}]", "[{\"x\":1}]", "[null]"]);
}

#[test]
fn calls_start_when_invoked_and_run_concurrently() {
    let ran =
        run("async () => { const first = api.echo(1), second = api.echo(2); return [await second, await first] }");
    assert_eq!(ran.result(), "[[[[2]],[[1]]]]");
    assert_eq!(ran.calls.len(), 2);
    let ran = run("async () => { let s = 0; for (let i = 0; i < 100; i++) s += (await api.echo(i))[0]; return s }");
    assert_eq!(ran.result(), "4950");
    assert_eq!(ran.done().host_calls, 100);
    let ran = run("async () => { api.tool(); api.tool(); return 'ok' }");
    assert_eq!((ran.result(), ran.calls.len(), ran.waits), ("\"ok\"", 2, 0));
}

#[test]
fn calls_beyond_the_bound_in_flight_wait_and_all_are_made() {
    let mut bounded = spec("async () => (await Promise.all(Array.from({ length: 50 }, (_, i) => api.echo(i)))).flat()");
    bounded.calls_in_flight = 3;
    let ran = run_spec(&bounded);
    assert_eq!(ran.calls.len(), 50);
    assert!(ran.result().ends_with("48,49]]"));
    // Answers that never come keep the others waiting; the end of the program sends them.
    let mut left = spec("async () => { for (let i = 0; i < 10; i++) api.never(i); return 'ended' }");
    left.calls_in_flight = 2;
    let ran = run_spec(&left);
    assert_eq!((ran.result(), ran.calls.len(), ran.done().host_calls), ("\"ended\"", 10, 10));
    let mut threw = spec("async () => { for (let i = 0; i < 10; i++) api.never(i); throw 1 }");
    threw.calls_in_flight = 2;
    assert_eq!(run_spec(&threw).calls.len(), 10);
}

#[test]
fn oversized_arguments_and_results_fail_their_call_with_size_and_bound() {
    let mut spec = spec(
        "async () => { const seen = [];
            for (const call of [() => api.echo('x'.repeat(2000)), () => api.big(), () => api.__call('ns', 'member', 'x'.repeat(2000)),
                () => api.__call('n'.repeat(300), 'member', 'x'.repeat(2000)), () => api.echo('fits')])
                try { seen.push(await call()) } catch (e) { seen.push(e.message) }
            return seen }",
    );
    (spec.arguments_bytes, spec.envelope_bytes) = (1000, 1000);
    let ran = run_in_fork(&spec, |provider, tool, args| match tool {
        "big" => Answer::Envelope(format!("{{\"result\":\"{}\"}}", "y".repeat(3000))),
        _ => host(provider, tool, args),
    });
    let result = ran.result();
    for part in [
        "The arguments of api.echo take 2004 bytes; the bound is 1000 bytes.",
        "The result of api.big takes 3013 bytes; the bound is 1000 bytes.",
        "The arguments of ns.member take 2018 bytes; the bound is 1000 bytes.",
        "n….member take 2316 bytes; the bound is 1000 bytes.",
        "[[\"fits\"]]",
    ] {
        assert!(result.contains(part), "{result}");
    }
    assert_eq!(ran.calls.len(), 2);
}

#[test]
fn a_call_reaches_the_host_before_its_program_does_anything_else() {
    let mut spec = spec("() => { api.tool('first'); for (;;); }");
    spec.timeout_ms = 200;
    let ran = run_spec(&spec);
    assert_eq!(ran.error().0, Termination::Timeout);
    assert_eq!(ran.calls, [("api".into(), "tool".into(), "[\"first\"]".into())]);
}

#[test]
fn the_run_clock_stands_while_the_program_waits_only_on_the_host() {
    let slow = |_: &str, _: &str, _: &str| {
        std::thread::sleep(std::time::Duration::from_millis(400));
        Answer::Envelope("{\"result\":1}".into())
    };
    let mut spec = spec("async () => (await api.slow()) + (await api.slow())");
    spec.timeout_ms = 300;
    assert_eq!(run_in_fork(&spec, slow).result(), "2");
    spec.count_host_waits = true;
    let ran = run_in_fork(&spec, slow);
    assert_eq!(ran.error().0, Termination::Timeout);
}

#[test]
fn deep_and_hostile_envelopes_are_catchable() {
    let deep = |_: &str, _: &str, _: &str| {
        let levels = 200_000;
        Answer::Envelope(format!("{{\"result\":{}{}}}", "[".repeat(levels), "]".repeat(levels)))
    };
    let code = "async () => { try { await api.deep(); return 'parsed' } catch (e) { return e.name } }";
    assert_eq!(run_in_fork(&spec(code), deep).result(), "\"RangeError\"");
    let tagged = |_: &str, _: &str, _: &str| {
        let levels = 3000;
        let leaf = r#"{"__codemode_binary_v1__":"Uint8Array","data":"AQ=="}"#;
        Answer::Envelope(format!("{{\"result\":{}{leaf}{}}}", "[".repeat(levels), "]".repeat(levels)))
    };
    let code = "async () => { let v = await api.deep(); while (Array.isArray(v)) v = v[0]; return v }";
    assert_eq!(run_in_fork(&spec(code), tagged).result(), "[\"bytes\",\"AQ\"]");
}
