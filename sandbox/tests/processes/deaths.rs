//! Processes that are killed from outside: the run that was hit says so, the others go on, the pool recovers.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use codemode_protocol::{ErrorCode, ExecuteRequest, Executor, Host, Limits, Termination, TimeBound, text};

use crate::common::{
    children, exists, host, kill, pool, pool_with, quick_host, request, run, spinning_child, start, text as result,
    until,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_child_fails_its_run_alone_and_keeps_its_log() {
    let pool = Arc::new(pool().await);
    let other = start(
        &pool,
        request("async () => { await api.slow(); return 'other' }"),
        host(|_| async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Ok("{}".to_owned())
        }),
    );
    let hit = start(&pool, request("async () => { console.log('before'); for (;;) {} }"), quick_host());
    kill(spinning_child(&pool).await);
    let error = hit.await.unwrap().unwrap_err();
    assert_eq!((error.code.clone(), error.retryable), (ErrorCode::SandboxCrashed, true), "{error}");
    assert!(error.message.contains("signal 9"), "{error}");
    assert_eq!(error.logs.iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["before"]);
    let stats = error.stats.unwrap();
    assert!(stats.wall_ms > 0.0 && stats.cpu_ms > 0.0 && stats.peak_memory_bytes > 1 << 20, "{stats:?}");
    assert_eq!(result(&other.await.unwrap().unwrap()), "\"other\"");
    until("the pool is full again", || pool.status().warm == 2).await;
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_after_a_host_call_is_not_retryable() {
    let pool = Arc::new(pool().await);
    let hit = start(&pool, request("async () => { await api.one(); for (;;) {} }"), quick_host());
    kill(spinning_child(&pool).await);
    let error = hit.await.unwrap().unwrap_err();
    assert_eq!((error.code.clone(), error.retryable), (ErrorCode::SandboxCrashed, false), "{error}");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn warm_children_that_die_are_replaced() {
    let pool = pool_with(Limits { warm_children: 3, ..Limits::default() }).await;
    until("children are warm", || pool.status().warm == 3).await;
    let before = children(pool.status().zygote.unwrap());
    before.iter().for_each(|child| kill(*child));
    let zygote = pool.status().zygote.unwrap();
    until("they are gone", || !children(zygote).iter().any(|child| before.contains(child))).await;
    until("the pool is full again", || pool.status().warm == 3).await;
    for _ in 0..5 {
        assert_eq!(result(&run(&pool, "async () => 1").await), "1");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_zygote_fails_its_runs_and_is_replaced() {
    let pool = Arc::new(pool().await);
    for _ in 0..2 {
        let hit = start(&pool, request("async () => { console.log('before'); for (;;) {} }"), quick_host());
        let child = spinning_child(&pool).await;
        let zygote = pool.status().zygote.unwrap();
        kill(zygote);
        let error = hit.await.unwrap().unwrap_err();
        assert_eq!((error.code.clone(), error.logs.len()), (ErrorCode::SandboxCrashed, 1), "{error}");
        until("the child went with it", || !exists(child)).await;
        assert_eq!(result(&run(&pool, "async () => 'recovered'").await), "\"recovered\"");
        let status = pool.status();
        assert!(status.ready && status.zygote.is_some_and(|new| new != zygote), "{status:?}");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_killed_at_its_bound_has_its_figures() {
    let pool = pool().await;
    let code = "async () => {
        const all = new Uint8Array(32 << 20).fill(1);
        Array.prototype.reverse.call({ length: 2 ** 53 - 1 });
        return all
    }";
    let request = ExecuteRequest { timeout: TimeBound::Milliseconds(300), ..request(code) };
    let outcome = pool.execute(request, Host::default()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Timeout, "{outcome:?}");
    let stats = outcome.stats;
    assert!((32 << 20..256 << 20).contains(&stats.peak_memory_bytes) && stats.cpu_ms > 50.0, "{stats:?}");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zygote_that_is_stopped_is_replaced() {
    let limits = Limits { warm_children: 1, queue_wait_ms: 60_000, ..Limits::default() };
    let pool = Arc::new(pool_with(limits).await);
    until("a child is warm", || pool.status().warm == 1).await;
    let zygote = pool.status().zygote.unwrap();
    let stopped = Command::new("kill").args(["-STOP", &zygote.to_string()]).status().unwrap();
    assert!(stopped.success());
    let runs: Vec<_> = (0..3).map(|_| start(&pool, request("async () => 1"), Host::default())).collect();
    until("the pool says that it has no children", || !pool.status().ready).await;
    for run in runs {
        assert_eq!(result(&run.await.unwrap().unwrap()), "1");
    }
    let status = pool.status();
    assert!(status.ready && status.zygote.is_some_and(|new| new != zygote) && !exists(zygote), "{status:?}");
    pool.dispose().await;
}

/// Set for this very test binary when it is started again with few descriptors.
const POOR: &str = "CODEMODE_TEST_POOR";

#[test]
fn a_pool_recovers_from_a_lack_of_descriptors() {
    // With one descriptor free, one of the two that come with a child is lost.
    for spare in ["0", "1"] {
        let status = Command::new("sh")
            .args(["-c", "ulimit -n 64 && exec \"$0\" --exact deaths::pool_with_few_descriptors --nocapture"])
            .arg(std::env::current_exe().unwrap())
            .env(POOR, spare)
            .status()
            .unwrap();
        assert!(status.success(), "{spare} free");
    }
}

/// Not a test by itself, where it does nothing: started by the one above it has 64 descriptors.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pool_with_few_descriptors() {
    let Ok(spare) = std::env::var(POOR) else { return };
    let spare: usize = spare.parse().unwrap();
    let limits = Limits { warm_children: 1, queue_wait_ms: 60_000, ..Limits::default() };
    let pool = Arc::new(pool_with(limits).await);
    until("a child is warm", || pool.status().warm == 1).await;
    let zygote = pool.status().zygote.unwrap();
    let mut taken: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    assert!(taken.len() > 20 && taken.len() < 64);
    taken.truncate(taken.len() - spare);
    let (release, released) = tokio::sync::watch::channel(false);
    let tools = host(move |_| {
        let mut released = released.clone();
        async move {
            released.wait_for(|released| *released).await.unwrap();
            Ok("{}".to_owned())
        }
    });
    let first = start(&pool, request("async () => { await api.wait(); return 1 }"), tools);
    until("it runs", || pool.status().running == 1).await;
    let second = start(&pool, request("async () => 2"), Host::default());
    until("the pool says that it has no children", || !pool.status().ready).await;
    assert_eq!((pool.status().zygote, pool.status().running), (Some(zygote), 1));
    if spare == 0 {
        // For looking at the children.
        taken.pop();
    }
    until("children that were lost are gone", || children(zygote).len() == 1).await;
    drop(taken);
    assert_eq!(result(&second.await.unwrap().unwrap()), "2");
    release.send_replace(true);
    assert_eq!(result(&first.await.unwrap().unwrap()), "1");
    until("the pool is full again", || pool.status().warm == 1 && pool.status().ready).await;
    until("nothing is left", || children(zygote).len() == 1).await;
    assert_eq!(pool.status().zygote, Some(zygote));
    pool.dispose().await;
}

/// Set for this very test binary when it is started again as the parent that will be killed.
const PARENT: &str = "CODEMODE_TEST_PARENT";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_parent_leaves_no_process_within_a_second() {
    let exe = std::env::current_exe().unwrap();
    let mut parent = Command::new(exe)
        .args(["--exact", "deaths::parent_that_will_be_killed", "--nocapture"])
        .env(PARENT, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let pids: Vec<u32> = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("processes:").map(|(_, pids)| pids.to_owned()))
        .unwrap()
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect();
    assert!(pids.len() >= 3 && pids.iter().all(|pid| exists(*pid)), "{pids:?}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let killed = std::time::Instant::now();
    until("all are gone", || !pids.iter().any(|pid| exists(*pid))).await;
    println!("gone after {:?}", killed.elapsed());
    assert!(killed.elapsed() < Duration::from_secs(1));
}

/// Not a test by itself, where it does nothing: started by the one above it prints the numbers of a zygote and its
/// children, one of them deaf in a builtin, and waits to be killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parent_that_will_be_killed() {
    if std::env::var_os(PARENT).is_none() {
        return;
    }
    let pool = Arc::new(pool().await);
    let code = "async () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })";
    let _run = start(&pool, request(code), Host::default());
    spinning_child(&pool).await;
    let zygote = pool.status().zygote.unwrap();
    let pids: Vec<_> = std::iter::once(zygote).chain(children(zygote)).map(|pid| pid.to_string()).collect();
    println!("processes: {}", pids.join(" "));
    std::future::pending().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_ends_a_run_leaves_its_log() {
    let pool = Arc::new(pool().await);
    // Nothing inside a child ends the third and the fifth: they are killed.
    let deaf = "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })";
    let (patient, short) = (TimeBound::Milliseconds(60_000), TimeBound::Milliseconds(200));
    let cases = [
        ("throw new Error('mine')", patient, patient, Termination::Threw),
        ("for (;;);", short, patient, Termination::Timeout),
        (deaf, short, patient, Termination::Timeout),
        ("for (;;);", patient, short, Termination::Cpu),
        (deaf, patient, short, Termination::Cpu),
        ("const all = []; for (;;) all.push(new Array(1e5).fill(1))", patient, patient, Termination::Memory),
        // These are held outside the engine.
        ("const x = 'x'.repeat(1e6); for (;;) api.never(x)", patient, patient, Termination::Memory),
        ("await new Promise(() => {})", patient, patient, Termination::Stalled),
        ("return Symbol()", patient, patient, Termination::Result),
    ];
    let never = || host(|_| std::future::pending());
    for (code, timeout, cpu_time, expected) in cases {
        let program = format!("async () => {{ console.log('before'); {code} }}");
        let run = ExecuteRequest { timeout, cpu_time, ..request(&program) };
        let outcome = pool.execute(run, never()).await.unwrap();
        assert_eq!(outcome.termination, expected, "{code}: {:?}", outcome.error);
        let lines: Vec<_> = outcome.logs.iter().map(|line| line.message.as_str()).collect();
        assert_eq!(lines, ["before"], "{code}");
    }
    let hurried = pool_with(Limits { warm_children: 1, max_wall_ms: 200, ..Limits::default() }).await;
    let waiting = request("async () => { console.log('before'); await api.never() }");
    let outcome = hurried.execute(waiting, never()).await.unwrap();
    assert_eq!((outcome.error, outcome.logs.len()), (Some(text::wall_exceeded(200)), 1));
    hurried.dispose().await;
    let ended = start(&pool, request("async () => { console.log('before'); for (;;) {} }"), quick_host());
    spinning_child(&pool).await;
    pool.dispose().await;
    let error = ended.await.unwrap().unwrap_err();
    assert_eq!((error.code.clone(), error.logs.len()), (ErrorCode::Cancelled, 1), "{error}");
}
