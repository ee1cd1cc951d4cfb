//! Golden frames: what each message looks like and does.

use codemode_protocol::capnweb::{
    BytesKind, CallMode, CloseOrigin, ErrorValue, JsString, Output, TableSizes, Value, target_fn,
};

use crate::harness::{Peer, echo, nobody, not_a_function, object};

#[track_caller]
fn check(frames: &[&str], expected: &[&str]) -> Peer {
    let mut peer = Peer::new(echo());
    assert_eq!(peer.feed(frames), expected);
    assert_eq!(peer.closed, None);
    peer
}

#[test]
fn a_call_is_pushed_pulled_resolved_and_released() {
    let peer = check(
        &[r#"["push",["pipeline",0,["echo"],[{"a":["undefined"],"b":null}]]]"#, r#"["pull",1]"#, r#"["release",1,1]"#],
        &[r#"["resolve",1,{"a":["undefined"],"b":null}]"#],
    );
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_call_of_ours_is_released_as_soon_as_it_is_answered() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    let pending = peer.caller.call(&main, "execute", vec![Value::from(1), Value::Array(vec![])]);
    assert_eq!(peer.frames(), [r#"["push",["pipeline",0,["execute"],[1,[[]]]]]"#, r#"["pull",1]"#]);
    assert_eq!(peer.feed(&[r#"["resolve",1,"ok"]"#]), [r#"["release",1,1]"#]);
    assert_eq!(pending.result(), Some(Ok("ok".into())));
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn no_argument_and_an_undefined_argument_differ() {
    let count = target_fn(|call| async move { Ok(Value::from(call.args.map_or(-1, |args| args.len() as i32))) });
    let mut peer = Peer::new(count);
    let frames = [
        r#"["push",["pipeline",0,["n"],[]]]"#,
        r#"["push",["pipeline",0,["n"],[["undefined"]]]]"#,
        r#"["push",["pipeline",0,["n"]]]"#,
        r#"["push",["pipeline",0]]"#,
        r#"["pull",1]"#,
        r#"["pull",2]"#,
        r#"["pull",3]"#,
        r#"["pull",4]"#,
    ];
    let expected =
        [r#"["resolve",1,0]"#, r#"["resolve",2,1]"#, r#"["resolve",3,-1]"#, r#"["resolve",4,["export",-1]]"#];
    assert_eq!(peer.feed(&frames), expected);
}

#[test]
fn an_unknown_method_rejects_its_call_only() {
    check(
        &[
            r#"["push",["pipeline",0,["nope"],[]]]"#,
            r#"["pull",1]"#,
            r#"["push",["pipeline",0,["echo"],[1]]]"#,
            r#"["pull",2]"#,
        ],
        &[r#"["reject",1,["error","TypeError","'nope' is not a function."]]"#, r#"["resolve",2,1]"#],
    );
}

#[test]
fn a_stream_message_is_pulled_and_released_by_itself() {
    let peer = check(&[r#"["stream",["pipeline",0,["echo"],["x"]]]"#], &[r#"["resolve",1,"x"]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_pipe_takes_an_id_and_rejects_what_is_written_to_it() {
    let mut peer = Peer::new(echo());
    let frames = [
        r#"["pipe"]"#,
        r#"["push",["pipeline",0,["echo"],[["blob","text/plain",["readable",1]]]]]"#,
        r#"["pull",2]"#,
        r#"["stream",["pipeline",1,["write"],[["bytes","aGVsbG8"]]]]"#,
        r#"["push",["pipeline",0,["echo"],[3]]]"#,
        r#"["pull",4]"#,
    ];
    let answers = peer.feed(&frames);
    assert!(answers[0].starts_with(r#"["reject",2,["error","TypeError","#), "{}", answers[0]);
    assert!(answers[0].ends_with(r#"{"code":"UNSUPPORTED"}]]"#), "{}", answers[0]);
    assert!(answers[1].starts_with(r#"["reject",3,"#), "{}", answers[1]);
    assert_eq!(answers[2..], [r#"["resolve",4,3]"#]);
    assert_eq!(peer.feed(&[r#"["release",1,1]"#, r#"["release",2,1]"#, r#"["release",4,1]"#]), [""; 0]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn every_unsupported_tag_rejects_the_call_and_releases_what_it_introduced() {
    let cases = [
        r#"["writable",-1]"#,
        r#"["request","http://h/",{"method":"POST","headers":[["a","1"]],"body":null}]"#,
        r#"["response",["export",-1],{"status":201}]"#,
        r#"{"also":["export",-1],"remap":["remap",0,[],[["import",0]],[["pipeline",0]]]}"#,
        r#"["remap",0,["x"],[["export",-1],["import",0]],[["pipeline",-1,["f"],[["pipeline",0,["id"]]]],["pipeline",1]]]"#,
        r#"[[["promise",-1],["writable",-2]]]"#,
    ];
    for case in cases {
        let mut peer = Peer::new(echo());
        let push = format!(r#"["push",["pipeline",0,["echo"],[{case}]]]"#);
        let mut answers = peer.feed(&[&push, r#"["pull",1]"#, r#"["release",1,1]"#]);
        let rejected = answers.pop().unwrap();
        assert!(rejected.starts_with(r#"["reject",1,["error","TypeError","#), "{case}: {rejected}");
        let introduced =
            case.matches(r#""export",-"#).count() + case.matches("promise").count() + case.matches("writable").count();
        assert_eq!(answers.len(), introduced, "{case}: {answers:?}");
        assert!(answers.iter().all(|frame| frame.starts_with(r#"["release",-"#)), "{case}: {answers:?}");
        assert_eq!(peer.session.stats(), TableSizes::default(), "{case}");
    }
}

#[test]
fn argument_stubs_are_released_before_the_answer_and_results_are_kept_until_released() {
    let main = target_fn(|call| async move {
        drop(call.args);
        Ok(Value::Local(echo()))
    });
    let mut peer = Peer::new(main);
    let answers = peer.feed(&[r#"["push",["pipeline",0,["f"],[["export",-1],["export",-2]]]]"#, r#"["pull",1]"#]);
    assert_eq!(answers, [r#"["release",-1,1]"#, r#"["release",-2,1]"#, r#"["resolve",1,["export",-1]]"#]);
    peer.feed(&[r#"["release",1,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes { exports: 1, ..TableSizes::default() });
    assert_eq!(peer.feed(&[r#"["push",["pipeline",-1,["echo"],[7]]]"#, r#"["pull",2]"#]), [r#"["resolve",2,7]"#]);
    peer.feed(&[r#"["release",2,1]"#, r#"["release",-1,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn each_occurrence_of_an_object_is_exported_under_a_fresh_id() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    let object = echo();
    let args = vec![Value::Local(object.clone()), Value::Local(object)];
    let _pending = peer.caller.call(&main, "f", args);
    assert_eq!(peer.frames()[0], r#"["push",["pipeline",0,["f"],[["export",-1],["export",-2]]]]"#);
}

#[test]
fn an_export_that_comes_twice_is_released_with_its_count() {
    let mut peer = Peer::new(target_fn(|call| async move {
        drop(call.args);
        Ok(Value::Null)
    }));
    let answers = peer.feed(&[r#"["push",["pipeline",0,["f"],[["export",-1],["export",-1]]]]"#]);
    assert_eq!(answers, [r#"["release",-1,2]"#]);
}

#[test]
fn our_object_handed_back_is_the_object_itself() {
    let mut peer = Peer::new(echo());
    let main = peer.session.main();
    let object = echo();
    let pending = peer.caller.call(&main, "f", vec![Value::Local(object.clone())]);
    peer.work();
    peer.feed(&[r#"["resolve",1,[[["import",-1],["pipeline",-1],["import",0]]]]"#]);
    let result = pending.result().unwrap().unwrap();
    let items = result.as_array().unwrap();
    assert_eq!(items[..2], [Value::Local(object.clone()), Value::Local(object)]);
    assert!(matches!(items[2], Value::Local(_)));
}

#[test]
fn a_stub_of_the_peer_handed_back_is_an_import() {
    let mut peer = Peer::new(echo());
    let answers = peer.feed(&[r#"["push",["pipeline",0,["echo"],[["export",-7]]]]"#, r#"["pull",1]"#]);
    assert_eq!(answers, [r#"["resolve",1,["import",-7]]"#]);
    // The answer may be used in later calls, so the reference lives as long as the result.
    assert_eq!(peer.feed(&[r#"["release",1,1]"#]), [r#"["release",-7,1]"#]);
}

#[test]
fn forgotten_calls_are_released_with_the_push() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    peer.session.call(&main, vec!["log".into()], Some(vec![]), CallMode::Forget).unwrap();
    assert_eq!(peer.frames(), [r#"["push",["pipeline",0,["log"],[]]]"#, r#"["release",1,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn answers_for_released_calls_are_read_for_what_they_introduce() {
    let mut peer = Peer::new(nobody());
    let frames = [
        r#"["resolve",1,[[["export",-1],["promise",-2]]]]"#,
        r#"["reject",5,["error","Error","x"]]"#,
        r#"["resolve",-9,1]"#,
    ];
    let mut answers = peer.feed(&frames);
    answers.sort();
    assert_eq!(answers, [r#"["release",-1,1]"#, r#"["release",-2,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_promise_argument_is_awaited_and_released_when_it_settles() {
    let mut peer = Peer::new(echo());
    let frames = [r#"["push",["pipeline",0,["echo"],[{"v":["promise",-12]}]]]"#, r#"["pull",1]"#];
    assert_eq!(peer.feed(&frames), [""; 0]);
    assert_eq!(peer.session.stats().parked, 1);
    assert_eq!(peer.feed(&[r#"["resolve",-12,7]"#]), [r#"["release",-12,1]"#, r#"["resolve",1,{"v":7}]"#]);
    assert_eq!(peer.feed(&[r#"["release",1,1]"#]), [""; 0]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_rejected_promise_argument_rejects_the_call() {
    let mut peer = Peer::new(echo());
    let error = r#"["error","Error","no",null,{"code":"X"}]"#;
    let frames = [
        r#"["push",["pipeline",0,["echo"],[["promise",-1],["promise",-2]]]]"#.to_owned(),
        r#"["pull",1]"#.to_owned(),
        format!(r#"["reject",-2,{error}]"#),
        r#"["resolve",-1,1]"#.to_owned(),
    ];
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let answers = peer.feed(&frames);
    assert_eq!(answers[2], format!(r#"["reject",1,{error}]"#));
}

#[test]
fn a_released_call_that_was_pulled_is_cancelled_and_one_that_was_not_runs_on() {
    let main = || {
        target_fn(|call| async move {
            call.cancel.cancelled().await;
            Ok("was cancelled".into())
        })
    };
    let mut peer = Peer::new(main());
    let answers = peer.feed(&[r#"["push",["pipeline",0,["f"],[]]]"#, r#"["pull",1]"#, r#"["release",1,1]"#]);
    assert_eq!(answers, [""; 0]);
    assert_eq!(peer.running_tasks(), 0);
    assert_eq!(peer.session.stats(), TableSizes::default());

    let mut peer = Peer::new(main());
    peer.feed(&[r#"["push",["pipeline",0,["f"],[]]]"#, r#"["release",1,1]"#]);
    assert_eq!(peer.running_tasks(), 1);
    peer.session.transport_closed(1006, "");
    peer.work();
    assert_eq!(peer.running_tasks(), 0);
}

#[test]
fn a_call_that_others_wait_for_is_not_cancelled_by_its_release() {
    let main = target_fn(|call| async move {
        if call.method() == Some("slow") {
            call.cancel.cancelled().await;
        }
        Ok(Value::Null)
    });
    let mut peer = Peer::new(main);
    let frames = [
        r#"["push",["pipeline",0,["slow"],[]]]"#,
        r#"["pull",1]"#,
        r#"["push",["pipeline",0,["next"],[["pipeline",1]]]]"#,
        r#"["pull",2]"#,
        r#"["release",1,1]"#,
    ];
    assert_eq!(peer.feed(&frames), [""; 0]);
    assert_eq!(peer.running_tasks(), 1);
    // Nobody waits for the second one, so it is dropped before it began, and its argument with it.
    peer.feed(&[r#"["release",2,1]"#]);
    assert_eq!(peer.session.stats().parked, 0);
}

#[test]
fn an_abort_is_sent_before_the_close_and_names_a_code() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    let pending = peer.caller.call(&main, "f", vec![]);
    peer.frames();
    peer.session.abort(ErrorValue::new("Error", "ü".repeat(100)).with_code("SHUTTING_DOWN"));
    let frames = peer.frames();
    assert_eq!(
        frames,
        [format!(r#"["abort",["error","Error","{}",null,{{"code":"SHUTTING_DOWN"}}]]"#, "ü".repeat(100))]
    );
    let closed = peer.closed.clone().unwrap();
    assert_eq!((closed.close_code, closed.origin, closed.code()), (3000, CloseOrigin::Local, Some("SHUTTING_DOWN")));
    assert_eq!(closed.close_reason, "ü".repeat(61));
    assert_eq!(pending.result(), Some(Err(closed.error.clone())));
    let late = peer.caller.call(&main, "f", vec![]);
    peer.work();
    assert_eq!(late.result(), Some(Err(closed.error)));
    assert_eq!(peer.feed(&[r#"["push",1]"#]), [""; 0]);
}

#[test]
fn an_abort_from_the_peer_is_not_answered_and_rejects_everything_with_its_value() {
    let mut peer = Peer::new(target_fn(|call| async move {
        call.cancel.cancelled().await;
        Ok(Value::Null)
    }));
    let main = peer.session.main();
    let pending = peer.caller.call(&main, "f", vec![]);
    peer.frames();
    let frames = [
        r#"["push",["pipeline",0,["f"],[]]]"#,
        r#"["pull",1]"#,
        r#"["abort",["error","Error","gone",null,{"code":"C"}]]"#,
    ];
    assert_eq!(peer.feed(&frames), [""; 0]);
    let closed = peer.closed.clone().unwrap();
    assert_eq!((closed.origin, closed.close_reason.as_str(), closed.code()), (CloseOrigin::Peer, "gone", Some("C")));
    assert_eq!(pending.result(), Some(Err(closed.error)));
    assert_eq!(peer.running_tasks(), 0);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_dead_connection_says_what_javascript_says() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    let pending = peer.caller.call(&main, "f", vec![]);
    peer.work();
    peer.session.transport_closed(1006, "");
    peer.work();
    assert_eq!(pending.result(), Some(Err(Value::error("Peer closed WebSocket: 1006 "))));
    assert_eq!(peer.closed.as_ref().unwrap().origin, CloseOrigin::Transport);
}

#[test]
fn a_clean_close_sends_no_abort() {
    let mut peer = Peer::new(nobody());
    peer.session.close();
    assert_eq!(peer.frames(), [""; 0]);
    let closed = peer.closed.unwrap();
    assert_eq!((closed.close_code, closed.origin), (3000, CloseOrigin::Local));
    assert_eq!(closed.close_reason, "RPC session was shut down by disposing the main stub");
}

#[test]
fn answers_given_before_an_abort_still_leave_before_it() {
    let mut peer = Peer::new(echo());
    peer.session.receive(r#"["push",["pipeline",0,["echo"],[1]]]"#, peer.now);
    peer.session.receive(r#"["pull",1]"#, peer.now);
    let Some(Output::Invoke { id, .. }) = peer.session.poll_output() else { panic!("a call") };
    peer.session.respond(id, Ok(Value::Local(echo())));
    peer.session.abort(ErrorValue::new("Error", "x"));
    assert_eq!(peer.frames(), [r#"["resolve",1,["export",-1]]"#, r#"["abort",["error","Error","x"]]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn every_value_has_its_golden_text() {
    let cases: Vec<(Value, &str)> = vec![
        (Value::Undefined, r#"["undefined"]"#),
        (Value::Null, "null"),
        (true.into(), "true"),
        (Value::from(-0.0), "-0"),
        (Value::from(1.5e300), "1.5e300"),
        (Value::from(1e20), "100000000000000000000"),
        (Value::from(0.1), "0.1"),
        (Value::from(f64::NAN), r#"["nan"]"#),
        (Value::from(f64::NEG_INFINITY), r#"["-inf"]"#),
        ("a\"\\\n\u{1}é😀\u{2028}".into(), "\"a\\\"\\\\\\n\\u0001é😀\u{2028}\""),
        (JsString::from_utf16(&[0x61, 0xD800]).into(), r#""a\ud800""#),
        (Value::BigInt("-12".into()), r#"["bigint","-12"]"#),
        (Value::Date(1.5), r#"["date",1.5]"#),
        (Value::Date(f64::NAN), r#"["date",null]"#),
        (Value::Bytes(BytesKind::Uint8Array, vec![1, 2, 3, 255]), r#"["bytes","AQID/w"]"#),
        (Value::Bytes(BytesKind::Float32Array, vec![0, 0, 192, 63]), r#"["bytes","AADAPw","Float32Array"]"#),
        (Value::Url("https://h/p?q".into()), r#"["url","https://h/p?q"]"#),
        (Value::Headers(vec![("a".into(), "1".into())]), r#"["headers",[["a","1"]]]"#),
        (Value::error("m"), r#"["error","Error","m"]"#),
        (
            ErrorValue { stack: Some("at x".into()), ..ErrorValue::new("TypeError", "m") }.with_code("C").into(),
            r#"["error","TypeError","m","at x",{"code":"C"}]"#,
        ),
        (Value::Array(vec![Value::Array(vec![]), 1.into()]), "[[[[]],1]]"),
        (object([("__proto__", 1.into()), ("", Value::Undefined)]), r#"{"__proto__":1,"":["undefined"]}"#),
        (Value::Encoded(r#"[["anything"]]"#.into()), r#"[["anything"]]"#),
    ];
    for (value, text) in cases {
        assert_eq!(codemode_protocol::capnweb::expression::write(&value).as_deref(), Ok(text));
    }
}

#[test]
fn a_result_that_cannot_be_sent_rejects_its_call_only() {
    let deep = |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let results: Vec<(Value, Option<&str>)> = vec![
        (Value::BigInt("0x10".into()), None),
        (Value::BigInt("1".repeat(16_385)), Some("LIMIT_EXCEEDED")),
        (deep(256), Some("LIMIT_EXCEEDED")),
        (Value::Url("not a url".into()), None),
        (Value::Bytes(BytesKind::Int16Array, vec![1]), None),
        (Value::Stub(Peer::new(nobody()).session.main()), None),
    ];
    for (result, code) in results {
        let what = format!("{result:.20?}");
        let main = target_fn(move |_| {
            let result = result.clone();
            async move { Ok(object([("local", Value::Local(echo())), ("bad", result)])) }
        });
        let mut peer = Peer::new(main);
        let answers = peer.feed(&[r#"["push",["pipeline",0,["f"],[]]]"#, r#"["pull",1]"#]);
        assert!(answers[0].starts_with(r#"["reject",1,["error","TypeError","#), "{what}: {answers:?}");
        assert_eq!(answers[0].contains("LIMIT_EXCEEDED"), code.is_some(), "{what}: {answers:?}");
        assert_eq!(peer.session.stats().exports, 0, "what was exported for it is taken back");
        assert_eq!(peer.closed, None);
    }
}

#[test]
fn an_argument_that_cannot_be_sent_is_refused_locally_and_takes_no_id() {
    let mut peer = Peer::new(nobody());
    let main = peer.session.main();
    let args = vec![Value::Local(echo()), Value::BigInt("x".into())];
    assert!(peer.session.call(&main, vec!["f".into()], Some(args), CallMode::Pull).is_err());
    assert_eq!(peer.session.stats(), TableSizes::default());
    let _pending = peer.caller.call(&main, "f", vec![Value::Local(echo())]);
    assert_eq!(peer.frames(), [r#"["push",["pipeline",0,["f"],[["export",-1]]]]"#, r#"["pull",1]"#]);
}

#[test]
fn property_paths_on_results_work_like_javascript() {
    let main = target_fn(|call| async move {
        if call.method() != Some("get") {
            return Err(not_a_function(&call.path));
        }
        Ok(object([
            ("list", Value::Array(vec![1.into(), "two".into()])),
            ("nested", object([("7", "seven".into())])),
            ("target", Value::Local(echo())),
            ("encoded", Value::Encoded(r#"{"deep":[[["date",5]]]}"#.into())),
            ("nothing", Value::Null),
        ]))
    });
    let cases = [
        (r#"["list",1]"#, "", r#"["resolve",2,"two"]"#),
        (r#"["list","1"]"#, "", r#"["resolve",2,["undefined"]]"#),
        (r#"["list","length"]"#, "", r#"["resolve",2,["undefined"]]"#),
        (r#"["nested",7]"#, "", r#"["resolve",2,"seven"]"#),
        (r#"["nested"]"#, "", r#"["resolve",2,{"7":"seven"}]"#),
        (r#"["nothing","x"]"#, "", r#"["resolve",2,["undefined"]]"#),
        (r#"["missing"]"#, "", r#"["resolve",2,["undefined"]]"#),
        (r#"["constructor"]"#, "", r#"["resolve",2,["undefined"]]"#),
        (
            r#"["missing","b"]"#,
            "",
            r#"["reject",2,["error","TypeError","Cannot read properties of undefined (reading 'b')"]]"#,
        ),
        (r#"["list","map"]"#, ",[]", r#"["reject",2,["error","TypeError","'list.map' is not a function."]]"#),
        (r#"["list",0]"#, ",[]", r#"["reject",2,["error","TypeError","'list.0' is not a function."]]"#),
        ("[]", ",[1]", r#"["reject",2,["error","TypeError","'' is not a function."]]"#),
        (r#"["target","echo"]"#, ",[5]", r#"["resolve",2,5]"#),
        (r#"["target"]"#, "", r#"["resolve",2,["export",-1]]"#),
        (r#"["target"]"#, ",[5]", r#"["reject",2,["error","TypeError","'' is not a function."]]"#),
        (r#"["encoded","deep",0]"#, "", r#"["resolve",2,["date",5]]"#),
        (
            r#"["encoded","deep","x"]"#,
            ",[]",
            r#"["reject",2,["error","TypeError","'encoded.deep.x' is not a function."]]"#,
        ),
    ];
    for (path, args, expected) in cases {
        let mut peer = Peer::new(main.clone());
        let second = format!(r#"["push",["pipeline",1,{path}{args}]]"#);
        let answers = peer.feed(&[r#"["push",["pipeline",0,["get"],[]]]"#, &second, r#"["pull",2]"#]);
        assert_eq!(answers, [expected], "{path}");
    }
}

#[test]
fn results_and_calls_nest_inside_arguments() {
    check(
        &[
            r#"["push",{"name":"bob","list":[[1,2]]}]"#,
            r#"["push",["pipeline",0,["echo"],[{"a":["pipeline",1,["name"]],"b":[[["pipeline",1,["list",0]],["pipeline",0,["echo"],[["pipeline",1,["list"]]]]]]}]]]"#,
            r#"["pull",2]"#,
        ],
        &[r#"["resolve",2,{"a":"bob","b":[[1,[[1,2]]]]}]"#],
    );
}

#[test]
fn a_call_on_a_result_that_is_an_object_of_the_peer_goes_back_to_the_peer() {
    let mut peer = Peer::new(echo());
    let frames = [
        r#"["push",["pipeline",0,["echo"],[["export",-1]]]]"#,
        r#"["push",["pipeline",1,["f","g"],[5]]]"#,
        r#"["pull",2]"#,
    ];
    assert_eq!(peer.feed(&frames), [r#"["push",["pipeline",-1,["f","g"],[5]]]"#, r#"["pull",1]"#]);
    assert_eq!(peer.feed(&[r#"["resolve",1,"back"]"#]), [r#"["release",1,1]"#, r#"["resolve",2,"back"]"#]);
    assert_eq!(peer.feed(&[r#"["release",1,1]"#, r#"["release",2,1]"#]), [r#"["release",-1,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn extra_operands_and_white_space_of_messages_are_ignored() {
    check(
        &[
            " [ \"push\" , [ \"pipeline\" , 0 , [ \"echo\" ] , [ [ \"undefined\" ] ] ] , \"extra\" , {\"x\":[[1]]} ]\n",
            r#"["pull",1,2]"#,
        ],
        &[r#"["resolve",1,["undefined"]]"#],
    );
}

#[test]
fn repeated_keys_keep_the_last_value_in_the_first_place() {
    check(&[r#"["push",{"a":1,"b":2,"\u0061":3}]"#, r#"["pull",1]"#], &[r#"["resolve",1,{"a":3,"b":2}]"#]);
}
