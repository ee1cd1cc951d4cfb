//! Entry, scope, globals and preludes.

use codemode_protocol::Termination;

use super::harness::{check_errors, check_results, provider, run, run_spec, spec};
use crate::frame::ProviderSpec;

#[test]
fn the_entry_is_called_and_awaited() {
    check_results(&[
        ("async () => 42", "42"),
        ("() => 42", "42"),
        ("async () => {}", "[\"undefined\"]"),
        ("() => Promise.resolve(1)", "1"),
        ("() => ({ then(done) { done(7) } })", "7"),
        ("async () => 1;", "1"),
        ("// plan\nasync () => 1", "1"),
        ("async () => 1 // done", "1"),
        ("async () => 1; // done;", "1"),
        ("async () => { return 1; }; /* end */", "1"),
        ("\u{feff}async () => 1", "1"),
        ("async function () { return 2 }", "2"),
        ("(async () => 3)", "3"),
        ("async (a, b) => [a, b]", "[[[\"undefined\"],[\"undefined\"]]]"),
        ("async () => (await 1) + (await Promise.resolve(2))", "3"),
    ]);
}

#[test]
fn an_entry_that_is_no_function_is_said_to_be_none() {
    for (code, found) in [("42", "number"), ("({})", "object"), ("'x'", "string"), ("undefined", "undefined")] {
        let ran = run(code);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Threw);
        assert!(error.contains(&format!("of type {found}")), "{error}");
    }
}

#[test]
fn nothing_breaks_out_of_its_place() {
    let cases = [
        "1);globalThis.evil=1;(2",
        "1; globalThis.evil = 1; 2",
        "() => 1}; globalThis.evil = 1; async () => {",
        "() => 1\n globalThis.evil = 1",
        "import 'x' async () => 1",
        "return 1",
        "async () => {",
        "async () => }",
        "",
        "f;;",
        "*/ 1 /*",
        "async () => y, y = 2",
        "async () => 1, a = console.log('ran'), b = 2",
        "1 : 0, (2",
    ];
    for code in cases {
        let ran = run(code);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Syntax, "{code}: {error}");
        assert!(error.starts_with("SyntaxError: "), "{code}: {error}");
    }
}

#[test]
fn what_makes_a_body_no_one_expression_is_named_at_its_place() {
    for (code, message, place) in [
        ("async () => 1, 2", "SyntaxError: Unexpected token ','", (1, 14)),
        ("async () =>\n  1\n  , a = 2;", "SyntaxError: Unexpected token ','", (3, 3)),
        ("1), (2", "SyntaxError: Unexpected token ')'", (1, 2)),
        ("import 'node:path'; async () => 1, 2", "SyntaxError: Unexpected token ','", (1, 34)),
    ] {
        let ran = run(code);
        assert_eq!(ran.error(), (Termination::Syntax, message), "{code}");
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!((details.line, details.column), (Some(place.0), Some(place.1)), "{code}");
    }
}

#[test]
fn the_scope_is_strict_module_code_without_names_of_ours() {
    check_results(&[
        ("async () => this === undefined", "true"),
        ("function () { return this === undefined }", "true"),
        (
            "async () => { try { arguments; return 'visible' } catch (error) { return error.name } }",
            "\"ReferenceError\"",
        ),
        (
            "async () => { try { undeclared = 1; return 'sloppy' } catch (error) { return error.name } }",
            "\"ReferenceError\"",
        ),
        ("async () => typeof api", "\"object\""),
        (
            "async () => Object.keys(globalThis).sort().join(' ')",
            "\"Buffer atob btoa clearImmediate clearInterval clearTimeout crypto fetch global navigator origin performance process \
             reportError scheduler self setImmediate setInterval setTimeout structuredClone\"",
        ),
        ("async function main() { return main.name }", "\"main\""),
    ]);
    let ran = run("async () => Object.getOwnPropertyNames(globalThis).sort().join()");
    for name in ["harness", "captured", "warm", "dispatch", "_"] {
        assert!(!ran.result().split(',').any(|global| global == name), "{name} in {}", ran.result());
    }
}

#[test]
fn the_entry_has_no_name_of_ours() {
    let ran = run("() => { const f = (new Error('x')).stack; return f }");
    assert_eq!(ran.result(), "\"Error: x\\n    at program.js:1:24\"");
}

#[test]
fn provider_names_shadow_for_program_and_preludes_only() {
    let mut spec = spec("async () => [typeof undefined, typeof URL, typeof result, typeof Object, await URL.get()]");
    spec.providers = ["undefined", "URL", "result", "Object"].map(provider).into();
    let ran = run_spec(&spec);
    assert_eq!(ran.result(), "[[\"object\",\"object\",\"object\",\"object\",[\"undefined\"]]]");
    assert_eq!(ran.calls, [("URL".into(), "get".into(), "[]".into())]);
}

#[test]
fn code_from_strings_is_refused() {
    let refused = "Code generation from strings disallowed for this context";
    let attempts = [
        "eval('1+1')",
        "(0, eval)('1+1')",
        "globalThis.eval('1')",
        "Function('return 1')()",
        "new Function('return 1')",
        "(() => {}).constructor('return 1')",
        "(async () => {}).constructor('return 1')",
        "(function* () {}).constructor('return 1')",
        "(async function* () {}).constructor('return 1')",
        "Object.getPrototypeOf(async () => {}).constructor('1')",
        "Reflect.construct(Function, ['return 1'])",
        "Function.prototype.constructor.call(null, '1')",
        "new (class extends Function {})('1')",
        "Object.getPrototypeOf(Object.getPrototypeOf(async () => {}).constructor)('1')",
        "Reflect.apply(eval, null, ['1'])",
    ];
    for attempt in attempts {
        let code = format!(
            "async () => {{ try {{ return ['ran', {attempt}] }} catch (error) {{ return [error instanceof EvalError, error.message] }} }}"
        );
        assert_eq!(run(&code).result(), format!("[[true,\"{refused}\"]]"), "{attempt}");
    }
    check_results(&[
        ("async () => (() => {}) instanceof Function && (async () => {}) instanceof Function", "true"),
        ("async () => typeof Function.prototype.call === 'function' && Function.name === 'Function'", "true"),
        ("async () => Function.toString().includes('native code')", "true"),
    ]);
}

#[test]
fn imports_are_refused_by_name() {
    check_errors(&[
        ("import { a } from 'lib.js';\nasync () => a", Termination::Threw, "No such module \"lib.js\"."),
        ("import 'program.js'\nasync () => 1", Termination::Threw, "No such module \"program.js\"."),
        ("async () => (await import('nope.js')).a", Termination::Threw, "No such module \"nope.js\"."),
        ("async () => import('program.js')", Termination::Threw, "No such module \"program.js\"."),
    ]);
}

fn with_prelude(name: &str, prelude: &str) -> ProviderSpec {
    ProviderSpec { prelude: Some(prelude.into()), ..provider(name) }
}

#[test]
fn preludes_share_the_programs_scope_in_order() {
    let mut spec = spec("async () => [shared, later, api.own, globalThis.set, await api.tool()]");
    spec.providers = vec![
        with_prelude("api", "const shared = await api.echo(1); api.own = 'own'; globalThis.set = 'set' // open"),
        with_prelude("other", "let later = shared.concat(2)"),
    ];
    let ran = run_spec(&spec);
    assert_eq!(ran.result(), "[[[[1]],[[1,2]],\"own\",\"set\",[\"undefined\"]]]");
}

#[test]
fn a_failing_prelude_ends_the_run_and_is_named() {
    let cases = [
        ("throw new Error('boom')", "boom"),
        ("await api.fail('no')", "no"),
        ("null.x", "Cannot read properties of null (reading 'x')"),
        ("const shared = 1; let shared = 2", "invalid redefinition of lexical identifier"),
        ("return 1 +", "Unexpected token"),
    ];
    for (prelude, message) in cases {
        let mut spec = spec("async () => 1");
        spec.providers = vec![with_prelude("api", "const first = 1"), with_prelude("second", prelude)];
        let ran = run_spec(&spec);
        let (termination, error) = ran.error();
        assert_eq!(termination, Termination::Threw, "{prelude}: {error}");
        let expected = format!("Prelude of provider \"second\" failed: {message}");
        assert!(error.to_lowercase().starts_with(&expected.to_lowercase()), "{prelude}: {error}");
    }
}

#[test]
fn a_programs_own_failure_after_preludes_is_its_own() {
    let mut spec = spec("async () => { throw new Error('mine') }");
    spec.providers = vec![with_prelude("api", "const first = 1")];
    assert_eq!(run_spec(&spec).error(), (Termination::Threw, "mine"));
    spec.code = "async () => {".into();
    assert_eq!(run_spec(&spec).error().0, Termination::Syntax);
}

#[test]
fn a_preludes_error_constructor_makes_the_errors_of_failed_calls_and_a_programs_does_not() {
    let program = "async () => {
        globalThis.Error = function () { return { name: 'Stolen' } };
        try { await api.fail('framed') } catch (error) { return [error.name, error.code ?? null, error.message] }
    }";
    let mut spec = spec(program);
    assert_eq!(run_spec(&spec).result(), "[[\"Error\",null,\"framed\"]]");
    spec.providers = vec![with_prelude(
        "api",
        "const Base = Error;
         globalThis.Error = class extends Base { constructor(m) { super('decoded ' + m); this.code = 'E' } }",
    )];
    assert_eq!(run_spec(&spec).result(), "[[\"Error\",\"E\",\"decoded framed\"]]");
    spec.code = "(globalThis.Error = function () { return { name: 'Stolen' } }, async () => {
        try { await api.fail('framed') } catch (error) { return [error.name, error.code ?? null, error.message] }
    })"
    .into();
    assert_eq!(run_spec(&spec).result(), "[[\"Error\",\"E\",\"decoded framed\"]]");
}

#[test]
fn a_proxy_source_makes_the_namespace_from_the_raw_dispatcher() {
    let source = "(call) => ({ deep: { add: (a, b) => call('deep.add', a, b) }, plain: call })";
    let mut spec = spec("async () => [await api.deep.add(1, 2), await api.plain('echo', 'x'), typeof other]");
    spec.providers = vec![ProviderSpec { proxy_source: Some(source.into()), ..provider("api") }, provider("other")];
    let ran = run_spec(&spec);
    assert_eq!(ran.result(), "[[[\"undefined\"],[[\"x\"]],\"object\"]]");
    assert_eq!(ran.calls[0], ("api".into(), "deep.add".into(), "[1,2]".into()));
    for (source, message) in [
        ("(", "Unexpected token"),
        ("1", "the proxy source is not a function"),
        ("() => other", "other is not defined"),
    ] {
        spec.providers[0].proxy_source = Some(source.into());
        let ran = run_spec(&spec);
        let (_, error) = ran.error();
        assert!(
            error.to_lowercase().contains(&message.to_lowercase())
                && error.starts_with("Prelude of provider \"api\" failed: "),
            "{error}"
        );
    }
}

#[test]
fn every_child_has_random_numbers_of_its_own() {
    for code in [
        "async () => Array.from({ length: 4 }, () => Math.random()).join()",
        "async () => crypto.randomUUID()",
        "async () => crypto.getRandomValues(new Uint8Array(16)).join()",
    ] {
        let seen: std::collections::HashSet<String> = (0..8).map(|_| run(code).result().to_owned()).collect();
        assert_eq!(seen.len(), 8, "{code}");
    }
    check_results(&[
        (
            "async () => { for (let i = 0; i < 1e4; i++) { const r = Math.random(); if (!(r >= 0 && r < 1)) return r } }",
            "[\"undefined\"]",
        ),
        ("async () => Math.abs(Date.now() - performance.timeOrigin) < 5000 && performance.now() < 5000", "true"),
        (
            "async () => { try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return 'blocked' } catch (error) { return error.name } }",
            "\"TypeError\"",
        ),
        ("async () => new Promise((done) => queueMicrotask(() => done('ran')))", "\"ran\""),
    ]);
}
