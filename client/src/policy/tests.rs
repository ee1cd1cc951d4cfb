use codemode_protocol::Started;

use super::{
    world::{RULES, World, error},
    *,
};

#[test]
fn calls_go_to_the_session_that_is_there() {
    let mut world = World::connected(RULES);
    world.run();
    world.call(Kind::Other);
    world.says("start c2 on s1, start c3 on s1");
}

#[test]
fn connecting_is_one_attempt_whatever_the_rules_say() {
    let mut world = World::new(RULES);
    let connect = world.policy.connect(world.now);
    world.waiting.insert(connect);
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("open s1 at e0 after 0, fail c1 with CONNECTION_REJECTED");
}

#[test]
fn everybody_waits_for_the_same_attempt_and_starts_in_order() {
    let mut world = World::connected(RULES);
    world.broke();
    world.says("close s1");
    for _ in 0..3 {
        world.run();
    }
    world.says("open s2 at e0 after 0");
    world.opened();
    world.says("start c2 on s2, start c3 on s2, start c4 on s2");
}

#[test]
fn waits_between_attempts_grow_linearly_and_end() {
    let mut world = World::connected(Rules { attempts: 4, ..RULES });
    world.broke();
    world.run();
    world.says("close s1, open s2 at e0 after 0");
    for (next, wait) in [(3, 100), (4, 200), (5, 300)] {
        world.not_opened(ErrorCode::ConnectionRejected);
        world.says(&format!("open s{next} at e0 after {wait}"));
        world.pass(wait);
    }
    world.run();
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("fail c2 with CONNECTION_REJECTED, fail c3 with CONNECTION_REJECTED");
    // The next call begins anew.
    world.run();
    world.says("open s6 at e0 after 0");
}

#[test]
fn without_reconnecting_there_is_a_single_attempt() {
    let mut world = World::connected(Rules { attempts: 1, ..RULES });
    world.broke();
    world.run();
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("close s1, open s2 at e0 after 0, fail c2 with CONNECTION_REJECTED");
    let refused = world.run();
    world.opened();
    world.refuse(refused);
    world.says("open s3 at e0 after 0, start c3 on s3, close s3, fail c3 with SHUTTING_DOWN");
}

#[test]
fn what_never_heals_stops_at_once() {
    for code in [ErrorCode::ProtocolMismatch, ErrorCode::Unauthorized] {
        let mut world = World::connected(Rules { endpoints: 2, ..RULES });
        world.broke();
        world.run();
        world.run();
        world.not_opened(code.clone());
        world.says(&format!("close s1, open s2 at e1 after 0, fail c2 with {code}, fail c3 with {code}"));
    }
}

#[test]
fn a_waiter_that_leaves_stops_nothing_for_others() {
    let mut world = World::connected(RULES);
    world.broke();
    let first = world.run();
    world.run();
    world.end(first);
    world.opened();
    world.says("close s1, open s2 at e0 after 0, start c3 on s2");
}

#[test]
fn an_attempt_that_nobody_waits_for_is_finished_but_not_repeated() {
    let mut world = World::connected(Rules { endpoints: 2, ..RULES });
    world.broke();
    let only = world.run();
    world.end(only);
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("close s1, open s2 at e1 after 0");
    // One that has given a session is used by whoever comes next.
    let only = world.run();
    world.end(only);
    world.opened();
    world.run();
    world.says("open s3 at e1 after 0, start c4 on s3");
}

#[test]
fn a_wait_that_nobody_waits_for_is_given_up() {
    let mut world = World::connected(RULES);
    world.broke();
    let only = world.run();
    world.not_opened(ErrorCode::ConnectionRejected);
    world.pass(99);
    world.end(only);
    world.says("close s1, open s2 at e0 after 0, open s3 at e0 after 100, close s3");
}

#[test]
fn settled_executions_rotate_the_session_and_other_calls_do_not() {
    let mut world = World::connected(RULES);
    for _ in 0..10 {
        let other = world.call(Kind::Other);
        world.end(other);
    }
    world.said.clear();
    world.run_through();
    world.run_through();
    world.says("start c12 on s1, start c13 on s1");
    world.run_through();
    world.says("start c14 on s1, close s1");
    world.run();
    world.says("open s2 at e0 after 0");
}

#[test]
fn a_retired_session_takes_no_new_call_and_closes_with_its_last_one() {
    let mut world = World::connected(RULES);
    let slow = world.run();
    let slower = world.call(Kind::Other);
    for _ in 0..3 {
        world.run_through();
    }
    world.said.clear();
    world.run();
    world.says("open s2 at e0 after 0");
    world.opened();
    world.end(slow);
    world.says("start c7 on s2");
    world.end(slower);
    world.says("close s1");
}

#[test]
fn a_broken_session_is_let_go_when_its_calls_have_failed() {
    let mut world = World::connected(RULES);
    let under_way = world.run();
    world.broke();
    world.run();
    world.says("start c2 on s1, open s2 at e0 after 0");
    world.end(under_way);
    world.says("close s1");
    world.opened();
    world.says("start c3 on s2");
}

#[test]
fn a_refused_run_goes_elsewhere_at_once() {
    let mut world = World::connected(Rules { endpoints: 2, ..RULES });
    let (first, second) = (world.run(), world.run());
    let finishing = world.run();
    world.said.clear();
    world.refuse(first);
    world.refuse(second);
    world.says("open s2 at e1 after 0");
    world.opened();
    world.says("start c2 on s2, start c3 on s2");
    // What the old server has accepted it may finish.
    world.end(finishing);
    world.says("close s1");
}

#[test]
fn a_late_refusal_does_not_cost_the_next_session() {
    let mut world = World::connected(RULES);
    let (first, second) = (world.run(), world.run());
    world.said.clear();
    world.refuse(first);
    world.says("open s2 at e0 after 100");
    world.opened();
    world.refuse(second);
    world.says("start c2 on s2, close s1, start c3 on s2");
}

#[test]
fn refusals_spend_the_attempts_and_the_last_one_is_told() {
    let mut world = World::connected(RULES);
    let run = world.run();
    world.refuse(run);
    world.says("start c2 on s1, close s1, open s2 at e0 after 100");
    world.opened();
    world.refuse(run);
    world.says("start c2 on s2, close s2, open s3 at e0 after 200");
    world.opened();
    world.refuse(run);
    world.says("start c2 on s3, close s3, fail c2 with SHUTTING_DOWN");
}

#[test]
fn failed_attempts_spend_a_refused_runs_too_and_others_keep_theirs() {
    let mut world = World::connected(RULES);
    let refused = world.run();
    world.refuse(refused);
    world.run();
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("start c2 on s1, close s1, open s2 at e0 after 100, open s3 at e0 after 100");
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("fail c2 with SHUTTING_DOWN, open s4 at e0 after 200");
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("fail c3 with CONNECTION_REJECTED");
}

#[test]
fn a_round_asks_every_endpoint_before_it_waits() {
    let mut world = World::connected(Rules { endpoints: 3, ..RULES });
    world.broke();
    world.run();
    world.not_opened(ErrorCode::ConnectionRejected);
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("close s1, open s2 at e1 after 0, open s3 at e2 after 0, open s4 at e0 after 0");
    world.not_opened(ErrorCode::ConnectionRejected);
    world.says("open s5 at e1 after 100");
}

#[test]
fn sessions_go_round_and_pass_over_what_failed_lately() {
    let mut world = World::connected(Rules { endpoints: 3, rotate_after: NonZeroU64::MIN, ..RULES });
    world.run_through();
    // Opens a session for one run, with so many failures before it; gives the endpoints that were asked.
    let asked = |world: &mut World, failures: usize| {
        world.said.clear();
        let run = world.run();
        for _ in 0..failures {
            world.not_opened(ErrorCode::ConnectionRejected);
            world.pass(1);
        }
        world.opened();
        world.end(run);
        let endpoint = |said: &String| said.starts_with("open").then(|| said.split(' ').nth(3).unwrap().to_owned());
        world.said.iter().filter_map(endpoint).collect::<Vec<_>>().join(" ")
    };
    let turns = [("e1", 0), ("e2", 0), ("e0", 0), ("e1 e2", 1), ("e0", 0), ("e2 e0 e1", 2)];
    for (expected, failures) in turns {
        assert_eq!(asked(&mut world, failures), expected);
    }
    // What answers is fit again; what failed is after its time.
    assert_eq!(asked(&mut world, 0), "e1");
    assert_eq!(asked(&mut world, 0), "e1");
    world.pass(rota::UNFIT.as_millis() as u64);
    assert_eq!(asked(&mut world, 0), "e2");
}

#[test]
fn a_run_is_cancelled_where_it_is() {
    let mut world = World::connected(RULES);
    let running = world.named(Kind::Execution, Some("AB-1"));
    assert_eq!(world.cancel("unknown"), Cancellation::Unknown);
    for _ in 0..3 {
        world.run_through();
    }
    world.run();
    world.opened();
    world.said.clear();
    // By the retired session that carries it.
    assert!(matches!(world.cancel("ab-1"), Cancellation::Asked(_)));
    world.says("start c7 on s1");
    world.end(running);
    assert_eq!(world.cancel("ab-1"), Cancellation::Unknown);
}

#[test]
fn a_run_that_waits_is_cancelled_without_a_session() {
    let mut world = World::connected(RULES);
    world.broke();
    world.named(Kind::Execution, Some("x"));
    world.run();
    assert_eq!(world.cancel("x"), Cancellation::Withdrawn);
    world.opened();
    world.says("close s1, open s2 at e0 after 0, fail c2 with CANCELLED, start c3 on s2");
}

#[test]
fn dispose_fails_what_waits_closes_everything_and_lets_nothing_in() {
    let mut world = World::connected(RULES);
    let on_retired = world.run();
    for _ in 0..3 {
        world.run_through();
    }
    world.run();
    world.said.clear();
    world.dispose();
    world.dispose();
    world.says("close s2, fail c6 with CONNECTION_BROKEN, close s1");
    // An attempt that was about to succeed has nobody left.
    assert!(!world.policy.opened(SessionId(2)));
    world.policy.not_opened(SessionId(2), error(ErrorCode::ConnectionRejected), world.now);
    world.refuse(on_retired);
    world.run();
    let cancel = world.cancel("x");
    assert!(matches!(cancel, Cancellation::Asked(_)));
    world.says("fail c2 with CONNECTION_BROKEN, fail c7 with CONNECTION_BROKEN, fail c8 with CONNECTION_BROKEN");
    assert_eq!(closed().started, Some(Started::No));
}

#[test]
fn an_attempt_without_a_runtime_fails_everybody() {
    let mut world = World::connected(RULES);
    world.broke();
    world.run();
    let session = world.opening.take().unwrap();
    world.policy.abandoned(session);
    world.says("close s1, open s2 at e0 after 0, fail c2 with CONNECTION_REJECTED");
}
