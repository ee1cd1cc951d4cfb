//! `codemoded run`: the same with a daemon and without.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use codemode_tests::daemon::{Daemon, binary, repository};

/// Runs a program from standard input, with two tools.
fn run(code: &str, options: &[&str]) -> Output {
    let mut child = Command::new(binary())
        .current_dir(repository())
        .args(["run", "-", "--tool", "sh.upper=tr a-z A-Z", "--tool", "sh.fail=echo no luck >&2; exit 3"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever refuses its flags does not read the program.
    let _ = child.stdin.take().unwrap().write_all(code.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn a_run_by_url_and_an_embedded_one_are_equal() {
    let daemon = Daemon::start();
    let programs = [
        "async () => ({ n: 1, big: 2n ** 70n, when: new Date(0), bytes: new Uint8Array([1, 2]), none: undefined })",
        "async () => { console.log('one'); console.warn('two', 2); return await sh.upper('text') }",
        "async () => { try { await sh.fail() } catch (error) { return error.message } }",
        "async () => { await sh.fail() }",
        "async () => { throw new TypeError('bad') }",
        "async () => { return",
        "async () => { for (;;) {} }",
        "async () => { await new Promise(() => {}) }",
        "async () => () => 1",
    ];
    for code in programs {
        let embedded = run(code, &["--timeout", "300"]);
        let remote = run(code, &["--timeout", "300", "--url", daemon.url()]);
        assert_eq!(remote, embedded, "{code}");
        assert!(matches!(embedded.status.code(), Some(0 | 1)), "{code}: {embedded:?}");
    }
}

#[test]
fn what_went_wrong_shows_in_the_exit_status() {
    let cases: [(&str, &[&str], i32); 6] = [
        ("async () => 1", &[], 0),
        ("async () => { throw 1 }", &[], 1),
        ("async () => 1", &["--no-such-flag"], 2),
        ("async () => 1", &["--timeout", "0"], 2),
        ("async () => 1", &["--url", "http://127.0.0.1:1"], 2),
        ("async () => 1", &["--url", "ws://127.0.0.1:1"], 3),
    ];
    for (code, options, status) in cases {
        let output = run(code, options);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{options:?}: {error}");
        assert_eq!(output.stdout.is_empty(), status != 0, "{options:?}");
        assert_eq!(error.is_empty(), status == 0, "{options:?}: {error}");
    }
}
