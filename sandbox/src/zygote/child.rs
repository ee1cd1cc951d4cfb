//! The first steps of a new child.

use std::os::fd::RawFd;

use super::role::CHANNEL;
use crate::{
    confinement::{Confined, Place, run_attempts},
    guest::{self, Engine},
    sys,
};

/// The exit status of a child that could not be confined; it has run nothing.
const UNCONFINED_EXIT: i32 = 79;

/// What a child is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// One program.
    Run,
    /// The escape attempts.
    SelfTest,
}

/// Makes this process a child that holds nothing but its socket, confines it and lets it do what it is for.
pub(super) fn enter(engine: &mut Engine, confined: &Confined, socket: RawFd, zygote: i32, purpose: Purpose) -> ! {
    // The zygote's channel sat where the socket goes; a descriptor of a sibling would hide its end and open a way to it.
    let alone = sys::die_with_parent(zygote)
        && sys::duplicate_to(socket, CHANNEL).is_ok()
        && sys::close_from(CHANNEL + 1).is_ok()
        && confined.confine_child().is_ok();
    if !alone {
        exit(UNCONFINED_EXIT);
    }
    match purpose {
        Purpose::Run => guest::serve(engine, CHANNEL, true),
        Purpose::SelfTest => {
            let report = serde_json::to_vec(&run_attempts(Place::Inside { victim: zygote })).unwrap_or_default();
            let mut rest = report.as_slice();
            while let Ok(sent @ 1..) = sys::send_blocking(CHANNEL, rest) {
                rest = &rest[sent..];
            }
            exit(0)
        }
    }
}

fn exit(status: i32) -> ! {
    // SAFETY: ends the process without running anything that the fork copied from the zygote.
    unsafe { libc::_exit(status) }
}
