//! How settings bear on each other, and the contract's bounds that follow from them.

use std::time::Duration;

use codemode_daemon::{OutboundClient, OutboundError, OutboundOptions};
use codemode_protocol::Limits;
use codemode_sandbox::TenantCeilings;

use super::{
    sources::{Origin, Set},
    table::Settings,
    units::{show_size, show_time},
};

impl Settings {
    /// Makes what nobody gave give way to what somebody did: a default is lowered to its maximum.
    ///
    /// # Errors
    /// Two values that are given contradict each other; the text names both.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        let number = |number: u64| number.to_string();
        within(("warm", &mut self.warm), ("max-concurrent", &self.max_concurrent), number)?;
        within(("timeout-max", &mut self.timeout_max), ("max-wall", &self.max_wall), show_time)?;
        within(("timeout-default", &mut self.timeout_default), ("timeout-max", &self.timeout_max), show_time)?;
        within(("cpu-time-max", &mut self.cpu_time_max), ("max-wall", &self.max_wall), show_time)?;
        within(("cpu-time-default", &mut self.cpu_time_default), ("cpu-time-max", &self.cpu_time_max), show_time)?;
        if let Some(budget) = self.memory_budget.value {
            let budget = Set { value: budget, origin: self.memory_budget.origin.clone() };
            within(("memory-max", &mut self.memory_max), ("memory-budget", &budget), show_size)?;
        }
        within(("memory-default", &mut self.memory_default), ("memory-max", &self.memory_max), show_size)?;
        within(("stack-default", &mut self.stack_default), ("stack-max", &self.stack_max), show_size)?;
        within(("max-module", &mut self.max_module), ("max-modules", &self.max_modules), show_size)
    }

    /// What performs the requests of programs that leave them to this daemon; none when no origin is listed.
    ///
    /// # Errors
    /// The client cannot be made.
    pub(crate) fn outbound(&self) -> Result<Option<OutboundClient>, OutboundError> {
        if self.outbound_allow.value.is_empty() {
            return Ok(None);
        }
        let options = OutboundOptions {
            body_bytes: self.outbound_body.value,
            timeout: Duration::from_millis(self.host_call_timeout.value),
            ..OutboundOptions::new(self.outbound_allow.value.clone())
        };
        OutboundClient::new(options).map(Some)
    }

    /// What each tenant may have of the pool.
    pub(crate) fn tenant(&self) -> TenantCeilings {
        TenantCeilings {
            concurrent: self.tenant_concurrent.value,
            queue: self.tenant_queue.value,
            retained: self.tenant_retained.value,
        }
    }

    /// The contract's bounds with the operator's in their place. `memory` is that of the machine, in bytes.
    ///
    /// # Errors
    /// The machine cannot keep one; the text names it.
    pub(crate) fn limits(&self, memory: Option<u64>) -> Result<Limits, String> {
        if self.memory_max.origin.is_given() {
            memory_fits("memory-max", self.memory_max.value, memory)?;
        }
        let budget = match self.memory_budget.value {
            Some(budget) => {
                memory_fits("memory-budget", budget, memory)?;
                budget
            }
            // One program may take what the operator says, also when that is more than they would all get.
            None if self.memory_max.origin.is_given() => {
                Limits::default().on_machine(memory).memory_budget.max(self.memory_max.value)
            }
            None => Limits::default().memory_budget,
        };
        Ok(Limits {
            timeout_ms: self.timeout_default.value,
            max_timeout_ms: self.timeout_max.value,
            cpu_time_ms: self.cpu_time_default.value,
            max_cpu_time_ms: self.cpu_time_max.value,
            max_wall_ms: self.max_wall.value,
            host_call_timeout_ms: self.host_call_timeout.value,
            memory_limit: self.memory_default.value,
            max_memory_limit: self.memory_max.value,
            stack_limit: self.stack_default.value,
            max_stack_limit: self.stack_max.value,
            code_bytes: self.max_code.value,
            module_bytes: self.max_module.value,
            modules_bytes: self.max_modules.value,
            preludes_bytes: self.max_preludes.value,
            providers: self.max_providers.value,
            tools: self.max_tools.value,
            calls_in_flight: self.calls_in_flight.value,
            call_arguments_bytes: self.call_arguments.value,
            call_result_bytes: self.call_result.value,
            outbound_body_bytes: self.outbound_body.value,
            wire_message_bytes: self.wire_message.value,
            max_concurrent: self.max_concurrent.value,
            memory_budget: budget,
            memory_overcommit: self.memory_overcommit.value,
            warm_children: self.warm.value,
            queue: self.queue.value,
            queue_wait_ms: self.queue_wait.value,
            handle_ttl_ms: self.handle_ttl.value,
            max_retained: self.max_retained.value,
            drain_timeout_ms: self.drain_timeout.value,
            ..Limits::default()
        })
    }
}

/// Keeps a setting within another one.
fn within(
    (key, set): (&str, &mut Set<u64>),
    (most_key, most): (&'static str, &Set<u64>),
    show: impl Fn(u64) -> String,
) -> Result<(), String> {
    if set.value <= most.value {
        return Ok(());
    }
    if set.origin.is_given() {
        let (value, most) = (show(set.value), show(most.value));
        return Err(format!("{key} is {value} ({}), which is above {most_key}, {most}", set.origin));
    }
    *set = Set { value: most.value, origin: Origin::Lowered(most_key) };
    Ok(())
}

/// Refuses a memory limit that the machine could never give, of `memory` bytes if that is known.
///
/// # Errors
/// Names the setting and both sizes.
pub(crate) fn memory_fits(name: &str, bytes: u64, memory: Option<u64>) -> Result<(), String> {
    match memory {
        Some(memory) if bytes > memory => {
            let (bytes, memory) = (show_size(bytes), show_size(memory));
            Err(format!("{name} is {bytes}, which is above the {memory} of memory that this machine has"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Sources, *};

    fn settings(given: &[(&'static str, u64)]) -> Result<Settings, String> {
        let mut settings = Settings::read(&mut Sources::default()).unwrap();
        for (key, value) in given {
            let set = match *key {
                "timeout-max" => &mut settings.timeout_max,
                "timeout-default" => &mut settings.timeout_default,
                "memory-max" => &mut settings.memory_max,
                "memory-default" => &mut settings.memory_default,
                "max-concurrent" => &mut settings.max_concurrent,
                "max-wall" => &mut settings.max_wall,
                "warm" => &mut settings.warm,
                other => panic!("no such setting here: {other}"),
            };
            *set = Set { value: *value, origin: Origin::Flag(format!("--{key}")) };
        }
        settings.settle().map(|()| settings)
    }

    #[test]
    fn defaults_never_exceed_a_lowered_maximum() {
        let settings = settings(&[("timeout-max", 1000), ("memory-max", 2 << 20), ("max-concurrent", 1)]).unwrap();
        let limits = settings.limits(None).unwrap();
        assert_eq!((limits.timeout_ms, limits.memory_limit, limits.warm_children), (1000, 2 << 20, 1));
        assert_eq!(limits.queue, Limits::default().queue);
        assert_eq!(settings.timeout_default.origin.to_string(), "default, lowered to timeout-max");
    }

    #[test]
    fn without_settings_the_bounds_are_the_contracts() {
        assert_eq!(settings(&[]).unwrap().limits(None), Ok(Limits::default()));
    }

    #[test]
    fn bounds_that_contradict_each_other_are_refused_by_their_names() {
        let cases: &[(&[(&'static str, u64)], &str)] = &[
            (
                &[("timeout-default", 400_000)],
                "timeout-default is 400s (--timeout-default), which is above timeout-max, 5m",
            ),
            (
                &[("timeout-default", 9), ("timeout-max", 8)],
                "timeout-default is 9ms (--timeout-default), which is above timeout-max, 8ms",
            ),
            (
                &[("memory-default", 4 << 20), ("memory-max", 2 << 20)],
                "memory-default is 4MiB (--memory-default), which is above memory-max, 2MiB",
            ),
            (&[("warm", 3), ("max-concurrent", 2)], "warm is 3 (--warm), which is above max-concurrent, 2"),
            (&[("timeout-max", 1_800_001)], "timeout-max is 1800001ms (--timeout-max), which is above max-wall, 30m"),
        ];
        for (given, expected) in cases {
            assert_eq!(settings(given).unwrap_err(), *expected);
        }
        assert!(settings(&[("warm", 2), ("max-concurrent", 2)]).is_ok());
        let wall = settings(&[("max-wall", 1000)]).unwrap().limits(None).unwrap();
        assert_eq!((wall.timeout_ms, wall.max_timeout_ms, wall.max_cpu_time_ms), (1000, 1000, 1000));
    }

    #[test]
    fn a_memory_limit_fits_the_machine() {
        let settings = settings(&[("memory-max", 5 << 30)]).unwrap();
        assert_eq!(
            settings.limits(Some(4 << 30)).unwrap_err(),
            "memory-max is 5GiB, which is above the 4GiB of memory that this machine has"
        );
        let limits = settings.limits(Some(5 << 30)).unwrap();
        assert_eq!((limits.memory_budget, limits.max_memory_limit), (5 << 30, 5 << 30));
    }

    #[test]
    fn a_memory_budget_fits_the_machine_and_bounds_every_program() {
        let budget = |bytes: u64, more: &[(&'static str, u64)]| {
            let mut settings = settings(more).unwrap();
            settings.memory_budget = Set { value: Some(bytes), origin: Origin::Flag("--memory-budget".into()) };
            settings.settle().map(|()| settings)
        };
        let limits = budget(64 << 20, &[]).unwrap().limits(Some(4 << 30)).unwrap();
        assert_eq!(
            (limits.memory_budget, limits.max_memory_limit, limits.memory_limit),
            (64 << 20, 64 << 20, 64 << 20)
        );
        assert_eq!(
            budget(64 << 20, &[("memory-max", 65 << 20)]).unwrap_err(),
            "memory-max is 65MiB (--memory-max), which is above memory-budget, 64MiB"
        );
        assert_eq!(
            budget(5 << 30, &[]).unwrap().limits(Some(4 << 30)).unwrap_err(),
            "memory-budget is 5GiB, which is above the 4GiB of memory that this machine has"
        );
    }
}
