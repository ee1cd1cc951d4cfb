//! The encoding of results.

use codemode_protocol::Termination;

use super::harness::{check_results, run, run_spec, spec};

#[test]
fn every_kind_of_value_has_its_encoding() {
    check_results(&[
        ("() => null", "null"),
        ("() => true", "true"),
        ("() => -7", "-7"),
        ("() => 0.1", "0.1"),
        ("() => -0", "-0"),
        ("() => 1e21", "1e+21"),
        ("() => 2 ** 53", "9007199254740992"),
        ("() => 5e-324", "5e-324"),
        ("() => [NaN, Infinity, -Infinity]", "[[[\"nan\"],[\"inf\"],[\"-inf\"]]]"),
        ("() => 'a\"b\\\\c\\n\\u0001\\u2028é😀'", "\"a\\\"b\\\\c\\n\\u0001\u{2028}é😀\""),
        ("() => '\\ud800x\\udc00'", "\"\\ud800x\\udc00\""),
        ("() => ({ '\\udfff': 1 })", "{\"\\udfff\":1}"),
        ("() => 10n", "[\"bigint\",\"10\"]"),
        (
            "() => [new Number(1), new String('s'), new Boolean(false), Object(2n), new Number(NaN)]",
            "[[1,\"s\",false,[\"bigint\",\"2\"],[\"nan\"]]]",
        ),
        ("() => { Number.prototype.valueOf = () => 9; return Object.assign(new Number(1), { a: 2 }) }", "1"),
        ("() => -(2n ** 70n)", "[\"bigint\",\"-1180591620717411303424\"]"),
        ("() => new Date(1700000000000)", "[\"date\",1700000000000]"),
        ("() => new Date(-1)", "[\"date\",-1]"),
        ("() => new Date(NaN)", "[\"date\",null]"),
        ("() => new TypeError('bad')", "[\"error\",\"TypeError\",\"bad\"]"),
        ("() => Object.assign(new Error('m'), { name: 'Mine', code: 1 })", "[\"error\",\"Mine\",\"m\"]"),
        ("() => new DOMException('gone', 'AbortError')", "[\"error\",\"AbortError\",\"gone\"]"),
        ("() => []", "[[]]"),
        ("() => [[], [1, [2]]]", "[[[[]],[[1,[[2]]]]]]"),
        ("() => [1, , 3]", "[[1,[\"undefined\"],3]]"),
        ("() => ({})", "{}"),
        ("() => ({ a: { b: [{}] }, c: undefined })", "{\"a\":{\"b\":[[{}]]},\"c\":[\"undefined\"]}"),
        ("() => Object.assign(Object.create(null), { a: 1 })", "{\"a\":1}"),
        (
            "() => Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, hidden: { value: 3 } })",
            "{\"own\":2}",
        ),
        ("() => new (class Point { #p = 1; x = 1; get y() { return 2 } })()", "{\"x\":1}"),
        ("() => ({ [Symbol('s')]: 1, a: 1 })", "{\"a\":1}"),
        ("() => [new Map([[1, 2]]), new Set([1]), /x/g, new WeakMap()]", "[[{},{},{},{}]]"),
        ("() => ({ toJSON: undefined }) && ({ a: { valueof: 1 } })", "{\"a\":{\"valueof\":1}}"),
        (
            "() => ({ __codemode_binary_v1__: 'Uint8Array', data: 'AA==' })",
            "{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AA==\"}",
        ),
        ("() => { const shared = { a: 1 }; return [shared, shared] }", "[[{\"a\":1},{\"a\":1}]]"),
        ("() => { class Loud extends Array {} return Loud.of(1) }", "[[1]]"),
        ("() => new Proxy([1, 2], {})", "[[1,2]]"),
        ("() => new Proxy({ a: 1 }, { get: (target, key) => target[key] + 1 })", "{\"a\":2}"),
        ("() => ({ get a() { return [1] } })", "{\"a\":[[1]]}"),
        ("() => { api.own = 1; return api }", "{\"own\":1}"),
    ]);
}

#[test]
fn a_url_is_told_by_what_it_is_inside() {
    check_results(&[
        ("() => new URL('https://\u{e9}.example/a b?q=1#h')", "[\"url\",\"https://xn--9ca.example/a%20b?q=1#h\"]"),
        (
            "() => ({ a: [new URL('a:b'), { u: URL.parse('c:d') }] })",
            "{\"a\":[[[\"url\",\"a:b\"],{\"u\":[\"url\",\"c:d\"]}]]}",
        ),
        ("() => { const u = new URL('a:?x'); u.searchParams.append('y', '1'); return u }", "[\"url\",\"a:?x=&y=1\"]"),
        ("() => Object.setPrototypeOf(new URL('a:b'), null)", "[\"url\",\"a:b\"]"),
        ("() => Object.setPrototypeOf(new URL('a:b'), Object.prototype)", "[\"url\",\"a:b\"]"),
        (
            "() => new (class extends URL { get href() { return 1 } toString() { return 2 } own = 3 })('a:b')",
            "[\"url\",\"a:b\"]",
        ),
        (
            "() => { Object.defineProperty(URL.prototype, 'href', { get() { throw 1 } }); globalThis.URL = 1; return [] }",
            "[[]]",
        ),
        // What only looks like one.
        (
            "() => [new URL('a:b'), Object.create(URL.prototype, { href: { value: 'x', enumerable: true } })][1]",
            "{\"href\":\"x\"}",
        ),
        ("() => { new URL('a:b'); return { __proto__: URL.prototype, [Symbol.toStringTag]: 'URL' } }", "{}"),
        (
            "() => [new Proxy(new URL('a:b'), {}), new URLSearchParams('a=1'), new URL('a:b').searchParams]",
            "[[{},{},{}]]",
        ),
    ]);
}

#[test]
fn binary_values_keep_their_kind_and_their_visible_bytes() {
    check_results(&[
        ("() => new Uint8Array([1, 2, 3])", "[\"bytes\",\"AQID\"]"),
        ("() => new Uint8Array([1])", "[\"bytes\",\"AQ\"]"),
        ("() => new Uint8Array(0)", "[\"bytes\",\"\"]"),
        ("() => new Uint8Array([0, 1, 2, 3]).subarray(1, 3)", "[\"bytes\",\"AQI\"]"),
        ("() => new Uint8Array([1, 2]).buffer", "[\"bytes\",\"AQI\",\"ArrayBuffer\"]"),
        ("() => new ArrayBuffer(0)", "[\"bytes\",\"\",\"ArrayBuffer\"]"),
        ("() => new DataView(new Uint8Array([9, 1, 2, 9]).buffer, 1, 2)", "[\"bytes\",\"AQI\",\"DataView\"]"),
        ("() => new Int8Array([-1])", "[\"bytes\",\"/w\",\"Int8Array\"]"),
        ("() => new Uint8ClampedArray([300])", "[\"bytes\",\"/w\",\"Uint8ClampedArray\"]"),
        ("() => new Int16Array([1])", "[\"bytes\",\"AQA\",\"Int16Array\"]"),
        ("() => new Uint16Array([1])", "[\"bytes\",\"AQA\",\"Uint16Array\"]"),
        ("() => new Int32Array([1])", "[\"bytes\",\"AQAAAA\",\"Int32Array\"]"),
        ("() => new Uint32Array([1])", "[\"bytes\",\"AQAAAA\",\"Uint32Array\"]"),
        ("() => new Float32Array([1])", "[\"bytes\",\"AACAPw\",\"Float32Array\"]"),
        ("() => new Float64Array([1])", "[\"bytes\",\"AAAAAAAA8D8\",\"Float64Array\"]"),
        ("() => new BigInt64Array([1n])", "[\"bytes\",\"AQAAAAAAAAA\",\"BigInt64Array\"]"),
        ("() => new BigUint64Array([1n])", "[\"bytes\",\"AQAAAAAAAAA\",\"BigUint64Array\"]"),
        (
            "() => { const b = new ArrayBuffer(8), v = new Uint8Array(b); b.transfer(); return [v, b] }",
            "[[[\"bytes\",\"\"],[\"bytes\",\"\",\"ArrayBuffer\"]]]",
        ),
        (
            "() => { const b = new ArrayBuffer(8, { maxByteLength: 8 }), v = new Uint8Array(b, 4); b.resize(2); return v }",
            "[\"bytes\",\"\"]",
        ),
        (
            "() => { const b = new ArrayBuffer(8, { maxByteLength: 8 }), v = new DataView(b, 4, 4); b.resize(2); return v }",
            "[\"bytes\",\"\",\"DataView\"]",
        ),
    ]);
    let ran = run("() => new Uint8Array(100_000).fill(1)");
    assert_eq!(ran.result().len(), "[\"bytes\",\"\"]".len() + (100_000 * 8usize).div_ceil(6));
}

#[test]
fn what_cannot_be_carried_ends_the_run_and_is_named_by_its_path() {
    let cases = [
        ("() => () => 1", "result is a function"),
        ("() => class {}", "result is a function"),
        ("() => ({ items: [1, 2, 3, { cb() {} }] })", "result.items[3].cb is a function"),
        ("() => Symbol('s')", "result is a symbol"),
        ("() => ({ 'a-b': [Symbol()] })", "result[\"a-b\"][0] is a symbol"),
        ("() => ({ p: Promise.resolve(1) })", "result.p is a promise"),
        ("() => [(function* () {})()]", "result[0] is a generator"),
        ("() => [(async function* () {})()]", "result[0] is a generator"),
        (
            "() => { const o = { a: {} }; o.a.o = o; return o }",
            "result.a.o refers back to an object that contains it (a cycle)",
        ),
        ("() => [new Float16Array(1)]", "result[0] is a Float16Array"),
        ("() => [new SharedArrayBuffer(1)]", "result[0] is a SharedArrayBuffer"),
        ("() => ({ a: { toString: 1 } })", "result.a.toString has a key that JavaScript peers drop"),
        ("() => JSON.parse('{\"__proto__\":1}')", "result.__proto__ has a key that JavaScript peers drop"),
        ("() => [{ toJSON: 1 }]", "result[0].toJSON has a key that JavaScript peers drop"),
        ("() => ({ get a() { throw new Error('no') } })", "result.a cannot be read: no"),
        ("() => [new Proxy({}, { ownKeys() { throw 1 } })]", "result[0] cannot be read: 1"),
    ];
    for (code, reason) in cases {
        let ran = run(&format!("() => {{ console.log('kept'); return ({code})() }}"));
        let expected = format!("The result cannot be returned: {reason}. Return plain data.");
        assert_eq!(ran.error(), (Termination::Result, expected.as_str()), "{code}");
        assert_eq!(ran.lines(), ["kept"]);
    }
}

#[test]
fn functions_vanish_when_they_are_to_be_dropped() {
    let cases = [
        ("() => ({ a: 1, f() {}, b: [() => 1, 2] })", "{\"a\":1,\"b\":[[[\"undefined\"],2]]}"),
        ("() => [class {}]", "[[[\"undefined\"]]]"),
    ];
    for (code, expected) in cases {
        let mut spec = spec(code);
        spec.drop_functions = true;
        assert_eq!(run_spec(&spec).result(), expected);
    }
    let mut spec = spec("() => () => 1");
    spec.drop_functions = true;
    assert_eq!(run_spec(&spec).error().0, Termination::Result);
}

#[test]
fn keys_that_peers_drop_are_data_where_no_peer_reads_them() {
    let mut spec = spec("() => JSON.parse('{\"__proto__\":{\"toString\":1}}')");
    spec.allow_dropped_keys = true;
    assert_eq!(run_spec(&spec).result(), "{\"__proto__\":{\"toString\":1}}");
}

#[test]
fn a_result_is_bounded_in_every_direction() {
    let nested = |levels: usize| {
        format!("() => {{ let v = 1; for (let i = 0; i < {levels}; i++) v = i % 2 ? [v] : {{ v }}; return v }}")
    };
    let digits = |count: usize| format!("() => 10n ** {}n", count - 1);
    let fine: [String; 5] = [
        nested(199),
        digits(16_384),
        "() => new Array(1_000_000).fill(1)".into(),
        "() => 'x'.repeat(16 * 1024 * 1024 - 2)".into(),
        "() => new Uint8Array(12 * 1024 * 1024 - 20)".into(),
    ];
    for code in fine {
        let mut spec = spec(&code);
        spec.memory_limit = 512 << 20;
        let ran = run_spec(&spec);
        codemode_protocol::Encoded::check(ran.result(), &spec.result).unwrap_or_else(|error| panic!("{code}: {error}"));
    }
    let over: [(String, &str); 12] = [
        (nested(200), "nests deeper than 200 levels"),
        (nested(300), "nests deeper than 200 levels"),
        (digits(16_385), "result is a BigInt of more than 16384 digits"),
        // JavaScript peers count the sign.
        ("() => -(10n ** 16383n)".into(), "result is a BigInt of more than 16384 digits"),
        ("() => -(10n ** 16384n)".into(), "result is a BigInt of more than 16384 digits"),
        ("() => [1n << (1n << 19n)]".into(), "result[0] is a BigInt of more than 16384 digits"),
        ("() => new Array(2_000_000).fill(1)".into(), "brings the result over 2000000 values"),
        ("() => 'x'.repeat(16 * 1024 * 1024)".into(), "brings the result over 16777216 UTF-16 units"),
        ("() => 'x'.repeat(100e6)".into(), "is a string of 100000000 UTF-16 units"),
        ("() => '\\n'.repeat(9e6)".into(), "brings the result over 16777216 UTF-16 units"),
        ("() => new Uint8Array(13 << 20)".into(), "holds 13631488 bytes"),
        ("() => new Array(4e9)".into(), "UTF-16 units once encoded"),
    ];
    for (code, part) in over {
        let mut spec = spec(&code);
        spec.memory_limit = 512 << 20;
        let ran = run_spec(&spec);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Result, "{code}: {error}");
        assert!(error.starts_with("The result cannot be returned: result") && error.contains(part), "{code}: {error}");
        assert!(error.len() < 600, "{code}: {error}");
    }
}

#[test]
fn a_text_result_is_bounded_by_what_it_takes_when_escaped() {
    let mut spec = spec("() => '\"'.repeat(1000)");
    spec.escaped_units = 2 + 2 + 4 * 1000;
    assert!(run_spec(&spec).done().result.is_some());
    spec.escaped_units -= 1;
    assert_eq!(run_spec(&spec).error().0, Termination::Result);
}

#[test]
fn aliased_doubling_and_endless_proxies_end_by_a_bound() {
    let mut doubling = spec("() => { let v = []; for (let i = 0; i < 60; i++) v = [v, v]; return v }");
    doubling.result.nodes = 50_000;
    assert_eq!(run_spec(&doubling).error().0, Termination::Result);
    let mut endless = spec("() => new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 40 : 1 })");
    endless.timeout_ms = 300;
    let ran = run_spec(&endless);
    assert!(matches!(ran.error().0, Termination::Result | Termination::Timeout));
}
