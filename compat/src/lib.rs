//! The proof of the compatibility claim: one catalogue of programs, run by this executor and by the dialect's own.
//!
//! A [`Case`] is a program, what it is lent and what is expected of the two outcomes. [`Ours`] runs it through the adapter,
//! over a pool in this process and over a daemon; [`Reference`] runs it through a release of `@cloudflare/codemode` in
//! workerd. Both make their tools from the same descriptions ([`Behaviour`]). Outcomes are compared whole, as JSON; time
//! takes no part.
//!
//! [`surface`] compares what programs find in their sandbox, member by member, and [`corpora`] what that does, case by case.
//!
//! The cases are in `cases/`, one file for each group; the reference is in `reference/`, its releases pinned by the lock
//! file. `cargo xtask compat` installs it and runs everything; see [`suite`].

mod behaviour;
mod case;
pub mod corpora;
mod listed;
mod ours;
mod outbound;
mod outcome;
mod reference;
mod report;
pub mod suite;
pub mod surface;

pub use behaviour::Behaviour;
pub use case::{Because, Case, Expectation, Lent, Provider, catalogue};
pub use ours::Ours;
pub use outcome::canonical;
pub use reference::{Column, Reference};
