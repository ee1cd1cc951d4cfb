//! The console.

use codemode_protocol::{LogLevel, Termination};

use super::harness::{run, run_spec, spec};

#[test]
fn every_method_writes_a_line_of_its_level() {
    let methods = [
        ("log", LogLevel::Log, "log"),
        ("info", LogLevel::Info, "info"),
        ("debug", LogLevel::Debug, "debug"),
        ("warn", LogLevel::Warn, "warn"),
        ("error", LogLevel::Error, "error"),
        ("table", LogLevel::Info, "table"),
        ("count", LogLevel::Info, "count: 1"),
        ("dir", LogLevel::Info, "dir"),
        ("dirxml", LogLevel::Info, "dirxml"),
        ("timeEnd", LogLevel::Info, "Timer 'timeEnd' does not exist"),
        ("timeLog", LogLevel::Info, "Timer 'timeLog' does not exist"),
        ("group", LogLevel::Info, "group"),
        ("groupCollapsed", LogLevel::Info, "  groupCollapsed"),
    ];
    let calls: String = methods.iter().map(|(method, ..)| format!("console.{method}('{method}');")).collect();
    let ran = run(&format!(
        "() => {{ {calls} console.assert(false, 'assert'); console.assert(true, 'no'); console.groupEnd() }}"
    ));
    let mut expected: Vec<(LogLevel, String, String)> =
        methods.iter().map(|(method, level, line)| (*level, (*method).into(), (*line).into())).collect();
    expected.push((LogLevel::Info, "assert".into(), "    Assertion failed: assert".into()));
    assert_eq!(ran.logs, expected);
}

#[test]
fn methods_without_a_level_of_their_own_write_what_a_reader_can_use() {
    let cases: [(&str, &[&str]); 14] = [
        (
            "console.table([{ a: 1, b: 'x' }, { a: 22 }])",
            &["\
┌─────────┬────┬─────┐
│ (index) │ a  │ b   │
├─────────┼────┼─────┤
│ 0       │ 1  │ 'x' │
│ 1       │ 22 │     │
└─────────┴────┴─────┘"],
        ),
        (
            "console.table([{ a: 1, b: 2 }], ['b'])",
            &["\
┌─────────┬───┐
│ (index) │ b │
├─────────┼───┤
│ 0       │ 2 │
└─────────┴───┘"],
        ),
        (
            "console.table(new Map([['k', { v: 1 }]]))",
            &["\
┌───────────────────┬─────┬──────────┐
│ (iteration index) │ Key │ Values   │
├───────────────────┼─────┼──────────┤
│ 0                 │ 'k' │ { v: 1 } │
└───────────────────┴─────┴──────────┘"],
        ),
        ("console.table(5, 6)", &["5 6"]),
        (
            "console.group('a', 1); console.count(); console.table([]); console.log('plain'); console.groupEnd(); console.count()",
            &[
                "a 1",
                "  default: 1",
                "  ┌─────────┐\n  │ (index) │\n  ├─────────┤\n  └─────────┘",
                "plain",
                "default: 2",
            ],
        ),
        ("console.group(); console.groupEnd(); console.groupEnd(); console.count('x')", &["x: 1"]),
        (
            "console.count('x'); console.count('x'); console.countReset('x'); console.count('x')",
            &["x: 1", "x: 2", "x: 1"],
        ),
        ("console.assert(0); console.assert('')", &["Assertion failed", "Assertion failed"]),
        ("console.dir({ a: { b: { c: {} } } }, { depth: 0 })", &["{ a: [Object] }"]),
        ("console.dirxml('x', [1])", &["x [ 1 ]"]),
        ("console.timeStamp('x'); console.clear(); console.profile(); console.profileEnd()", &[]),
        ("console.time('t'); console.timeEnd('t'); console.timeEnd('t')", &["", "Timer 't' does not exist"]),
        (
            "Array.prototype.join = String.prototype.slice = null; Array.prototype[Symbol.iterator] = null; console.table([[1]])",
            &["\
┌─────────┬───┐
│ (index) │ 0 │
├─────────┼───┤
│ 0       │ 1 │
└─────────┴───┘"],
        ),
        ("const cycle = []; cycle.push(cycle); console.dir(cycle)", &["<ref *1> [ [Circular *1] ]"]),
    ];
    for (calls, expected) in cases {
        let ran = run(&format!("() => {{ {calls} }}"));
        let mut lines = ran.lines();
        if let Some(first) = lines.first_mut()
            && calls.contains("timeEnd")
        {
            assert!(first.starts_with("t: ") && first.ends_with("ms"), "{first}");
            *first = "";
        }
        assert_eq!(lines, expected, "{calls}");
    }
    let ran = run("() => { const caller = () => console.trace('here', 1); caller() }");
    assert_eq!(ran.lines()[0], "Trace: here 1\n    at caller (program.js:1:38)\n    at program.js:1:56");
}

#[test]
fn arguments_render_with_string_joined_by_one_space() {
    let cases = [
        ("{ a: 1 }, [1, 2], null, undefined, 1n, Symbol('q')", "[object Object] 1,2 null undefined 1 Symbol(q)"),
        ("'%s=%d', 'a', 5", "%s=%d a 5"),
        ("'l1\\nl2'", "l1\nl2"),
        ("", ""),
        ("'', ''", " "),
        ("'\\ud800x'", "\u{fffd}x"),
        ("new Error('e'), -0, () => 1", "Error: e 0 () => 1"),
        ("{ toString: () => 'mine' }", "mine"),
    ];
    for (args, expected) in cases {
        assert_eq!(run(&format!("() => {{ console.log({args}) }}")).lines(), [expected], "{args}");
    }
}

#[test]
fn an_argument_that_cannot_be_converted_throws() {
    let ran = run("() => { console.log('before'); console.log(Object.create(null)) }");
    assert_eq!(ran.error().0, Termination::Threw);
    assert_eq!(ran.lines(), ["before"]);
    let ran = run(
        "() => { try { console.warn('x', { toString() { throw new Error('mine') } }) } catch (e) { return e.message } }",
    );
    assert_eq!((ran.result(), ran.logs.len()), ("\"mine\"", 0));
}

#[test]
fn lines_past_a_bound_are_replaced_by_one_marker_and_the_run_goes_on() {
    let mut flood = spec("() => { for (let i = 0; i < 1e5; i++) console.log(i); return 'done' }");
    flood.logs.lines = 3;
    let ran = run_spec(&flood);
    assert_eq!(ran.result(), "\"done\"");
    assert_eq!(
        ran.lines(),
        ["0", "1", "2", "[logs cut: over 3 lines; the run goes on, later lines are not kept: log less]"]
    );
    let mut large = spec("() => { for (let i = 0; i < 10; i++) console.log('x'.repeat(400)); return 'done' }");
    large.logs.total_bytes = 1000;
    let ran = run_spec(&large);
    assert_eq!((ran.result(), ran.logs.len()), ("\"done\"", 3));
    assert!(ran.lines()[2].contains("over 1000 bytes in all"));
}

#[test]
fn a_long_line_is_cut_with_a_marker_and_never_converted_whole() {
    let mut spec = spec("() => { const big = 'é'.repeat(40e6); console.log(big, big, 'tail') ; console.log('next') }");
    spec.logs.line_bytes = 1000;
    let ran = run_spec(&spec);
    assert_eq!(ran.result(), "[\"undefined\"]");
    let line = ran.lines()[0];
    assert!(
        line.len() <= 1000 && line.len() > 900 && line.ends_with("… [cut at its 1000 byte bound: write shorter texts]"),
        "{}",
        line.len()
    );
    assert_eq!(ran.lines()[1], "next");
}

#[test]
fn the_console_is_a_namespace_object() {
    super::harness::check_results(&[
        (
            "() => Object.entries(Object.getOwnPropertyDescriptors(console)).every(([, one]) => one.enumerable && one.writable && one.configurable)",
            "true",
        ),
        (
            "() => { const inherited = Object.getPrototypeOf(console); return [Reflect.ownKeys(inherited).length, Object.getPrototypeOf(inherited) === Object.prototype] }",
            "[[0,true]]",
        ),
        (
            "() => { const { log } = console; return Object.keys({ ...console }).includes('warn') && typeof log }",
            "\"function\"",
        ),
    ]);
}
