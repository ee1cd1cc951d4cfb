//! What a pool is made with, and why it may not come up.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

#[cfg(doc)]
use codemode_protocol::LOCAL_NODE;
use codemode_protocol::{Limits, Observer, Outbound};

use crate::confinement::{ConfinementReport, Level};

/// How to make a pool. `Default` is right for a program that calls [`run_if_zygote`](crate::run_if_zygote).
#[derive(Clone, Debug, Default)]
pub struct PoolOptions {
    /// The `codemode-zygote` binary. Absent: this program itself if it called
    /// [`run_if_zygote`](crate::run_if_zygote), else the binary of that name beside it.
    pub zygote: Option<PathBuf>,
    /// Every bound of the contract's table that concerns sandboxes, admission included.
    pub limits: Limits,
    /// What each tenant may have of them, however much is free.
    pub tenant: TenantCeilings,
    /// Module sources by specifier, for requests whose `modules` is absent.
    pub modules: BTreeMap<String, String>,
    /// The node's name, with which the ids of retained executions begin; absent means [`LOCAL_NODE`].
    pub node: Option<String>,
    /// The weakest confinement under which the pool may start.
    pub require_confinement: Level,
    /// Is told of what happens, for metrics.
    pub observer: Option<Arc<dyn Observer>>,
    /// Performs the requests of programs whose mode is the default: six of a run at once, and while the run lasts. The
    /// run clock goes on meanwhile. It alone decides where they may go. Absent: such programs have no network.
    pub outbound: Option<Arc<dyn Outbound>>,
}

/// What each tenant may have of a pool; absent means no ceiling of its own. All callers without a tenant are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TenantCeilings {
    /// Runs and leases at once, at least 1. Further ones wait, and hold up nobody else.
    pub concurrent: Option<u64>,
    /// Runs and leases that wait for a permit. Further ones are refused with `OVERLOADED`.
    pub queue: Option<u64>,
    /// Retained executions. A further run delivers its result with null in the place of its functions.
    pub retained: Option<u64>,
}

/// Why a pool did not come up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// There is no program to start as zygote.
    #[error(
        "no program to start sandboxes from: call codemode_sandbox::run_if_zygote() first thing in main, or point \
         PoolOptions::zygote at the codemode-zygote binary, or put it beside this program (looked at: {looked:?})"
    )]
    NoZygote {
        /// The paths that were looked at.
        looked: Vec<PathBuf>,
    },
    /// The program is there and could not be started.
    #[error("{program} could not be started as zygote: {source}", program = program.display())]
    Launch {
        /// The program.
        program: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The program started and did not behave as a zygote.
    #[error(
        "{program} did not become a zygote: {detail}. Its main must call codemode_sandbox::run_if_zygote() first thing",
        program = program.display()
    )]
    NotAZygote {
        /// The program.
        program: PathBuf,
        /// What it did instead.
        detail: String,
    },
    /// The program was built from another version of this crate.
    #[error("the zygote speaks {theirs}, this program {ours}: build both from the same source")]
    Version {
        /// This crate's version of the protocol.
        ours: String,
        /// The zygote's.
        theirs: String,
    },
    /// The zygote could not set itself up.
    #[error("the zygote could not set itself up: {0}")]
    Setup(String),
    /// The machine does not confine children as strongly as was required.
    #[error(
        "confinement reaches the level {reached}, {required} is required; missing: {missing}",
        reached = report.level,
        missing = missing(report)
    )]
    Confinement {
        /// What was asked for.
        required: Level,
        /// What there is.
        report: ConfinementReport,
    },
    /// The self-test's child ended without a report.
    #[error("the child of the self-test ended without a report: an attempt got through, or it was killed")]
    SelfTest,
    /// The channel to the zygote failed.
    #[error("the channel to the zygote failed: {0}")]
    Channel(#[source] io::Error),
    /// No thread could be started.
    #[error("a thread of the pool could not be started: {0}")]
    Thread(#[source] io::Error),
    /// There is no tokio runtime to run in.
    #[error("a pool needs a tokio runtime with I/O and time: create it from within one")]
    NoRuntime,
}

fn missing(report: &ConfinementReport) -> String {
    let off = report.layers.iter().filter(|layer| !layer.on).map(|layer| format!("{} ({})", layer.name, layer.detail));
    off.collect::<Vec<_>>().join(", ")
}
