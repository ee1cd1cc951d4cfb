//! `serve`: the daemon with a pool of this process.

use std::sync::Arc;

use codemode_daemon::Config;
use codemode_sandbox::{PoolExecutor, PoolOptions};
use tokio::{net::TcpListener, sync::oneshot};
use tracing::warn;

use crate::{
    args,
    exit::{Failure, Status},
    machine, signals,
    terminal::print,
};

/// Serves until a signal.
///
/// # Errors
/// The address cannot be listened on, or the pool does not come up.
pub(crate) async fn run(args: args::Serve) -> Result<Status, Failure> {
    let limits = args.pool.limits(machine::memory()).map_err(Failure::usage)?;
    let mut signals = signals::interruption()?;
    // First: a port that is taken is found out before any process is started.
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|error| Failure::infrastructure(format!("--listen {}: {error}", args.listen)))?;
    let addr = listener.local_addr().map_err(|error| Failure::infrastructure(format!("the listener: {error}")))?;
    let options =
        PoolOptions { limits: limits.clone(), require_confinement: args.require_confinement, ..PoolOptions::default() };
    let pool = PoolExecutor::new(options).await.map_err(|error| Failure::infrastructure(error.to_string()))?;
    let pool = Arc::new(pool);
    let config = Config {
        limits,
        confinement: pool.status().confinement.active().map(str::to_owned).collect(),
        readiness: Arc::new({
            let pool = pool.clone();
            move || if pool.status().ready { Ok(()) } else { Err("the pool has no zygote".into()) }
        }),
        max_sessions: usize::try_from(args.max_sessions).unwrap_or(usize::MAX),
        ..Config::default()
    };
    if let Err(error) = print(format_args!("listening on ws://{addr}")) {
        // Whoever started us may not care; whoever connects does.
        warn!(%error, "standard output is closed");
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let twice = async {
        signals.recv().await;
        // The receiver lives as long as the daemon.
        let _ = stop.send(());
        signals.recv().await;
        warn!("a second signal: stopping at once");
    };
    let serving = codemode_daemon::run(config, listener, pool, async {
        let _ = stopped.await;
    });
    tokio::select! {
        served = serving => served.map(|()| Status::Success).map_err(|error| Failure::infrastructure(error.to_string())),
        () = twice => Ok(Status::Success),
    }
}
