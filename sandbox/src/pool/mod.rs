//! [`PoolExecutor`]: the native contract on warm, confined, one-shot children.
//!
//! `machine`, which children there are, with `admission`, who gets a permit, `queue`, whose turn it is, and `rate`, when
//! to try again; `clock` and `conversation`: these decide, purely. `shared` obeys the machine, `supply` speaks with the
//! zygote, `execution` leads a run from its admission to its answer, `specify` says what its child is told, `run` speaks
//! with the child, `calls` and `fetching` with the host, `watchdog` kills what outlives its bounds, `verdict` says what a
//! run's end means, `retained` keeps children whose functions may be called.

use std::{sync::Arc, time::Duration};

use codemode_protocol::{
    AcquireOptions, Caller, ExecuteRequest, Executor, ExecutorError, Gauges, Host, InvokeOptions, LOCAL_NODE, Lease,
    Limits, Outcome,
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, watch},
};

use crate::{confinement::ConfinementReport, memory::machine_memory};

use execution::Pool;
use shared::Shared;
use supply::{Event, Keeper};
use watchdog::Watchdog;

mod admission;
mod calls;
mod child;
mod clock;
mod conversation;
mod execution;
mod fetching;
mod machine;
mod options;
mod queue;
mod rate;
mod retained;
mod run;
mod shared;
mod specify;
mod supply;
mod verdict;
mod watchdog;

pub use options::{PoolError, PoolOptions, TenantCeilings};

/// Runs each program in a process of its own that was forked, warmed up and confined before the program came.
///
/// Needs a tokio runtime with I/O and time, the one in which it was made. Dropping it ends everything that it started;
/// [`Executor::dispose`] also waits for that.
#[derive(Debug)]
pub struct PoolExecutor {
    pool: Arc<Pool>,
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
    /// Runs and leases that wait for a permit, and runs that wait for a child.
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
        let limits = options.limits.clone().on_machine(machine_memory());
        let grace = Duration::from_millis(limits.grace_ms);
        let shared = Arc::new(Shared::new(limits, options.tenant, options.observer.clone(), node));
        let renicing = Arc::downgrade(&shared);
        let renice = move |child| {
            if let Some(shared) = renicing.upgrade() {
                shared.renice(child);
            }
        };
        let watchdog = Watchdog::start(shared.epoch, grace, Box::new(renice)).map_err(PoolError::Thread)?;
        let (events, mut first) = mpsc::unbounded_channel();
        let (modules, outbound) = (options.modules.clone(), options.outbound.clone());
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
        Ok(Self { pool: Arc::new(Pool { shared, watchdog, runtime, modules, outbound }), ended })
    }

    /// The bounds that this pool applies, that on memory as it is on this machine.
    pub fn limits(&self) -> &Limits {
        &self.pool.shared.limits
    }

    /// Figures for an operator.
    pub fn gauges(&self) -> Gauges {
        let shared = &self.pool.shared;
        let (census, counts) = (shared.census(), shared.counts());
        Gauges {
            ready: census.supplied && !shared.is_closed(),
            warm: census.idle as u64,
            running: census.running as u64,
            queued: census.waiting as u64,
            leased: census.leased as u64,
            retained: census.retained as u64,
            permits: shared.limits.max_concurrent,
            reserved_memory: census.memory,
            reservable_memory: shared::reservable(&shared.limits),
            forks: counts.forks,
            failed_forks: counts.failed_forks,
            zygotes: counts.zygotes,
            kills: self.pool.watchdog.kills(),
        }
    }

    /// What the pool does at this moment.
    pub fn status(&self) -> PoolStatus {
        let shared = &self.pool.shared;
        let census = shared.census();
        PoolStatus {
            ready: census.supplied && !shared.is_closed(),
            warm: census.idle,
            running: census.running,
            queued: census.waiting,
            retained: shared.retained.count(),
            zygote: shared.zygote(),
            confinement: shared.confinement(),
        }
    }
}

impl Executor for PoolExecutor {
    async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        self.pool.execute(request, host).await
    }

    async fn invoke_handle(
        &self,
        execution_id: &str,
        handle_id: &str,
        args_json: &str,
        host: Host,
        options: InvokeOptions,
    ) -> Result<Outcome, ExecutorError> {
        self.pool.invoke(execution_id, handle_id, args_json, host, options).await
    }

    async fn close_handles(&self, execution_id: &str) -> Result<(), ExecutorError> {
        self.close_handles_of(execution_id, &Caller::default()).await
    }

    async fn close_handles_of(&self, execution_id: &str, caller: &Caller) -> Result<(), ExecutorError> {
        self.pool.shared.retained.close(execution_id, &caller.tenant)
    }

    async fn acquire(&self, options: AcquireOptions) -> Result<Lease, ExecutorError> {
        self.pool.acquire(options).await
    }

    fn drain(&self) {
        self.pool.shared.drain();
    }

    async fn dispose(&self) {
        self.pool.shared.dispose();
        // The sender goes only with the director, which then has ended as well.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

impl Drop for PoolExecutor {
    fn drop(&mut self) {
        self.pool.shared.dispose();
    }
}
