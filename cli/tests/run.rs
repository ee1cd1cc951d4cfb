//! `codemoded run` with real programs, real commands and a real sandbox.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::{
    io::Read,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use serde_json::{Value, json};
use support::{Daemon, Owned, codemoded, ended, repository};

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_result_is_json_on_standard_output_and_lines_are_on_standard_error() {
    let program = "async () => { console.log('one', 2); console.warn('care'); return { a: [1, undefined, 'x'] } }";
    let ended = ended(&["run", "-"], program);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(value(&ended.out), json!({"a": [1, null, "x"]}));
    assert_eq!(ended.err, "one 2\nwarn: care\n");
}

#[test]
fn a_program_that_fails_keeps_its_lines_and_says_why() {
    let ended = ended(&["run", "-"], "() => {\n  console.log('before');\n  throw new TypeError('boom');\n}");
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    assert!(ended.err.starts_with("before\nerror: boom\n"), "{}", ended.err);
}

#[test]
fn the_whole_outcome_is_printed_as_one_object() {
    let good = ended(&["run", "-", "--json"], "() => { console.log('kept'); return 6 * 7 }");
    assert_eq!((good.code, good.err.as_str()), (Some(0), ""));
    let object = value(&good.out);
    assert_eq!((&object["result"], &object["termination"]), (&json!(42), &json!("completed")));
    assert_eq!(object["logs"][0]["message"], "kept");
    assert!(object["stats"]["wallMs"].is_number() && object.get("error").is_none(), "{object}");

    let bad = ended(&["run", "-", "--json"], "() => { throw new RangeError('far') }");
    assert_eq!((bad.code, bad.err.as_str()), (Some(1), ""));
    let object = value(&bad.out);
    assert_eq!((&object["error"], &object["termination"]), (&json!("far"), &json!("threw")));
    assert_eq!(object["errorDetails"]["name"], "RangeError");
    assert!(object.get("result").is_none());
}

#[test]
fn a_result_that_could_not_be_written_is_a_failure() {
    for flags in [&["--json"][..], &[]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended =
            codemoded(&["run"]).arg(repository("cli/tests/answer.js")).args(flags).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(3));
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(text.contains("what was to be printed on standard output is lost"), "{text}");
    }
}

#[test]
fn a_program_that_does_not_parse_or_end_fails() {
    let syntax = ended(&["run", "-", "--json"], "() => {");
    assert_eq!((syntax.code, &value(&syntax.out)["termination"]), (Some(1), &json!("syntax")));
    let endless = ended(&["run", "-", "--json", "--timeout", "100"], "() => { for (;;); }");
    assert_eq!((endless.code, &value(&endless.out)["termination"]), (Some(1), &json!("timeout")));
    let large = ended(
        &["run", "-", "--json", "--memory-limit", "16000000"],
        "() => { const all = []; for (;;) all.push(new Array(1000).fill(0)); }",
    );
    assert_eq!((large.code, &value(&large.out)["termination"]), (Some(1), &json!("memory")));
}

#[test]
fn tools_get_their_arguments_and_answer_json_or_text() {
    let program = "async () => {
        const [args, text, caught] = await Promise.all([
            t.args(1, { a: 'b' }), t.text(), t.fail().catch((error) => error.message),
        ]);
        return { args, text, caught, missing: await t.other().catch((error) => error.message) };
    }";
    let ended = ended(
        &[
            "run",
            "-",
            "--tool",
            "t.args=cat",
            "--tool",
            "t.text=echo hello; echo note >&2",
            "--tool",
            "t.fail=echo no >&2; exit 7",
        ],
        program,
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = json!({
        "args": [1, {"a": "b"}], "text": "hello",
        "caught": "t.fail failed (exit status: 7): no", "missing": "Tool \"other\" not found",
    });
    assert_eq!(value(&ended.out), expected);
    assert_eq!(ended.err, "[t.text] note\n");
}

#[test]
fn a_tool_is_stopped_when_the_program_runs_out_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // The tool waits and the program computes, so the run clock does not stand still.
    let program = "async () => { t.hang(); for (;;) await null; }";
    let tool = format!("t.hang=echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", pid.display());
    let ended = ended(&["run", "-", "--json", "--timeout", "1000", "--tool", &tool], program);
    assert_eq!((ended.code, &value(&ended.out)["termination"]), (Some(1), &json!("timeout")));
    assert_ended(&pid);
}

#[test]
fn an_interrupt_ends_the_program_and_its_tools() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let program = folder.path().join("program.js");
        std::fs::write(&program, "async () => await t.hang()").unwrap();
        let tool = format!("t.hang=echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", pid.display());
        let json: &[&str] = if signal == libc::SIGHUP { &["--json"] } else { &[] };
        let child = codemoded(&[&["run", program.to_str().unwrap(), "--tool", &tool], json].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut process = Owned(child);
        while !pid.exists() {
            thread::yield_now();
        }
        process.signal(signal);
        assert_eq!(process.end().code(), Some(130));
        let mut err = String::new();
        process.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let mut out = String::new();
        process.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        if json.is_empty() {
            assert_eq!((out.as_str(), err.as_str()), ("", "interrupted\n"));
        } else {
            assert_eq!((&value(&out)["executorError"]["code"], err.as_str()), (&json!("CANCELLED"), ""));
        }
        assert_ended(&pid);
    }
}

/// The process whose id the file holds has ended: it is gone, or a zombie that nobody has reaped yet.
fn assert_ended(pid: &Path) {
    let pid = std::fs::read_to_string(pid).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(stat.as_ref().map_or(true, |stat| stat.contains(") Z")), "{stat:?}");
}

#[test]
fn a_call_that_the_program_did_not_wait_for_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done");
    let tool = format!("t.slow=sleep 0.2; touch {}", done.display());
    let ended = ended(&["run", "-", "--tool", &tool], "async () => { t.slow(); return 1 }");
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "1\n"));
    assert!(ended.err.contains("waiting for what the program did not wait for: t.slow"), "{}", ended.err);
    assert!(done.exists());
}

#[test]
fn a_daemon_runs_the_program_with_the_tools_of_the_caller() {
    let daemon = Daemon::start(&["--warm", "1"]);
    let args = ["run", "-", "--url", &daemon.url, "--tool", "t.args=cat"];
    let good = ended(&args, "async () => { console.log('there'); return await t.args('x') }");
    assert_eq!((good.code, value(&good.out), good.err.as_str()), (Some(0), json!(["x"]), "there\n"));
    let bad = ended(&args, "() => { throw new Error('boom') }");
    assert_eq!(bad.code, Some(1), "{bad:?}");
    let (status, rest) = daemon.stop(libc::SIGTERM);
    assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
}

#[test]
fn the_example_reports_on_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").args(identity).args(args).current_dir(&folder).stdout(Stdio::null()).status();
        assert!(status.unwrap().success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    std::fs::write(folder.path().join("a.rs"), "").unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    std::fs::write(folder.path().join("docs/b.md"), "").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "Begin"]);

    // The command is the one that the example names in its head.
    let example = repository("examples/repo-report.js");
    let text = std::fs::read_to_string(&example).unwrap();
    let command: String = text
        .lines()
        .skip_while(|line| !line.contains("cargo run"))
        .take_while(|line| line.len() > 2)
        .map(|line| line.trim_start_matches("//").trim_end_matches('\\'))
        .collect();
    let command = command.replacen("cargo run --release -- ", &format!("{} ", env!("CARGO_BIN_EXE_codemoded")), 1);
    let command = command.replacen("examples/repo-report.js", &example.display().to_string(), 1);
    let output = Command::new("sh").args(["-c", &command]).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report = value(std::str::from_utf8(&output.stdout).unwrap());
    assert_eq!(report["commits"]["perAuthor"], json!({"Ada": 1}));
    assert_eq!(report["files"]["perType"], json!({".md": 1, ".rs": 1}));
    assert_eq!(report["busiest"]["folders"], json!({".": 1, "docs": 1}));
}

const RAW: &str = "```js\nconst found = await git.list_files({ of: 'x' });\nconsole.warn('care', found.length);\nconsole.info('not shown');\n({ found, last: found.at(-1) })\n```\n";

#[test]
fn what_a_model_wrote_runs_in_its_dialect() {
    let tool = "git.list-files=printf '[\"a\",\"b\"]'";
    let good = ended(&["run", "-", "--dialect", "codemode", "--tool", tool], RAW);
    assert_eq!(good.code, Some(0), "{good:?}");
    assert_eq!(value(&good.out), json!({"found": ["a", "b"], "last": "b"}));
    assert_eq!(good.err, "[warn] care 2\n");
    // The fence is a template string there, called as a function.
    let native = ended(&["run", "-", "--json", "--tool", tool], RAW);
    assert_eq!((native.code, &value(&native.out)["termination"]), (Some(1), &json!("threw")));

    let object = ended(&["run", "-", "--dialect", "codemode", "--json", "--tool", tool], RAW);
    let expected = json!({"result": {"found": ["a", "b"], "last": "b"}, "logs": ["[warn] care 2"]});
    assert_eq!((object.code, value(&object.out)), (Some(0), expected));
    let bad = ended(&["run", "-", "--dialect=codemode", "--json"], "console.log('one')\nthrow new Error('far')");
    assert_eq!((bad.code, value(&bad.out)), (Some(1), json!({"error": "far", "logs": ["one"]})));
    let shown = ended(&["run", "-", "--dialect=codemode"], "console.log('one')\nthrow new Error('far')");
    assert_eq!((shown.code, shown.out.as_str(), shown.err.as_str()), (Some(1), "", "one\nerror: far\n"));
}

#[test]
fn the_dialect_counts_host_calls_and_keeps_the_bounds_of_the_user() {
    let slow = ["run", "-", "--dialect=codemode", "--json", "--timeout", "300", "--tool", "t.wait=sleep 60"];
    let late = ended(&slow, "await t.wait()");
    assert_eq!((late.code, value(&late.out)), (Some(1), json!({"error": "Execution timed out", "logs": []})));
    let small = ["run", "-", "--dialect=codemode", "--json", "--memory-limit", "16000000"];
    let large = ended(&small, "const all = []; for (;;) all.push(new Array(1000).fill(0));");
    assert_eq!(large.code, Some(1));
    assert!(value(&large.out)["error"].as_str().unwrap().contains("16000000"), "{}", large.out);
}

#[test]
fn names_that_the_dialect_refuses_are_wrong_usage() {
    for (tools, rule) in [
        (&["--tool", "__logs.x=:"][..], "--tool: Provider name \"__logs\" is reserved"),
        (&["--tool", "a.x-y=:", "--tool", "a.x.y=:"], "both sanitize to \"x_y\" in provider \"a\""),
    ] {
        let ended = ended(&[&["run", "-", "--dialect", "codemode"], tools].concat(), "1");
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(rule), "{}", ended.err);
    }
    assert_eq!(ended(&["run", "-", "--dialect", "lisp"], "1").code, Some(2));
}

#[test]
fn a_daemon_runs_the_dialect_as_well() {
    let daemon = Daemon::start(&["--warm", "1"]);
    let args = ["run", "-", "--dialect", "codemode", "--url", &daemon.url, "--tool", "git.list-files=printf '[1]'"];
    let good = ended(&args, RAW);
    assert_eq!((good.code, value(&good.out)), (Some(0), json!({"found": [1], "last": 1})));
    assert_eq!(good.err, "[warn] care 1\n");
    let (status, _) = daemon.stop(libc::SIGTERM);
    assert_eq!(status.code(), Some(0));
}
