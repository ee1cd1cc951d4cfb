use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::Index};

use super::*;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const FREE: TenantBounds = TenantBounds { permits: usize::MAX, queue: usize::MAX, retained: usize::MAX };

const BOUNDS: Bounds = Bounds { permits: 2, memory: 100, queue: 4, wait: ms(1000), lease: ms(30_000), tenant: FREE };

fn caller(tenant: &str, session: u64) -> Caller {
    Caller { tenant: Some(tenant.into()), session }
}

fn arrival(ticket: u64, caller: Caller, memory: u64) -> Arrival {
    Arrival { ticket: Ticket(ticket), caller, memory, wish: Wish::Run }
}

fn rulings(admission: &mut Admission) -> Vec<Ruling> {
    std::iter::from_fn(|| admission.poll()).collect()
}

/// The tickets that were granted since the last look; nobody may have been refused.
fn granted(admission: &mut Admission) -> Vec<u64> {
    let granted = |ruling| match ruling {
        Ruling::Granted { ticket, .. } => ticket.0,
        refused @ Ruling::Refused { .. } => panic!("{refused:?}"),
    };
    rulings(admission).into_iter().map(granted).collect()
}

fn refused(admission: &mut Admission) -> Vec<(u64, Refusal)> {
    let refused = |ruling| match ruling {
        Ruling::Refused { ticket, refusal } => Some((ticket.0, refusal)),
        Ruling::Granted { .. } => None,
    };
    rulings(admission).into_iter().filter_map(refused).collect()
}

fn end(admission: &mut Admission, ticket: u64, now: Duration) {
    admission.end(Ticket(ticket), ms(1), Rest::Nothing, now);
}

#[test]
fn a_session_that_floods_delays_no_other_by_more_than_a_turn() {
    let mut admission = Admission::new(Bounds { permits: 1, queue: 100, ..BOUNDS });
    (0..50).for_each(|ticket| admission.arrive(arrival(ticket, caller("a", 1), 1), ms(0)));
    (50..53).for_each(|ticket| admission.arrive(arrival(ticket, caller("a", 2), 1), ms(1)));
    admission.arrive(arrival(53, caller("b", 3), 1), ms(2));
    let mut order = granted(&mut admission);
    while let Some(last) = order.last().copied() {
        end(&mut admission, last, ms(3));
        let next = granted(&mut admission);
        if next.is_empty() {
            break;
        }
        order.extend(next);
    }
    assert_eq!(order[..8], [0, 1, 53, 50, 2, 51, 3, 52]);
    assert_eq!(order.len(), 54);
}

#[test]
fn a_full_queue_gives_a_place_to_whoever_has_fewer() {
    let mut admission = Admission::new(BOUNDS);
    (0..6).for_each(|ticket| admission.arrive(arrival(ticket, caller("a", 1), 1), ms(0)));
    assert_eq!(granted(&mut admission), [0, 1]);
    admission.arrive(arrival(6, caller("a", 1), 1), ms(0));
    assert!(matches!(refused(&mut admission)[..], [(6, Refusal::QueueFull(after))] if after >= ms(50)));
    admission.arrive(arrival(7, caller("a", 2), 1), ms(0));
    assert!(matches!(refused(&mut admission)[..], [(5, Refusal::Displaced(_))]));
    admission.arrive(arrival(8, caller("b", 3), 1), ms(0));
    assert!(matches!(refused(&mut admission)[..], [(4, Refusal::Displaced(_))]));
    admission.arrive(arrival(9, caller("b", 3), 1), ms(0));
    assert!(matches!(refused(&mut admission)[..], [(3, Refusal::Displaced(_))]), "a has three places, b two");
    admission.arrive(arrival(10, caller("b", 3), 1), ms(0));
    assert!(matches!(refused(&mut admission)[..], [(10, Refusal::QueueFull(_))]), "both have two");
}

#[test]
fn a_tenant_at_its_ceiling_waits_and_holds_nobody_up() {
    let tenant = TenantBounds { permits: 1, queue: 2, retained: 1 };
    let mut admission = Admission::new(Bounds { permits: 3, queue: 100, tenant, ..BOUNDS });
    (0..4).for_each(|ticket| admission.arrive(arrival(ticket, caller("a", 1), 1), ms(0)));
    let found = rulings(&mut admission);
    assert!(
        matches!(
            found[..],
            [
                Ruling::Granted { ticket: Ticket(0), .. },
                Ruling::Refused { ticket: Ticket(3), refusal: Refusal::TenantQueueFull(_) }
            ]
        ),
        "{found:?}"
    );
    admission.arrive(arrival(4, caller("b", 2), 1), ms(0));
    assert_eq!(granted(&mut admission), [4]);
    end(&mut admission, 4, ms(1));
    assert_eq!(granted(&mut admission), [0; 0]);
    end(&mut admission, 0, ms(2));
    assert_eq!(granted(&mut admission), [1]);
}

#[test]
fn retained_executions_hold_memory_and_no_permit_and_are_bounded_by_tenant() {
    let tenant = TenantBounds { retained: 1, ..FREE };
    let mut admission = Admission::new(Bounds { permits: 1, tenant, ..BOUNDS });
    for (ticket, may) in [(0, true), (1, false)] {
        admission.arrive(arrival(ticket, caller("a", 1), 40), ms(0));
        assert_eq!(granted(&mut admission), [ticket]);
        admission.end(Ticket(ticket), ms(1), Rest::Retained, ms(1));
        assert_eq!(admission.may_retain(Ticket(ticket)), may, "{ticket}");
    }
    assert_eq!(admission.holdings(), Holdings { runs: 0, leases: 0, retained: 2, memory: 80, waiting: 0 });
    admission.arrive(arrival(2, caller("b", 2), 40), ms(2));
    assert_eq!(granted(&mut admission), [0; 0], "80 of 100 are taken");
    admission.withdraw(Ticket(0), ms(3));
    assert_eq!(granted(&mut admission), [2]);
    assert_eq!(admission.holdings(), Holdings { runs: 1, leases: 0, retained: 1, memory: 80, waiting: 0 });
}

#[test]
fn one_that_wants_much_memory_is_passed_by_others_for_a_while_and_then_by_nobody() {
    let mut admission = Admission::new(Bounds { permits: 3, queue: 100, ..BOUNDS });
    admission.arrive(arrival(0, caller("a", 1), 50), ms(0));
    admission.arrive(arrival(1, caller("b", 2), 90), ms(0));
    assert_eq!(granted(&mut admission), [0]);
    let mut last = None;
    for ticket in 2..=4 {
        admission.arrive(arrival(ticket, caller("c", 3), 10), ms(1));
        assert_eq!(granted(&mut admission), [ticket], "it passes");
        if let Some(last) = last.replace(ticket) {
            end(&mut admission, last, ms(1));
        }
    }
    admission.arrive(arrival(5, caller("c", 3), 10), ms(1));
    assert_eq!(granted(&mut admission), [0; 0], "enough have passed");
    end(&mut admission, 0, ms(2));
    assert_eq!(granted(&mut admission), [1]);
    end(&mut admission, 4, ms(3));
    assert_eq!(granted(&mut admission), [5]);
}

#[test]
fn one_that_no_runs_end_could_serve_holds_nobody_up_and_waits_its_time() {
    let mut admission = Admission::new(BOUNDS);
    admission.arrive(arrival(0, caller("a", 1), 50), ms(0));
    admission.end(Ticket(0), ms(1), Rest::Retained, ms(0));
    admission.arrive(arrival(1, caller("b", 2), 60), ms(0));
    granted(&mut admission);
    for ticket in 2..20 {
        admission.arrive(arrival(ticket, caller("c", 3), 10), ms(1));
        assert_eq!(granted(&mut admission), [ticket]);
        end(&mut admission, ticket, ms(1));
    }
    admission.advance(ms(999));
    assert_eq!(refused(&mut admission), []);
    admission.advance(ms(1000));
    assert!(matches!(refused(&mut admission)[..], [(1, Refusal::Waited(_))]));
}

#[test]
fn a_hint_is_the_measured_pace_times_the_place() {
    let mut admission = Admission::new(Bounds { permits: 1, queue: 100, ..BOUNDS });
    (0..101).for_each(|ticket| admission.arrive(arrival(ticket, caller("a", 1), 1), ms(0)));
    // One ends every 20 ms, and another comes.
    for ticket in 0..200 {
        end(&mut admission, ticket, ms(20 * (ticket + 1)));
        admission.arrive(arrival(ticket + 101, caller("a", 1), 1), ms(20 * (ticket + 1)));
    }
    rulings(&mut admission);
    admission.arrive(arrival(1000, caller("a", 1), 1), ms(4000));
    let found = refused(&mut admission);
    let [(1000, Refusal::QueueFull(after))] = found[..] else { panic!("{found:?}") };
    assert!(after > ms(1900) && after < ms(2200), "the 101st place at 20 ms each: {after:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Arrive {
        tenant: u8,
        session: u64,
        memory: u64,
        lease: bool,
    },
    /// Of those that wait.
    GiveUp(Index),
    Begin(Index),
    Release(Index),
    End(Index),
    Retain(Index),
    Free(Index),
    Pass(u64),
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0_u8..3, 0_u64..3, 1_u64..130, any::<bool>())
            .prop_map(|(tenant, session, memory, lease)| Step::Arrive { tenant, session, memory, lease }),
        1 => any::<Index>().prop_map(Step::GiveUp),
        3 => any::<Index>().prop_map(Step::Begin),
        1 => any::<Index>().prop_map(Step::Release),
        5 => any::<Index>().prop_map(Step::End),
        1 => any::<Index>().prop_map(Step::Retain),
        1 => any::<Index>().prop_map(Step::Free),
        2 => (1_u64..2000).prop_map(Step::Pass),
        1 => Just(Step::Close),
    ];
    vec(step, 0..120)
}

/// What a caller knows of its tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waits { since: Duration },
    Runs,
    Leased { since: Duration },
    Retained,
}

/// Tickets as their callers see them, from the rulings alone.
struct World {
    admission: Admission,
    bounds: Bounds,
    stages: BTreeMap<Ticket, (Stage, u64)>,
    now: Duration,
    closed: bool,
}

impl World {
    fn settle(&mut self) {
        while let Some(ruling) = self.admission.poll() {
            match ruling {
                Ruling::Granted { ticket, wish } => {
                    let (stage, _) = self.stages.get_mut(&ticket).expect("nobody is granted what they gave up");
                    assert!(matches!(stage, Stage::Waits { .. }), "{ticket:?} is granted in {stage:?}");
                    *stage = match wish {
                        Wish::Run => Stage::Runs,
                        Wish::Lease => Stage::Leased { since: self.now },
                    };
                }
                Ruling::Refused { ticket, .. } => {
                    let (stage, _) = self.stages.remove(&ticket).expect("nobody is refused twice");
                    assert!(matches!(stage, Stage::Waits { .. }), "{ticket:?} is refused in {stage:?}");
                }
            }
        }
        let lease = self.bounds.lease;
        let expired = |stage: &Stage| matches!(*stage, Stage::Leased { since } if since + lease <= self.now);
        let closed = self.closed;
        self.stages.retain(|_, (stage, _)| !(expired(stage) || closed && matches!(stage, Stage::Leased { .. })));
        self.check();
    }

    fn check(&self) {
        let count = |found: fn(&Stage) -> bool| self.stages.values().filter(|(stage, _)| found(stage)).count();
        let expected = Holdings {
            runs: count(|stage| *stage == Stage::Runs),
            leases: count(|stage| matches!(stage, Stage::Leased { .. })),
            retained: count(|stage| *stage == Stage::Retained),
            memory: self
                .stages
                .values()
                .filter(|(stage, _)| !matches!(stage, Stage::Waits { .. }))
                .map(|(_, memory)| memory)
                .sum(),
            waiting: count(|stage| matches!(stage, Stage::Waits { .. })),
        };
        assert_eq!(self.admission.holdings(), expected);
        assert!(expected.runs + expected.leases <= self.bounds.permits);
        assert!(expected.memory <= self.bounds.memory);
        assert!(expected.waiting <= self.bounds.queue);
        for (stage, _) in self.stages.values() {
            if let Stage::Waits { since } = stage {
                assert!(self.now < *since + self.bounds.wait, "nobody waits beyond the bound");
            }
        }
    }

    fn pick(&self, index: &Index, found: fn(&Stage) -> bool) -> Option<Ticket> {
        let found: Vec<_> =
            self.stages.iter().filter(|(_, (stage, _))| found(stage)).map(|(ticket, _)| *ticket).collect();
        if found.is_empty() { None } else { Some(*index.get(&found)) }
    }

    /// One that holds a permit or memory.
    fn holder(&self) -> Option<Ticket> {
        let mut holders = self.stages.iter().filter(|(_, (stage, _))| !matches!(stage, Stage::Waits { .. }));
        holders.next().map(|(ticket, _)| *ticket)
    }

    fn gone(&mut self, ticket: Ticket) {
        self.stages.remove(&ticket);
        self.admission.withdraw(ticket, self.now);
    }
}

proptest! {
    #[test]
    fn no_order_of_events_leaks_a_permit_or_memory_or_strands_one_who_waits(
        steps in steps(),
        permits in 1_usize..4,
        queue in 0_usize..6,
        own in 1_usize..4,
    ) {
        let tenant = TenantBounds { permits: own, queue: own, retained: own };
        let bounds = Bounds { permits, queue, tenant, ..BOUNDS };
        let admission = Admission::new(bounds);
        let mut world = World { admission, bounds, stages: BTreeMap::new(), now: ms(0), closed: false };
        for (ticket, step) in (0..).map(Ticket).zip(steps) {
            let now = world.now;
            match step {
                Step::Arrive { tenant, session, memory, lease } => {
                    let wish = if lease { Wish::Lease } else { Wish::Run };
                    let caller = caller(&tenant.to_string(), session);
                    world.stages.insert(ticket, (Stage::Waits { since: now }, memory.min(bounds.memory)));
                    world.admission.arrive(Arrival { ticket, caller, memory, wish }, now);
                }
                Step::GiveUp(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| matches!(stage, Stage::Waits { .. })) {
                        world.gone(ticket);
                    }
                }
                Step::Begin(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| matches!(stage, Stage::Leased { .. })) {
                        prop_assert!(world.admission.begin(ticket));
                        world.stages.get_mut(&ticket).unwrap().0 = Stage::Runs;
                    }
                }
                Step::Release(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| matches!(stage, Stage::Leased { .. })) {
                        world.gone(ticket);
                        prop_assert!(!world.admission.begin(ticket));
                    }
                }
                Step::End(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| *stage == Stage::Runs) {
                        world.stages.remove(&ticket);
                        world.admission.end(ticket, ms(1), Rest::Nothing, now);
                    }
                }
                Step::Retain(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| *stage == Stage::Runs) {
                        world.admission.end(ticket, ms(1), Rest::Retained, now);
                        world.stages.get_mut(&ticket).unwrap().0 = Stage::Retained;
                    }
                }
                Step::Free(index) => {
                    if let Some(ticket) = world.pick(&index, |stage| *stage == Stage::Retained) {
                        world.gone(ticket);
                    }
                }
                Step::Pass(time) => {
                    world.now += ms(time);
                    let due = world.admission.next_deadline();
                    world.admission.advance(world.now);
                    prop_assert!(world.admission.next_deadline().is_none_or(|due| due > world.now), "{due:?}");
                }
                Step::Close => {
                    // Late in a life, or nothing else would be seen.
                    if ticket.0 > 90 {
                        world.closed = true;
                        world.admission.close(now);
                    }
                }
            }
            world.settle();
        }
        // As runs end and leases are given back, everybody who waits is served.
        while let Some(ticket) = world.holder() {
            world.gone(ticket);
            world.settle();
        }
        prop_assert_eq!(world.admission.holdings(), Holdings::default());
        prop_assert!(world.admission.tenants.is_empty() && world.admission.held.is_empty());
        prop_assert!(world.admission.queue.is_empty() && world.admission.leases.is_empty());
    }
}
