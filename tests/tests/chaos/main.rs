//! Clients at load while sandboxes, the zygote and sockets are killed, stopped and cut at random.
//!
//! `CODEMODE_CHAOS_SECONDS` says how long (a few seconds without it), `CODEMODE_CHAOS_SEED` which choices are made.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on has failed")]

mod harm;
mod load;
/// The proxy of the client's own tests, of which this one needs a part.
#[expect(dead_code, reason = "the client's tests use the rest")]
#[path = "../../../client/tests/remote/support/proxy.rs"]
mod proxy;

use std::{
    env,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{Executor, Host, Termination};
use codemode_tests::{daemon::Daemon, http, processes, programs::program, random::Random};
use futures_util::future::join_all;
use tokio::task::block_in_place;

use crate::{harm::Harm, load::Load, proxy::Proxy};

/// Each with a session of its own, through a proxy of its own.
const CLIENTS: usize = 4;

/// Calls that each client has under way.
const CALLS: usize = 6;

/// Sandboxes that the daemon keeps ready.
const WARM: usize = 4;

/// How long what was harmed may take to be whole again.
const RECOVERY: Duration = Duration::from_secs(30);

/// How much more memory the daemon may hold afterwards than after the same load without harm, in KiB: what its
/// allocator keeps of the worst moment.
const MEMORY_SLACK_KIB: u64 = 32 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_ends_once_and_nothing_is_left_whatever_is_killed_stopped_or_cut() {
    let seconds = setting("CODEMODE_CHAOS_SECONDS", 6);
    let seed = setting("CODEMODE_CHAOS_SEED", 1);
    println!("{seconds} s of harm, by seed {seed}");
    let mut random = Random::new(seed);

    // What a call retained whose outcome was lost on the way is kept until it expires.
    let mut daemon = Daemon::start_with(&["--warm", &WARM.to_string(), "--handle-ttl", "3s"]);
    let proxies = join_all((0..CLIENTS).map(|_| Proxy::to(address(daemon.url())))).await;

    // The same load in peace: nothing but a program's own doing may go wrong, and what it leaves is the measure.
    let peace = under_load(&proxies, &mut random, Duration::from_secs(seconds.div_ceil(3)), None).await;
    println!("in peace:   {peace}");
    assert_eq!(peace.broken(), 0, "{peace}");
    let before = settled(&daemon, usize::MAX).await;

    let harm = Harm::new(&daemon, &proxies, random.fork());
    let war = under_load(&proxies, &mut random, Duration::from_secs(seconds), Some(harm)).await;
    println!("under harm: {war}");
    assert!(war.completed() > 0, "some calls get through: {war}");

    let after = settled(&daemon, before.descriptors.len()).await;
    let (before, after) = (before.memory >> 10, after.memory >> 10);
    println!("resident memory: {before} KiB before, {after} KiB after");
    assert!(after <= before + MEMORY_SLACK_KIB, "memory is left: {after} KiB, {before} KiB before");

    let family = processes::descendants(daemon.process().pid());
    daemon.terminate();
    assert!(block_in_place(|| daemon.wait()).success());
    assert_eq!(block_in_place(|| processes::survivors(&family, Duration::from_secs(2))), []);
}

/// Runs the load for so long, harmed or not, and gives what became of its calls, once each has ended.
async fn under_load(proxies: &[Proxy], random: &mut Random, time: Duration, harm: Option<Harm<'_>>) -> load::Tally {
    let clients = join_all(proxies.iter().map(|proxy| async {
        RemoteExecutor::connect(proxy.url().as_str(), RemoteOptions::default()).await.expect("nothing is harmed yet")
    }))
    .await;
    let clients: Vec<_> = clients.into_iter().map(Arc::new).collect();
    let load = Load::start(&clients, CALLS, random);
    let end = Instant::now() + time;
    match harm {
        Some(harm) => harm.until(end).await,
        None => tokio::time::sleep_until(end.into()).await,
    }
    let tally = load.finish().await;
    join_all(clients.iter().map(|client| client.dispose())).await;
    tally
}

/// What a daemon holds.
#[derive(Debug)]
struct Holdings {
    descriptors: Vec<String>,
    /// Bytes.
    memory: u64,
}

/// Metrics of what a daemon's tables hold for others, and so hold nothing of when it has nothing to do.
const TABLES: [&str; 6] = [
    "codemode_sessions",
    "codemode_runs_in_flight",
    "codemode_queue_depth",
    "codemode_leases",
    "codemode_executions_retained",
    "codemode_memory_reserved_bytes",
];

/// What the daemon holds once it has nothing to do: it answers, its tables are empty, it has no connection, as many
/// sandboxes as it keeps warm and at most so many descriptors.
async fn settled(daemon: &Daemon, descriptors: usize) -> Holdings {
    let client = daemon.connect().await;
    let answers = async {
        // A sandbox that was killed while idle may still be handed over.
        while !client
            .execute(program("async () => 1"), Host::default())
            .await
            .is_ok_and(|outcome| outcome.termination == Termination::Completed)
        {}
    };
    tokio::time::timeout(RECOVERY, answers).await.expect("the daemon answers again");
    client.dispose().await;

    let tables = || {
        let mut tables = http::metrics(daemon.url(), &[]);
        tables.retain(|name, _| TABLES.contains(&name.as_str()));
        assert_eq!(tables.len(), TABLES.len(), "{tables:?}");
        tables
    };
    let empty = || tables().values().all(|count| *count == 0.0).then_some(());
    let emptied = block_in_place(|| processes::eventually(RECOVERY, empty));
    assert!(emptied.is_some(), "entries are left: {:?}", block_in_place(tables));

    let process = daemon.process();
    let at_rest = || {
        let [zygote] = processes::children(process.pid()).try_into().ok()?;
        let held = Holdings { descriptors: process.descriptors(), memory: process.resident_bytes() };
        let rests = processes::children(zygote.pid()).len() == WARM && process.tcp_sockets() == 1;
        (rests && held.descriptors.len() <= descriptors).then_some(held)
    };
    block_in_place(|| processes::eventually(RECOVERY, at_rest)).unwrap_or_else(|| {
        let family = processes::descendants(process.pid());
        panic!(
            "not at rest: {} sockets of the network, family {family:?}, descriptors {:?}",
            process.tcp_sockets(),
            process.descriptors()
        )
    })
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn address(url: &str) -> SocketAddr {
    url.strip_prefix("ws://").and_then(|rest| rest.parse().ok()).unwrap_or_else(|| panic!("{url} is an address"))
}
