//! What stacks look like.

use super::harness::{check_results, run, run_spec, spec};

#[test]
fn a_stack_begins_with_the_error_as_text() {
    check_results(&[
        ("() => new Error('first').stack.split('\\n')[0]", "\"Error: first\""),
        ("() => new TypeError('').stack.split('\\n')[0]", "\"TypeError\""),
        ("() => { class Mine extends Error {} return new Mine('m').stack.split('\\n')[0] }", "\"Error: m\""),
        (
            "() => { class Mine extends Error { constructor(m) { super(m); this.name = 'Mine' } } \
             return new Mine('m').stack.split('\\n')[0] }",
            "\"Error: m\"",
        ),
        ("() => { const e = new Error('a'); e.message = 'b'; return e.stack.split('\\n')[0] }", "\"Error: a\""),
        (
            "() => { try { null.x } catch (e) { return e.stack.split('\\n').slice(0, 2) } }",
            "[[\"TypeError: Cannot read properties of null (reading 'x')\",\"    at program.js:1:15\"]]",
        ),
        ("() => new Error('x'.repeat(1e6)).stack.split('\\n')[0].length", "65536"),
        (
            "() => { try { JSON.parse('[1]', () => { throw new Error('r') }) } catch (e) { \
             return e.stack.split('\\n').filter((line) => line.includes('parse')).length } }",
            "1",
        ),
        ("() => new Error('one\\ntwo').stack.split('\\n').length", "3"),
        ("() => new DOMException('gone', 'AbortError').stack.split('\\n')[0]", "\"AbortError: gone\""),
        ("() => { const o = {}; Error.captureStackTrace(o); return o.stack.split('\\n')[0] }", "\"Error\""),
        (
            "() => { const o = { name: 'N', message: 'm' }; Error.captureStackTrace(o); return o.stack.split('\\n')[0] }",
            "\"N: m\"",
        ),
        ("() => { Error.stackTraceLimit = 0; return new Error('x').stack }", "\"Error: x\""),
        (
            "() => { const f = () => f() + 1; try { f() } catch (e) { return e.stack.split('\\n')[0] } }",
            "\"RangeError: Maximum call stack size exceeded\"",
        ),
        (
            "() => { const f = () => f() + 1; try { f() } catch (e) { return e.stack.split('\\n')[5].startsWith('    at f (program.js:1:') } }",
            "true",
        ),
        (
            "() => { try { JSON.parse('{') } catch (e) { return e.stack.split('\\n').slice(0, 2) } }",
            "[[\"SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)\",\"    at parse (native)\"]]",
        ),
    ]);
}

#[test]
fn stacks_are_read_by_the_programs_own_hook() {
    check_results(&[
        (
            "() => { Error.prepareStackTrace = (error, sites) => [error.message, sites[0].getFunctionName(), sites.length > 0]; \
             const named = () => new Error('m').stack; return named() }",
            "[[\"m\",\"named\",true]]",
        ),
        ("() => typeof Error.prepareStackTrace", "\"undefined\""),
        (
            "() => { const f = () => 'mine'; Error.prepareStackTrace = f; return [Error.prepareStackTrace === f, new Error('x').stack] }",
            "[[true,\"mine\"]]",
        ),
        (
            "() => {\n  Error.prepareStackTrace = (e, sites) => sites.map((site) => [site.getFileName(), site.getLineNumber(), String(site)]);\n  \
             function named() {\n return new Error('m').stack } return named()[0].join() }",
            "\"program.js,4,named (program.js:4:13)\"",
        ),
        (
            "() => { Error.prepareStackTrace = (e, sites) => `${e}` + sites.map((site) => `\\n    at ${site}`).join(''); \
             const hook = Error.prepareStackTrace; const make = () => [1].map(() => new Error('m'))[0]; const out = []; \
             for (const each of [hook, undefined]) { Error.prepareStackTrace = each; out.push(make().stack) } \
             return [out[0] === out[1], out[0].includes('at map (native)'), out[0].includes('null')] }",
            "[[true,true,false]]",
        ),
        // When it is read, not when the error is made, and once.
        // A hook that reads stacks gets the text.
        (
            "() => { Error.prepareStackTrace = () => new Error('n').stack.split('\\n')[0]; return [new Error('a').stack, new Error('b').stack] }",
            "[[\"Error: n\",\"Error: n\"]]",
        ),
        (
            "() => { let asked = 0; Error.prepareStackTrace = (e) => { asked++; return e.stack.split('\\n')[0] + asked }; \
             const e = new Error('m'); try { null.x } catch {} new DOMException('x'); \
             const before = asked; return [before, e.stack, e.stack, asked] }",
            "[[0,\"Error: m1\",\"Error: m1\",1]]",
        ),
        (
            "() => { let made; Error.prepareStackTrace = (e, sites) => sites; \
             new EventTarget().addEventListener.call; const t = new EventTarget(); \
             t.addEventListener('x', () => { made = new Error('m').stack.map((s) => [s.getFileName(), s.getThis(), s.getFunction(), s.constructor.name]) }); \
             t.dispatchEvent(new Event('x')); return made.every(([file, self, f, c]) => file === 'program.js' && self === undefined && f === undefined && c === 'Object') }",
            "true",
        ),
        (
            "() => { Error.prepareStackTrace = (e, sites) => sites.length; const e = new Error('m'); const o = {}; \
             Error.captureStackTrace(o); Error.captureStackTrace(e); return [typeof o.stack, typeof e.stack] }",
            "[[\"number\",\"number\"]]",
        ),
        (
            "() => { Error.prepareStackTrace = () => undefined; const e = new Error('x'); try { throw e } catch (f) { return e === f } }",
            "true",
        ),
        (
            "() => { Error.prepareStackTrace = () => { throw 1 }; try { null.x } catch (e) { return e.message } }",
            "\"Cannot read properties of null (reading 'x')\"",
        ),
    ]);
}

#[test]
fn a_stack_may_be_replaced_by_anything() {
    check_results(&[
        (
            "() => [undefined, 5, null, 'text'].map((value) => { const e = new Error('m'); e.stack = value; \
             return [e.stack === value, Object.keys(e).length, delete e.stack, typeof e.stack] }).join()",
            "\"true,0,true,string,true,0,true,string,true,0,true,string,true,0,true,string\"",
        ),
        ("() => { const o = Object.create(Error.prototype); o.stack = 1; return o }", "{\"stack\":1}"),
        (
            "() => { try { Object.freeze(new Error('m')).stack = 1 } catch (e) { return e instanceof TypeError } }",
            "true",
        ),
        (
            "() => { const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, 'stack'); \
             return [get, set].map((f) => { try { f.call(1) } catch (e) { return e instanceof TypeError } }) }",
            "[[true,true]]",
        ),
    ]);
}

#[test]
fn natives_that_the_surface_calls_are_not_shown() {
    for code in [
        "async () => { try { await new Response('{').json() } catch (e) { return e.stack } }",
        "async () => { try { await crypto.subtle.digest('none', new Uint8Array(1)) } catch (e) { return e.stack } }",
        "() => { try { new Date().setHours({ valueOf() { throw new Error('m') } }) } catch (e) { return e.stack } }",
    ] {
        let ran = run(code);
        for name in ["at apply ", "at Promise ", "at parse "] {
            assert!(!ran.result().contains(name), "{code}: {}", ran.result());
        }
    }
    let ran = run("() => [1].map(() => new Error('m').stack)[0]");
    assert!(ran.result().contains("at map (native)"), "{}", ran.result());
}

#[test]
fn a_pattern_that_is_too_deep_is_told_as_a_stack_that_is_used_up() {
    check_results(&[(
        "() => { try { new RegExp('(?:'.repeat(6e4) + ')'.repeat(6e4)) } catch (e) { return [e.name, e.message] } }",
        "[[\"RangeError\",\"Maximum call stack size exceeded\"]]",
    )]);
}

#[test]
fn a_message_of_the_programs_own_stays_as_it_is() {
    let theirs = "cannot read property 'x' of null";
    for make in [
        format!("new TypeError(\"{theirs}\")"),
        format!("TypeError(\"{theirs}\")"),
        format!("Reflect.construct(TypeError, [\"{theirs}\"])"),
        format!("[\"{theirs}\"].map((text) => new TypeError(text))[0]"),
        format!("[\"{theirs}\"].map(TypeError)[0]"),
        format!("new (class extends TypeError {{}})(\"{theirs}\")"),
        format!("Object.assign(new TypeError(), {{ message: \"{theirs}\" }})"),
    ] {
        let ran = run(&format!("() => {{ try {{ throw {make} }} catch (e) {{ return e.message }} }}"));
        assert_eq!(ran.result(), format!("\"{theirs}\""), "{make}");
    }
}

#[test]
fn an_error_that_is_thrown_again_keeps_its_message_and_stack() {
    check_results(&[
        (
            "() => { const e = new TypeError('not a function'); const before = e.stack; try { try { throw e } catch (f) { throw f } } \
             catch (f) { return [f.message, f.stack === before] } }",
            "[[\"not a function\",true]]",
        ),
        (
            "async () => { let first; try { const o = {}; o.nope() } catch (e) { first = e.stack; try { await Promise.reject(e) } \
             catch (f) { return [f.stack === first, f.message] } } }",
            "[[true,\"o.nope is not a function\"]]",
        ),
    ]);
}

#[test]
fn frames_are_the_callers_own() {
    let mut spec = spec("async () => {\n  return helper()\n}");
    spec.providers[0].prelude = Some("const a = 1;\n\nfunction helper() {\n return new Error('x').stack }\n".into());
    let ran = run_spec(&spec);
    assert_eq!(ran.result(), "\"Error: x\\n    at program.js:2:10\"");
    // The Web surface shows nothing of itself.
    let ran = run("() => { try { structuredClone(() => {}) } catch (e) { return e.stack } }");
    assert!(!ran.result().contains("null") && ran.result().contains("program.js:1:"), "{}", ran.result());
}

#[test]
fn the_stack_overflows_at_any_depth_without_harm() {
    let ran = run(
        "() => { let deepest = 0; const f = (n) => { deepest = n; try { f(n + 1) } catch (e) { e.stack; throw e } }; \
         const messages = new Set(); for (let i = 0; i < 20; i++) { try { f(0) } catch (e) { messages.add(e.message) } } \
         return [[...messages], deepest > 500] }",
    );
    assert_eq!(ran.result(), "[[[[\"Maximum call stack size exceeded\"]],true]]");
    let ran = run(
        "() => { Object.defineProperty(RangeError.prototype, 'name', { get() { const f = () => f(); return f() } }); \
         const g = () => g(); try { g() } catch (e) { return [e.message, typeof e.stack] } }",
    );
    assert_eq!(ran.result(), "[[\"Maximum call stack size exceeded\",\"string\"]]");
    // A stack whose header needs a stack whose header needs one.
    for limit in [64 << 10, 1 << 20, 8 << 20] {
        let mut spec = spec(
            "() => { class E extends Error { get name() { return new E('y').stack } } \
             try { return typeof new E('x').stack } catch (e) { return e.message } }",
        );
        spec.stack_limit = limit;
        let ran = run_spec(&spec);
        assert!(["\"string\"", "\"Maximum call stack size exceeded\""].contains(&ran.result()), "{}", ran.result());
    }
}
