//! The loop of a run: jobs, then one thing that can make new ones, an answer of the host or a timer that is due, until a
//! promise is settled or nothing is left.

use std::time::Duration;

use super::js::{Pending, Promise, Val, run_job};
use super::socket::Received;
use super::state::State;
use crate::frame::{FromChild, ToChild};

/// How waiting for a promise ended.
pub(super) enum Settled {
    Fulfilled(Val),
    Rejected(Val),
    /// Nothing is left that could settle it.
    Stalled,
    /// A clock ran out; the clock knows which.
    TimeOver,
}

/// Runs until `promise` is settled and no jobs are left.
pub(super) fn settle(state: &State, promise: &Val) -> Settled {
    promise.mark_handled();
    let mut timer_next = false;
    loop {
        if !run_jobs(state) {
            return Settled::TimeOver;
        }
        let settled = match promise.promise() {
            Some(Promise::Fulfilled(value)) => Some(Settled::Fulfilled(value)),
            Some(Promise::Rejected(reason)) => Some(Settled::Rejected(reason)),
            Some(Promise::Pending) | None => None,
        };
        // The program is told of those that there are at its end, and not of those that this brings about.
        let untold = super::web::untold_rejections(&state.cx.ctx());
        if let Some(settled) = settled {
            let is_in_time = (0..untold).all(|_| tell_rejection(state) && run_jobs(state));
            return if is_in_time { settled } else { Settled::TimeOver };
        }
        if untold > 0 {
            if !tell_rejection(state) {
                return Settled::TimeOver;
            }
            continue;
        }
        if let Some(due) = super::web::next_timer(&state.cx.ctx()) {
            // Answers and timers that are due take turns, so that neither can keep the other from the program.
            let is_fired = due.is_zero() && (timer_next || !state.calls.is_waiting());
            timer_next = !is_fired;
            if !(if is_fired { fire_timer(state) } else { wait_with_timer(state, due) }) {
                return Settled::TimeOver;
            }
            continue;
        }
        if !state.calls.is_waiting() {
            return Settled::Stalled;
        }
        if !wait(state) {
            return Settled::TimeOver;
        }
    }
}

/// Runs jobs until there are none; false when a clock ran out first. Jobs make jobs, so the clock is looked at between
/// them: the interrupt handler sees only what happens within one.
fn run_jobs(state: &State) -> bool {
    let mut count = 0u32;
    loop {
        if state.clock.found().is_some() {
            return false;
        }
        match run_job(state.cx) {
            Some(Ok(())) => {}
            Some(Err(Pending)) => super::web::report_pending(&state.cx.ctx()),
            None => return state.clock.found().is_none(),
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(CLOCK_EVERY) {
            state.clock.check();
        }
    }
}

/// Tells the program of the next rejection that nobody handled; false when a clock ran out meanwhile.
fn tell_rejection(state: &State) -> bool {
    if super::web::tell_rejection(&state.cx.ctx()).is_err() {
        drop(state.cx.exception());
    }
    state.clock.check().is_none()
}

/// Calls what waits for the timer that is due; false when a clock ran out meanwhile. Whatever it throws is its own
/// affair.
fn fire_timer(state: &State) -> bool {
    if super::web::fire_timer(&state.cx.ctx()).is_err() {
        drop(state.cx.exception());
    }
    state.clock.check().is_none()
}

/// Blocks until the timer is due or the host answers; false when a clock ran out first. All clocks go on: the program
/// waits not only on the host.
fn wait_with_timer(state: &State, due: Duration) -> bool {
    if state.clock.check().is_some() {
        return false;
    }
    let due = u64::try_from(due.as_nanos()).unwrap_or(u64::MAX);
    let received = state.socket.read(Some(state.clock.left().min(due)));
    take(state, received);
    state.clock.check().is_none()
}

/// Blocks for an answer of the host; false when a clock ran out first.
fn wait(state: &State) -> bool {
    if state.outbound.is_executors() && state.calls.awaits_response() {
        // Whoever performs the request is not the caller, and so the clocks go on.
        return wait_with_timer(state, Duration::MAX);
    }
    if state.clock.check().is_some() {
        return false;
    }
    let received = match state.socket.take_buffered() {
        Some(frame) => Received::Frame(frame),
        None => {
            state.socket.write(&FromChild::Waiting { answered: state.calls.answered() }.encode());
            let (left, waiting) = state.clock.wait();
            let received = state.socket.read(Some(left));
            state.clock.resume(waiting);
            received
        }
    };
    take(state, received);
    state.clock.check().is_none()
}

/// Settles what the host has answered.
fn take(state: &State, received: Received) {
    match received {
        Received::Frame(ToChild::Reply { call, outcome }) => state.calls.answer(state, call, outcome),
        Received::Frame(ToChild::FetchReply { call, outcome }) => state.calls.answer_fetch(state, call, outcome),
        Received::Frame(ToChild::Run(_) | ToChild::Invoke(_)) => super::socket::broken(),
        Received::Nothing => {}
    }
}

/// Jobs between two looks at the clock.
const CLOCK_EVERY: u32 = 16;
