//! Every bound and every strict check: who goes over loses its session, or that call, and is told why.

use std::time::Duration;

use codemode_protocol::capnweb::{CloseOrigin, Object, Output, TableSizes, Value, WireLimits, target_fn};

use crate::harness::{Pair, Peer, echo, json, nobody};

fn small() -> WireLimits {
    WireLimits {
        message_bytes: 4096,
        outbound_units: 1000,
        depth: 16,
        nodes: 200,
        message_memory: 8000,
        bigint_digits: 20,
        path_parts: 4,
        path_part_bytes: 8,
        peer_calls: 20,
        exports: 5,
        imports: 10,
        promises: 4,
        promise_deadline: Duration::from_secs(10),
        running_calls: 3,
        running_bytes: 10_000,
        parked_calls: 8,
        held_bytes: 20_000,
        retained_bytes: 10_000,
        expansion_nodes: 100,
        expansion_bytes: 10_000,
        references: 12,
        pipes: 2,
    }
}

/// Feeds frames to a session with small bounds and returns the abort that ends it.
#[track_caller]
fn aborted(frames: &[String]) -> (String, String) {
    let waits = target_fn(|call| async move {
        if call.method() == Some("wait") {
            call.cancel.cancelled().await;
        }
        Ok(call.args.into_iter().flatten().next().unwrap_or_default())
    });
    let mut peer = Peer::with_limits(waits, small());
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let answers = peer.feed(&frames);
    let last = json(answers.last().unwrap_or_else(|| panic!("no abort after {frames:?}")));
    assert_eq!(last[0], "abort", "{answers:?}");
    let closed = peer.closed.as_ref().expect("closed");
    assert_eq!((closed.origin, closed.close_code), (CloseOrigin::Local, 3000));
    assert_eq!(peer.session.stats(), TableSizes::default());
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    (text(&last[1][4]["code"]), text(&last[1][2]))
}

#[track_caller]
fn over(bound: &str, limit: usize, frames: &[String]) {
    let expected = format!("{bound} exceed the limit of {limit}");
    assert_eq!(aborted(frames), ("LIMIT_EXCEEDED".to_owned(), expected));
}

fn many(frame: &str, count: usize) -> Vec<String> {
    vec![frame.to_owned(); count]
}

#[test]
fn each_bound_ends_the_session_with_its_name_and_value() {
    let call = |args: &str| format!(r#"["push",["pipeline",0,["wait"],[{args}]]]"#);
    over("bytes of one message", 4096, &[format!(r#"["push","{}"]"#, "x".repeat(4096))]);
    over("levels of nested values", 16, &[format!(r#"["push",{}1{}]"#, "[[".repeat(16), "]]".repeat(16))]);
    over("JSON values in one text", 200, &[format!(r#"["push",[[{}1]]]"#, "1,".repeat(200))]);
    over("bytes of memory for one message", 8000, &[format!(r#"["push",[[{}1]]]"#, r#"{"a":1},"#.repeat(80))]);
    over("digits of a BigInt", 20, &[format!(r#"["push",["bigint","{}"]]"#, "1".repeat(21))]);
    over("digits of a BigInt", 20, &[format!(r#"["push",["bigint","-{}"]]"#, "1".repeat(20))]);
    over("steps of a path", 4, &[r#"["push",["pipeline",0,["a","b","c","d","e"]]]"#.into()]);
    over("bytes of a name in a path", 8, &[r#"["push",["pipeline",0,["123456789"]]]"#.into()]);
    over("calls that were not released", 20, &many(r#"["push",1]"#, 21));
    over("calls that were not released", 20, &many(&call(""), 21));
    let exports: Vec<String> = (1..=11).map(|id| format!(r#"["export",-{id}]"#)).collect();
    over("objects held of the peer", 10, &[call(&exports.join(","))]);
    over(
        "unsettled promises",
        4,
        &[call(r#"["promise",-1],["promise",-2],["promise",-3],["promise",-4],["promise",-5]"#)],
    );
    over("references in one message", 12, &[call(&[r#"["import",0]"#; 13].join(","))]);
    let mut parked = vec![call(r#"["promise",-1]"#)];
    parked.extend(many(r#"["push",["pipeline",1,["x"],[]]]"#, 8));
    over("calls that wait for a result", 8, &parked);
    over("open pipes", 2, &many(r#"["pipe"]"#, 3));
    over("bytes held for the peer", 20_000, &many(&format!(r#"["push","{}"]"#, "x".repeat(4000)), 6));
    let mut parked = vec![call(r#"["promise",-1]"#)];
    parked.extend(many(&format!(r#"["push",["pipeline",1,["x"],["{}"]]]"#, "x".repeat(4000)), 6));
    over("bytes held for the peer", 20_000, &parked);
    let big = format!(r#"["push","{}"]"#, "x".repeat(4000));
    over("bytes filled in", 10_000, &[big, call(&[r#"["pipeline",1]"#; 3].join(","))]);
    let list = format!(r#"["push",[[{}1]]]"#, "1,".repeat(40));
    over("values filled in", 100, &[list, call(&[r#"["pipeline",1]"#; 3].join(","))]);
}

#[test]
fn doubling_stops_at_the_budget_before_anything_large_is_copied() {
    let mut frames = vec![r#"["push",[[1,2,3,4]]]"#.to_owned()];
    for id in 1..19 {
        frames.push(format!(r#"["push",[[["pipeline",{id}],["pipeline",{id}]]]]"#));
    }
    over("values filled in", 100, &frames);
}

#[test]
fn each_rule_ends_the_session_without_an_echo_of_the_input() {
    let frames = [
        "SECRET",
        r#"{"SECRET":1}"#,
        "null",
        "[]",
        "[1]",
        r#"["SECRET",1]"#,
        r#"["push"]"#,
        r#"["push",1"#,
        r#"["push",1]["pull",1]"#,
        "[\"push\",1]\n[\"pull\",1]",
        r#"["push",["SECRET",1]]"#,
        r#"["push",["pipeline",77,["SECRET"],[]]]"#,
        r#"["push",["pipeline",1]]"#,
        r#"["push",["pipeline",-1,[],[]]]"#,
        r#"["push",["pipeline","SECRET"]]"#,
        r#"["push",["pipeline",0.5]]"#,
        r#"["push",["pipeline",0,["a"],{}]]"#,
        r#"["push",["pipeline",0,"a",[]]]"#,
        r#"["push",["pipeline",0,[null],[]]]"#,
        r#"["push",["pipeline",0,[-1],[]]]"#,
        r#"["push",["pipeline",0,[],[],1]]"#,
        r#"["push",["export",5]]"#,
        r#"["push",["export",0]]"#,
        r#"["push",["export",4294967294]]"#,
        r#"["push",["export",-1e300]]"#,
        r#"["push",["export",-1.5]]"#,
        r#"["push",["promise",1]]"#,
        r#"["push",["writable",1]]"#,
        r#"["push",[[["export",-1],["promise",-1]]]]"#,
        r#"["push",[[["promise",-1],["promise",-1]]]]"#,
        r#"["push",[[["promise",-1],["export",-1]]]]"#,
        r#"["push",["readable",1]]"#,
        r#"["push",["bigint","SECRET"]]"#,
        r#"["push",["url","SECRET"]]"#,
        r#"["push",{"a":["pipeline",0],"a":["pipeline",0,["SECRET"]]}]"#,
        r#"["pull"]"#,
        r#"["pull",0]"#,
        r#"["pull",99]"#,
        r#"["pull",-1]"#,
        r#"["pull","SECRET"]"#,
        r#"["release",0,1]"#,
        r#"["release",0,5]"#,
        r#"["release",99,1]"#,
        r#"["release",-1,1]"#,
        r#"["release",1]"#,
        r#"["release",1,0]"#,
        r#"["release",1,-5]"#,
        r#"["release",1,0.5]"#,
        r#"["release",1,[1]]"#,
        r#"["resolve",0,1]"#,
        r#"["reject",0,1]"#,
        r#"["resolve",1]"#,
        r#"["resolve",1,["import",5]]"#,
        r#"["push",["remap",0,[],[["SECRET",0]],[]]]"#,
        r#"["push",["remap",0,[],[["import",9]],[]]]"#,
        r#"["push",["remap",0,[],[]]]"#,
    ];
    for frame in frames {
        let (code, message) = aborted(&[frame.to_owned()]);
        assert_eq!(code, "PROTOCOL_VIOLATION", "{frame}: {message}");
        assert!(!message.contains("SECRET"), "{frame}: {message}");
    }
    let (code, _) = aborted(&[r#"["push",1]"#.into(), r#"["release",1,2]"#.into()]);
    assert_eq!(code, "PROTOCOL_VIOLATION");
    let export = r#"["push",["pipeline",0,["wait"],[["export",-3]]]]"#;
    let (code, _) = aborted(&[export.into(), r#"["resolve",-3,1]"#.into()]);
    assert_eq!(code, "PROTOCOL_VIOLATION");
}

#[test]
fn a_binary_frame_ends_the_session() {
    let mut peer = Peer::new(nobody());
    peer.session.receive_binary(peer.now);
    assert!(peer.frames()[0].contains("PROTOCOL_VIOLATION"));
    assert!(peer.session.is_closed());
}

#[test]
fn too_many_running_calls_reject_the_one_that_is_too_many() {
    let waits = target_fn(|call| async move {
        call.cancel.cancelled().await;
        Ok(Value::Null)
    });
    let mut peer = Peer::with_limits(waits, small());
    let push = r#"["push",["pipeline",0,["wait"],[]]]"#;
    let answers = peer.feed(&[push, push, push, push, r#"["pull",4]"#]);
    assert_eq!(answers.len(), 1);
    let rejected = json(&answers[0]);
    assert_eq!((&rejected[0], &rejected[1]), (&"reject".into(), &4.into()));
    assert_eq!(rejected[2][4]["code"], "OVERLOADED");
    assert_eq!(rejected[2][4]["retryable"], true);
    // Once one ended there is room again.
    peer.feed(&[r#"["pull",1]"#, r#"["release",1,1]"#]);
    assert_eq!(peer.feed(&[push, r#"["pull",5]"#]), [""; 0]);
    assert_eq!(peer.running_tasks(), 3);
}

#[test]
fn too_large_arguments_of_running_calls_reject_the_one_that_is_too_much() {
    let waits = target_fn(|call| async move {
        call.cancel.cancelled().await;
        Ok(Value::Null)
    });
    let mut peer = Peer::with_limits(waits, small());
    let push = format!(r#"["push",["pipeline",0,["wait"],["{}"]]]"#, "x".repeat(4000));
    let answers = peer.feed(&[&push, &push, &push, r#"["pull",3]"#]);
    assert_eq!(json(&answers[0])[2][4]["code"], "OVERLOADED");
    assert_eq!(peer.running_tasks(), 2);
    peer.feed(&[r#"["pull",1]"#, r#"["release",1,1]"#, r#"["pull",2]"#, r#"["release",2,1]"#]);
    assert_eq!(peer.session.stats().running_bytes, 0);
}

#[test]
fn a_promise_that_is_never_settled_is_rejected_after_its_deadline() {
    let mut peer = Peer::with_limits(echo(), small());
    peer.feed(&[r#"["push",["pipeline",0,["echo"],[["promise",-1]]]]"#, r#"["pull",1]"#]);
    assert_eq!(peer.session.poll_timeout(), Some(Duration::from_secs(10)));
    peer.session.handle_timeout(Duration::from_secs(9));
    assert_eq!(peer.frames(), [""; 0]);
    peer.session.handle_timeout(Duration::from_secs(10));
    let frames = peer.frames();
    assert_eq!(frames[0], r#"["release",-1,1]"#);
    assert_eq!(json(&frames[1])[2][4]["code"], "LIMIT_EXCEEDED");
    assert_eq!(peer.session.poll_timeout(), None);
    // The late answer is nobody's, and no error.
    assert_eq!(peer.feed(&[r#"["resolve",-1,["export",-2]]"#, r#"["release",1,1]"#]), [r#"["release",-2,1]"#]);
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn a_result_that_is_too_large_for_the_peer_fails_alone() {
    let main = target_fn(|call| async move {
        Ok(Value::from(if call.method() == Some("big") { "\"".repeat(500) } else { "x".repeat(990) }))
    });
    let mut pair = Pair::new(nobody(), nobody());
    pair.b = Peer::with_limits(main, small());
    let Err(error) = pair.call("big", vec![]) else { panic!("too large") };
    assert_eq!(error.as_error().unwrap().code(), Some("LIMIT_EXCEEDED"));
    assert!(pair.call("small", vec![]).is_err(), "the message counts, not the value");
    pair.run();
    pair.assert_empty();
}

#[test]
fn an_argument_that_is_too_large_for_the_peer_is_refused_locally() {
    let mut pair = Pair::new(nobody(), echo());
    pair.a = Peer::with_limits(nobody(), small());
    assert!(pair.call("echo", vec!["x".repeat(1000).into()]).is_err());
    // Two units and four bytes each: units count.
    let text = "😀".repeat(470);
    assert_eq!(pair.call("echo", vec![text.as_str().into()]), Ok(text.into()));
    assert!(pair.a.closed.is_none());
}

#[test]
fn exports_beyond_the_bound_fail_the_call_that_would_make_them() {
    let main = target_fn(|_| async { Ok(Value::Local(nobody())) });
    let mut peer = Peer::with_limits(main, small());
    let mut answers = Vec::new();
    for id in 1..=6 {
        let (pull, release) = (format!(r#"["pull",{id}]"#), format!(r#"["release",{id},1]"#));
        answers.extend(peer.feed(&[r#"["push",["pipeline",0,["f"],[]]]"#, &pull, &release]));
    }
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[4], r#"["resolve",5,["export",-5]]"#);
    assert_eq!(json(&answers[5])[2][4]["code"], "OVERLOADED");
    assert_eq!(peer.session.stats().exports, 5);
}

#[test]
fn results_beyond_what_is_retained_are_sent_and_not_kept() {
    let main = target_fn(|_| async { Ok("x".repeat(900).into()) });
    let limits = WireLimits { retained_bytes: 2000, peer_calls: 100, ..small() };
    let mut peer = Peer::with_limits(main, limits);
    let push = r#"["push",["pipeline",0,["big"],[]]]"#;
    for id in 1..=20 {
        let answers = peer.feed(&[push, &format!(r#"["pull",{id}]"#)]);
        assert!(answers[0].starts_with(&format!(r#"["resolve",{id},"xxx"#)), "{answers:?}");
    }
    let stats = peer.session.stats();
    // Small results are always kept: their number is bounded by the calls.
    assert!(stats.retained_bytes <= 20 * 1100, "{stats:?}");
}

#[test]
fn a_later_call_on_a_result_that_was_not_kept_is_rejected() {
    let main = target_fn(|_| async { Ok(Value::Bytes(Default::default(), vec![0; 3000])) });
    let limits = WireLimits { retained_bytes: 5000, outbound_units: 10_000, ..small() };
    let mut peer = Peer::with_limits(main, limits);
    let push = r#"["push",["pipeline",0,["f"],[]]]"#;
    let answers =
        peer.feed(&[push, push, r#"["pull",1]"#, r#"["pull",2]"#, r#"["push",["pipeline",1]]"#, r#"["pull",3]"#]);
    assert!(answers[0].starts_with(r#"["resolve",1,"#));
    assert!(answers[1].starts_with(r#"["reject",2,"#), "not pulled in time: {answers:?}");
    assert!(answers[2].starts_with(r#"["resolve",3,"#));
    assert_eq!(json(&answers[1])[2][4]["code"], "OVERLOADED");
    assert_eq!(
        peer.feed(&[push, r#"["release",1,1]"#, r#"["release",2,1]"#, r#"["release",3,1]"#, r#"["release",4,1]"#]),
        [""; 0]
    );
    assert_eq!(peer.session.stats(), TableSizes::default());
}

#[test]
fn many_answers_may_share_one_large_result_without_a_copy_each() {
    let mut peer = Peer::new(nobody());
    let mut frames = vec![r#"["push",["pipeline",0,["f"],[]]]"#.to_owned()];
    for id in 2..=200 {
        frames.push(r#"["push",["pipeline",1]]"#.into());
        frames.push(format!(r#"["pull",{id}]"#));
    }
    for frame in &frames {
        peer.session.receive(frame, peer.now);
    }
    let Some(Output::Invoke { id, .. }) = peer.session.poll_output() else { panic!("a call") };
    peer.session.respond(id, Ok("x".repeat(1 << 20).into()));
    let stats = peer.session.stats();
    assert!(stats.retained_bytes < 2 << 20, "{stats:?}");
    assert!(peer.session.outbound_bytes() > 199 << 20, "the driver sees what waits");
}

#[test]
fn repeated_keys_of_large_objects_cost_no_quadratic_time() {
    let mut peer = Peer::new(echo());
    let entries: Vec<String> = (0..100_000).map(|at| format!(r#""k{}":{at}"#, at % 50_000)).collect();
    let push = format!(r#"["push",["pipeline",0,["echo"],[{{{}}}]]]"#, entries.join(","));
    let answers = peer.feed(&[&push, r#"["pull",1]"#]);
    let expected: Object = (0..50_000).map(|at| (format!("k{at}"), Value::from(at + 50_000))).collect();
    let expected = codemode_protocol::capnweb::expression::write(&expected.into()).unwrap();
    assert_eq!(answers, [format!(r#"["resolve",1,{expected}]"#)]);
}
