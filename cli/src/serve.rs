//! `serve`: the daemon with a pool of this process.

use std::{io, sync::Arc};

use codemode_daemon::{Config, MOST_REQUESTS_AT_ONCE, STRANGERS, Sight};
use codemode_protocol::Limits;
use codemode_sandbox::{PoolExecutor, PoolOptions, machine_memory};
use sd_notify::NotifyState;
use tokio::{net::TcpListener, sync::oneshot};
use tracing::warn;

use crate::{
    access::Access,
    exit::{Failure, Status},
    settings::Settings,
    signals, telemetry,
    terminal::print,
};

/// Serves until a signal.
///
/// # Errors
/// The address cannot be listened on, or the pool does not come up.
pub(crate) async fn run(settings: Settings) -> Result<Status, Failure> {
    let limits = settings.limits(machine_memory()).map_err(Failure::usage)?;
    let access = Access::read(&settings).map_err(Failure::usage)?;
    let (mut signals, mut again) = (signals::stop()?, signals::again()?);
    let max_connections = usize::try_from(settings.max_connections.value).unwrap_or(usize::MAX);
    let strangers = if settings.tokens.value.is_some() { STRANGERS } else { 0 };
    let wanted = usize::try_from(settings.max_sessions.value).unwrap_or(usize::MAX);
    let requests = if settings.outbound_allow.value.is_empty() { 0 } else { MOST_REQUESTS_AT_ONCE };
    let max_sessions = fitting_sessions(&limits, max_connections + strangers + requests, wanted)?;
    let mut config = config(&settings, limits.clone());
    access.apply(&mut config);
    config.check_listen_address(settings.listen.value).map_err(|error| Failure::usage(error.to_string()))?;
    // First: a port that is taken is found out before any process is started.
    let listen = settings.listen.value;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| Failure::infrastructure(format!("the address {listen} cannot be listened on: {error}")))?;
    let addr = listener.local_addr().map_err(|error| Failure::infrastructure(format!("the listener: {error}")))?;
    let sight = Arc::new(Sight::new());
    let outbound = settings.outbound().map_err(|error| Failure::infrastructure(error.to_string()))?;
    let options = PoolOptions {
        limits,
        tenant: settings.tenant(),
        node: Some(settings.node.value.clone()),
        require_confinement: settings.require_confinement.value,
        observer: Some(sight.clone()),
        outbound: outbound.map(|client| Arc::new(client) as _),
        ..PoolOptions::default()
    };
    let pool = PoolExecutor::new(options).await.map_err(|error| Failure::infrastructure(error.to_string()))?;
    let pool = Arc::new(pool);
    config.limits = pool.limits().clone();
    config.confinement = pool.status().confinement.active().map(str::to_owned).collect();
    config.readiness = Arc::new({
        let pool = pool.clone();
        move || if pool.status().ready { Ok(()) } else { Err("the pool has no zygote".into()) }
    });
    config.sight = sight;
    config.pool_gauges = Some(Arc::new({
        let pool = pool.clone();
        move || pool.gauges()
    }));
    config.max_connections = max_connections;
    config.max_sessions = max_sessions;
    let scheme = if config.tls.is_some() { "wss" } else { "ws" };
    if let Err(error) = print(format_args!("listening on {scheme}://{addr}")) {
        // Whoever started us may not care; whoever connects does.
        warn!(%error, "standard output is closed");
    }
    tell_manager(NotifyState::Ready);
    let (stop, stopped) = oneshot::channel::<()>();
    let twice = async {
        signals.recv().await;
        tell_manager(NotifyState::Stopping);
        // The receiver lives as long as the daemon.
        let _ = stop.send(());
        signals.recv().await;
        warn!("a second signal: stopping at once");
    };
    let serving = codemode_daemon::run(config, listener, pool, async {
        let _ = stopped.await;
    });
    let reloading = async {
        while again.recv().await.is_some() {
            access.reload();
        }
        // Nothing sends any more: the runtime is about to end.
        std::future::pending().await
    };
    tokio::select! {
        never = reloading => never,
        served = serving => served.map(|()| Status::Success).map_err(|error| Failure::infrastructure(error.to_string())),
        () = twice => Ok(Status::Success),
    }
}

/// What the settings say of the daemon; the rest is known once the pool runs.
fn config(settings: &Settings, limits: Limits) -> Config {
    Config {
        limits,
        node: settings.node.value.clone(),
        features: ["modules", "handles", "outbound", "codemode", "leases", "authenticate"].map(str::to_owned).to_vec(),
        max_sessions_per_address: settings
            .max_sessions_per_address
            .value
            .map_or(usize::MAX, |bound| usize::try_from(bound).unwrap_or(usize::MAX)),
        allowed_origins: settings.allow_origin.value.clone(),
        allowed_hosts: settings.allow_host.value.clone(),
        insecure: settings.insecure.value,
        trace_parent: settings.otlp.value.is_some().then(telemetry::trace_parent),
        log_payloads: settings.log_payloads.value,
        ..Config::default()
    }
}

/// Tells systemd, where that started us.
fn tell_manager(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        warn!(%error, "the service manager could not be told");
    }
}

/// Raises the bound on descriptors as far as it goes, and gives the number of sessions under which every program that
/// may run still gets its descriptors.
fn fitting_sessions(limits: &Limits, connections: usize, wanted: usize) -> Result<usize, Failure> {
    let descriptors =
        raise_descriptors().map_err(|error| Failure::infrastructure(format!("the limit on descriptors: {error}")))?;
    let others = other_descriptors(limits, connections);
    let fitting = descriptors.saturating_sub(others).min(wanted as u64);
    if fitting == 0 {
        return Err(Failure::infrastructure(format!(
            "{descriptors} descriptors are allowed (ulimit -n), and programs and connections need {others} before the \
             first session: raise the limit, or lower max-concurrent and warm"
        )));
    }
    if fitting < wanted as u64 {
        warn!(
            "max-sessions is lowered from {wanted} to {fitting}: {descriptors} descriptors are allowed (ulimit -n), and \
             programs and connections need {others} of them"
        );
    }
    // No more than `wanted`, which is a usize.
    Ok(usize::try_from(fitting).unwrap_or(wanted))
}

/// Descriptors that are not sessions': those of the children that run or are warm, of connections before they are
/// sessions that somebody is known to have, of outbound requests, and of the process itself.
fn other_descriptors(limits: &Limits, connections: usize) -> u64 {
    let children = limits.max_concurrent.saturating_add(limits.warm_children);
    children.saturating_mul(CHILD_DESCRIPTORS).saturating_add(connections as u64).saturating_add(OWN_DESCRIPTORS)
}

/// Raises the soft limit on descriptors to the hard one, and gives what is allowed then.
fn raise_descriptors() -> io::Result<u64> {
    let mut bound = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `bound` is a valid rlimit for the length of the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut bound) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let raised = libc::rlimit { rlim_cur: bound.rlim_max, ..bound };
    // SAFETY: `raised` is a valid rlimit for the length of the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } != 0 {
        warn!(error = %io::Error::last_os_error(), "the limit on descriptors could not be raised");
        return Ok(bound.rlim_cur);
    }
    Ok(raised.rlim_cur)
}

/// What one child takes here: its channel and its handle, and as much again while it is replaced.
const CHILD_DESCRIPTORS: u64 = 4;

/// Standard streams, the listener, the runtime, the channel of the zygote, and room for files that are opened briefly.
const OWN_DESCRIPTORS: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_get_what_programs_and_connections_leave() {
        let limits = Limits { max_concurrent: 64, warm_children: 8, ..Limits::default() };
        assert_eq!(other_descriptors(&limits, 256), 72 * 4 + 256 + 64);
        let allowed = raise_descriptors().unwrap();
        let found = fitting_sessions(&limits, 256, usize::MAX).unwrap();
        assert_eq!(found as u64, allowed - 608);
        assert_eq!(fitting_sessions(&limits, 256, 3).unwrap(), 3);
        let many = Limits { max_concurrent: u64::MAX, ..limits };
        assert!(fitting_sessions(&many, 256, 3).is_err());
    }
}
