//! What the tests share: a pool on the real zygote, and a host made of a closure.

use std::{fs, future::Future, path::PathBuf, sync::Arc, time::Duration};

use codemode_protocol::{
    Dispatch, ExecuteRequest, Executor, ExecutorError, Host, HostCall, HostCallError, Limits, Outcome,
    ProviderDescriptor, TimeBound,
};
use codemode_sandbox::{PoolExecutor, PoolOptions};
use futures_util::future::{BoxFuture, FutureExt};

pub(crate) fn options() -> PoolOptions {
    PoolOptions { zygote: Some(PathBuf::from(env!("CARGO_BIN_EXE_codemode-zygote"))), ..PoolOptions::default() }
}

pub(crate) async fn pool() -> PoolExecutor {
    pool_with(Limits { warm_children: 2, ..Limits::default() }).await
}

pub(crate) async fn pool_with(limits: Limits) -> PoolExecutor {
    PoolExecutor::new(PoolOptions { limits, ..options() }).await.unwrap()
}

/// A program that may call `api.<anything>`, with little memory.
pub(crate) fn request(code: &str) -> ExecuteRequest {
    ExecuteRequest {
        providers: vec![ProviderDescriptor { name: "api".into(), ..ProviderDescriptor::default() }],
        timeout: TimeBound::Milliseconds(60_000),
        memory_limit: Some(64 << 20),
        ..ExecuteRequest::new(code)
    }
}

pub(crate) async fn run(pool: &PoolExecutor, code: &str) -> Outcome {
    pool.execute(request(code), Host::default()).await.unwrap()
}

/// The outcome's result as text of the encoding.
pub(crate) fn text(outcome: &Outcome) -> &str {
    match &outcome.result {
        Some(result) => result.as_str(),
        None => panic!("{outcome:?}"),
    }
}

/// A host whose tools all are `answer`.
pub(crate) fn host<F, A>(answer: F) -> Host
where
    F: Fn(HostCall) -> A + Send + Sync + 'static,
    A: Future<Output = Result<String, HostCallError>> + Send + 'static,
{
    struct Tools<F>(F);
    impl<F, A> Dispatch for Tools<F>
    where
        F: Fn(HostCall) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, HostCallError>> + Send + 'static,
    {
        fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
            (self.0)(call).boxed()
        }
    }
    Host { dispatch: Some(Arc::new(Tools(answer))), ..Host::default() }
}

/// A host whose tools answer 1 at once.
pub(crate) fn quick_host() -> Host {
    host(|_| async { Ok("{\"result\":1}".to_owned()) })
}

/// Starts a run beside the test.
pub(crate) fn start(
    pool: &Arc<PoolExecutor>,
    request: ExecuteRequest,
    host: Host,
) -> tokio::task::JoinHandle<Result<Outcome, ExecutorError>> {
    let pool = pool.clone();
    tokio::spawn(async move { pool.execute(request, host).await })
}

/// Waits until `condition` holds; a test that hangs here fails.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(tokio::time::Instant::now() < deadline, "not within 20 s: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The numbers of a process' children.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The child of the pool's zygote that computes.
pub(crate) async fn spinning_child(pool: &PoolExecutor) -> u32 {
    let zygote = pool.status().zygote.unwrap();
    let mut found = None;
    until("a child computes", || {
        found = children(zygote).into_iter().find(|child| ticks(*child).is_some_and(|ticks| ticks >= 5));
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// The CPU of a process in hundredths of a second.
fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit(") ").next()?.split(' ').collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

pub(crate) fn exists(pid: u32) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Ends a process by its number.
pub(crate) fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success(), "kill {pid}");
}
