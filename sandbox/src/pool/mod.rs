//! [`PoolExecutor`]: the native contract on warm, confined, one-shot children.
//!
//! `machine` and `clock` and `conversation` decide, purely. `shared` obeys the machine, `supply` speaks with the
//! zygote, `run` with a child, `calls` and `fetching` with the host, `watchdog` kills what outlives its bounds, `verdict` says what a
//! run's end means, `retained` keeps children whose functions may be called. `retained` keeps what may be called later.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use codemode_protocol::{
    Encoded, ErrorCode, ExecuteRequest, Executor, ExecutorError, HANDLE_TAG, Host, InvokeOptions, LOCAL_NODE, Limits,
    OutboundMode, Outcome, ResultEncoding, RunBounds, capnweb::Value, text,
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
};
use uuid::Uuid;

use crate::{
    confinement::ConfinementReport,
    frame::{InvokeSpec, LogBounds, OutboundSpec, ProviderSpec, RunSpec},
};

use machine::Refusal;
use retained::Parked;
use run::Prepared;
use shared::Shared;
use supply::{Event, Keeper};
use watchdog::Watchdog;

mod calls;
mod child;
mod clock;
mod conversation;
mod fetching;
mod machine;
mod options;
mod retained;
mod run;
mod shared;
mod supply;
mod verdict;
mod watchdog;

pub use options::{PoolError, PoolOptions};

/// Runs each program in a process of its own that was forked, warmed up and confined before the program came.
///
/// Needs a tokio runtime with I/O and time, the one in which it was made. Dropping it ends everything that it started;
/// [`Executor::dispose`] also waits for that.
#[derive(Debug)]
pub struct PoolExecutor {
    shared: Arc<Shared>,
    watchdog: Watchdog,
    runtime: Handle,
    /// Of requests that bring none of their own.
    modules: BTreeMap<String, String>,
    /// True once the director has ended, and with it the last process of this pool.
    ended: watch::Receiver<bool>,
}

/// What a pool is and does at this moment.
#[derive(Clone, Debug)]
pub struct PoolStatus {
    /// Whether a run would start: there is a zygote, and children have not been lacking for some time.
    pub ready: bool,
    /// Children that wait for a run.
    pub warm: usize,
    /// Runs with a child.
    pub running: usize,
    /// Runs that wait for a permit or a child.
    pub queued: usize,
    /// Executions that are retained for calls of their functions.
    pub retained: usize,
    /// The number of the process that children are forked from; absent while there is none.
    pub zygote: Option<u32>,
    /// What confines the children.
    pub confinement: ConfinementReport,
}

impl PoolExecutor {
    /// Starts a zygote and, beside it, the first warm children.
    ///
    /// # Errors
    /// [`PoolError`]: there is no program to start, it does not come up, the machine confines less than was required, or
    /// there is no runtime. A zygote that ends later is replaced instead.
    pub async fn new(options: PoolOptions) -> Result<Self, PoolError> {
        let runtime = Handle::try_current().map_err(|_| PoolError::NoRuntime)?;
        let node = options.node.clone().unwrap_or_else(|| LOCAL_NODE.to_owned());
        let shared = Arc::new(Shared::new(options.limits.clone(), node));
        let grace = Duration::from_millis(options.limits.grace_ms);
        let renicing = Arc::downgrade(&shared);
        let renice = move |child| {
            if let Some(shared) = renicing.upgrade() {
                shared.renice(child);
            }
        };
        let watchdog = Watchdog::start(shared.epoch, grace, Box::new(renice)).map_err(PoolError::Thread)?;
        let (events, mut first) = mpsc::unbounded_channel();
        let modules = options.modules.clone();
        let keeper = Keeper::start(options, events).map_err(PoolError::Thread)?;
        shared.take_zygote_wish();
        keeper.want_zygote();
        let up = match first.recv().await {
            Some(Event::Up(up)) => up,
            Some(Event::Failed(error)) => return Err(error),
            Some(Event::Down) | None => return Err(PoolError::Setup("it ended at once".to_owned())),
        };
        let zygote = supply::welcome(&shared, up);
        let (ending, ended) = watch::channel(false);
        let directed = shared.clone();
        runtime.spawn(async move {
            supply::direct(directed, keeper, first, zygote).await;
            ending.send_replace(true);
        });
        Ok(Self { shared, watchdog, runtime, modules, ended })
    }

    /// The bounds that this pool applies.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// What the pool does at this moment.
    pub fn status(&self) -> PoolStatus {
        let census = self.shared.census();
        PoolStatus {
            ready: census.supplied && !self.shared.is_disposed(),
            warm: census.idle,
            running: census.running,
            queued: census.waiting,
            retained: self.shared.retained.count(),
            zygote: self.shared.zygote(),
            confinement: self.shared.confinement(),
        }
    }

    async fn run(&self, mut request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        let limits = &self.shared.limits;
        request.validate(limits)?;
        if request.outbound == OutboundMode::Stub && host.outbound.is_none() {
            return Err(ExecutorError::invalid("outbound", OUTBOUND_RULE));
        }
        let bounds = request.bounds(limits);
        request.modules.get_or_insert_with(|| self.modules.clone());
        let spec = specify(request, &bounds, limits);
        let mut prepared = Box::new(Prepared::new(spec, bounds, host, &self.shared, self.runtime.clone()));
        let arrived = self.shared.now();
        let (ticket, mut admission) = self.shared.admit().await;
        loop {
            let child = admission.map_err(refusal)?;
            let queued = self.shared.now().saturating_sub(arrived);
            match prepared.begin(&self.shared, &self.watchdog, child, queued) {
                Ok(run) => {
                    let (answer, parked) = run.serve().await;
                    return answer.map(|outcome| self.retain(outcome, parked));
                }
                Err(again) => prepared = again,
            }
            admission = self.shared.admit_again(ticket).await;
        }
    }
}

impl PoolExecutor {
    /// Retains the child of a run whose result holds handles; if there are too many already, its functions are null.
    fn retain(&self, mut outcome: Outcome, parked: Option<Parked>) -> Outcome {
        let Some(parked) = parked else { return outcome };
        if outcome.result.is_none() {
            // Nobody has a handle.
            parked.child.kill();
            return outcome;
        }
        let nonce = parked.spec.retain.clone().unwrap_or_default();
        outcome.execution_id = self.shared.retained.keep(parked, &self.runtime);
        if outcome.execution_id.is_none() {
            outcome.handles_refused = true;
            outcome.result = outcome.result.map(|result| without_handles(&result, &nonce, &self.shared.limits));
        }
        outcome
    }

    async fn invoke(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        let limits = &self.shared.limits;
        options.validate(args_json, limits)?;
        if options.outbound == OutboundMode::Stub && host.outbound.is_none() {
            return Err(ExecutorError::invalid("outbound", OUTBOUND_RULE));
        }
        let arrived = self.shared.now();
        let (turn, parked) = self.shared.retained.take(execution_id).await?;
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
            outbound: outbound(options.outbound),
            escaped_units: escaped_units(options.result_encoding),
        };
        let (prepared, child) = Prepared::call(parked, invoke, bounds, host, &self.shared, self.runtime.clone());
        let queued = self.shared.now().saturating_sub(arrived);
        let Ok(run) = Box::new(prepared).begin(&self.shared, &self.watchdog, child, queued) else {
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

impl Executor for PoolExecutor {
    async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        self.run(request, host).await
    }

    async fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        self.invoke(execution_id, handle_id, args_json, host, options).await
    }

    async fn close_handles(&self, execution_id: &str) -> Result<(), ExecutorError> {
        self.shared.retained.close(execution_id)
    }

    async fn dispose(&self) {
        self.shared.dispose();
        // The sender goes only with the director, which then has ended as well.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl Drop for PoolExecutor {
    fn drop(&mut self) {
        self.shared.dispose();
    }
}

fn specify(request: ExecuteRequest, bounds: &RunBounds, limits: &Limits) -> RunSpec {
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
        outbound: outbound(request.outbound),
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

fn outbound(mode: OutboundMode) -> OutboundSpec {
    match mode {
        OutboundMode::Stub => OutboundSpec::Host,
        // No operator has listed an origin.
        OutboundMode::Default | OutboundMode::Blocked => OutboundSpec::Blocked,
    }
}

fn escaped_units(encoding: ResultEncoding) -> u64 {
    match encoding {
        ResultEncoding::Value => u64::MAX,
        ResultEncoding::Text => ESCAPED_RESULT_UNITS,
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

fn refusal(refusal: Refusal) -> ExecutorError {
    let overloaded = |text: &str, after: Duration| {
        let mut error = ExecutorError::new(ErrorCode::Overloaded, text);
        error.retry_after_ms = Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        error
    };
    match refusal {
        Refusal::QueueFull(after) => {
            overloaded("All sandboxes are taken and the queue is full. Try again later.", after)
        }
        Refusal::Waited(after) => {
            overloaded("No sandbox became free within the queue's wait bound. Try again later.", after)
        }
        Refusal::Disposed => ExecutorError::new(ErrorCode::ShuttingDown, "The pool is disposed and takes no more runs"),
    }
}

/// What a request of mode `"stub"` needs.
const OUTBOUND_RULE: &str = "must be a function when the request's mode is \"stub\"";

/// A result as text is escaped once more in its message, of which JavaScript peers take 32 Mi units in all; the rest is
/// for logs and errors.
const ESCAPED_RESULT_UNITS: u64 = 24 << 20;
