//! Clocks, memory and stack, and programs that mean harm.

use codemode_protocol::Termination;

use super::harness::{check_results, run, run_spec, spec};
use crate::frame::RESERVED_MEMORY_EXIT;

#[test]
fn endless_programs_end_at_the_run_clock() {
    let cases = [
        "() => { for (;;); }",
        "async () => { for (;;) await null }",
        "async () => { const again = () => Promise.resolve().then(again); await again() }",
        "async () => { const again = () => queueMicrotask(again); again(); return 1 }",
        "() => { try { for (;;); } catch { return 'caught' } finally { } }",
        "async () => { try { for (;;); } catch { return 'caught' } }",
        "() => /(a+)+$/.test('a'.repeat(40) + 'b')",
        "() => { new Promise(() => { for (;;); }); return 'swallowed' }",
        "() => [1, 2].sort(() => { for (;;); })",
        "() => ({ get a() { for (;;); } })",
        "() => ({ toString() { for (;;); } }) + ''",
        "async () => { throw { get message() { for (;;); }, message2: 1 } }",
        "() => ({ then() { for (;;); } })",
        "function* f() { for (;;); }",
    ];
    for code in cases {
        let code = if code.starts_with("function*") {
            "() => [...(function* () { for (;;) yield 1 })()].length"
        } else {
            code
        };
        let mut spec = spec(code);
        spec.timeout_ms = 200;
        let ran = run_spec(&spec);
        let (termination, error) = ran.error();
        if termination == Termination::Memory {
            continue;
        }
        assert_eq!(termination, Termination::Timeout, "{code}: {error}");
        assert_eq!(
            error,
            "Execution timed out at its 200 ms bound. Do less work per run and return the part that is already finished."
        );
    }
}

#[test]
fn the_cpu_clock_and_the_whole_duration_have_endings_of_their_own() {
    let mut cpu = spec("() => { for (;;); }");
    cpu.cpu_ms = 150;
    let ran = run_spec(&cpu);
    assert_eq!(ran.error().0, Termination::Cpu);
    assert!(ran.error().1.contains("150 ms CPU bound"));
    let mut wall = spec("async () => { await api.never() }");
    wall.max_wall_ms = 200;
    let ran = run_spec(&wall);
    assert_eq!(ran.error().0, Termination::Timeout);
    assert!(ran.error().1.contains("200 ms bound on its whole duration"));
    let mut counted = spec("async () => { await api.never() }");
    (counted.timeout_ms, counted.count_host_waits) = (200, true);
    let ran = run_spec(&counted);
    assert_eq!(ran.error().0, Termination::Timeout);
    assert!(ran.error().1.starts_with("Execution timed out at its 200 ms bound"));
}

#[test]
fn a_program_that_awaits_nothing_that_can_settle_ends_at_once() {
    for code in [
        "() => new Promise(() => {})",
        "async () => { await new Promise(() => {}) }",
        "async () => { await api.echo(1); await new Promise(() => {}) }",
        "() => ({ then() {} })",
    ] {
        let ran = run(code);
        assert_eq!(ran.error().0, Termination::Stalled, "{code}");
    }
}

#[test]
fn memory_ends_the_run_or_is_caught() {
    for code in [
        "() => { const a = []; for (;;) a.push(new Array(1e5).fill(1)) }",
        "async () => { const a = []; for (;;) a.push({ a: {} }) }",
        "async () => { const a = []; for (;;) { a.push(new Uint8Array(1 << 20)); await null } }",
        "() => { const m = new Map(); for (let i = 0;; i++) m.set('k' + i, {}) }",
        "() => 'x,'.repeat(3e7).split(',')",
        "() => new ArrayBuffer(1 << 30)",
        "() => { const o = {}; for (let i = 0;; i++) o['k' + i] = i }",
    ] {
        let ran = run(code);
        let (termination, error) = ran.error();
        if error.contains("invalid array buffer length") {
            continue;
        }
        assert_eq!(termination, Termination::Memory, "{code}: {error}");
        assert!(error.contains("134217728 byte bound"), "{error}");
        assert!(ran.done().peak_memory <= 130 << 20, "{}", ran.done().peak_memory);
    }
    check_results(&[(
        "() => { try { const a = []; for (;;) a.push(new Array(1e5).fill(1)) } catch { return 'caught' } }",
        "\"caught\"",
    )]);
    let ran = run(
        "() => { try { const a = []; for (;;) a.push(new Array(1e5).fill(1)) } catch { throw new Error('mine') } }",
    );
    assert_eq!(ran.error(), (Termination::Threw, "mine"));
    assert_eq!(run("() => { throw null }").error(), (Termination::Threw, "null"));
}

#[test]
fn a_small_memory_limit_is_kept() {
    let mut small = spec("() => { const a = []; for (;;) a.push([1, 2, 3]) }");
    small.memory_limit = 8 << 20;
    let ran = run_spec(&small);
    assert_eq!(ran.error().0, Termination::Memory);
    assert!(ran.done().peak_memory <= 9 << 20);
    let mut none = spec("() => 1");
    none.memory_limit = 1;
    let ran = run_spec(&none);
    assert!(ran.memory || ran.error().0 == Termination::Memory, "{ran:?}");
}

#[test]
fn garbage_is_collected_before_the_limit_is_met() {
    for code in [
        "() => { for (let i = 0; i < 3e5; i++) { const a = { big: new Array(50).fill(i) }; a.self = a } return 'ok' }",
        // Most of the limit is live, and there is much garbage beside it.
        "() => { const live = []; for (let i = 0; i < 1e5; i++) live.push({ a: i, b: [i] });
            for (let i = 0; i < 5e5; i++) { const a = { b: [i] }; a.self = a } return live.length > 0 ? 'ok' : '' }",
        "() => { for (let i = 0; i < 200; i++) { const a = { big: new Uint8Array(1 << 20) }; a.self = a } return 'ok' }",
    ] {
        let mut spec = spec(code);
        spec.memory_limit = 64 << 20;
        (spec.timeout_ms, spec.cpu_ms) = (20_000, 20_000);
        let ran = run_spec(&spec);
        assert_eq!(ran.done().error, None, "{code}");
        assert_eq!(ran.result(), "\"ok\"", "{code}");
    }
}

#[test]
fn natives_count_against_the_same_limit() {
    // The arguments of queued calls are ours; the guest's own strings are small and shared.
    let mut flood = spec("async () => { const x = 'x'.repeat(1e6); for (;;) api.never(x) }");
    flood.memory_limit = 32 << 20;
    let ran = run_spec(&flood);
    assert!(ran.memory && ran.done.is_none(), "{ran:?}");
    assert_eq!(libc::WEXITSTATUS(ran.status), RESERVED_MEMORY_EXIT);
}

#[test]
fn addresses_count_while_they_are_read() {
    for made in ["new Request(url)", "new Request('https://a.b/', { referrer: url })", "await fetch(url)"] {
        let code = format!(
            "async () => {{
                const url = 'data:text/plain;base64,' + 'eHh4'.repeat(2.5e6);
                try {{ {made}; return 'made' }} catch (error) {{ return error.message }}
            }}"
        );
        let mut large = spec(&code);
        large.memory_limit = 24 << 20;
        assert_eq!(run_spec(&large).result(), "\"Array buffer allocation failed\"", "{made}");
    }
}

#[test]
fn deep_recursion_is_a_range_error_everywhere() {
    let text = "\"RangeError: Maximum call stack size exceeded\"";
    let attempts = [
        "const f = () => f(); f()",
        "const f = async () => { await f() }; await f()",
        "JSON.parse('['.repeat(1e6))",
        "let v = []; for (let i = 0; i < 1e6; i++) v = [v]; JSON.stringify(v)",
        "const o = { get x() { return this.x } }; o.x",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
        "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
        "const f = (...a) => [1].map(f); f()",
        "const a = []; a[0] = a; const t = { toString() { return '' + this } }; '' + t",
        "class A extends Object { constructor() { new A() } } new A()",
    ];
    for attempt in attempts {
        for stack_limit in [256 << 10, 1 << 20, 8 << 20] {
            let mut spec = spec(&format!(
                "async () => {{ try {{ {attempt}; return 'no error' }} catch (e) {{ return e.name + ': ' + e.message }} }}"
            ));
            spec.stack_limit = stack_limit;
            spec.memory_limit = 512 << 20;
            (spec.timeout_ms, spec.cpu_ms) = (20_000, 20_000);
            assert_eq!(run_spec(&spec).result(), text, "{attempt} with {stack_limit}");
        }
    }
    for source in [
        format!("() => {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("() => {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("() => {}1", "!".repeat(200_000)),
        format!("() => {}", "a=>".repeat(50_000) + "1"),
    ] {
        let ran = run(&source);
        let (termination, error) = ran.error();
        assert_eq!((termination, error), (Termination::Threw, "Maximum call stack size exceeded"), "{}", &source[..20]);
    }
    let ran = run("() => { try { new RegExp('('.repeat(2e5)) } catch (e) { return e.name } }");
    assert!(["\"SyntaxError\"", "\"RangeError\"", "\"InternalError\""].contains(&ran.result()), "{}", ran.result());
}

#[test]
fn bounds_of_the_engine_say_which_they_are() {
    let said = |code: &str| {
        run(&format!("() => {{ try {{ {code} }} catch (e) {{ return `${{e}} ${{e instanceof RangeError}}` }} }}"))
    };
    assert_eq!(
        said("let s = 'x'.repeat(2 ** 20); for (;;) s += s").result(),
        "\"RangeError: Invalid string length true\""
    );
    assert_eq!(
        said("new RegExp('(a)'.repeat(255))").result(),
        "\"SyntaxError: Invalid regular expression: more than 254 groups that capture, which is this engine's bound. Use \
         (?:…) for groups whose text is not needed. false\""
    );
    assert_eq!(said("return new RegExp('(a)'.repeat(254)).source.length").result(), "762");
}

#[test]
fn a_peak_is_reported() {
    let ran = run("() => new Uint8Array(20 << 20).length");
    assert!((20 << 20..24 << 20).contains(&ran.done().peak_memory), "{}", ran.done().peak_memory);
}

#[test]
fn a_program_that_swallows_interrupts_does_not_lie_about_it() {
    // Only a kill from outside ends these; whatever they say before that is no success.
    for code in [
        "() => { for (let i = 0; i < 3; i++) new Promise(() => { for (;;); }); return 'done' }",
        "async () => { for (let i = 0; i < 3; i++) await new Promise((done, fail) => { for (;;); }).catch(() => 1); return 'done' }",
        "() => { Error.prepareStackTrace = () => { for (;;); }; for (let i = 0; i < 3; i++) new Error('x').stack; return 'done' }",
        "() => { const t = { then() { for (;;); } }; return Promise.all([t, t, t]) }",
    ] {
        let mut spec = spec(code);
        spec.timeout_ms = 100;
        let ran = run_spec(&spec);
        assert_eq!(ran.error().0, Termination::Timeout, "{code}");
    }
}

#[test]
fn a_flood_of_calls_ends_at_the_clock_and_a_flood_of_logs_does_not_hurt() {
    let mut calls = spec("async () => { for (;;) await api.tool() }");
    calls.timeout_ms = 200;
    let ran = run_spec(&calls);
    assert!(ran.error().0 == Termination::Timeout && ran.calls.len() > 10);
    let ran = run("() => { for (let i = 0; i < 2e5; i++) console.log('line', i); return 1 }");
    assert_eq!((ran.result(), ran.logs.len()), ("1", 5001));
}
