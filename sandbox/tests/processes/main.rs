//! The pool with real processes: what a program may do to itself and to nobody else.

mod admission;
mod common;
mod deaths;
mod escapes;
mod hostile;
mod runs;
