//! What programs are told of errors and rejections that nobody handles, which change nothing else in how a run ends.

use codemode_protocol::Termination;

use super::harness::{check_results, run, run_spec, spec};

#[test]
fn an_error_event_names_the_place_in_the_programs_own_source() {
    check_results(&[
        (
            "async () => {
                const seen = [];
                addEventListener('error', (e) => seen.push(e.filename, e.lineno, e.colno));
                reportError(new Error('made here'));
                reportError('of no error');
                queueMicrotask(() => { throw new RangeError() });
                await 0;
                return seen.join();
            }",
            "\"program.js,4,33,program.js,5,17,program.js,6,50\"",
        ),
        // What is asked for stacks cannot keep the event from being told.
        (
            "async () => {
                const seen = [];
                addEventListener('error', (e) => seen.push(e.message, e.filename));
                Error.prepareStackTrace = () => { throw 1 };
                queueMicrotask(() => { throw new Error('m') });
                await 0;
                return seen.join();
            }",
            "\"Uncaught Error: m,program.js\"",
        ),
        // Nothing tells where this was thrown.
        (
            "async () => {
                const seen = [];
                onerror = (...all) => seen.push(...all);
                queueMicrotask(() => { throw 7 });
                await 0;
                return seen.join();
            }",
            "\"Uncaught 7,program.js,0,0,7\"",
        ),
    ]);
}

#[test]
fn a_run_ends_as_it_would_have_without_what_it_is_told() {
    check_results(&[
        ("() => { queueMicrotask(() => { throw 1 }); Promise.reject(2); reportError(3); return 'ok' }", "\"ok\""),
        (
            "() => { onerror = onunhandledrejection = () => { throw 4 }; queueMicrotask(() => { throw 1 }); Promise.reject(2); return 'ok' }",
            "\"ok\"",
        ),
    ]);
}

#[test]
fn rejections_at_the_end_of_a_run_are_told_and_its_own_is_not() {
    let ran = run("() => { onunhandledrejection = (e) => console.log(e.reason); Promise.reject('left'); return 'ok' }");
    assert_eq!(ran.result(), "\"ok\"");
    assert_eq!(ran.lines(), ["left"]);
    let ran = run("async () => { onunhandledrejection = (e) => console.log(e.reason); throw new Error('own') }");
    assert_eq!(ran.error(), (Termination::Threw, "own"));
    assert!(ran.lines().is_empty());
    let ran =
        run("() => { onunhandledrejection = (e) => console.log(e.reason); return Promise.reject(new Error('own')) }");
    assert_eq!(ran.error(), (Termination::Threw, "own"));
    assert!(ran.lines().is_empty());
}

#[test]
fn a_call_that_fails_and_that_nobody_awaits_is_told() {
    let ran = run("async () => {
        onunhandledrejection = (e) => console.log(e.reason.message);
        api.fail('no');
        await api.echo(1);
        return 'ok';
    }");
    assert_eq!(ran.result(), "\"ok\"");
    assert_eq!(ran.lines(), ["no"]);
}

#[test]
fn events_that_bring_about_events_end_with_the_run() {
    let ran = run("() => { onunhandledrejection = () => { Promise.reject() }; Promise.reject(); return 'ok' }");
    assert_eq!(ran.result(), "\"ok\"");
    let mut endless = spec(
        "async () => { onunhandledrejection = () => { Promise.reject() }; Promise.reject(); await new Promise(() => {}) }",
    );
    endless.timeout_ms = 50;
    assert_eq!(run_spec(&endless).error().0, Termination::Timeout);
}
