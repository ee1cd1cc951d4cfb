//! Bad input on the command line: status 2, and an error that names the thing and the rule.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::ended;

#[test]
fn bad_flags_are_named_with_their_rule() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let empty = empty.path().to_str().unwrap();
    let binary = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(binary.path(), [0xff, 0xfe]).unwrap();
    let binary = binary.path().to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["Usage"]),
        (&["fly"], &["fly"]),
        (&["run"], &["FILE.js"]),
        (&["run", "-", "--later"], &["--later"]),
        (&["run", "/no/such/file.js"], &["/no/such/file.js", "could not be read"]),
        (&["run", "/"], &["/ could not be read"]),
        (&["run", empty], &[empty, "is empty"]),
        (&["run", binary], &[binary, "must be UTF-8"]),
        (&["run", "-"], &["standard input is empty"]),
        (&["run", "-", "--timeout", "0"], &["--timeout", "must be a time such as 250ms, 5s or 2m, at least 1ms"]),
        (
            &["run", "-", "--timeout", "-5"],
            &["'-5' for '--timeout <TIME>'", "must be a time such as 250ms, 5s or 2m, at least 1ms"],
        ),
        (&["run", "-", "--timeout", "soon"], &["--timeout", "soon", "must be a time"]),
        (
            &["run", "-", "--memory-limit", "1k"],
            &["--memory-limit", "1k", "must be a size such as 64KiB, 128MiB or 1GiB, at least 2MiB"],
        ),
        (&["run", "-", "--memory-limit", "2097151"], &["--memory-limit", "must be a size", "at least 2MiB"]),
        (
            &["run", "-", "--memory-limit", "999999999999999"],
            &["--memory-limit is 999999999999999B, which is above", "machine"],
        ),
        (&["run", "-", "--tool", "git.log"], &["--tool", "no \"=\""]),
        (&["run", "-", "--tool", "git=x"], &["--tool", "no \".\""]),
        (&["run", "-", "--tool", "class.x=y"], &["--tool", "reserved"]),
        (&["run", "-", "--url", "http://localhost"], &["--url", "the scheme is \"http\""]),
        (&["run", "-", "--url", "nowhere"], &["--url", "ws://127.0.0.1:8787"]),
        (&["serve", "--listen", "0.0.0.0:0"], &["refusing to listen on 0.0.0.0:0", "give a list of tokens"]),
        (&["serve", "--listen", "8787"], &["--listen", "an address and a port"]),
        (&["serve", "--max-concurrent", "0"], &["--max-concurrent", "must be a whole number, from 1 to 100000"]),
        (&["serve", "--drain-timeout", "-1"], &["--drain-timeout", "must be a time", "at least 0ms, at most 1d"]),
        (&["serve", "--memory-max", "1000"], &["--memory-max", "must be a size", "at least 2MiB"]),
        (
            &["serve", "--timeout-max", "9", "--timeout-default", "10"],
            &["timeout-default is 10ms (--timeout-default), which is above timeout-max, 9ms"],
        ),
        (
            &["serve", "--memory-default", "999999999"],
            &["memory-default is 999999999B (--memory-default), which is above memory-max"],
        ),
        (&["serve", "--memory-max", "999999999999999"], &["memory-max is 999999999999999B, which is above", "machine"]),
        (&["serve", "--warm", "3", "--max-concurrent", "2"], &["warm is 3 (--warm), which is above max-concurrent, 2"]),
        (&["serve", "--log", "nonsense"], &["--log", "\"nonsense\" is no level", "codemode_daemon=debug"]),
        (&["serve", "--log", "=[="], &["--log"]),
        (&["run", "-", "--log", "debug"], &["--log"]),
        (&["serve", "--require-confinement", "total"], &["--require-confinement", "process", "layered"]),
        (&["serve", "--node", "a.b"], &["--node", "must be 1 to 63 letters, digits"]),
        (&["serve", "--config", "/no/such.toml"], &["/no/such.toml could not be read"]),
        (&["config", "--listen", "0.0.0.0:0"], &["refusing to listen on 0.0.0.0:0"]),
        (&["config", "--tls-cert", "some.pem"], &["tls-cert is set and tls-key is not"]),
        (&["config", "--memory-max", "4MiB", "--memory-default", "8MiB"], &["memory-default is 8MiB"]),
        (&["serve", "--config", "/dev/zero"], &["/dev/zero could not be read: it is larger than 4 MiB"]),
        (&["serve", "--tokens", "/dev/zero"], &["tokens /dev/zero could not be read: it is larger than 4 MiB"]),
        (&["config", "--queue", "some"], &["--queue", "must be a whole number"]),
        (&["doctor", "--all"], &["--all"]),
        (&["doctor", "--log", "debug"], &["--log"]),
    ];
    for (args, texts) in cases {
        let ended = ended(args, "");
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert_eq!(ended.out, "", "{args:?}");
        let is_negative = |arg: &&str| arg.parse().is_ok_and(|number: i64| number < 0);
        assert!(!(args.iter().any(is_negative) && ended.err.contains("tip:")), "{args:?}: {}", ended.err);
        for text in *texts {
            assert!(ended.err.contains(text), "{args:?} should name {text:?}: {}", ended.err);
        }
    }
}

#[test]
fn a_tool_given_twice_is_refused() {
    let ended = ended(&["run", "-", "--tool", "a.x=1", "--tool", "a.x=2"], "() => 1");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("the tool a.x is given twice"), "{}", ended.err);
}

#[test]
fn a_program_over_its_bound_is_refused() {
    let program = "x".repeat(2 << 20);
    let piped = ended(&["run", "-"], &program);
    assert_eq!(piped.code, Some(2));
    let message = "standard input takes more than 1048576 bytes; a program may take at most 1048576";
    assert!(piped.err.contains(message), "{}", piped.err);

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), program).unwrap();
    let file = file.path().to_str().unwrap();
    let read = ended(&["run", file], "");
    assert_eq!(read.code, Some(2));
    let message = format!("{file} takes 2097152 bytes; a program may take at most 1048576");
    assert!(read.err.contains(&message), "{}", read.err);
}

#[test]
fn what_keeps_a_program_from_running_is_json_too_when_asked_for() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["run", "/no/such/file.js"], "", "/no/such/file.js could not be read"),
        (&["run", "-"], "", "standard input is empty"),
        (&["run", "-", "--tool", "a.x=1", "--tool", "a.x=2"], "() => 1", "the tool a.x is given twice"),
        (
            &["run", "-", "--memory-limit", "999999999999999"],
            "() => 1",
            "--memory-limit is 999999999999999B, which is above",
        ),
    ];
    for (args, program, text) in cases {
        let ended = ended(&[*args, &["--json"]].concat(), program);
        assert_eq!((ended.code, ended.err.as_str()), (Some(2), ""), "{args:?}");
        let object: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        let error = &object["executorError"];
        assert_eq!((&error["code"], &error["retryable"]), (&"INVALID_REQUEST".into(), &false.into()), "{object}");
        assert!(error["message"].as_str().unwrap().contains(text), "{object}");
    }
}

#[test]
fn help_and_version_are_no_failures() {
    for args in [&["--help"][..], &["run", "--help"], &["--version"], &["serve", "--version"]] {
        let ended = ended(args, "");
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        assert!(ended.out.contains("codemoded"), "{args:?}: {}", ended.out);
    }
}

#[test]
fn a_daemon_that_is_not_there_is_a_failure_of_the_infrastructure() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("ws://127.0.0.1:{port}");
    let plain = ended(&["run", "-", "--url", &url], "() => 1");
    assert_eq!((plain.code, plain.out.as_str()), (Some(3), ""));
    assert!(plain.err.contains("CONNECTION_REJECTED") && plain.err.contains(&url), "{}", plain.err);

    let json = ended(&["run", "-", "--json", "--url", &url], "() => 1");
    assert_eq!(json.code, Some(3));
    let object: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(object["executorError"]["code"], "CONNECTION_REJECTED");
    assert_eq!(object["executorError"]["retryable"], true);
}
