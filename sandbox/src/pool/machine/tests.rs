use codemode_protocol::Caller;

use super::{super::admission::TenantBounds, *};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const CAPACITY: Capacity = capacity(2, 2, 1, ms(1000));

const fn capacity(permits: usize, warm: usize, queue: usize, wait: Duration) -> Capacity {
    let tenant = TenantBounds { permits: usize::MAX, queue: usize::MAX, retained: usize::MAX };
    Capacity { admission: Bounds { permits, memory: 1000, queue, wait, lease: ms(30_000), tenant }, warm }
}

/// A run of the one caller there is.
fn run(ticket: u64) -> Arrival {
    Arrival { ticket: Ticket(ticket), caller: Caller::default(), memory: 1, wish: Wish::Run }
}

fn done(machine: &mut Machine, ticket: u64, now: Duration) {
    machine.finished(Ticket(ticket), ms(5), Rest::Nothing, now);
}

/// What stands where, but for memory and leases.
fn stand(machine: &Machine, now: Duration) -> (usize, usize, usize, bool) {
    let Census { idle, running, waiting, supplied, .. } = machine.census(now);
    (idle, running, waiting, supplied)
}

fn actions(machine: &mut Machine) -> Vec<Action> {
    std::iter::from_fn(|| machine.poll_action()).collect()
}

/// A machine with a zygote and its two warm children, 0 and 1.
fn supplied() -> Machine {
    let mut machine = Machine::new(CAPACITY);
    assert_eq!(actions(&mut machine), [Action::StartZygote]);
    machine.zygote_up(ms(0));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(0), count: 2 }]);
    machine.forked(ChildId(0), ms(0));
    machine.forked(ChildId(1), ms(0));
    assert_eq!(actions(&mut machine), []);
    machine
}

fn assign(ticket: u64, child: u64) -> Action {
    Action::Assign { ticket: Ticket(ticket), child: ChildId(child) }
}

#[test]
fn a_run_gets_the_oldest_child_and_its_end_brings_a_new_one() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(1));
    assert_eq!(actions(&mut machine), [assign(1, 0)], "no fork while the run is under way");
    done(&mut machine, 1, ms(6));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(2), count: 1 }]);
}

#[test]
fn children_are_made_at_once_when_they_run_short() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(1));
    machine.arrive(run(2), ms(1));
    assert_eq!(actions(&mut machine), [assign(1, 0), assign(2, 1), Action::Fork { first: ChildId(2), count: 2 }]);
}

#[test]
fn a_run_with_a_permit_waits_for_a_fork_and_takes_no_place_in_the_queue() {
    let mut machine = Machine::new(capacity(2, 0, 0, ms(1000)));
    machine.zygote_up(ms(0));
    actions(&mut machine);
    machine.arrive(run(1), ms(1));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(0), count: 1 }]);
    machine.forked(ChildId(0), ms(2));
    assert_eq!(actions(&mut machine), [assign(1, 0)]);
}

#[test]
fn the_queue_is_served_in_order_as_permits_come_back() {
    let mut machine = supplied();
    for ticket in 1..=3 {
        machine.arrive(run(ticket), ms(1));
    }
    machine.forked(ChildId(2), ms(2));
    actions(&mut machine);
    assert_eq!(stand(&machine, ms(0)), (1, 2, 1, true));
    done(&mut machine, 1, ms(6));
    assert_eq!(actions(&mut machine)[0], assign(3, 2));
}

#[test]
fn beyond_the_queue_and_beyond_the_wait_a_run_is_refused_with_a_hint() {
    let mut machine = supplied();
    for ticket in 1..=4 {
        machine.arrive(run(ticket), ms(0));
    }
    let refused = actions(&mut machine).pop();
    let Some(Action::Reject { ticket: Ticket(4), refusal: Refusal::QueueFull(after) }) = refused else {
        panic!("{refused:?}")
    };
    assert!(after >= ms(50) && after <= ms(1000));
    assert_eq!(machine.next_deadline(ms(10)), Some(ms(1000)));
    machine.advance(ms(999));
    assert_eq!(actions(&mut machine), []);
    machine.advance(ms(1000));
    let refused = actions(&mut machine);
    assert!(matches!(refused[..], [Action::Reject { ticket: Ticket(3), refusal: Refusal::Waited(_) }]), "{refused:?}");
    assert_eq!(machine.next_deadline(ms(1000)), Some(ms(5000)), "for the forks that nobody answers here");
}

#[test]
fn an_abandoned_run_leaves_its_place_to_the_next() {
    let mut machine = supplied();
    for ticket in 1..=3 {
        machine.arrive(run(ticket), ms(0));
    }
    machine.abandon(Ticket(3), ms(1));
    done(&mut machine, 1, ms(1));
    actions(&mut machine);
    assert_eq!(machine.census(ms(0)).waiting, 0);
}

#[test]
fn a_dead_zygote_is_replaced_at_once_and_then_with_growing_waits() {
    let mut machine = supplied();
    machine.zygote_down(ms(20_000));
    assert_eq!(actions(&mut machine), [Action::StartZygote], "the first time without a wait");
    assert_eq!(stand(&machine, ms(0)), (0, 0, 0, false));
    machine.zygote_down(ms(20_010));
    assert_eq!((actions(&mut machine), machine.next_deadline(ms(20_010))), (vec![], Some(ms(20_060))));
    machine.advance(ms(20_060));
    assert_eq!(actions(&mut machine), [Action::StartZygote]);
    machine.zygote_down(ms(20_070));
    assert_eq!(machine.next_deadline(ms(20_070)), Some(ms(20_170)));
    machine.advance(ms(20_170));
    machine.zygote_up(ms(20_200));
    actions(&mut machine);
    machine.zygote_down(ms(31_000));
    assert_eq!(actions(&mut machine), [Action::StartZygote], "it had been stable");
}

#[test]
fn a_run_waits_through_a_restart_of_the_zygote() {
    let mut machine = supplied();
    machine.zygote_down(ms(1));
    machine.arrive(run(1), ms(2));
    actions(&mut machine);
    machine.zygote_up(ms(30));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(2), count: 3 }]);
    machine.forked(ChildId(2), ms(31));
    assert_eq!(actions(&mut machine), [assign(1, 2)]);
}

#[test]
fn children_that_die_before_their_run_are_replaced_but_not_in_a_storm() {
    let mut machine = supplied();
    let mut next = 0;
    for _ in 0..=TOLERATED_FAILURES {
        machine.exited(ChildId(next), ms(1));
        next += 1;
        machine.forked(ChildId(next + 1), ms(1));
    }
    actions(&mut machine);
    machine.exited(ChildId(next), ms(2));
    assert_eq!(actions(&mut machine), []);
    let again = machine.next_deadline(ms(2)).unwrap();
    machine.advance(again);
    assert!(matches!(actions(&mut machine)[..], [Action::Fork { .. }]));
}

#[test]
fn a_run_whose_child_was_dead_keeps_its_permit_and_goes_first() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(0));
    machine.arrive(run(2), ms(0));
    machine.arrive(run(3), ms(0));
    actions(&mut machine);
    machine.reassign(Ticket(1), ms(1));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(4), count: 1 }]);
    machine.forked(ChildId(2), ms(2));
    assert_eq!(actions(&mut machine), [assign(1, 2)]);
}

#[test]
fn dispose_refuses_those_who_wait_and_gives_up_idle_children() {
    let mut machine = supplied();
    for ticket in 1..=3 {
        machine.arrive(run(ticket), ms(0));
    }
    machine.forked(ChildId(2), ms(1));
    actions(&mut machine);
    machine.dispose(ms(1));
    let refused = Action::Reject { ticket: Ticket(3), refusal: Refusal::Closed };
    assert_eq!(actions(&mut machine), [refused, Action::Kill(ChildId(2))]);
    machine.arrive(run(4), ms(2));
    assert_eq!(actions(&mut machine), [Action::Reject { ticket: Ticket(4), refusal: Refusal::Closed }]);
    machine.zygote_down(ms(3));
    assert_eq!((actions(&mut machine), machine.next_deadline(ms(3))), (vec![], None));
}

#[test]
fn a_burst_of_forks_that_fail_is_one_failure_and_an_end_or_a_success_resets_the_wait() {
    let mut machine = Machine::new(capacity(24, 0, 0, ms(60_000)));
    machine.zygote_up(ms(0));
    for ticket in 0..24 {
        machine.arrive(run(ticket), ms(0));
    }
    actions(&mut machine);
    (0..24).for_each(|child| machine.fork_failed(ChildId(child), ms(1)));
    assert_eq!((actions(&mut machine), machine.next_deadline(ms(1))), (vec![], Some(ms(51))));
    machine.advance(ms(51));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(24), count: 24 }]);
    (24..48).for_each(|child| machine.fork_failed(ChildId(child), ms(52)));
    assert_eq!(machine.next_deadline(ms(52)), Some(ms(152)), "the second burst waits twice as long");
    machine.exited(ChildId(1000), ms(60));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(48), count: 24 }], "something ended: at once");
    machine.forked(ChildId(48), ms(61));
    (49..72).for_each(|child| machine.fork_failed(ChildId(child), ms(61)));
    assert_eq!(machine.next_deadline(ms(61)), Some(ms(111)), "the first failure again");
}

#[test]
fn a_fork_that_is_lost_counts_as_failed_and_is_asked_for_again() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(10));
    machine.arrive(run(2), ms(10));
    actions(&mut machine);
    // The answer to 2 is lost: 3 comes after it.
    machine.forked(ChildId(3), ms(11));
    assert_eq!(machine.next_deadline(ms(11)), Some(ms(61)));
    machine.advance(ms(61));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(4), count: 1 }]);
    // The answer to 4 is lost and nothing comes after it, but the zygote lives.
    machine.heard(ms(100));
    assert_eq!(machine.next_deadline(ms(100)), Some(ms(5061)));
    machine.advance(ms(5060));
    assert_eq!(actions(&mut machine), []);
    machine.advance(ms(5061));
    assert_eq!(machine.next_deadline(ms(5061)), Some(ms(5111)), "a failure, not a zygote's end");
    machine.advance(ms(5111));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(5), count: 1 }]);
    machine.forked(ChildId(5), ms(5162));
    machine.forked(ChildId(4), ms(5163));
    assert_eq!(actions(&mut machine), [Action::Kill(ChildId(4))], "late and of no use");
    assert_eq!(machine.census(ms(5163)).idle, 2);
}

#[test]
fn a_child_whose_run_has_left_the_line_is_not_kept_beyond_those_that_stand_ready() {
    let mut machine = Machine::new(CAPACITY);
    machine.zygote_up(ms(0));
    machine.arrive(run(1), ms(1));
    assert_eq!(machine.poll_action(), Some(Action::StartZygote));
    let forks = [Action::Fork { first: ChildId(0), count: 2 }, Action::Fork { first: ChildId(2), count: 1 }];
    assert_eq!(actions(&mut machine), forks);
    machine.abandon(Ticket(1), ms(2));
    (0..3).for_each(|child| machine.forked(ChildId(child), ms(3)));
    assert_eq!(actions(&mut machine), [Action::Kill(ChildId(2))]);
    assert_eq!(machine.census(ms(3)).idle, 2);
}

#[test]
fn a_zygote_that_answers_nothing_is_killed_and_replaced() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(1));
    machine.arrive(run(2), ms(1));
    actions(&mut machine);
    machine.advance(ms(5000));
    assert_eq!(actions(&mut machine), []);
    assert_eq!(machine.next_deadline(ms(5000)), Some(ms(5001)));
    machine.advance(ms(5001));
    assert_eq!(actions(&mut machine), [Action::KillZygote]);
    machine.advance(ms(9000));
    assert_eq!((actions(&mut machine), machine.next_deadline(ms(9000))), (vec![], None), "once");
    assert!(!machine.census(ms(9000)).supplied);
    machine.zygote_down(ms(9001));
    assert_eq!(actions(&mut machine), [Action::StartZygote]);
    machine.zygote_up(ms(9050));
    assert_eq!(actions(&mut machine), [Action::Fork { first: ChildId(4), count: 2 }]);
}

#[test]
fn a_pool_without_children_for_some_time_is_not_supplied() {
    let mut machine = Machine::new(CAPACITY);
    machine.zygote_up(ms(0));
    let mut now = ms(0);
    while now < ms(3000) {
        for action in actions(&mut machine) {
            if let Action::Fork { first, count } = action {
                (first.0..first.0 + u64::from(count)).for_each(|child| machine.fork_failed(ChildId(child), now));
            }
        }
        now = machine.next_deadline(now).unwrap();
        machine.advance(now);
    }
    assert!(machine.census(ms(1999)).supplied);
    assert!(!machine.census(ms(2000)).supplied);
    let Some(Action::Fork { first, .. }) = machine.poll_action() else { panic!("it tries again") };
    machine.forked(first, now);
    assert!(machine.census(now).supplied);
}

#[test]
fn a_lease_has_a_permit_and_no_child_until_its_run_begins() {
    let mut machine = Machine::new(capacity(1, 1, 1, ms(1000)));
    machine.zygote_up(ms(0));
    machine.forked(ChildId(0), ms(0));
    actions(&mut machine);
    machine.arrive(Arrival { wish: Wish::Lease, ..run(1) }, ms(1));
    assert_eq!(actions(&mut machine), [Action::Lease(Ticket(1))]);
    machine.arrive(run(2), ms(2));
    assert_eq!(actions(&mut machine), [], "the lease has the permit");
    assert_eq!((stand(&machine, ms(2)), machine.census(ms(2)).leased), ((1, 0, 1, true), 1));
    assert!(machine.begin(Ticket(1), ms(3)));
    assert_eq!(actions(&mut machine)[0], assign(1, 0));
    assert!(!machine.begin(Ticket(1), ms(3)), "it takes one run");
    done(&mut machine, 1, ms(4));
    machine.forked(ChildId(1), ms(5));
    assert_eq!(actions(&mut machine).last(), Some(&assign(2, 1)));
}

#[test]
fn a_lease_that_is_not_used_in_time_makes_room() {
    let mut machine = Machine::new(capacity(1, 1, 1, ms(60_000)));
    machine.zygote_up(ms(0));
    machine.forked(ChildId(0), ms(0));
    machine.arrive(Arrival { wish: Wish::Lease, ..run(1) }, ms(1));
    machine.arrive(run(2), ms(2));
    actions(&mut machine);
    assert_eq!(machine.next_deadline(ms(2)), Some(ms(30_001)));
    machine.advance(ms(30_001));
    assert_eq!(actions(&mut machine)[0], assign(2, 0));
    assert!(!machine.begin(Ticket(1), ms(30_001)));
    // Giving back what has expired changes nothing.
    machine.abandon(Ticket(1), ms(30_002));
    assert_eq!(stand(&machine, ms(30_002)), (0, 1, 0, true));
}

#[test]
fn a_drain_refuses_those_who_wait_and_lets_go_on_what_has_a_permit() {
    let mut machine = Machine::new(capacity(2, 0, 1, ms(1000)));
    machine.zygote_up(ms(0));
    for ticket in 1..=2 {
        machine.arrive(run(ticket), ms(0));
    }
    machine.arrive(run(3), ms(0));
    actions(&mut machine);
    machine.forked(ChildId(0), ms(1));
    machine.drain(ms(2));
    let refused = |ticket| Action::Reject { ticket: Ticket(ticket), refusal: Refusal::Closed };
    assert_eq!(actions(&mut machine), [assign(1, 0), refused(3)]);
    machine.arrive(run(4), ms(3));
    machine.forked(ChildId(1), ms(3));
    assert_eq!(actions(&mut machine), [refused(4), assign(2, 1)]);
    assert_eq!(stand(&machine, ms(3)), (0, 2, 0, true));
}

#[test]
fn a_run_whose_child_was_dead_when_the_pool_went_is_refused() {
    let mut machine = supplied();
    machine.arrive(run(1), ms(0));
    machine.dispose(ms(1));
    actions(&mut machine);
    machine.reassign(Ticket(1), ms(2));
    assert_eq!(actions(&mut machine), [Action::Reject { ticket: Ticket(1), refusal: Refusal::Closed }]);
    assert_eq!(machine.census(ms(2)).running, 0);
}
