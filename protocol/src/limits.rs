//! The table of bounds (PROTOCOL.md, "Bounds"): one place for every number.

use std::thread::available_parallelism;

use crate::LEAST_MEMORY_BYTES;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal = $default:expr;)+) => {
        /// The bounds that an executor applies. `Default` is the contract's table; an operator may set every field.
        ///
        /// A request asks for less, or for more up to the `max_*` field beside a bound, to which it is clamped.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $field: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Limits {
            /// Every bound with its name on the wire (`info().limits`) and its value.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($name, self.$field),)+].into_iter()
            }
        }
    };
}

limits! {
    /// Run clock when the request names none, in milliseconds.
    timeout_ms "timeout" = 60_000;
    /// Ceiling of a requested run clock, in milliseconds.
    max_timeout_ms "maxTimeout" = 300_000;
    /// CPU clock when the request names none, in milliseconds.
    cpu_time_ms "cpuTime" = 30_000;
    /// Ceiling of a requested CPU clock, in milliseconds.
    max_cpu_time_ms "maxCpuTime" = 300_000;
    /// Wall time that ends any run, host waits included, in milliseconds.
    max_wall_ms "maxWall" = 30 * 60_000;
    /// How long one host call may take, in milliseconds.
    host_call_timeout_ms "hostCallTimeout" = 300_000;
    /// How long after its bound a child may live before it is killed from outside, in milliseconds.
    grace_ms "grace" = 100;
    /// Memory of a run when the request names none, in bytes.
    memory_limit "memoryLimit" = 128 * MIB;
    /// Ceiling of a requested memory limit, in bytes.
    max_memory_limit "maxMemoryLimit" = 512 * MIB;
    /// Stack of a run when the request names none, in bytes.
    stack_limit "stackLimit" = MIB;
    /// Ceiling of a requested stack limit, in bytes.
    max_stack_limit "maxStackLimit" = 8 * MIB;
    /// Size of a program, in UTF-8 bytes.
    code_bytes "code" = MIB;
    /// Size of one module's source, in UTF-8 bytes.
    module_bytes "module" = 4 * MIB;
    /// Size of all module sources of a request with their specifiers, in UTF-8 bytes.
    modules_bytes "modules" = 16 * MIB;
    /// Size of all preludes and proxy sources of a request, in UTF-8 bytes.
    preludes_bytes "preludes" = MIB;
    /// Providers of a request.
    providers "providers" = 256;
    /// Tool names of a request, over all providers.
    tools "tools" = 20_000;
    /// Host calls of one run in flight at once; further ones wait.
    calls_in_flight "callsInFlight" = 64;
    /// One host call's arguments, in UTF-8 bytes of JSON.
    call_arguments_bytes "callArguments" = 16 * MIB;
    /// One host call's result envelope, in UTF-8 bytes of JSON.
    call_result_bytes "callResult" = 16 * MIB;
    /// Nesting of a result's arrays and objects.
    result_depth "resultDepth" = 200;
    /// Decimal digits of a BigInt in a result.
    result_digits "resultDigits" = 16_384;
    /// Values in a result, counted recursively.
    result_nodes "resultNodes" = 2_000_000;
    /// Size of an encoded result, in UTF-16 units.
    result_units "resultSize" = 16 * MIB;
    /// Size of an error's text, of its name and of its stack, in UTF-8 bytes; the rest is cut with a marker.
    error_bytes "errorText" = 64 * KIB;
    /// Size of one log line, in UTF-8 bytes; the rest is cut with a marker.
    log_line_bytes "logLine" = 64 * KIB;
    /// Log lines of one run; one marker line takes the place of the rest.
    log_lines "logLines" = 5_000;
    /// Size of all log lines of one run, in UTF-8 bytes; one marker line takes the place of the rest.
    log_bytes "logs" = MIB;
    /// Body of one outbound request or response, in bytes.
    outbound_body_bytes "outboundBody" = 16 * MIB;
    /// One message on the wire, in bytes; also the frame limit.
    wire_message_bytes "wireMessage" = 64 * MIB;
    /// Runs at once.
    max_concurrent "maxConcurrent" = 32 * cores();
    /// Memory that runs, leases and retained executions may take together, in bytes. Their limits may add up to
    /// `memoryOvercommit` times as much, and none is above it. 0 stands for 75 % of the machine's or the control
    /// group's, whichever is less; a pool puts that in its place.
    memory_budget "memoryBudget" = 0;
    /// How many times the memory budget the limits of all together may be, because most runs use little of theirs.
    memory_overcommit "memoryOvercommit" = 8;
    /// Children kept forked and warm.
    warm_children "warmChildren" = 4 * cores();
    /// Runs and leases that wait for a permit.
    queue "queue" = 256;
    /// How long a run or a lease may wait for its permit, and a run then for its child, in milliseconds.
    queue_wait_ms "queueWait" = 5_000;
    /// How long an unused lease lives, in milliseconds.
    lease_ms "lease" = 30_000;
    /// How long a retained execution lives without a call, in milliseconds.
    handle_ttl_ms "handleTtl" = 600_000;
    /// Retained executions at once.
    max_retained "maxRetained" = 32;
    /// How long running programs may take to finish in a drain, in milliseconds.
    drain_timeout_ms "drainTimeout" = 30_000;
}

impl Limits {
    /// With the bounds on memory in place on a machine of `memory` bytes, if that is known: the budget if it is left to
    /// the machine, and limits of single runs that are not above it.
    #[must_use]
    pub fn on_machine(mut self, memory: Option<u64>) -> Self {
        if self.memory_budget == 0 {
            // In this order, because the product of a large number would overflow.
            self.memory_budget = memory.map_or(u64::MAX, |memory| memory / 4 * 3).max(LEAST_MEMORY_BYTES);
        }
        self.max_memory_limit = self.max_memory_limit.min(self.memory_budget);
        self.memory_limit = self.memory_limit.min(self.max_memory_limit);
        self
    }

    /// The bounds of a result's encoding.
    pub fn result(&self) -> ResultLimits {
        ResultLimits {
            depth: self.result_depth,
            digits: self.result_digits,
            nodes: self.result_nodes,
            units: self.result_units,
        }
    }
}

/// The bounds of one encoded result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimits {
    /// Nesting of arrays and objects.
    pub depth: u64,
    /// Decimal digits of one BigInt.
    pub digits: u64,
    /// Values, counted recursively.
    pub nodes: u64,
    /// Size of the encoding, in UTF-16 units.
    pub units: u64,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Limits::default().result()
    }
}

fn cores() -> u64 {
    available_parallelism().map_or(1, |cores| cores.get() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_a_name_of_its_own() {
        let limits = Limits::default();
        let mut names: Vec<_> = limits.named().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_budget_left_to_the_machine_is_three_quarters_of_it_and_no_run_is_given_more() {
        let limits = Limits::default().on_machine(Some(256 * MIB));
        assert_eq!(
            (limits.memory_budget, limits.max_memory_limit, limits.memory_limit),
            (192 * MIB, 192 * MIB, 128 * MIB)
        );
        let limits = Limits { memory_budget: 64 * MIB, ..Limits::default() }.on_machine(Some(256 * MIB));
        assert_eq!(
            (limits.memory_budget, limits.max_memory_limit, limits.memory_limit),
            (64 * MIB, 64 * MIB, 64 * MIB)
        );
        let limits = Limits::default().on_machine(Some(1));
        assert_eq!((limits.memory_budget, limits.memory_limit), (LEAST_MEMORY_BYTES, LEAST_MEMORY_BYTES));
        assert_eq!(Limits::default().on_machine(None).max_memory_limit, 512 * MIB);
    }

    #[test]
    fn defaults_are_the_contracts_numbers() {
        let limits = Limits::default();
        assert_eq!((limits.timeout_ms, limits.max_timeout_ms), (60_000, 300_000));
        assert_eq!((limits.memory_limit, limits.max_memory_limit), (134_217_728, 536_870_912));
        assert_eq!((limits.result_depth, limits.result_digits), (200, 16_384));
        assert_eq!((limits.result_nodes, limits.result_units), (2_000_000, 16_777_216));
    }
}
