use proptest::prelude::*;

use super::{
    world::{RULES, World},
    *,
};

#[derive(Clone, Debug)]
enum Step {
    Call(Kind, bool),
    End(prop::sample::Index),
    Drop(prop::sample::Index),
    Refuse(prop::sample::Index),
    Opened,
    NotOpened(bool),
    Broke,
    Cancel,
    Pass(u64),
    Dispose,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<bool>().prop_map(|named| Step::Call(Kind::Execution, named)),
        2 => Just(Step::Call(Kind::Other, false)),
        5 => any::<prop::sample::Index>().prop_map(Step::End),
        1 => any::<prop::sample::Index>().prop_map(Step::Drop),
        2 => any::<prop::sample::Index>().prop_map(Step::Refuse),
        5 => Just(Step::Opened),
        2 => prop::bool::weighted(0.1).prop_map(Step::NotOpened),
        2 => Just(Step::Broke),
        1 => Just(Step::Cancel),
        2 => (0u64..40_000).prop_map(Step::Pass),
        1 => prop::bool::weighted(0.1).prop_map(|dispose| if dispose { Step::Dispose } else { Step::Broke }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// [`World::obey`] holds the rules; here they meet every order of events.
    #[test]
    fn no_order_of_events_strands_a_call_or_a_session(
        steps in prop::collection::vec(step(), 1..120),
        (endpoints, attempts, rotate) in (1usize..4, 1u32..4, 1u64..5),
    ) {
        let rules = Rules { endpoints, attempts, rotate_after: NonZeroU64::new(rotate).unwrap(), ..RULES };
        let mut world = World::new(rules);
        let pick = |index: &prop::sample::Index, calls: Vec<CallId>| {
            if calls.is_empty() { None } else { Some(*index.get(&calls)) }
        };
        for step in steps {
            match step {
                Step::Call(kind, named) => {
                    world.named(kind, Some("name").filter(|_| named));
                }
                Step::End(index) => {
                    if let Some(call) = pick(&index, world.running.keys().copied().collect()) {
                        world.end(call);
                    }
                }
                Step::Drop(index) => {
                    if let Some(call) = pick(&index, world.waiting.iter().copied().collect()) {
                        world.end(call);
                    }
                }
                Step::Refuse(index) => {
                    if let Some(call) = pick(&index, world.running.keys().copied().collect()) {
                        world.refuse(call);
                    }
                }
                Step::Opened if world.opening.is_some() => world.opened(),
                Step::NotOpened(last) if world.opening.is_some() => {
                    world.not_opened(if last { ErrorCode::Unauthorized } else { ErrorCode::ConnectionRejected });
                }
                Step::Opened | Step::NotOpened(_) => {}
                Step::Broke => world.broke(),
                Step::Cancel => {
                    world.cancel("name");
                }
                Step::Pass(ms) => world.pass(ms),
                Step::Dispose => world.dispose(),
            }
        }
        // Whatever happened: when attempts fail, everybody hears of it; when calls end, sessions close.
        let mut rounds = 0;
        while world.opening.is_some() {
            world.not_opened(ErrorCode::ConnectionRejected);
            rounds += 1;
            prop_assert!(rounds <= endpoints * attempts as usize, "attempts end");
        }
        prop_assert!(world.waiting.is_empty());
        for call in world.running.keys().copied().collect::<Vec<_>>() {
            world.end(call);
        }
        prop_assert!(world.open.len() <= 1 && world.open.keys().copied().eq(world.policy.current()));
        world.dispose();
        prop_assert!(world.open.is_empty() && world.opening.is_none() && world.policy.calls.is_empty());
        prop_assert!(world.submissions.values().all(|&submissions| submissions <= attempts));
    }
}
