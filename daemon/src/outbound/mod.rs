//! The requests of programs whose mode is the default: what the operator's policy lets through, this daemon performs.

mod client;
mod policy;

pub use client::{MOST_REQUESTS_AT_ONCE, OutboundClient, OutboundError, OutboundOptions, Resolver, SystemResolver};
pub use policy::OutboundOrigin;
