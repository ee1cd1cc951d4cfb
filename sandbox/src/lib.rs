//! Warm, confined, one-shot QuickJS sandboxes behind the native executor contract.
//!
//! A [`PoolExecutor`] keeps a few processes forked, warmed up and waiting. Each serves exactly one program and ends. It
//! needs no daemon:
//!
//! ```no_run
//! use codemode_protocol::{ExecuteRequest, Executor, Host};
//! use codemode_sandbox::{PoolExecutor, PoolOptions};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // First thing: this program is also started in the role of the zygote, from which sandboxes are forked.
//!     codemode_sandbox::run_if_zygote();
//!     tokio::runtime::Runtime::new()?.block_on(async {
//!         let pool = PoolExecutor::new(PoolOptions::default()).await?;
//!         let outcome = pool.execute(ExecuteRequest::new("async () => 6 * 7"), Host::default()).await?;
//!         println!("{}", outcome.result.map(|result| result.as_str().to_owned()).unwrap_or_default());
//!         pool.dispose().await;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # How it is laid out
//!
//! | module | answers |
//! |---|---|
//! | `pool` | who is admitted, which child, when to kill, what an end means |
//! | `zygote` | where children come from |
//! | `confinement` | what a child may not do, and [`doctor`], which proves it |
//! | `guest` | what runs inside a child: the engine and its surface |
//! | `frame` | what pool and child say to each other |
//!
//! Linux only: parent-death signals, process handles, seccomp and Landlock have no equal elsewhere.
//!
//! The pool never trusts a child that has run guest code: frames, results and claims about bounds are checked here, and
//! bounds are enforced from outside.

#[cfg(not(target_os = "linux"))]
compile_error!("codemode-sandbox needs Linux: nothing else can confine its children and be sure to end them");

mod confinement;
mod frame;
mod guest;
mod memory;
mod pool;
#[cfg(test)]
#[path = "../tests/web/seeded.rs"]
mod seeded;
mod sys;
mod zygote;

pub use confinement::{
    AttemptOutcome, AttemptPair, AttemptReport, ConfinementReport, DoctorReport, KernelReport, Layer, Level,
    UnknownLevel, doctor,
};
pub use memory::machine_memory;
pub use pool::{PoolError, PoolExecutor, PoolOptions, PoolStatus, TenantCeilings};
pub use zygote::run_if_zygote;
