//! The pool with real processes: what a program may do to itself and to nobody else.

#![allow(clippy::unwrap_used, reason = "a test ends with its first surprise")]

mod admission;
mod common;
mod deaths;
mod escapes;
mod hostile;
mod runs;
