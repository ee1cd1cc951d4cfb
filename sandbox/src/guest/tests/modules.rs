//! Modules of the caller.

use codemode_protocol::Termination::{self, Stalled, Syntax, Threw, Timeout};

use super::harness::{Ran, provider, run_spec, spec};
use crate::frame::RunSpec;

fn with_modules(code: &str, modules: &[(&str, &str)]) -> RunSpec {
    let modules = modules.iter().map(|(specifier, source)| ((*specifier).into(), (*source).into()));
    RunSpec { modules: modules.collect(), ..spec(code) }
}

fn run(code: &str, modules: &[(&str, &str)]) -> Ran {
    run_spec(&with_modules(code, modules))
}

#[track_caller]
fn check(modules: &[(&str, &str)], cases: &[(&str, &str)]) {
    for (code, expected) in cases {
        let ran = run(code, modules);
        assert_eq!(ran.result(), *expected, "{code}");
    }
}

#[track_caller]
fn check_failures(modules: &[(&str, &str)], cases: &[(&str, Termination, &str)]) {
    for (code, termination, expected) in cases {
        let ran = run(code, modules);
        assert_eq!(ran.error(), (*termination, *expected), "{code}");
    }
}

const LIBRARY: &[(&str, &str)] = &[
    ("lib.js", "export const a = 9; export default 'whole'; export let count = 0; export const more = () => ++count;"),
    ("lib/main.js", "import { half } from './math/half.js'; export { a } from '../lib.js'; export const h = half(8);"),
    ("lib/math/half.js", "import two from 'two'; export const half = (n) => n / two;"),
    ("two", "export default 2"),
    ("lib/math/two", "export default 2.5"),
    ("./dotted.js", "export default 'dotted'"),
    ("node:path", "export default 'mine'"),
    ("path", "export default 'bare'"),
    ("executor.js", "export default 'never'"),
];

#[test]
fn modules_are_imported_statically_and_dynamically() {
    check(
        LIBRARY,
        &[
            ("import { a } from 'lib.js';\nasync () => a", "9"),
            ("import whole, * as lib from './lib.js'\nasync () => [whole, lib.a]", "[[\"whole\",9]]"),
            ("import 'lib.js'; import { a as b } from 'lib.js'; () => b", "9"),
            ("async () => (await import('lib.js')).a", "9"),
            (
                "async () => { const { more } = await import('lib.js'); more(); return (await import('./lib.js')).count }",
                "1",
            ),
            ("import { h, a } from 'lib/main.js'\nasync () => [h, a]", "[[4,9]]"),
            ("async () => (await import('lib/math/../main.js')).h", "4"),
            ("import d from './dotted.js'\n() => d", "\"dotted\""),
            ("async () => (await import('dotted.js')).default", "\"dotted\""),
            (
                "async () => [(await import('node:path')).default, (await import('path')).default]",
                "[[\"mine\",\"bare\"]]",
            ),
            (
                "async () => { const ns = await import('lib.js'); try { ns.a = 1 } catch (error) { return error.name } }",
                "\"TypeError\"",
            ),
            ("async () => (await import('lib.js')) === (await import('/lib.js'))", "true"),
        ],
    );
}

#[test]
fn a_module_that_is_missing_is_named_as_it_was_resolved() {
    check_failures(
        &[
            ("lib/a.js", "import './b.js'"),
            ("lib/fs.js", "export * from 'fs'"),
            ("lib/late.js", "export default () => import('nope')"),
        ],
        &[
            ("async () => import('nope.js')", Threw, "No such module \"nope.js\"."),
            ("import 'nope.js'\nasync () => 1", Threw, "No such module \"nope.js\"."),
            ("import 'lib/a.js'\nasync () => 1", Threw, "No such module \"lib/b.js\"."),
            ("async () => import('lib/a.js')", Threw, "No such module \"lib/b.js\"."),
            ("import 'lib/fs.js'\nasync () => 1", Threw, "No such module \"node:fs\"."),
            ("import late from 'lib/late.js'\nasync () => late()", Threw, "No such module \"lib/nope\"."),
            ("async () => import('fs')", Threw, "No such module \"node:fs\"."),
            ("async () => import('https://esm.sh/lodash')", Threw, "No such module \"https:/esm.sh/lodash\"."),
            ("async () => import('file:///etc/passwd')", Threw, "No such module \"file:/etc/passwd\"."),
            ("async () => import('/etc/passwd')", Threw, "No such module \"etc/passwd\"."),
            ("async () => import('program.js')", Threw, "No such module \"program.js\"."),
            ("async () => import('proxy.js')", Threw, "No such module \"proxy.js\"."),
            ("async () => import('./executor.js')", Threw, "No such module \"executor.js\"."),
        ],
    );
    check_failures(LIBRARY, &[("async () => import('executor.js')", Threw, "No such module \"executor.js\".")]);
}

#[test]
fn the_builtin_modules_are_found_by_both_names_in_every_way() {
    check(
        &[
            ("lib/uses.js", "import { join } from 'path'; export default join('a', '..', 'b')"),
            ("events", "export default 'mine'"),
            ("util", "export * from 'node:util'; export const extra = 1"),
        ],
        &[
            (
                "import path, { basename } from 'node:path'\n() => [path.join('a', 'b'), basename('/x/y.z')]",
                "[[\"a/b\",\"y.z\"]]",
            ),
            ("import * as path from 'path'\n() => path.posix === path.default", "true"),
            ("import used from 'lib/uses.js'\n() => used", "\"b\""),
            (
                "async () => (await import('node:events')).default === (await import('node:events')).EventEmitter",
                "true",
            ),
            ("async () => (await import('events')).default", "\"mine\""),
            (
                "async () => { const { format, extra } = await import('util'); return [format('%s', 1), extra] }",
                "[[\"1\",1]]",
            ),
            ("async () => (await import('node:buffer')).Buffer === Buffer", "true"),
            ("async () => (await import('node:process')).default === process", "true"),
            (
                "async () => [process.getBuiltinModule('node:path').sep, process.getBuiltinModule('path') === (await import('node:path')).default, process.getBuiltinModule('fs')]",
                "[[\"/\",true,[\"undefined\"]]]",
            ),
            ("async () => (await import('node:timers/promises')).setTimeout(1, 'slept')", "\"slept\""),
            ("async () => { const { util } = await import('./util'); return typeof util }", "\"undefined\""),
        ],
    );
    for module in crate::guest::web::NODE_MODULES {
        let ran = run(&format!("async () => typeof (await import('{module}')).default"), &[]);
        assert!(["\"object\"", "\"function\""].contains(&ran.result()), "{module}: {}", ran.result());
    }
}

#[test]
fn builtin_modules_work_after_a_program_has_changed_every_prototype() {
    let spoil = "
        const { defineProperty } = Object, { ownKeys } = Reflect;
        const holders = [Array, String, Map, Set, RegExp, Promise, Function, Object, Uint8Array, Object.getPrototypeOf(Uint8Array), Date, Error, Symbol, Number];
        for (let i = 0; i < holders.length; i++) {
            const { prototype } = holders[i], keys = ownKeys(prototype);
            for (let j = 0; j < keys.length; j++) {
                if (keys[j] === 'constructor') continue;
                const what = holders[i].name + ' ' + (typeof keys[j] === 'symbol' ? 'symbol ' + j : keys[j]);
                try { defineProperty(prototype, keys[j], { value: () => { throw new Error(what) }, configurable: true, writable: true }) } catch {}
            }
        }
        defineProperty(Object.prototype, 'value', { set() { throw new Error('set') }, get() { return undefined }, configurable: true });
        const names = ['Array', 'Map', 'Set', 'JSON', 'Math', 'Reflect', 'Symbol', 'String', 'Number', 'BigInt', 'Uint8Array', 'Object'];
        for (let i = 0; i < names.length; i++) globalThis[names[i]] = undefined;";
    let cases = [
        (
            "(await import('node:util')).inspect({ a: [1, 'x', m], d, b: b.from('hi') })",
            "\"{\\n  a: [ 1, 'x', Map(1) { 1 => 2 } ],\\n  d: 1970-01-01T00:00:00.000Z,\\n  b: <Buffer 68 69>\\n}\"",
        ),
        ("(await import('node:util')).format('%s %d %j', 'a', 1, { b: 2 })", "\"a 1 {\\\"b\\\":2}\""),
        ("(await import('node:path')).resolve('/a/b', '../c', './d')", "\"/a/c/d\""),
        (
            "b.from('aGk', 'base64').toString('hex') + b.concat([b.from('a'), b.alloc(2, 'xy')]).indexOf('y')",
            "\"68692\"",
        ),
        (
            "new Promise_((done) => { EventEmitter = new events.default(); EventEmitter.once('x', done); EventEmitter.emit('x', 5) })",
            "5",
        ),
    ];
    for (expression, expected) in cases {
        let code = format!(
            "async () => {{ const m = new Map([[1, 2]]), d = new Date(0), b = Buffer, Promise_ = Promise; let EventEmitter; const events = await import('node:events'); {spoil} return await {expression} }}"
        );
        let ran = run(&code, &[]);
        assert_eq!(ran.result(), expected, "{expression}");
    }
}

#[test]
fn a_miss_is_an_ordinary_error_that_a_program_can_catch() {
    check(
        &[],
        &[
            (
                "async () => { try { await import('x') } catch (e) { return [e.name, e instanceof Error, e.message] } }",
                "[[\"Error\",true,\"No such module \\\"x\\\".\"]]",
            ),
            (
                "async () => { try { await import('x'.repeat(1e7)) } catch (e) { return e.message.length < 2000 } }",
                "true",
            ),
            ("async () => { try { await import({ toString() { throw 7 } }) } catch (e) { return e } }", "7"),
            ("async () => { try { await import(Symbol()) } catch (e) { return e.name } }", "\"TypeError\""),
        ],
    );
}

#[test]
fn modules_see_no_namespaces_and_have_no_more_authority_than_the_program() {
    let mut spec = with_modules(
        "import seen from 'look.js'\nasync () => [...seen, typeof api]",
        &[(
            "look.js",
            "
            const refused = (attempt) => { try { attempt(); return 'let' } catch (error) { return error.name } };
            export default [
                typeof api, typeof URL_, typeof undefined, typeof this, typeof require, typeof process,
                refused(() => eval('1')), refused(() => new Function('1')), refused(() => { undeclared = 1 }),
            ];",
        )],
    );
    spec.providers = ["api", "URL_", "undefined"].map(provider).into();
    let ran = run_spec(&spec);
    assert_eq!(
        ran.result(),
        "[[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"object\",\
         \"EvalError\",\"EvalError\",\"ReferenceError\",\"object\"]]"
    );
}

#[test]
fn an_error_inside_a_module_names_the_module_and_its_own_line() {
    let modules: &[(&str, &str)] = &[
        ("lib/throws.js", "export const f = () => {\n\n  throw new TypeError('deep')\n};\n"),
        ("top.js", "\nnull.x"),
        ("my-program.js", "export const f = () => {\n  throw new Error('mine') };"),
    ];
    let cases = [
        ("import { f } from 'lib/throws.js'\n\nasync () => {\n  f()\n}", "lib/throws.js:3:", Some(4)),
        ("async () => {\n  (await import('lib/throws.js')).f()\n}", "lib/throws.js:3:", Some(2)),
        ("import 'top.js'\nasync () => 1", "top.js:2:", None),
        ("async () => import('top.js')", "top.js:2:", None),
        ("import { f } from 'my-program.js'\nasync () =>\n\n f()", "my-program.js:2:", Some(4)),
    ];
    for (code, place, line) in cases {
        let ran = run(code, modules);
        let details = ran.done().details.as_ref().unwrap();
        let stack = details.stack.as_deref().unwrap();
        assert!(stack.contains(place), "{code}: {stack}");
        assert_eq!(details.line, line, "{code}: {stack}");
        assert_eq!(ran.error().0, Threw);
    }
}

#[test]
fn a_module_that_does_not_parse_or_link_is_a_syntax_error_that_names_it() {
    let modules: &[(&str, &str)] = &[
        ("bad.js", "export const a = 1;\nexport const = 2;"),
        ("outer.js", "import 'bad.js'"),
        ("data.json", "{\"a\": 1}"),
        ("lib.js", "export const a = 1"),
        ("late.js", "import { gone } from 'lib.js'"),
    ];
    for (code, termination, start, part) in [
        ("import 'bad.js'\n() => 1", Syntax, "SyntaxError: ", "(module \"bad.js\", line 2, column "),
        ("import 'outer.js'\n() => 1", Syntax, "SyntaxError: ", "(module \"bad.js\", line 2, column "),
        ("import 'data.json'\n() => 1", Syntax, "SyntaxError: ", "(module \"data.json\", line 1, column "),
        ("import { gone } from 'lib.js'\n() => 1", Syntax, "SyntaxError: ", "lib.js"),
        ("import 'late.js'\n() => 1", Syntax, "SyntaxError: ", "lib.js"),
        ("async () => import('bad.js')", Threw, "", "(module \"bad.js\", line 2, column "),
        ("async () => import('outer.js')", Threw, "", "(module \"bad.js\", line 2, column "),
        ("async () => import('late.js')", Threw, "", "lib.js"),
    ] {
        let ran = run(code, modules);
        let (found, error) = ran.error();
        assert_eq!(found, termination, "{code}: {error}");
        assert!(error.starts_with(start) && error.matches(part).count() == 1, "{code}: {error}");
        let details = ran.done().details.as_ref().unwrap();
        assert_eq!((details.name.as_str(), details.line), ("SyntaxError", None), "{code}");
    }
}

#[test]
fn attributes_are_refused_readably() {
    let modules: &[(&str, &str)] =
        &[("data.json", "export default 1"), ("m.js", "import 'data.json' with { type: 'json' }")];
    let refused =
        "Import attribute \"type\" is not supported: modules are JavaScript sources. Export the data from a module.";
    check_failures(
        modules,
        &[
            ("import d from 'data.json' with { type: 'json' };\n() => d", Threw, refused),
            ("import 'm.js'\n() => 1", Threw, refused),
            ("async () => import('data.json', { with: { type: 'json' } })", Threw, refused),
        ],
    );
    check(modules, &[("async () => (await import('data.json', { with: {} })).default", "1")]);
}

#[test]
fn cycles_and_awaits_at_top_level_work() {
    check(
        &[
            ("a.js", "import { b } from 'b.js'; export const a = () => 'a' + b(); export const name = 'A';"),
            ("b.js", "import { name } from 'a.js'; export const b = () => 'b' + name;"),
            ("self.js", "import * as me from 'self.js'; export const x = 1; export const y = () => me.x;"),
            ("wait.js", "export const v = await Promise.resolve(5); await null;"),
            ("over.js", "export { v } from 'wait.js'; export const w = 1"),
            ("later.js", "export const { v } = await import('over.js');"),
        ],
        &[
            ("import { a } from 'a.js'\n() => a()", "\"abA\""),
            ("import { b } from 'b.js'\n() => b()", "\"bA\""),
            ("import { y } from 'self.js'\n() => y()", "1"),
            ("import { v } from 'wait.js'\n() => v", "5"),
            ("import { v, w } from 'over.js'\n() => v + w", "6"),
            ("import { v } from 'later.js'\n() => v", "5"),
            ("async () => (await import('later.js')).v", "5"),
        ],
    );
}

#[test]
fn every_module_has_an_address_of_its_own() {
    check(
        &[
            (
                "lib/a b.js",
                "export default [import.meta.url, new URL_('./c.js').length]"
                    .replace("new URL_('./c.js').length", "1")
                    .as_str(),
            ),
            ("program.js", "export default import.meta.url"),
        ],
        &[
            ("import a from 'lib/a b.js'\n() => a[0]", "\"file:///lib/a%20b.js\""),
            ("() => import.meta.url", "\"file:///program.js\""),
            ("import a from 'program.js'\n() => a", "\"file:///program.js\""),
        ],
    );
}

#[test]
fn an_endless_wait_at_top_level_ends_like_any_other() {
    let modules: &[(&str, &str)] = &[
        ("never.js", "await new Promise(() => {})"),
        ("spin.js", "for (;;);"),
        ("jobs.js", "const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})"),
    ];
    for (module, termination) in [("never.js", Stalled), ("spin.js", Timeout), ("jobs.js", Timeout)] {
        for code in [format!("import '{module}'\n() => 1"), format!("async () => import('{module}')")] {
            let mut spec = with_modules(&code, modules);
            spec.timeout_ms = 200;
            let ran = run_spec(&spec);
            assert_eq!(ran.error().0, termination, "{code}");
        }
    }
}

#[test]
fn a_load_that_fails_leaves_nothing_dangling_behind() {
    // The engine frees the module that failed; one that imports it in a circle was loaded and still points to it.
    let modules: &[(&str, &str)] = &[
        ("a.js", "import './b.js'; import './missing.js'; export const a = 1"),
        ("b.js", "import { a } from './a.js'; export const b = () => a"),
        ("c.js", "import './b.js'; import './d.js'"),
        ("d.js", "import './c.js'; syntax error"),
        ("e.js", "export const e = 'fine'"),
    ];
    let code = "async () => {
        const found = [];
        for (let round = 0; round < 50; round++) {
            for (const name of ['a.js', 'b.js', 'c.js', 'd.js', 'b.js', 'a.js', 'e.js']) {
                const junk = Array.from({ length: 50 }, (_, i) => ({ i, text: name + i }));
                try { found.push((await import(name)).e) } catch (error) { found.push(error.message.slice(0, 14)) }
            }
        }
        return [...new Set(found)].sort();
    }";
    let ran = run(code, modules);
    assert!(ran.result().contains("\"No such module\"") && ran.result().contains("fine"), "{}", ran.result());
    assert_eq!(ran.status, 0);
}

#[test]
fn huge_graphs_end_readably() {
    let chain = |length: usize, last: &str| -> Vec<(String, String)> {
        let link = |at: usize| if at + 1 == length { last.to_owned() } else { format!("export * from 'm{}'", at + 1) };
        (0..length).map(|at| (format!("m{at}"), link(at))).collect()
    };
    for (stack, length) in [(1 << 20, 20_000), (8 << 20, 20_000), (64 << 10, 3_000)] {
        let mut spec =
            spec("async () => { try { return (await import('m0')).x } catch (error) { return error.name } }");
        (spec.modules, spec.stack_limit) = (chain(length, "export const x = 1"), stack);
        let ran = run_spec(&spec);
        assert_eq!((ran.result(), ran.status), ("\"RangeError\"", 0), "{stack}");
    }
    // From the end of the chain on, no load is deep.
    let mut spec = spec(
        "async () => { try { for (let at = 4800; at >= 0; at -= 100) await import('m' + at); return (await import('m0')).x }
           catch (error) { return error.message } }",
    );
    (spec.modules, spec.timeout_ms, spec.cpu_ms) = (chain(4900, "export const x = 1"), 19_000, 19_000);
    let ran = run_spec(&spec);
    assert_eq!((ran.result(), ran.status), ("1", 0));
    let mut spec = spec_of_many();
    spec.timeout_ms = 19_000;
    let ran = run_spec(&spec);
    assert!(ran.error().1.contains("more than 5000 modules"), "{ran:?}");
}

fn spec_of_many() -> RunSpec {
    let mut spec = spec("async () => { for (let at = 0; at < 6000; at++) await import('m' + at) }");
    spec.modules = (0..6000).map(|at| (format!("m{at}"), String::new())).collect();
    spec
}
