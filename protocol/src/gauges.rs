//! What an executor with sandboxes of its own lets an operator see.

use std::{fmt, time::Duration};

/// What a pool of sandboxes holds at a moment, and has counted since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Whether a run would start now.
    pub ready: bool,
    /// Children that wait for a run.
    pub warm: u64,
    /// Runs with a child.
    pub running: u64,
    /// Runs and leases that wait for a permit, and runs that wait for a child.
    pub queued: u64,
    /// Permits that are held for a run to come.
    pub leased: u64,
    /// Executions that are retained for calls of their functions.
    pub retained: u64,
    /// Permits in all.
    pub permits: u64,
    /// Bytes that the limits of runs, leases and retained executions add up to.
    pub reserved_memory: u64,
    /// Bytes that they may add up to: the memory budget times its overcommit factor.
    pub reservable_memory: u64,
    /// Children forked, counted.
    pub forks: u64,
    /// Forks that failed or were lost, counted.
    pub failed_forks: u64,
    /// Zygotes that came up, counted: more than one says that some have ended.
    pub zygotes: u64,
    /// Children killed from outside because they outlived a bound of their run by the grace, counted.
    pub kills: u64,
}

/// Is told of each admission and of each child that was lost. It is called where runs are served, so it must be quick.
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// Something happened.
    fn observe(&self, event: Event);
}

/// What an [`Observer`] is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A run has its child, or a lease its permit.
    Admitted {
        /// How long it waited for that.
        wait: Duration,
    },
    /// A run or a lease was refused.
    Refused {
        /// How long it had waited.
        wait: Duration,
        /// By which bound.
        by: RefusedBy,
    },
    /// A child was lost under its run.
    Crashed(Crash),
}

macro_rules! labels {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $variant:ident $text:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// A short name in the manner of a metric's label.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

labels! {
    /// Why a run or a lease was refused.
    RefusedBy {
        /// The queue was full.
        Queue "queue_full",
        /// The queue was full, and its place went to a caller that held fewer.
        Displaced "displaced",
        /// The tenant's places in the queue were taken.
        TenantQueue "tenant_queue_full",
        /// No permit came in time.
        Wait "wait",
        /// No child came in time.
        NoSandbox "no_sandbox",
        /// The executor takes no more runs.
        Shutdown "shutdown",
    }
}

labels! {
    /// How a child was lost.
    Crash {
        /// Killed by SIGKILL, and not by us: most likely the kernel was out of memory.
        Killed "killed",
        /// Killed by another signal.
        Signal "signal",
        /// It exited by itself.
        Exit "exit",
        /// It died with its zygote.
        Orphaned "orphaned",
        /// It closed its channel or could not be spoken with.
        Silent "silent",
        /// It broke the rules of its channel, and was killed.
        Violation "violation",
    }
}
