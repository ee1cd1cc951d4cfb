//! Alone in its process, because it counts what the process holds.

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
    let mut settled = Vec::new();
    for round in 0..5 {
        for _ in 0..if round == 0 { 10 } else { 50 } {
            pool.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.unwrap();
        }
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        while (pool.status().warm, children()) != (2, 2) {
            assert!(tokio::time::Instant::now() < deadline, "{:?} and {} children", pool.status(), children());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        settled.push((descriptors("self"), descriptors(&zygote.to_string())));
    }
    assert!(settled.iter().all(|counts| *counts == settled[0]), "{settled:?}");
    pool.dispose().await;
}
