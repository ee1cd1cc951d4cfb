//! The engine by itself: each program runs in a process of its own, forked from the test, without zygote, confinement
//! or pool.

mod bounds;
mod calls;
mod console;
mod errors;
mod gateway;
mod harness;
mod messages;
mod modules;
mod outbound;
mod reports;
mod result;
mod scope;
mod stacks;
mod timers;
