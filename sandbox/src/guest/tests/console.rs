//! The console.

use codemode_protocol::{LogLevel, Termination};

use super::harness::{run, run_spec, spec};

#[test]
fn every_method_writes_a_line_of_its_level() {
    let methods = [
        ("log", LogLevel::Log),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("warn", LogLevel::Warn),
        ("error", LogLevel::Error),
        ("table", LogLevel::Info),
        ("group", LogLevel::Info),
        ("groupCollapsed", LogLevel::Info),
        ("count", LogLevel::Info),
        ("dir", LogLevel::Info),
        ("dirxml", LogLevel::Info),
        ("timeEnd", LogLevel::Info),
        ("timeLog", LogLevel::Info),
        ("trace", LogLevel::Info),
    ];
    let calls: String = methods.iter().map(|(method, _)| format!("console.{method}('{method}');")).collect();
    let ran = run(&format!(
        "() => {{ {calls} console.assert(false, 'assert'); console.assert(true, 'no'); console.groupEnd() }}"
    ));
    let mut expected: Vec<(LogLevel, String, String)> =
        methods.iter().map(|(method, level)| (*level, (*method).into(), (*method).into())).collect();
    expected.push((LogLevel::Info, "assert".into(), "assert".into()));
    assert_eq!(ran.logs, expected);
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
    assert_eq!(ran.lines(), ["0", "1", "2", "[logs cut: over 3 lines; the run goes on, later lines are not kept]"]);
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
    assert!(line.len() <= 1000 && line.len() > 900 && line.ends_with("[cut]"), "{}", line.len());
    assert_eq!(ran.lines()[1], "next");
}
