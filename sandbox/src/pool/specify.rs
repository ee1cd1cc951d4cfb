//! A request as its child is told it.

use codemode_protocol::{ExecuteRequest, Limits, ResultEncoding, RunBounds};
use uuid::Uuid;

use crate::frame::{LogBounds, OutboundSpec, ProviderSpec, RunSpec};

/// The run of `request` within `bounds`, whose requests go where `outbound` says.
pub(super) fn specify(request: ExecuteRequest, bounds: &RunBounds, limits: &Limits, outbound: OutboundSpec) -> RunSpec {
    let narrow = |bound: u64| u32::try_from(bound).unwrap_or(u32::MAX);
    RunSpec {
        code: request.code,
        providers: request
            .providers
            .into_iter()
            .map(|provider| ProviderSpec {
                name: provider.name,
                tools: provider.tools.iter().collect(),
                prelude: provider.prelude,
                positional_args: provider.positional_args.unwrap_or(true),
                proxy_source: provider.proxy_source,
            })
            .collect(),
        modules: request.modules.into_iter().flatten().collect(),
        timeout_ms: bounds.timeout_ms,
        cpu_ms: bounds.cpu_ms,
        max_wall_ms: bounds.max_wall_ms,
        memory_limit: bounds.memory_bytes,
        stack_limit: bounds.stack_bytes,
        count_host_waits: request.count_host_waits,
        // Kept ones do not vanish.
        drop_functions: request.drop_functions && !request.retain_handles,
        retain: request.retain_handles.then(|| Uuid::new_v4().simple().to_string()),
        outbound,
        outbound_bytes: limits.outbound_body_bytes,
        calls_in_flight: narrow(limits.calls_in_flight),
        arguments_bytes: limits.call_arguments_bytes,
        envelope_bytes: limits.call_result_bytes,
        error_bytes: narrow(limits.error_bytes),
        result: limits.result(),
        escaped_units: escaped_units(request.result_encoding),
        allow_dropped_keys: false,
        logs: LogBounds {
            line_bytes: narrow(limits.log_line_bytes),
            lines: narrow(limits.log_lines),
            total_bytes: limits.log_bytes,
        },
    }
}

/// The bound on a result as it is written in its message.
pub(super) fn escaped_units(encoding: ResultEncoding) -> u64 {
    match encoding {
        ResultEncoding::Value => u64::MAX,
        ResultEncoding::Text => ESCAPED_RESULT_UNITS,
    }
}

/// A result as text is escaped once more in its message, of which JavaScript peers take 32 Mi units in all; the rest is
/// for logs and errors.
const ESCAPED_RESULT_UNITS: u64 = 24 << 20;
