//! Timers in the loop of a run: what they wait with, what they hold up, and what they cannot.

use std::time::{Duration, Instant};

use codemode_protocol::{Termination, text};

use super::harness::{check_errors, check_results, run, run_spec, spec};

#[test]
fn timers_fire_in_order_and_jobs_run_between_two_of_them() {
    check_results(&[
        (
            "async () => {
                const seen = [];
                setTimeout(() => seen.push('late'), 3);
                setTimeout((by) => {
                    seen.push('a' + by);
                    queueMicrotask(() => seen.push('a1'));
                    Promise.resolve().then(() => seen.push('a2'));
                }, 0, '!');
                setTimeout(() => seen.push('b'), 0);
                await new Promise((done) => setTimeout(done, 4));
                return seen.join();
            }",
            "\"a!,a1,a2,b,late\"",
        ),
        (
            "async () => {
                let turns = 0;
                await new Promise((done) => {
                    const timer = setInterval(() => {
                        if (++turns === 3) { clearInterval(timer); setImmediate(done); }
                    });
                });
                return turns;
            }",
            "3",
        ),
        ("async () => { const from = Date.now(); await scheduler.wait(20); return Date.now() - from >= 19 }", "true"),
        (
            "async () => {
                const signal = AbortSignal.timeout(1);
                await new Promise((done) => { signal.onabort = done });
                return [signal.aborted, signal.reason.name];
            }",
            "[[true,\"TimeoutError\"]]",
        ),
    ]);
}

#[test]
fn answers_and_timers_come_while_the_other_keeps_coming() {
    let ran = run("async () => {
        let turns = 0;
        const again = () => { turns++; setImmediate(again); };
        again();
        await api.echo(1);
        await api.echo(2);
        return turns >= 2;
    }");
    assert_eq!(ran.result(), "true");
    let ran = run("async () => {
        let isOver = false;
        setTimeout(() => { isOver = true }, 5);
        while (!isOver) await Promise.all([api.echo(1), api.echo(2), api.echo(3)]);
        return isOver;
    }");
    assert_eq!(ran.result(), "true");
    let ran = run("async () => Promise.race([api.never(), scheduler.wait(1).then(() => 'timer')])");
    assert_eq!(ran.result(), "\"timer\"");
    let ran = run("async () => Promise.race([api.echo('host'), scheduler.wait(60_000)])");
    assert_eq!(ran.result(), "[[\"host\"]]");
}

#[test]
fn the_clock_stands_only_while_no_timer_is_pending() {
    let ran = run("async () => {
        const timer = setTimeout(() => {}, 60_000);
        await api.echo(1);
        clearTimeout(timer);
        return 1;
    }");
    assert_eq!((ran.result(), ran.waits), ("1", 0));
    let ran = run("async () => {
        clearTimeout(setTimeout(() => {}, 60_000));
        await scheduler.wait(1);
        await api.echo(1);
        return 1;
    }");
    assert_eq!((ran.result(), ran.waits), ("1", 1));
    let mut spec = spec("async () => { setInterval(() => {}, 5); await api.never() }");
    spec.timeout_ms = 100;
    let ran = run_spec(&spec);
    assert_eq!((ran.error(), ran.waits), ((Termination::Timeout, text::timed_out(100).as_str()), 0));
}

#[test]
fn timers_end_with_the_clocks() {
    let cases = [
        "async () => { await new Promise((done) => setTimeout(done, 100)) }",
        "async () => { await scheduler.wait(60_000) }",
        "async () => { setInterval(() => {}, 1); await new Promise(() => {}) }",
        "async () => { const again = () => setImmediate(again); again(); await new Promise(() => {}) }",
        "async () => { setTimeout(() => { for (;;); }); await new Promise(() => {}) }",
        "async () => { setTimeout(() => { try { for (;;); } catch { } }); await new Promise(() => {}) }",
        "async () => { setTimeout(() => { for (;;); }); addEventListener('error', () => {}); await new Promise(() => {}) }",
        "async () => { setTimeout(async () => { for (;;) await null; }); await new Promise(() => {}) }",
        "async () => { setInterval(() => { throw 1 }); await new Promise(() => {}) }",
    ];
    for code in cases {
        let mut spec = spec(code);
        spec.timeout_ms = 100;
        let begun = Instant::now();
        let ran = run_spec(&spec);
        assert_eq!(ran.error(), (Termination::Timeout, text::timed_out(100).as_str()), "{code}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{code}: {:?}", begun.elapsed());
    }
    let mut wall = spec("async () => { await scheduler.wait(60_000) }");
    wall.max_wall_ms = 100;
    assert_eq!(run_spec(&wall).error(), (Termination::Timeout, text::wall_exceeded(100).as_str()));
}

#[test]
fn a_program_without_timers_left_stalls() {
    check_errors(&[
        (
            "async () => { clearTimeout(setTimeout(() => {}, 60_000)); await new Promise(() => {}) }",
            Termination::Stalled,
            text::STALLED,
        ),
        ("async () => { setTimeout(() => {}, 1); await new Promise(() => {}) }", Termination::Stalled, text::STALLED),
    ]);
}

#[test]
fn timers_that_nobody_waits_for_hold_up_nothing() {
    let ran = run("async () => {
        setTimeout(() => console.log('late'), 60_000);
        setInterval(() => console.log('again'), 1);
        setImmediate(() => console.log('soon'));
        return 1;
    }");
    assert_eq!(ran.result(), "1");
    assert!(ran.lines().is_empty(), "{:?}", ran.lines());
}

#[test]
fn what_a_timer_throws_fails_no_run() {
    let failing = [
        "throw new Error('thrown')",
        "throw null",
        "Promise.reject(new Error('rejected'))",
        "const deep = () => deep() + 1; deep()",
        "const all = []; for (;;) all.push(new Array(1e5).fill(all.length))",
        "throw { get message() { throw 1 } }",
    ];
    for body in failing {
        let ran =
            run(&format!("async () => {{ setTimeout(() => {{ {body} }}); await scheduler.wait(2); return 'on' }}"));
        assert_eq!(ran.result(), "\"on\"", "{body}");
    }
    let ran = run("async () => {
        const thrown = new Error('heard');
        setTimeout(() => { throw thrown });
        const { error, message } = await new Promise((done) => addEventListener('error', done));
        return [error === thrown, message.includes('heard')];
    }");
    assert_eq!(ran.result(), "[[true,true]]");
}
