//! The dialect's executor over a native one.

use std::{collections::BTreeMap, fmt, sync::Arc};

use codemode_protocol::{
    Caller, ExecuteRequest, Executor, ExecutorError, Host, Outbound, OutboundMode, ProviderDescriptor, TimeBound,
};

use crate::{
    normalize::normalize_code,
    plan::{ExecutionPlan, plan_execution},
    provider::{ConnectorBinding, Providers},
    render::CodemodeResult,
    validate::validate_execution,
};

/// Runs programs as `@cloudflare/codemode` does, on any native executor.
#[derive(Clone, Debug)]
pub struct CodemodeExecutor<E> {
    executor: E,
}

/// What one execution may set. What is absent is absent from the native request, so the executor's default applies.
#[derive(Clone, Debug, Default)]
pub struct ExecuteOptions {
    /// Namespaces whose tools only their connectors know.
    pub connectors: Vec<ConnectorBinding>,
    /// Module sources by specifier.
    pub modules: Option<BTreeMap<String, String>>,
    /// The bound on the run's wall time, host calls included; 0 milliseconds are taken as 1.
    pub timeout: TimeBound,
    /// Where the program's `fetch` goes.
    pub outbound: OutboundTarget,
    /// Names the run for `cancel` and the logs: a UUID.
    pub id: Option<String>,
    /// On whose behalf the run is made.
    pub caller: Caller,
}

/// Where the program's `fetch` goes.
#[derive(Clone, Default)]
pub enum OutboundTarget {
    /// Where the executor's policy says.
    #[default]
    Default,
    /// Nowhere.
    Blocked,
    /// To a function of this process.
    Function(Arc<dyn Outbound>),
}

impl<E: Executor> CodemodeExecutor<E> {
    /// The dialect over `executor`.
    pub fn new(executor: E) -> Self {
        Self { executor }
    }

    /// The native executor.
    pub fn native(&self) -> &E {
        &self.executor
    }

    /// Runs what a model wrote with the tools of `providers` and of the options' connectors.
    ///
    /// A refused name and a program that fails are results, with their `error`. Dropping the future cancels the run.
    ///
    /// # Errors
    /// The infrastructure failed: the program never ran, or nobody can know whether it did.
    pub async fn execute(
        &self,
        code: &str,
        providers: impl Into<Providers>,
        options: ExecuteOptions,
    ) -> Result<CodemodeResult, ExecutorError> {
        let providers = providers.into().into_list();
        if let Err(refusal) = validate_execution(&providers, &options.connectors) {
            return Ok(CodemodeResult::refused(refusal));
        }
        let ExecutionPlan { descriptors, dispatch } = plan_execution(providers, options.connectors);
        let (outbound, function) = match options.outbound {
            OutboundTarget::Default => (OutboundMode::Default, None),
            OutboundTarget::Blocked => (OutboundMode::Blocked, None),
            OutboundTarget::Function(function) => (OutboundMode::Stub, Some(function)),
        };
        let request = ExecuteRequest {
            modules: options.modules,
            outbound,
            id: options.id,
            ..native_request(normalize_code(code), descriptors, options.timeout)
        };
        let guard = dispatch.completion_guard();
        let host = Host { dispatch: Some(Arc::new(dispatch)), outbound: function, caller: options.caller };
        let outcome = self.executor.execute(request, host).await;
        // Whatever was left behind and calls from now on is refused, also when the run failed.
        drop(guard);
        outcome.map(CodemodeResult::from)
    }

    /// Disposes of the native executor: the one way to give back its processes or its connection.
    pub async fn dispose(&self) {
        self.executor.dispose().await;
    }
}

/// What every execution of the dialect asks of the native executor.
pub(crate) fn native_request(code: String, providers: Vec<ProviderDescriptor>, timeout: TimeBound) -> ExecuteRequest {
    ExecuteRequest {
        code,
        providers,
        timeout: match timeout {
            TimeBound::Milliseconds(0) => TimeBound::Milliseconds(1),
            other => other,
        },
        // The dialect measures wall time, knows no CPU clock, and returns results through a JSON round trip.
        count_host_waits: true,
        cpu_time: TimeBound::Ceiling,
        drop_functions: true,
        stack_limit: Some(STACK_BYTES),
        ..ExecuteRequest::default()
    }
}

impl fmt::Debug for OutboundTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "Default",
            Self::Blocked => "Blocked",
            Self::Function(_) => "Function",
        })
    }
}

/// Programs that recurse some thousand frames deep run where the dialect comes from, and a frame of this engine takes more
/// room than one of V8's. The executor lowers it to its own maximum.
const STACK_BYTES: u64 = 8 << 20;
