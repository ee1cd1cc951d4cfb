//! Two ends in memory, or one end against a peer driven by hand, on a clock that stands until everybody waits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Waker},
    time::Duration,
};

use codemode_protocol::capnweb::{ErrorValue, Value};
use codemode_transport::{
    CallError, CloseOrigin, Connection, Frame, PendingCall, Sent, TransportOptions,
    memory::{self, Side},
    start,
};
use futures_util::{Sink, SinkExt, StreamExt, future::join_all};
use support::{Counted, close_frame, echo, message, nothing, send, spawn, target, thrown_code};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

fn call(connection: &Connection, method: &str, args: Vec<Value>) -> PendingCall {
    connection.call(&connection.main(), &[method], args)
}

#[tokio::test(start_paused = true)]
async fn both_ends_call_each_other() {
    let (near, far, _kill) = memory::pair();
    let (near, _near) = spawn(near, echo(), TransportOptions::default());
    let (far, _far) = spawn(far, echo(), TransportOptions::default());
    for connection in [&near, &far] {
        let answers = join_all((0..100).map(|at| call(connection, "echo", vec![Value::from(at)]))).await;
        for (at, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.unwrap(), Value::Array(vec![Value::Number(at as f64)]));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_first_polled_in_the_order_in_which_they_came() {
    let (near, far, _kill) = memory::pair();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let main = target({
        let seen = seen.clone();
        move |call| {
            let seen = seen.clone();
            async move {
                seen.lock().unwrap().push(call.args.unwrap()[0].as_number().unwrap());
                tokio::task::yield_now().await;
                Ok(Value::Undefined)
            }
        }
    });
    let (_far, _) = spawn(far, main, TransportOptions::default());
    let (near, _) = spawn(near, nothing(), TransportOptions::default());
    let calls: Vec<_> = (0..200).map(|at| call(&near, "note", vec![Value::from(at)])).collect();
    join_all(calls).await;
    assert_eq!(*seen.lock().unwrap(), (0..200).map(f64::from).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_panic_rejects_its_call_and_nothing_else() {
    let (near, far, _kill) = memory::pair();
    let main = target(|call| async move {
        match call.method() {
            Some("at_once") => panic!("secret of the first kind"),
            Some("later") => {
                sleep(Duration::from_secs(1)).await;
                panic!("secret of the second kind")
            }
            _ => Ok(Value::Null),
        }
    });
    let (_far, _) = spawn(far, main, TransportOptions::default());
    let (near, _) = spawn(near, nothing(), TransportOptions::default());
    for method in ["at_once", "later"] {
        let error = call(&near, method, Vec::new()).await.unwrap_err();
        assert_eq!(thrown_code(&error), Some("INTERNAL"));
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
    assert_eq!(call(&near, "fine", Vec::new()).await.unwrap(), Value::Null);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_pending_call_releases_it_and_the_peer_cancels() {
    let (near, far, _kill) = memory::pair();
    let (events, mut seen) = mpsc::unbounded_channel();
    let main = target(move |call| {
        let events = events.clone();
        async move {
            events.send("started").unwrap();
            call.cancel.cancelled().await;
            events.send("cancelled").unwrap();
            Ok(Value::Null)
        }
    });
    let (_far, _) = spawn(far, main, TransportOptions::default());
    let (near, _) = spawn(near, nothing(), TransportOptions::default());
    let pending = call(&near, "wait", Vec::new());
    assert_eq!(seen.recv().await, Some("started"));
    drop(pending);
    assert_eq!(seen.recv().await, Some("cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_before_it_is_sent_is_never_sent() {
    let (near, mut peer, _kill) = memory::pair();
    let (near, driver) = start(near, nothing(), TransportOptions::default());
    drop(call(&near, "never", Vec::new()));
    let kept = call(&near, "kept", Vec::new());
    tokio::spawn(driver);
    assert_eq!(message(&mut peer).await, r#"["push",["pipeline",0,["kept"],[]]]"#);
    drop(kept);
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_released_at_once_and_still_runs() {
    let (near, far, _kill) = memory::pair();
    let (events, mut seen) = mpsc::unbounded_channel();
    let main = target(move |call| {
        let events = events.clone();
        async move {
            sleep(Duration::from_secs(1)).await;
            events.send(call.cancel.is_cancelled()).unwrap();
            Ok(Value::Null)
        }
    });
    let (_far, _) = spawn(far, main, TransportOptions::default());
    let (near, _) = spawn(near, nothing(), TransportOptions::default());
    near.notify(&near.main(), &["note"], Vec::new());
    assert_eq!(seen.recv().await, Some(false));
}

#[tokio::test(start_paused = true)]
async fn a_cut_breaks_every_call_and_says_which_were_written() {
    // The peer reads nothing and the wire holds one message, so the second call stays here.
    let (near, _peer, kill) = memory::pair_with_capacity(1);
    let (near, _) = spawn(near, nothing(), TransportOptions::default());
    let (written, unwritten) = (call(&near, "a", Vec::new()), call(&near, "b", Vec::new()));
    sleep(Duration::from_secs(1)).await;
    kill.cut();
    for (pending, expected) in
        [(written, Sent::Yes), (unwritten, Sent::No), (call(&near, "late", Vec::new()), Sent::No)]
    {
        let CallError::Broken { closed, sent } = pending.await.unwrap_err() else { panic!("not broken") };
        assert_eq!((sent, closed.origin, closed.code), (expected, CloseOrigin::Transport, 1006));
    }
    assert!(near.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_cut_of_one_direction_ends_both_sessions() {
    for writer in [Side::Near, Side::Far] {
        let (near, far, kill) = memory::pair();
        let (near, _near) = spawn(near, nothing(), TransportOptions::default());
        let (far, _far) = spawn(far, nothing(), TransportOptions::default());
        let pending = call(&near, "nothing", Vec::new());
        kill.cut_from(writer);
        assert!(pending.await.is_err());
        near.closed().await;
        far.closed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_loses_its_session_after_the_stall_deadline() {
    let (near, _peer, _kill) = memory::pair_with_capacity(1);
    let (near, driver) = spawn(near, nothing(), TransportOptions::default());
    let begun = Instant::now();
    let (first, second) = (call(&near, "a", Vec::new()), call(&near, "b", Vec::new()));
    let closed = near.closed().await;
    assert_eq!(begun.elapsed().as_secs(), 30);
    assert_eq!((closed.error_code(), closed.origin), (Some("LIMIT_EXCEEDED"), CloseOrigin::Local));
    assert!(closed.message().contains("30000 ms"), "{closed}");
    assert!(first.await.is_err() && second.await.is_err());
    driver.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 35, "the farewell is bounded");
}

#[tokio::test(start_paused = true)]
async fn bytes_that_the_network_takes_are_progress_and_a_large_message_earns_nothing_more() {
    let (near, _peer, _kill) = memory::pair_with_capacity(1);
    let counted = Counted::new(near);
    let traffic = counted.traffic.clone();
    let (near, _) = spawn(counted, nothing(), TransportOptions::default());
    let begun = Instant::now();
    near.notify(&near.main(), &["large"], vec![Value::from("x".repeat(24 << 20))]);
    near.notify(&near.main(), &["next"], Vec::new());
    for _ in 0..10 {
        sleep(Duration::from_secs(20)).await;
        traffic.lock().unwrap().taken += 1;
    }
    assert!(!near.is_closed());
    let closed = near.closed().await;
    assert_eq!(closed.error_code(), Some("LIMIT_EXCEEDED"));
    // One deadline after the last byte was seen, which is at the latest a tenth of one after it was taken.
    let elapsed = begun.elapsed().as_secs();
    assert!((230..=233).contains(&elapsed), "{elapsed}");
}

#[tokio::test(start_paused = true)]
async fn bytes_of_an_unfinished_message_are_life() {
    let (near, _peer, kill) = memory::pair();
    kill.freeze(Side::Far);
    let counted = Counted::new(near);
    let traffic = counted.traffic.clone();
    let (near, _) = spawn(counted, nothing(), TransportOptions::default());
    for _ in 0..60 {
        sleep(Duration::from_secs(5)).await;
        traffic.lock().unwrap().read += 1;
    }
    assert!(!near.is_closed());
    let begun = Instant::now();
    let closed = near.closed().await;
    assert!(closed.message().contains("no answer to a ping"), "{closed}");
    assert!(begun.elapsed().as_secs() <= 50, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_holds_the_bounded_queue_and_loses_nothing() {
    let options = TransportOptions { outbound_bytes: 1000, ..TransportOptions::default() };
    let (near, mut peer, kill) = memory::pair_with_capacity(1);
    let (near, _) = spawn(near, nothing(), options);
    for at in 0..50 {
        near.notify(&near.main(), &["note"], vec![Value::from(at), Value::from("x".repeat(400))]);
    }
    let mut notes = 0;
    while notes < 50 {
        sleep(Duration::from_secs(10)).await;
        assert!(kill.under_way(Side::Near) <= 1000, "one message at a time is under way");
        if message(&mut peer).await.contains(&format!(r#"["note"],[{notes},"#)) {
            notes += 1;
        }
    }
    assert!(!near.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_floods_without_reading_is_no_longer_read() {
    let options = TransportOptions { outbound_bytes: 4096, ..TransportOptions::default() };
    let (near, mut peer, kill) = memory::pair_with_capacity(256);
    let (near, _) = spawn(near, nothing(), options);
    let mut sent = 0;
    let blocked = timeout(Duration::from_secs(1), async {
        // Each literal that is pushed and pulled is answered at once.
        loop {
            sent += 1;
            send(&mut peer, &format!(r#"["push","{}"]"#, "x".repeat(100))).await;
            send(&mut peer, &format!(r#"["pull",{sent}]"#)).await;
        }
    });
    assert!(blocked.await.is_err(), "the flood went on");
    assert!(sent < 200, "{sent} messages were read");
    assert!(kill.under_way(Side::Near) < 1024);
    // Answers are there as soon as they are wanted, and reading goes on.
    for at in 1..sent {
        assert!(message(&mut peer).await.starts_with(&format!(r#"["resolve",{at},"#)));
    }
    assert!(!near.is_closed());
}

#[tokio::test(start_paused = true)]
async fn two_ends_with_full_queues_do_not_block_each_other() {
    let options = TransportOptions { outbound_bytes: 4096, ..TransportOptions::default() };
    let (near, far, _kill) = memory::pair_with_capacity(512);
    let big = target(|_| async {
        tokio::task::yield_now().await;
        Ok(Value::from("x".repeat(3000)))
    });
    let (near, _near) = spawn(near, big.clone(), options.clone());
    let (far, _far) = spawn(far, big, options);
    let calls = (0..50).flat_map(|_| [call(&near, "big", Vec::new()), call(&far, "big", Vec::new())]);
    for answer in timeout(Duration::from_secs(1), join_all(calls)).await.unwrap() {
        answer.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_lives_on_pings() {
    let (near, far, _kill) = memory::pair();
    let (near, _near) = spawn(near, nothing(), TransportOptions::default());
    let (far, _far) = spawn(far, echo(), TransportOptions::default());
    sleep(Duration::from_secs(3600)).await;
    assert!(!far.is_closed());
    call(&near, "echo", Vec::new()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dead_peer_is_found_by_the_pong_deadline() {
    let (near, far, kill) = memory::pair();
    let (near, driver) = spawn(near, nothing(), TransportOptions::default());
    let (_far, _) = spawn(far, echo(), TransportOptions::default());
    call(&near, "echo", Vec::new()).await.unwrap();
    let begun = Instant::now();
    kill.freeze(Side::Far);
    let pending = call(&near, "echo", Vec::new());
    let CallError::Broken { closed, sent } = pending.await.unwrap_err() else { panic!("not broken") };
    assert_eq!(begun.elapsed().as_secs(), 30);
    assert_eq!((sent, closed.origin), (Sent::Yes, CloseOrigin::Transport));
    assert!(closed.message().contains("10000 ms"), "{closed}");
    driver.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 30, "nothing is said to the dead");
}

#[tokio::test(start_paused = true)]
async fn a_binary_frame_gets_the_abort_first_and_then_the_close_frame() {
    let (near, mut peer, _kill) = memory::pair();
    let (_near, driver) = spawn(near, nothing(), TransportOptions::default());
    peer.send(Frame::Binary).await.unwrap();
    let abort = message(&mut peer).await;
    assert!(abort.starts_with(r#"["abort",["error","#) && abort.contains("PROTOCOL_VIOLATION"), "{abort}");
    assert_eq!(close_frame(&mut peer).await.0, 3000);
    drop(peer);
    assert_eq!(driver.await.unwrap().origin, CloseOrigin::Local);
}

#[tokio::test(start_paused = true)]
async fn an_abort_reaches_the_peer_with_its_code_and_after_what_was_asked_for_before() {
    let (near, far, _kill) = memory::pair();
    let (events, mut seen) = mpsc::unbounded_channel();
    let main = target(move |call| {
        events.send(call.args.unwrap()[0].as_number()).unwrap();
        async { Ok(Value::Null) }
    });
    let (far, _far) = spawn(far, main, TransportOptions::default());
    let (near, _near) = spawn(near, nothing(), TransportOptions::default());
    near.notify(&near.main(), &["note"], vec![Value::from(1)]);
    near.abort(ErrorValue::new("Error", "draining").with_code("SHUTTING_DOWN"));
    let closed = far.closed().await;
    assert_eq!((closed.error_code(), closed.origin), (Some("SHUTTING_DOWN"), CloseOrigin::Peer));
    assert_eq!(closed.message(), "draining");
    assert_eq!(seen.recv().await, Some(Some(1.0)));
    assert_eq!(near.closed().await.origin, CloseOrigin::Local);
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_closes_cleanly_and_not_before() {
    let (near, mut peer, _kill) = memory::pair();
    let (near, driver) = spawn(near, nothing(), TransportOptions::default());
    let pending = call(&near, "slow", Vec::new());
    drop(near);
    assert_eq!(message(&mut peer).await, r#"["push",["pipeline",0,["slow"],[]]]"#);
    assert_eq!(message(&mut peer).await, r#"["pull",1]"#);
    send(&mut peer, r#"["resolve",1,7]"#).await;
    assert_eq!(pending.await.unwrap(), Value::from(7));
    assert_eq!(message(&mut peer).await, r#"["release",1,1]"#);
    let (code, reason) = close_frame(&mut peer).await;
    assert_eq!((code, reason.as_str()), (3000, "RPC session was shut down by disposing the main stub"));
    drop(peer);
    driver.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_ends_the_session_with_its_code() {
    let (near, mut peer, _kill) = memory::pair();
    let (near, driver) = spawn(near, nothing(), TransportOptions::default());
    let pending = call(&near, "slow", Vec::new());
    peer.send(Frame::Close { code: 4001, reason: "bye".into() }).await.unwrap();
    let CallError::Broken { closed, .. } = pending.await.unwrap_err() else { panic!("not broken") };
    assert_eq!((closed.code, closed.origin), (4001, CloseOrigin::Transport));
    while peer.next().await.is_some_and(|frame| frame.is_ok()) {}
    drop(peer);
    driver.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_driver_breaks_its_calls_and_cancels_what_it_ran() {
    let (near, far, _kill) = memory::pair();
    let (events, mut seen) = mpsc::unbounded_channel();
    let main = target(move |call| {
        let events = events.clone();
        async move {
            events.send("started").unwrap();
            call.cancel.cancelled().await;
            events.send("cancelled").unwrap();
            Ok(Value::Null)
        }
    });
    let (far, far_driver) = spawn(far, main, TransportOptions::default());
    let (near, near_driver) = spawn(near, nothing(), TransportOptions::default());
    let pending = call(&near, "wait", Vec::new());
    assert_eq!(seen.recv().await, Some("started"));
    near_driver.abort();
    assert!(matches!(pending.await.unwrap_err(), CallError::Broken { sent: Sent::Yes, .. }));
    assert!(near.is_closed());
    assert!(matches!(call(&near, "late", Vec::new()).await.unwrap_err(), CallError::Broken { sent: Sent::No, .. }));
    assert_eq!(seen.recv().await, Some("cancelled"));
    far.closed().await;
    far_driver.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_queue_are_refused() {
    let options = TransportOptions { queued_calls: 2, ..TransportOptions::default() };
    let (near, _peer, _kill) = memory::pair();
    // Not driven, so nothing leaves the queue.
    let (near, _driver) = start(near, nothing(), options);
    let _waiting = [call(&near, "a", Vec::new()), call(&near, "b", Vec::new())];
    let error = call(&near, "c", Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "the call was not sent: 2 calls already wait for the connection");
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_bound_on_bytes_are_refused_and_a_single_one_never_is() {
    let options = TransportOptions { queued_bytes: 3000, ..TransportOptions::default() };
    let (near, _peer, _kill) = memory::pair();
    // Not driven, so nothing leaves the queue.
    let (near, _driver) = start(near, nothing(), options);
    let _waiting = [call(&near, "a", vec![Value::from("x".repeat(5000))])];
    let error = call(&near, "b", vec![Value::from("x")]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the call was not sent: calls of 3000 bytes in all may wait for the connection, and this one would be too much"
    );
}

#[tokio::test(start_paused = true)]
async fn the_bound_on_bytes_counts_what_waits_for_the_socket_and_is_free_again_once_it_has_left() {
    let options = TransportOptions { queued_bytes: 5000, outbound_bytes: 1000, ..TransportOptions::default() };
    let (near, mut peer, _kill) = memory::pair_with_capacity(1);
    let (near, _) = spawn(near, nothing(), options);
    let text = || vec![Value::from("x".repeat(2000))];
    // One is with the socket, one waits for it, one in the mailbox.
    let mut waiting = Vec::new();
    for method in ["a", "b", "c"] {
        waiting.push(call(&near, method, text()));
        sleep(Duration::from_millis(1)).await;
    }
    assert!(matches!(call(&near, "d", text()).await, Err(CallError::Refused(_))));
    for method in ["a", "b", "c"] {
        while !message(&mut peer).await.contains(&format!(r#"["{method}"]"#)) {}
    }
    let fifth = call(&near, "e", text());
    while !message(&mut peer).await.contains(r#"["e"]"#) {}
    drop((waiting, fifth));
}

#[tokio::test]
async fn a_frozen_direction_fills_up_and_thaws() {
    let (mut near, mut far, kill) = memory::pair_with_capacity(4);
    kill.freeze(Side::Near);
    near.send(Frame::Text("full".into())).await.unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut near).poll_ready(&mut cx).is_pending());
    assert!(far.poll_next_unpin(&mut cx).is_pending());
    kill.thaw(Side::Near);
    assert_eq!(far.next().await, Some(Ok(Frame::Text("full".into()))));
    assert!(Pin::new(&mut near).poll_ready(&mut cx).is_ready());
    drop(near);
    assert_eq!(far.next().await, None);
}
