//! What the end-to-end tests stand on: the real `codemoded` on a port of its own, its processes as the kernel sees them,
//! a peer that sends any frame, tools that a program can call, and random choices that a seed repeats.
//!
//! The tests are in `tests/`, those of the JavaScript client in `js/`.

pub mod daemon;
pub mod haproxy;
pub mod http;
pub mod peer;
pub mod processes;
pub mod programs;
pub mod random;

/// The examples of the README compile; those that need no daemon run as well.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
