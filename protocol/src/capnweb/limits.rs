//! Every bound of the wire, each with its default. See PROTOCOL.md, "Bounds".
//!
//! Unless a field says otherwise, a peer that goes over a bound loses its session: it gets `["abort", ..]` with the
//! code [`LIMIT_EXCEEDED`](super::text::CODE_LIMIT_EXCEEDED) and a text that names the bound and its value.

use std::time::Duration;

/// The bounds of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireLimits {
    /// Bytes of one inbound message. The transport's frame limit is the same number.
    pub message_bytes: usize,
    /// UTF-16 units of one outbound message: JavaScript peers drop their session above 32 Mi. The one call or result
    /// that would exceed it fails instead.
    pub outbound_units: usize,
    /// Levels of nested values, both ways: JavaScript peers accept 256. A value of ours that is deeper fails its call.
    pub depth: usize,
    /// JSON values in one inbound message.
    pub nodes: usize,
    /// Memory of the values of one inbound message, in bytes, estimated. Small values take far more of it than of text.
    pub message_memory: usize,
    /// Decimal digits of one BigInt, both ways. A value of ours that is longer fails its call.
    pub bigint_digits: usize,
    /// Steps of one property path.
    pub path_parts: usize,
    /// Bytes of one name in a property path.
    pub path_part_bytes: usize,
    /// Results of the peer's calls that it has not released yet. A client adds its own runs times the calls in flight
    /// of each.
    pub peer_calls: usize,
    /// Objects of ours that the peer holds. The call whose result would export more is rejected with OVERLOADED; an
    /// argument of ours that would is refused locally.
    pub exports: usize,
    /// Objects and promises of the peer that we hold.
    pub imports: usize,
    /// Promises that the peer introduced and has not settled yet.
    pub promises: usize,
    /// How long the peer may leave such a promise unsettled. Over it the promise counts as rejected, with
    /// LIMIT_EXCEEDED, and the session goes on.
    pub promise_deadline: Duration,
    /// Calls of the peer that run at the same time. More are rejected, each with OVERLOADED.
    pub running_calls: usize,
    /// Memory of the arguments of calls that run, in bytes. The call that would exceed it is rejected with OVERLOADED.
    pub running_bytes: usize,
    /// Calls of the peer that wait for a promise or for the result of another call.
    pub parked_calls: usize,
    /// Memory of what the peer sent and only we hold, in bytes: literals pushed, arguments of calls that wait.
    pub held_bytes: usize,
    /// Memory of results of ours that the peer has not released, in bytes. Over it results are sent but not kept: a
    /// later call on such a result is rejected with OVERLOADED.
    pub retained_bytes: usize,
    /// JSON values copied to fill in results of earlier calls, per message.
    pub expansion_nodes: usize,
    /// Memory copied to fill in results of earlier calls, in bytes per message.
    pub expansion_bytes: usize,
    /// References to earlier results in one message.
    pub references: usize,
    /// Pipes that the peer has opened and not released.
    pub pipes: usize,
}

impl Default for WireLimits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            outbound_units: 32 << 20,
            depth: 256,
            nodes: 8_000_000,
            message_memory: 256 << 20,
            bigint_digits: 16_384,
            path_parts: 32,
            path_part_bytes: 256,
            peer_calls: 10_000,
            exports: 10_000,
            imports: 10_000,
            promises: 1_000,
            promise_deadline: Duration::from_secs(120),
            running_calls: 256,
            running_bytes: 256 << 20,
            parked_calls: 10_000,
            held_bytes: 64 << 20,
            retained_bytes: 64 << 20,
            expansion_nodes: 1_000_000,
            expansion_bytes: 32 << 20,
            references: 10_000,
            pipes: 64,
        }
    }
}

/// The bounds of one data expression (see [`expression`](super::expression)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLimits {
    /// Levels of nested values.
    pub depth: usize,
    /// Decimal digits of one BigInt.
    pub bigint_digits: usize,
    /// JSON values.
    pub nodes: usize,
    /// UTF-16 units of the text.
    pub utf16_units: usize,
    /// What happens to keys that a JavaScript peer would silently drop.
    pub dropped_keys: DroppedKeys,
}

/// Whether keys that JavaScript receivers drop (see [`is_dropped_key`](super::is_dropped_key)) may stand in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedKeys {
    /// They are data like any other.
    Allow,
    /// They are an error.
    Refuse,
}

impl Default for DataLimits {
    /// The bounds of a result.
    fn default() -> Self {
        Self {
            depth: 200,
            bigint_digits: 16_384,
            nodes: 2_000_000,
            utf16_units: 16 << 20,
            dropped_keys: DroppedKeys::Refuse,
        }
    }
}

impl WireLimits {
    /// The bounds that concern one value, as those of a data expression.
    pub(crate) fn data(&self) -> DataLimits {
        DataLimits {
            depth: self.depth,
            bigint_digits: self.bigint_digits,
            nodes: self.nodes,
            utf16_units: usize::MAX,
            dropped_keys: DroppedKeys::Allow,
        }
    }
}
