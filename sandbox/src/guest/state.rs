//! What natives find when the engine calls them: one state per process, because a process serves one run.

use std::cell::{Cell, RefCell};

use super::captured::Captured;
use super::clock::Clock;
use super::console::Logs;
use super::dispatch::Calls;
use super::faults::Faults;
use super::globals::Random;
use super::handles::Handles;
use super::js::{Cx, Val};
use super::modules::Modules;
use super::namespace::Namespaces;
use super::outbound::Outbound;
use super::socket::Socket;

/// The state. No borrow of a cell in it is held while guest code may run.
pub(super) struct State {
    pub(super) cx: Cx,
    pub(super) captured: Captured,
    pub(super) socket: Socket,
    pub(super) clock: Clock,
    pub(super) logs: Logs,
    pub(super) calls: Calls,
    pub(super) outbound: Outbound,
    pub(super) namespaces: Namespaces,
    pub(super) modules: Modules,
    pub(super) handles: Handles,
    pub(super) random: Random,
    pub(super) faults: Faults,
    /// `globalThis.Error` as the preludes left it; the intrinsic until then.
    pub(super) error: RefCell<Val>,
    /// Preludes that ran to their end.
    pub(super) preludes_done: Cell<usize>,
    /// The mark after the last prelude; 0 when there is none.
    pub(super) last_prelude: Cell<usize>,
}

thread_local! {
    static STATE: Cell<Option<&'static State>> = const { Cell::new(None) };
}

impl State {
    pub(super) fn new(cx: Cx, captured: Captured) -> Self {
        Self {
            cx,
            socket: Socket::new(),
            clock: Clock::new(),
            logs: Logs::new(),
            calls: Calls::new(),
            outbound: Outbound::new(),
            namespaces: Namespaces::new(),
            modules: Modules::new(),
            handles: Handles::default(),
            random: Random::new(),
            faults: Faults::new(),
            error: RefCell::new(captured.error.clone()),
            preludes_done: Cell::new(0),
            last_prelude: Cell::new(0),
            captured,
        }
    }

    /// Puts the state where natives find it; it lives as long as the process.
    pub(super) fn install(self) -> &'static Self {
        let state = Box::leak(Box::new(self));
        STATE.set(Some(state));
        state
    }
}

/// The state, for a native that the engine calls.
pub(super) fn state() -> &'static State {
    STATE.get().expect("natives become reachable only after the state is installed, on the engine's thread")
}
