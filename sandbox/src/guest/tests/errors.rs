//! What a run says of what was thrown.

use codemode_protocol::Termination;

use super::harness::{check_errors, run, run_spec, spec};

#[test]
fn the_error_text_is_the_thrown_errors_message() {
    use Termination::Threw;
    check_errors(&[
        ("async () => { throw new Error('boom') }", Threw, "boom"),
        ("() => { throw new TypeError('sync') }", Threw, "sync"),
        ("async () => { throw new RangeError('') }", Threw, "RangeError"),
        ("async () => { throw { message: 'own', code: 1 } }", Threw, "own"),
        ("async () => { throw 'text' }", Threw, "text"),
        ("async () => { throw '' }", Threw, "an empty string was thrown"),
        ("async () => { throw undefined }", Threw, "undefined"),
        ("async () => { throw null }", Threw, "null"),
        ("async () => { throw 42n }", Threw, "42"),
        ("async () => { throw Symbol('s') }", Threw, "Symbol(s)"),
        ("async () => { throw { code: 7, list: [1] } }", Threw, "{\"code\":7,\"list\":[1]}"),
        ("async () => { throw [1, 2] }", Threw, "[1,2]"),
        ("async () => { throw function thrown() {} }", Threw, "[function thrown]"),
        ("async () => { throw Promise.resolve(1) }", Threw, "[promise]"),
        (
            "async () => { throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }) }",
            Threw,
            "a value of type object was thrown",
        ),
        ("async () => { throw Object.assign(new Error('x'), { message: 5 }) }", Threw, "5"),
        (
            "async () => { const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e }",
            Threw,
            "Error",
        ),
        ("async () => { throw new Error('Execution timed out') }", Threw, "Execution timed out"),
        ("async () => { throw new DOMException('gone', 'AbortError') }", Threw, "gone"),
        ("async () => { throw Object.create(new Error('inherited')) }", Threw, "{}"),
        ("async () => { throw new AggregateError([new Error('a')], 'many') }", Threw, "many"),
        ("() => Promise.reject(new Error('returned'))", Threw, "returned"),
        ("async () => { await api.fail('tool says no') }", Threw, "tool says no"),
    ]);
}

#[test]
fn details_name_the_error_and_its_place_in_the_callers_source() {
    let cases = [
        ("async () => { throw new TypeError('t') }", "TypeError", "t", Some((1, 34))),
        ("async () => {\n  const x = 1;\n  throw new Error('third')\n}", "Error", "third", Some((3, 18))),
        ("// c\n\nasync () => {\n  null.x\n}", "TypeError", "", Some((4, 3))),
        ("async () => {\r\n  null.x\r\n}", "TypeError", "", Some((2, 3))),
        ("async () => { function f() {\n throw new Error('in f') }\n f() }", "Error", "in f", Some((2, 17))),
        ("async () => { throw 1 }", "number", "1", None),
        ("async () => { await api.echo(1);\nnull.x }", "TypeError", "", Some((2, 1))),
    ];
    for (code, name, message, place) in cases {
        let ran = run(code);
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!(details.name, name, "{code}");
        assert!(message.is_empty() || details.message == message, "{code}: {details:?}");
        let at = details.line.zip(details.column);
        assert_eq!(at.map(|(line, _)| line), place.map(|(line, _)| line), "{code}: {details:?}");
        if let (Some((_, column)), Some((_, expected))) = (at, place) {
            assert!(column.abs_diff(expected) <= 12, "{code}: {details:?}");
        }
    }
}

#[test]
fn lines_are_the_callers_own_whatever_preludes_stand_ahead() {
    let mut spec = spec("async () => {\n  await api.echo(1);\n  helper();\n}");
    spec.providers[0].prelude =
        Some("const a = 1;\n\n\nfunction helper() { throw new Error('from the prelude') }\n".into());
    let ran = run_spec(&spec);
    let details = ran.done().details.as_ref().unwrap();
    assert_eq!((details.line, details.message.as_str()), (Some(3), "from the prelude"));
    let stack = details.stack.as_deref().unwrap();
    assert!(!stack.contains("helper") && stack.contains("program.js:3:"), "{stack}");
}

#[test]
fn a_program_that_does_not_parse_is_a_syntax_error_with_its_place() {
    let cases = [
        ("async () => { const }", 1),
        ("async () => {\n  let a = 1;\n  let a = 2;\n}", 3),
        ("async () => {\n  foo(;\n}", 2),
        ("async () => ({ a: 1, b: })", 1),
        ("async () => { const x: number = 1; return x }", 1),
        ("({} as any)", 1),
        ("async () => { await = 1 }", 1),
        ("async () => { with (a) {} }", 1),
        ("// one\n// two\nasync () => { return 01 }", 3),
        ("async () => `${`", 1),
    ];
    for (code, line) in cases {
        let ran = run(code);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Syntax, "{code}: {error}");
        assert!(error.starts_with("SyntaxError: ") && error.len() > 15, "{code}: {error}");
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!(details.name, "SyntaxError");
        assert_eq!(details.line, Some(line), "{code}: {details:?}");
        assert!(details.column.is_some());
    }
}

#[test]
fn a_syntax_error_in_an_import_has_its_place_in_the_callers_source() {
    let cases = [
        ("import {a,a} from 'node:path';\nasync () => 1", (1, 12)),
        ("import a from 'node:path'\nimport a from 'node:fs'\n\nasync () => 1", (2, 10)),
        ("import a, from 'node:path'\nasync () => 1", (1, 8)),
        ("import * from 'node:path'\nasync () => 1", (1, 8)),
        ("import defer * as a from 'node:path'\nasync () => 1", (1, 8)),
        ("import a from 'node:path'\nimport {'b c'} from 'node:path'\nasync () => 1", (2, 8)),
        ("import a from 'node:path' with { type: 'json', type: 'json' }; async () => 1", (1, 54)),
        ("import {\n eval } from 'node:path'; async () => 1", (2, 7)),
    ];
    for (code, place) in cases {
        for prelude in [None, Some("1"), Some("1\n\n2\n")] {
            let mut spec = spec(code);
            spec.providers[0].prelude = prelude.map(str::to_owned);
            let ran = run_spec(&spec);
            let details = ran.done().details.as_ref().unwrap();
            assert_eq!(ran.error().0, Termination::Syntax, "{code}");
            assert_eq!(details.line.zip(details.column), Some(place), "{code}: {details:?}");
            let frame = format!("program.js:{}:{}", place.0, place.1);
            assert!(details.stack.as_deref().unwrap().contains(&frame), "{code}: {details:?}");
        }
    }
    // A prelude's own place is none of the caller's, however many lines of imports there are.
    let mut spec = spec("import 'node:path'\nimport 'node:path'\nimport 'node:path'\nasync () => 1");
    spec.providers[0].prelude = Some("let a\nlet a".into());
    let ran = run_spec(&spec);
    assert!(ran.error().1.starts_with("Prelude of provider"), "{}", ran.error().1);
    assert_eq!(ran.done().details.as_ref().unwrap().line, None);
}

#[test]
fn what_stands_behind_the_program_is_never_named() {
    const END: &str = "SyntaxError: Unexpected end of input";
    const CLOSED: &str = "SyntaxError: Unexpected token ')'";
    let cases = [
        ("async()=>{", END, (1, 11)),
        ("async () => {\n  foo(1,", END, (2, 9)),
        ("async () => {\r  foo(1,\r", END, (3, 1)),
        ("import 'node:path'; async () => { return 1;", END, (1, 44)),
        ("async () => { // end", END, (1, 21)),
        ("[1, 2", END, (1, 6)),
        ("", END, (1, 1)),
        ("async () => `${", END, (1, 16)),
        ("(async () => 1))", CLOSED, (1, 16)),
        ("(async () => 1)\n) // ;)", CLOSED, (2, 1)),
        ("async () => { return 1 +; }", "SyntaxError: Unexpected token ';'", (1, 25)),
    ];
    for (code, text, place) in cases {
        let ran = run(code);
        assert_eq!(ran.error(), (Termination::Syntax, text), "{code}");
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!(details.line.zip(details.column), Some(place), "{code}: {details:?}");
        let stack = details.stack.as_deref().unwrap();
        assert!(stack.starts_with(text) && stack.contains(&format!("program.js:{}:{}", place.0, place.1)), "{stack}");
    }
}

#[test]
fn a_syntax_error_at_run_time_is_an_ordinary_error() {
    check_errors(&[(
        "async () => { new RegExp('(') }",
        Termination::Threw,
        &run("() => { try { new RegExp('(') } catch (e) { return e.message } }").result().replace('"', "").clone(),
    )]);
}

#[test]
fn unhandled_rejections_never_fail_the_run() {
    for code in [
        "async () => { Promise.reject(new Error('floating')); return 'ok' }",
        "async () => { api.fail('unawaited'); await api.echo(1); return 'ok' }",
        "async () => { (async () => { throw 1 })(); return 'ok' }",
        "async () => { queueMicrotask(() => { throw 1 }); return 'ok' }",
    ] {
        assert_eq!(run(code).result(), "\"ok\"", "{code}");
    }
}

#[test]
fn huge_texts_are_cut_with_a_marker() {
    let cases = [
        "async () => { throw new Error('m'.repeat(40e6)) }",
        "async () => { throw 'm'.repeat(40e6) }",
        "async () => { throw { message: 'm'.repeat(40e6) } }",
        "async () => { const e = new Error(''); e.name = 'm'.repeat(40e6); throw e }",
        "async () => { const e = new Error('m'); Object.defineProperty(e, 'stack', { value: 'm'.repeat(40e6) }); throw e }",
        "async () => { throw new Error('é'.repeat(40e6)) }",
        "async () => { throw { big: 'm'.repeat(40e6) } }",
    ];
    for code in cases {
        let ran = run(code);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Threw, "{code}");
        assert!(!error.is_empty() && error.len() <= 64 << 10, "{code}: {}", error.len());
        let details = ran.done().details.as_ref().unwrap();
        for text in [&details.name, &details.message, details.stack.as_ref().unwrap_or(&String::new())] {
            assert!(text.len() <= 64 << 10);
        }
    }
}

#[test]
fn prepare_stack_trace_and_odd_stacks_do_no_harm() {
    for code in [
        "async () => { Error.prepareStackTrace = () => ({ toString() { throw 1 } }); throw new Error('x') }",
        "async () => { Error.prepareStackTrace = () => { throw 1 }; throw new Error('x') }",
        "async () => { Error.stackTraceLimit = 0; throw new Error('x') }",
        "async () => { const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e }",
        "async () => { const e = new Error('x'); e.stack = 'at program.js:99999999999:1'; throw e }",
        "async () => { globalThis.Error = null; throw new TypeError('x') }",
        "async () => { String.prototype.slice = null; Object.getOwnPropertyNames = null; throw new Error('x') }",
    ] {
        assert_eq!(run(code).error(), (Termination::Threw, "x"), "{code}");
    }
}

#[test]
fn stacks_show_no_frames_of_the_web_surface() {
    for code in [
        "async () => { structuredClone(() => {}) }",
        "async () => { structuredClone({ get a() { throw new Error('mine') } }) }",
        "async () => { await new Promise((_, fail) => setTimeout(() => fail(new Error('timer')))) }",
        "async () => { new EventTarget().addEventListener('x', {}, { get once() { throw new Error('deep') } }) }",
        "async () => { new Response(1, { status: 7 }) }",
    ] {
        let ran = run(code);
        let details = ran.done().details.as_ref().unwrap();
        let stack = details.stack.as_deref().unwrap();
        assert!(!stack.contains("null") && stack.contains("program.js:1:"), "{code}: {stack}");
        assert_eq!(details.line, Some(1), "{code}");
    }
}

#[test]
fn a_source_that_ends_too_early_fails_at_its_own_end() {
    for (code, place) in [
        ("", (1, 1)),
        ("// nothing", (1, 11)),
        ("async () =>", (1, 12)),
        ("async () => {", (1, 14)),
        ("async () => {\n  foo(\n", (3, 1)),
        ("import 'x';\nasync () => {\r\n", (3, 1)),
    ] {
        let ran = run(code);
        assert_eq!(ran.error().0, Termination::Syntax, "{code}");
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!(details.line.zip(details.column), Some(place), "{code}: {details:?}");
        let stack = details.stack.as_deref().unwrap();
        assert!(stack.contains(&format!("program.js:{}:{}", place.0, place.1)), "{code}: {stack}");
    }
}
