//! Two peers, joined in memory, under simulated time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use codemode_protocol::capnweb::{
    CallMode, CloseOrigin, ErrorValue, IncomingCall, Output, Stub, TableSizes, Target, Value, WireLimits, target_fn,
};

use crate::harness::{Caller, Pair, Peer, echo, nobody, not_a_function, object};

/// A server whose `execute` calls its dispatch argument once, then twice in parallel.
fn executor(caller: &Caller) -> Arc<dyn Target> {
    let caller = caller.clone();
    target_fn(move |call| {
        let caller = caller.clone();
        async move {
            let is_execute = call.method() == Some("execute");
            let dispatch = match stub_argument(call.args, 1) {
                Some(dispatch) if is_execute => dispatch,
                _ => return Err(not_a_function(&call.path)),
            };
            let one = caller.call(&dispatch, "", vec!["one".into()]).await?;
            let two = caller.call(&dispatch, "", vec!["two".into()]);
            let three = caller.call(&dispatch, "", vec!["three".into()]);
            Ok(Value::Array(vec![one, two.await?, three.await?]))
        }
    })
}

fn stub_argument(args: Option<Vec<Value>>, at: usize) -> Option<Stub> {
    match args?.into_iter().nth(at)? {
        Value::Stub(stub) => Some(stub),
        _ => None,
    }
}

fn executor_pair(limits: WireLimits) -> Pair {
    let caller = Caller::default();
    let server = Peer::with_caller(caller.clone(), executor(&caller), limits);
    Pair { a: Peer::new(nobody()), b: server }
}

fn dispatch(log: &Arc<Mutex<Vec<Value>>>) -> Value {
    let log = Arc::clone(log);
    Value::Local(target_fn(move |call: IncomingCall| {
        let argument = call.args.into_iter().flatten().next().unwrap_or_default();
        log.lock().unwrap().push(argument.clone());
        async move { Ok(object([("value", argument)])) }
    }))
}

#[test]
fn execute_calls_its_dispatch_in_sequence_and_in_parallel_and_leaves_nothing_behind() {
    let mut pair = executor_pair(WireLimits::default());
    let log = Arc::default();
    for _ in 0..50 {
        let result = pair.call("execute", vec![object([("code", "x".into())]), dispatch(&log)]);
        let values = ["one", "two", "three"].map(|name| object([("value", name.into())]));
        assert_eq!(result, Ok(Value::Array(values.to_vec())));
        pair.assert_empty();
    }
    assert_eq!(log.lock().unwrap().len(), 150);
}

#[test]
fn an_error_with_its_code_survives_both_hops() {
    let mut pair = executor_pair(WireLimits::default());
    let thrown: Value = ErrorValue::new("TypeError", "tool failed").with_code("TOOL_ERR").into();
    let failing = thrown.clone();
    let dispatch = target_fn(move |_| {
        let failing = failing.clone();
        async move { Err(failing) }
    });
    assert_eq!(pair.call("execute", vec![Value::Null, Value::Local(dispatch)]), Err(thrown));
    pair.assert_empty();
}

#[test]
fn calls_begin_in_the_order_in_which_they_were_made() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let server = target_fn(move |call| {
        seen.lock().unwrap().push(call.args.into_iter().flatten().next().unwrap_or_default());
        async move {
            call.cancel.cancelled().await;
            Ok(Value::Null)
        }
    });
    let mut pair = Pair::new(nobody(), server);
    let main = pair.a.session.main();
    let pending: Vec<_> = (0..100).map(|n| pair.a.caller.call(&main, "f", vec![n.into()])).collect();
    pair.run();
    assert_eq!(*order.lock().unwrap(), (0..100).map(Value::from).collect::<Vec<_>>());
    drop(pending);
    pair.run();
    pair.assert_empty();
}

#[test]
fn dropping_a_call_cancels_it_at_the_other_side_with_everything_that_it_called() {
    let mut pair = executor_pair(WireLimits::default());
    let waits = target_fn(|call| async move {
        call.cancel.cancelled().await;
        Err(Value::error("cancelled"))
    });
    let main = pair.a.session.main();
    let pending = pair.a.caller.call(&main, "execute", vec![Value::Null, Value::Local(waits)]);
    pair.run();
    assert_eq!((pair.a.running_tasks(), pair.b.running_tasks()), (1, 1));
    drop(pending);
    pair.run();
    // The executor of this test looks at its token nowhere, so it is the session's end that stops it.
    assert_eq!(pair.b.session.stats().running, 1);
    pair.b.session.close();
    pair.a.session.transport_closed(3000, "");
    pair.run();
    assert_eq!(pair.a.running_tasks(), 0);
    pair.assert_empty();
}

#[test]
fn a_callback_that_was_cloned_outlives_its_call() {
    let kept: Arc<Mutex<Option<Stub>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let server = target_fn(move |call| {
        *keep.lock().unwrap() = stub_argument(call.args, 0);
        async { Ok("kept".into()) }
    });
    let mut pair = Pair::new(nobody(), server);
    assert_eq!(pair.call("keep", vec![Value::Local(echo())]), Ok("kept".into()));
    assert_eq!(pair.a.session.stats(), TableSizes { exports: 1, ..TableSizes::default() });
    let stub = kept.lock().unwrap().clone().unwrap();
    let back = pair.b.caller.call(&stub, "echo", vec![5.into()]);
    pair.run();
    assert_eq!(back.result(), Some(Ok(5.into())));
    drop(stub);
    *kept.lock().unwrap() = None;
    pair.run();
    pair.assert_empty();
}

#[test]
fn a_dropped_stub_wakes_the_driver() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    struct Count(AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let kept: Arc<Mutex<Option<Stub>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let mut peer = Peer::new(target_fn(move |call| {
        *keep.lock().unwrap() = stub_argument(call.args, 0);
        async { Ok(Value::Null) }
    }));
    peer.session.set_waker(Arc::clone(&count).into());
    peer.feed(&[r#"["push",["pipeline",0,["keep"],[["export",-1]]]]"#, r#"["release",1,1]"#]);
    let stub = kept.lock().unwrap().take().unwrap();
    drop(stub.clone());
    assert_eq!(count.0.load(Ordering::SeqCst), 0);
    drop(stub);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(peer.frames(), [r#"["release",-1,1]"#]);
}

#[test]
fn an_export_that_comes_again_while_its_release_is_under_way_stays_alive() {
    let kept: Arc<Mutex<Vec<Stub>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let mut peer = Peer::new(target_fn(move |call| {
        keep.lock().unwrap().extend(stub_argument(call.args, 0));
        async { Ok(Value::Null) }
    }));
    let push = r#"["push",["pipeline",0,["keep"],[["export",-1]]]]"#;
    peer.feed(&[push]);
    let first = kept.lock().unwrap().pop();
    // Dropped after the session last looked, before the next frame is handled.
    drop(first);
    peer.session.receive(push, peer.now);
    let frames = peer.frames();
    assert_eq!(frames, [r#"["release",-1,1]"#]);
    peer.feed(&[push]);
    assert_eq!(kept.lock().unwrap().len(), 2);
    kept.lock().unwrap().clear();
    assert_eq!(peer.frames(), [r#"["release",-1,2]"#]);
}

#[test]
fn calls_can_be_made_on_results_that_are_not_there_yet() {
    let server = target_fn(|call| async move {
        match call.method() {
            Some("counter") => Ok(Value::Local(echo())),
            _ => Err(ErrorValue::new("Error", "no").with_code("NO").into()),
        }
    });
    let mut pair = Pair::new(nobody(), server);
    let main = pair.a.session.main();
    let session = &mut pair.a.session;
    let counter = session.call(&main, vec!["counter".into()], Some(vec![]), CallMode::Pull).unwrap();
    let echoed = session.call_pipelined(counter, vec!["echo".into()], Some(vec!["x".into()]), CallMode::Pull).unwrap();
    let failed = session.call(&main, vec!["fail".into()], Some(vec![]), CallMode::Pull).unwrap();
    let after = session.call_pipelined(failed, vec!["foo".into(), "bar".into()], Some(vec![]), CallMode::Pull).unwrap();
    let mut settled = Vec::new();
    for _ in 0..20 {
        while let Some(output) = pair.a.session.poll_output() {
            match output {
                Output::Send(frame) => pair.b.session.receive(&frame, pair.b.now),
                Output::Settled { call, result } => settled.push((call, result)),
                _ => panic!("nothing else"),
            }
        }
        for frame in pair.b.frames() {
            pair.a.session.receive(&frame, pair.a.now);
        }
    }
    let error: Value = ErrorValue::new("Error", "no").with_code("NO").into();
    assert_eq!(settled.len(), 4);
    assert!(settled.contains(&(echoed, Ok("x".into()))));
    assert!(settled.contains(&(failed, Err(error.clone()))));
    assert!(settled.contains(&(after, Err(error))));
    let late = pair.a.session.call_pipelined(failed, vec![], Some(vec![]), CallMode::Pull);
    assert!(late.is_err(), "it has settled");
    drop(settled);
    pair.run();
    pair.assert_empty();
}

#[test]
fn a_property_of_the_peer_is_read_without_arguments() {
    let server = target_fn(|call| async move {
        match (call.method(), &call.args) {
            (Some("version"), None) => Ok(3.into()),
            _ => Err(not_a_function(&call.path)),
        }
    });
    let mut peer = Peer::new(server);
    assert_eq!(peer.feed(&[r#"["push",["pipeline",0,["version"]]]"#, r#"["pull",1]"#]), [r#"["resolve",1,3]"#]);
}

#[test]
fn an_unsettled_promise_is_given_up_in_time_while_other_calls_go_on() {
    let limits = WireLimits { promise_deadline: Duration::from_secs(60), ..WireLimits::default() };
    let mut pair = Pair { a: Peer::new(nobody()), b: Peer::with_limits(echo(), limits) };
    // Our own side never sends promises, so this frame is written by hand.
    pair.b.feed(&[r#"["push",["pipeline",0,["echo"],[["promise",-1]]]]"#, r#"["release",1,1]"#]);
    assert_eq!(pair.b.session.stats().parked, 1);
    pair.pass_time(Duration::from_secs(59));
    assert_eq!(pair.b.session.stats().parked, 1);
    pair.b.now += Duration::from_secs(1);
    pair.b.session.handle_timeout(pair.b.now);
    assert_eq!(pair.b.frames(), [r#"["release",-1,1]"#]);
    assert_eq!(pair.b.session.stats(), TableSizes::default());
}

#[test]
fn a_dead_connection_settles_every_call_on_both_sides_exactly_once() {
    let mut pair = executor_pair(WireLimits::default());
    let waits = target_fn(|call| async move {
        call.cancel.cancelled().await;
        Ok(Value::Null)
    });
    let main = pair.a.session.main();
    let pending: Vec<_> = (0..10)
        .map(|_| pair.a.caller.call(&main, "execute", vec![Value::Null, Value::Local(Arc::clone(&waits))]))
        .collect();
    pair.run();
    assert_eq!((pair.a.running_tasks(), pair.b.running_tasks()), (10, 10));
    pair.a.session.transport_closed(1006, "");
    pair.b.session.transport_closed(1006, "");
    pair.run();
    let died = Value::error("Peer closed WebSocket: 1006 ");
    for call in &pending {
        assert_eq!(call.result(), Some(Err(died.clone())));
    }
    assert_eq!((pair.a.running_tasks(), pair.b.running_tasks()), (0, 0));
    for peer in [&pair.a, &pair.b] {
        assert_eq!(peer.closed.as_ref().unwrap().origin, CloseOrigin::Transport);
    }
    pair.assert_empty();
    // Whatever is still called says the same.
    let late = pair.a.caller.call(&main, "execute", vec![]);
    pair.run();
    assert_eq!(late.result(), Some(Err(died)));
}

#[test]
fn a_main_object_is_told_apart_and_cannot_be_released() {
    let mut pair = Pair::new(nobody(), echo());
    let main = pair.a.session.main();
    assert!(main.is_main());
    drop(main);
    assert_eq!(pair.call("echo", vec![1.into()]), Ok(1.into()));
    pair.assert_empty();
}

#[test]
fn objects_travel_to_the_other_side_and_back_as_themselves() {
    let mut pair = Pair::new(nobody(), echo());
    let object = echo();
    let result = pair.call("echo", vec![Value::Array(vec![Value::Local(Arc::clone(&object)), 1.into()])]);
    assert_eq!(result, Ok(Value::Array(vec![Value::Local(object), 1.into()])));
    pair.assert_empty();
}

#[test]
fn trivial_calls_are_fast_enough_even_without_optimisation() {
    let mut pair = Pair::new(nobody(), echo());
    let started = std::time::Instant::now();
    for n in 0..2000 {
        assert_eq!(pair.call("echo", vec![n.into()]), Ok(n.into()));
    }
    pair.assert_empty();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
