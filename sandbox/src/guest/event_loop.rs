//! The loop of a run: jobs, then whatever can make new ones, until a promise is settled or nothing is left.
//!
//! Places for later: a heap of timers is looked at when no jobs are left, its next deadline bounds the read, and
//! `Waiting` is said only when there is none.

use super::js::{Promise, Val, run_job};
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
    loop {
        if !run_jobs(state) {
            return Settled::TimeOver;
        }
        match promise.promise() {
            Some(Promise::Fulfilled(value)) => return Settled::Fulfilled(value),
            Some(Promise::Rejected(reason)) => return Settled::Rejected(reason),
            Some(Promise::Pending) | None => {}
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
        if run_job(state.cx).is_none() {
            return state.clock.found().is_none();
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(CLOCK_EVERY) {
            state.clock.check();
        }
    }
}

/// Blocks for an answer of the host; false when a clock ran out first.
fn wait(state: &State) -> bool {
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
    match received {
        Received::Frame(ToChild::Reply { call, outcome }) => state.calls.answer(state, call, outcome),
        Received::Frame(ToChild::FetchReply { call, outcome }) => state.calls.answer_fetch(state, call, outcome),
        Received::Frame(ToChild::Run(_) | ToChild::Invoke(_)) => super::socket::broken(),
        Received::Nothing => {}
    }
    state.clock.check().is_none()
}

/// Jobs between two looks at the clock.
const CLOCK_EVERY: u32 = 16;
