//! Alone in its process, because it counts what the process holds.

#![allow(clippy::unwrap_used, reason = "a test ends with its first surprise")]

use std::{fs, path::PathBuf, time::Duration};

use codemode_protocol::{ExecuteRequest, Executor, Host, Limits};
use codemode_sandbox::{PoolExecutor, PoolOptions};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_runs_leave_no_descriptor_and_no_child() {
    let zygote = Some(PathBuf::from(env!("CARGO_BIN_EXE_codemode-zygote")));
    let limits = Limits { warm_children: 2, ..Limits::default() };
    let pool = PoolExecutor::new(PoolOptions { zygote, limits, ..PoolOptions::default() }).await.unwrap();
    let zygote = pool.status().zygote.unwrap();
    let children = || {
        let path = format!("/proc/{zygote}/task/{zygote}/children");
        fs::read_to_string(path).unwrap().split_whitespace().count()
    };
    let descriptors = |pid: &str| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    let counts = || (pool.status().warm, children(), descriptors("self"), descriptors(&zygote.to_string()));
    let mut settled = None;
    for _ in 0..5 {
        for _ in 0..if settled.is_none() { 10 } else { 50 } {
            pool.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.unwrap();
        }
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        loop {
            let now = counts();
            // What the zygote has reaped, the pool lets go of a moment later: the least is what stays.
            if now.0 == 2 && now.1 == 2 && settled.is_none_or(|settled| now <= settled) {
                settled = Some(now);
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "{now:?} instead of {settled:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    pool.dispose().await;
}
