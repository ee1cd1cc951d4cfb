//! Runs and calls of functions, from their admission to their answer.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use codemode_protocol::{
    AcquireOptions, Encoded, ErrorCode, Event, ExecuteRequest, ExecutorError, HANDLE_TAG, Host, InvokeOptions, Lease,
    Limits, Outbound, OutboundMode, Outcome, RefusedBy, RunBounds, capnweb::Value, text,
};
use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::{
    admission::Refusal,
    machine::Ticket,
    queue::Tenant,
    retained::{self, Parked},
    run::Prepared,
    shared::{Child, Leased, Shared},
    specify::{escaped_units, specify},
    watchdog::Watchdog,
};
use crate::frame::{InvokeSpec, OutboundSpec};

/// What runs need of their pool. A lease has it too, so that it may outlive the pool's own value, which ends all the same.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) shared: Arc<Shared>,
    pub(super) watchdog: Watchdog,
    pub(super) runtime: Handle,
    /// Of requests that bring none of their own.
    pub(super) modules: BTreeMap<String, String>,
    /// Performs the requests of runs whose mode is the default.
    pub(super) outbound: Option<Arc<dyn Outbound>>,
}

/// A run that may be admitted.
struct Checked {
    prepared: Box<Prepared>,
    tenant: Tenant,
    memory: u64,
}

impl Pool {
    pub(super) async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        let caller = host.caller.clone();
        let checked = self.check(request, host)?;
        let arrived = self.shared.now();
        let (ticket, child) = self.shared.admit(caller, checked.memory).await;
        self.run(checked, ticket, child, arrived).await
    }

    /// Waits for a permit. The lease runs its program on behalf of whoever acquired it.
    pub(super) async fn acquire(self: &Arc<Self>, options: AcquireOptions) -> Result<Lease, ExecutorError> {
        let limits = &self.shared.limits;
        options.validate(limits)?;
        let memory = options.memory(limits);
        let AcquireOptions { caller, .. } = options;
        let arrived = self.shared.now();
        let leased = self.shared.lease(caller.clone(), memory).await;
        let wait = self.shared.now().saturating_sub(arrived);
        let leased = leased.map_err(|refusal| self.refused(refusal, wait))?;
        self.shared.observe(Event::Admitted { wait });
        let pool = self.clone();
        let run = move |request: ExecuteRequest, host: Host| {
            let host = Host { caller, ..host };
            async move { pool.execute_leased(leased, memory, request, host).await }.boxed()
        };
        Ok(Lease::new(wait, Box::new(run)))
    }

    async fn execute_leased(
        &self,
        leased: Leased,
        memory: u64,
        mut request: ExecuteRequest,
        host: Host,
    ) -> Result<Outcome, ExecutorError> {
        let limits = &self.shared.limits;
        request.memory_limit.get_or_insert(memory);
        let asked = request.bounds(limits).memory_bytes;
        if asked > memory {
            return Err(ExecutorError::invalid("memoryLimit", text::above_lease(asked, memory)));
        }
        let checked = self.check(request, host)?;
        let arrived = self.shared.now();
        match self.shared.begin(leased).await {
            Some((ticket, child)) => self.run(checked, ticket, child, arrived).await,
            None if self.shared.is_closed() => Err(self.refused(Refusal::Closed, Duration::ZERO)),
            None => Err(ExecutorError::new(ErrorCode::InvalidRequest, text::lease_expired(limits.lease_ms))),
        }
    }

    fn check(&self, mut request: ExecuteRequest, mut host: Host) -> Result<Checked, ExecutorError> {
        let limits = &self.shared.limits;
        request.validate(limits)?;
        let outbound = self.route(request.outbound, &mut host)?;
        let bounds = request.bounds(limits);
        request.modules.get_or_insert_with(|| self.modules.clone());
        let spec = specify(request, &bounds, limits, outbound);
        let (tenant, memory) = (host.caller.tenant.clone(), bounds.memory_bytes);
        let prepared = Box::new(Prepared::new(spec, bounds, host, &self.shared, self.runtime.clone()));
        Ok(Checked { prepared, tenant, memory })
    }

    /// Where requests go, and makes the host's outbound function the one that performs them.
    fn route(&self, mode: OutboundMode, host: &mut Host) -> Result<OutboundSpec, ExecutorError> {
        if mode == OutboundMode::Stub {
            return match host.outbound {
                Some(_) => Ok(OutboundSpec::Host),
                None => Err(ExecutorError::invalid("outbound", OUTBOUND_RULE)),
            };
        }
        host.outbound = self.outbound.clone().filter(|_| mode == OutboundMode::Default);
        Ok(if host.outbound.is_some() { OutboundSpec::Executor } else { OutboundSpec::Blocked })
    }

    async fn run(
        &self,
        checked: Checked,
        ticket: Ticket,
        mut child: Child,
        arrived: Duration,
    ) -> Result<Outcome, ExecutorError> {
        let Checked { mut prepared, tenant, .. } = checked;
        loop {
            let wait = self.shared.now().saturating_sub(arrived);
            let found = child.map_err(|refusal| self.refused(refusal, wait))?;
            match prepared.begin(&self.shared, &self.watchdog, found, Some(ticket), wait) {
                Ok(run) => {
                    self.shared.observe(Event::Admitted { wait });
                    let (answer, parked) = run.serve().await;
                    return answer.map(|outcome| self.retain(outcome, parked, tenant));
                }
                Err(again) => prepared = again,
            }
            child = self.shared.admit_again(ticket).await;
        }
    }

    /// A refusal in the contract's words.
    fn refused(&self, refusal: Refusal, wait: Duration) -> ExecutorError {
        let limits = &self.shared.limits;
        let (by, text, after) = match refusal {
            Refusal::QueueFull(after) => (RefusedBy::Queue, text::queue_full(limits.queue), Some(after)),
            Refusal::Displaced(after) => (RefusedBy::Displaced, text::displaced(limits.queue), Some(after)),
            Refusal::TenantQueueFull(after) => {
                let places = self.shared.tenant.queue.unwrap_or(limits.queue);
                (RefusedBy::TenantQueue, text::tenant_queue_full(places), Some(after))
            }
            Refusal::Waited(after) => (RefusedBy::Wait, text::queue_wait_exceeded(limits.queue_wait_ms), Some(after)),
            Refusal::NoChild(after) => {
                (RefusedBy::NoSandbox, text::no_sandbox_in_time(limits.queue_wait_ms), Some(after))
            }
            Refusal::Closed => (RefusedBy::Shutdown, text::NOT_STARTED_SHUTTING_DOWN.to_owned(), None),
        };
        self.shared.observe(Event::Refused { wait, by });
        let code = if after.is_some() { ErrorCode::Overloaded } else { ErrorCode::ShuttingDown };
        let mut error = ExecutorError::new(code, text);
        error.retry_after_ms = after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        error
    }

    /// Retains the child of a run whose result holds handles; if there are too many already, its functions are null.
    fn retain(&self, mut outcome: Outcome, parked: Option<Parked>, tenant: Tenant) -> Outcome {
        let Some(parked) = parked else { return outcome };
        if outcome.result.is_none() {
            // Nobody has a handle.
            parked.child.kill();
            return outcome;
        }
        let nonce = parked.spec.retain.clone().unwrap_or_default();
        let may = parked.memory.as_ref().is_some_and(|memory| self.shared.may_retain(memory));
        if may {
            outcome.execution_id = self.shared.retained.keep(parked, tenant, &self.runtime);
        } else {
            parked.child.kill();
        }
        if outcome.execution_id.is_none() {
            outcome.handles_refused = true;
            outcome.result = outcome.result.map(|result| without_handles(&result, &nonce, &self.shared.limits));
        }
        outcome
    }

    pub(super) async fn invoke(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        mut host: Host,
        options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        let limits = &self.shared.limits;
        options.validate(args_json, limits)?;
        let outbound = self.route(options.outbound, &mut host)?;
        let arrived = self.shared.now();
        let (turn, parked) = self.shared.retained.take(execution_id, &host.caller.tenant).await?;
        let Some(function) = function_number(handle_id, &parked) else {
            turn.give_back(parked);
            let message = text::handle_not_found(execution_id, handle_id);
            return Err(ExecutorError::new(ErrorCode::HandleNotFound, message));
        };
        let asked = options.bounds(limits);
        let bounds =
            RunBounds { memory_bytes: parked.spec.memory_limit, stack_bytes: parked.spec.stack_limit, ..asked };
        let invoke = InvokeSpec {
            function,
            args_json: args_json.to_owned(),
            timeout_ms: bounds.timeout_ms,
            cpu_ms: bounds.cpu_ms,
            max_wall_ms: bounds.max_wall_ms,
            count_host_waits: options.count_host_waits,
            drop_functions: options.drop_functions,
            outbound,
            escaped_units: escaped_units(options.result_encoding),
        };
        let (prepared, child) = Prepared::call(parked, invoke, bounds, host, &self.shared, self.runtime.clone());
        let queued = self.shared.now().saturating_sub(arrived);
        let Ok(run) = Box::new(prepared).begin(&self.shared, &self.watchdog, child, None, queued) else {
            return Err(retained::not_found(execution_id));
        };
        let (answer, parked) = run.serve().await;
        let closed = !turn.is_listed();
        if let Some(parked) = parked {
            turn.give_back(parked);
        }
        match answer {
            Ok(outcome) => Ok(Outcome { execution_id: Some(execution_id.to_owned()), ..outcome }),
            // It died because it was closed meanwhile.
            Err(error) if closed && error.code == ErrorCode::SandboxCrashed => {
                Err(retained::not_found(execution_id).with_logs(error.logs))
            }
            Err(error) => Err(error),
        }
    }
}

/// The number of a function that the execution holds, by its handle.
fn function_number(handle_id: &str, parked: &Parked) -> Option<u32> {
    let (nonce, number) = handle_id.rsplit_once('.')?;
    let number = number.parse().ok().filter(|number| (1..=parked.handles).contains(number))?;
    (parked.spec.retain.as_deref() == Some(nonce)).then_some(number)
}

/// A result with null in the place of its handles, which nobody else could have written: they begin with what no
/// program knows.
fn without_handles(result: &Encoded, nonce: &str, limits: &Limits) -> Encoded {
    let start = format!("{{\"{HANDLE_TAG}\":\"{nonce}.");
    let mut parts = result.as_str().split(&start);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("null");
        text.push_str(part.split_once("\"}").map_or("", |(_, rest)| rest));
    }
    // A child that is not honest may make this differ; then it has no result worth showing.
    Encoded::check(text, &limits.result()).unwrap_or_else(|_| null())
}

fn null() -> Encoded {
    Encoded::from_value(&Value::Null).expect("null is data")
}

/// What a request of mode `"stub"` needs.
const OUTBOUND_RULE: &str = "must be a function when the request's mode is \"stub\"";
