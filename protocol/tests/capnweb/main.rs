//! The Cap'n Web engine, driven as its users drive it: frames in, outputs out, simulated time.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod bounds;
mod frames;
mod harness;
mod peers;
mod replay;
mod values;
