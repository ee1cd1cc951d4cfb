//! The pool with real processes: what a program may do to itself and to nobody else.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends with its first surprise and says what it saw"
)]

mod admission;
mod common;
mod deaths;
mod escapes;
mod handles;
mod hostile;
mod leases;
mod runs;
