//! Admission without a run, and what the pool shows of its admission.

use std::sync::{Arc, Mutex};

use codemode_protocol::{
    AcquireOptions, Caller, Crash, ErrorCode, Event, ExecuteRequest, Executor, Host, InvokeOptions, Limits, Observer,
    RefusedBy, text,
};
use codemode_sandbox::{PoolExecutor, PoolOptions, TenantCeilings};

use crate::common::{children, kill, options, pool_with, request, run, start, text as result, until};

fn one_permit() -> Limits {
    Limits { max_concurrent: 1, warm_children: 1, queue_wait_ms: 60_000, ..Limits::default() }
}

fn of(tenant: &str) -> Caller {
    Caller { tenant: Some(tenant.into()), session: 1 }
}

/// What stands under a permit or memory.
fn held(pool: &PoolExecutor) -> (u64, u64, u64, u64) {
    let gauges = pool.gauges();
    (gauges.running, gauges.queued, gauges.leased, gauges.reserved_memory)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_is_a_permit_that_runs_one_program_or_is_given_back() {
    let pool = Arc::new(pool_with(one_permit()).await);
    let lease =
        pool.acquire(AcquireOptions { memory_limit: Some(64 << 20), ..AcquireOptions::default() }).await.unwrap();
    assert_eq!(held(&pool), (0, 0, 1, 64 << 20));
    let waiting = start(&pool, request("async () => 2"), Host::default());
    until("the run waits for the lease", || pool.status().queued == 1).await;
    let outcome = lease.execute(ExecuteRequest::new("async () => 1"), Host::default()).await.unwrap();
    assert_eq!(result(&outcome), "1");
    assert_eq!(result(&waiting.await.unwrap().unwrap()), "2");

    for release in [true, false] {
        let lease = pool.acquire(AcquireOptions::default()).await.unwrap();
        assert_eq!(held(&pool).2, 1);
        if release {
            lease.release();
        } else {
            drop(lease);
        }
        assert_eq!(held(&pool), (0, 0, 0, 0));
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_bounds_the_memory_of_its_program() {
    let pool = pool_with(one_permit()).await;
    let acquire = || pool.acquire(AcquireOptions { memory_limit: Some(8 << 20), ..AcquireOptions::default() });
    let greedy = ExecuteRequest { memory_limit: Some(9 << 20), ..request("async () => 1") };
    let refused = acquire().await.unwrap().execute(greedy, Host::default()).await.unwrap_err();
    let expected = format!("memoryLimit: {}", text::above_lease(9 << 20, 8 << 20));
    assert_eq!((refused.code, refused.message), (ErrorCode::InvalidRequest, expected));
    // One that names no limit has the lease's.
    let hungry = ExecuteRequest::new("async () => new Uint8Array(16 << 20).length");
    let ended = acquire().await.unwrap().execute(hungry, Host::default()).await.unwrap();
    assert_eq!(ended.error.as_deref(), Some(text::memory_exceeded(8 << 20).as_str()));
    let small = pool.acquire(AcquireOptions { memory_limit: Some(1), ..AcquireOptions::default() }).await.unwrap_err();
    assert_eq!(small.code, ErrorCode::InvalidRequest);
    assert_eq!(held(&pool), (0, 0, 0, 0));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_not_used_in_time_runs_nothing() {
    let pool = Arc::new(pool_with(Limits { lease_ms: 50, ..one_permit() }).await);
    let lease = pool.acquire(AcquireOptions::default()).await.unwrap();
    // The permit of the lease, once it is over.
    assert_eq!(result(&run(&pool, "async () => 1").await), "1");
    let late = lease.execute(request("async () => 2"), Host::default()).await.unwrap_err();
    assert_eq!((late.code, late.message), (ErrorCode::InvalidRequest, text::lease_expired(50)));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_waits_holds_nothing_and_can_be_given_up() {
    let pool = Arc::new(pool_with(one_permit()).await);
    let first = pool.acquire(AcquireOptions::default()).await.unwrap();
    let second = tokio::spawn({
        let pool = pool.clone();
        async move { pool.acquire(AcquireOptions::default()).await }
    });
    until("the second waits", || pool.status().queued == 1).await;
    assert_eq!(held(&pool), (0, 1, 1, pool.limits().memory_limit));
    second.abort();
    until("it has gone", || pool.status().queued == 0).await;
    first.release();
    assert_eq!(held(&pool), (0, 0, 0, 0));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_outlives_neither_a_drain_nor_its_pool() {
    let pool = Arc::new(pool_with(one_permit()).await);
    let lease = pool.acquire(AcquireOptions::default()).await.unwrap();
    let waiting = start(&pool, request("async () => 1"), Host::default());
    until("a run waits", || pool.status().queued == 1).await;
    pool.drain();
    let never = |code, message: String| {
        assert_eq!((code, message.as_str()), (ErrorCode::ShuttingDown, text::NOT_STARTED_SHUTTING_DOWN));
    };
    let refused = waiting.await.unwrap().unwrap_err();
    never(refused.code, refused.message);
    let refused = lease.execute(request("async () => 1"), Host::default()).await.unwrap_err();
    never(refused.code, refused.message);
    assert!(!pool.status().ready);

    let pool = pool_with(one_permit()).await;
    let lease = pool.acquire(AcquireOptions::default()).await.unwrap();
    drop(pool);
    let refused = lease.execute(request("async () => 1"), Host::default()).await.unwrap_err();
    never(refused.code, refused.message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_lets_what_runs_come_to_its_end() {
    let pool = Arc::new(pool_with(one_permit()).await);
    let code = "async () => { await new Promise((resolve) => setTimeout(resolve, 50)); return 1 }";
    let running = start(&pool, request(code), Host::default());
    until("it runs", || pool.status().running == 1).await;
    pool.drain();
    assert_eq!(result(&running.await.unwrap().unwrap()), "1");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_may_add_up_to_the_budget_times_its_factor_and_further_runs_wait() {
    let limits = Limits {
        max_concurrent: 8,
        warm_children: 1,
        memory_budget: 64 << 20,
        memory_overcommit: 2,
        queue_wait_ms: 60_000,
        ..Limits::default()
    };
    let pool = Arc::new(pool_with(limits).await);
    // No run is given more than the budget itself.
    assert_eq!((pool.limits().max_memory_limit, pool.limits().memory_limit), (64 << 20, 64 << 20));
    let leases = [pool.acquire(AcquireOptions::default()).await, pool.acquire(AcquireOptions::default()).await];
    assert_eq!(pool.gauges().reserved_memory, pool.gauges().reservable_memory);
    let waiting = start(&pool, request("async () => 1"), Host::default());
    until("it waits for memory", || pool.status().queued == 1).await;
    drop(leases);
    assert_eq!(result(&waiting.await.unwrap().unwrap()), "1");
    assert_eq!(pool.gauges().reserved_memory, 0);

    // A retained execution keeps its memory until it is closed.
    let kept = ExecuteRequest { retain_handles: true, ..request("async () => () => 1") };
    let outcome = pool.execute(kept, Host::default()).await.unwrap();
    assert_eq!((pool.gauges().retained, pool.gauges().reserved_memory), (1, 64 << 20));
    pool.close_handles(outcome.execution_id.as_deref().unwrap()).await.unwrap();
    assert_eq!((pool.gauges().retained, pool.gauges().reserved_memory), (0, 0));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_belong_to_their_tenant_and_so_does_its_ceiling() {
    let tenant = TenantCeilings { retained: Some(1), ..TenantCeilings::default() };
    let limits = Limits { warm_children: 2, ..Limits::default() };
    let pool = PoolExecutor::new(PoolOptions { limits, tenant, ..options() }).await.unwrap();
    let host = |caller| Host { caller, ..Host::default() };
    let retain = |caller| {
        let kept = ExecuteRequest { retain_handles: true, ..request("async () => ({ f: () => 1 })") };
        pool.execute(kept, host(caller))
    };
    let outcome = retain(of("a")).await.unwrap();
    let execution = outcome.execution_id.clone().expect("a function was returned");
    let handle = result(&outcome).rsplit('"').nth(1).unwrap().to_owned();
    let call = |caller| pool.invoke_handle(&execution, &handle, "[]", host(caller), InvokeOptions::default());
    for stranger in [of("b"), Caller::default()] {
        let error = call(stranger.clone()).await.unwrap_err();
        let expected = text::execution_not_found(&execution);
        assert_eq!((error.code, error.message), (ErrorCode::HandleNotFound, expected), "as if there were none");
        pool.close_handles_of(&execution, &stranger).await.unwrap();
    }
    assert_eq!(result(&call(Caller { session: 2, ..of("a") }).await.unwrap()), "1", "any session of the tenant");

    let refused = retain(of("a")).await.unwrap();
    assert_eq!((refused.handles_refused, result(&refused)), (true, "{\"f\":null}"));
    let other = retain(of("b")).await.unwrap();
    assert!(!other.handles_refused, "a ceiling is each tenant's own");
    assert_eq!(pool.gauges().retained, 2);
    pool.close_handles_of(&execution, &of("a")).await.unwrap();
    assert!(!retain(of("a")).await.unwrap().handles_refused);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_floods_the_pool_starves_no_other() {
    let limits = Limits { max_concurrent: 2, queue: 8, queue_wait_ms: 60_000, warm_children: 2, ..Limits::default() };
    let pool = Arc::new(pool_with(limits).await);
    let by = |session| Host { caller: Caller { tenant: None, session }, ..Host::default() };
    let flood: Vec<_> = (0..40).map(|_| start(&pool, request("async () => 1"), by(1))).collect();
    // However full the queue is, each of these is run.
    for _ in 0..5 {
        let outcome = pool.execute(request("async () => 2"), by(2)).await.unwrap();
        assert_eq!(result(&outcome), "2");
    }
    let mut refused = 0;
    for run in flood {
        match run.await.unwrap() {
            Ok(outcome) => assert_eq!(result(&outcome), "1"),
            Err(error) => {
                assert_eq!((&error.code, error.retryable), (&ErrorCode::Overloaded, true), "{error}");
                assert!(error.retry_after_ms.is_some_and(|after| (50..=60_000).contains(&after)), "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused < 40, "the flood itself is served as well");
    assert_eq!(held(&pool), (0, 0, 0, 0));
    pool.dispose().await;
}

#[derive(Debug, Default)]
struct Notes(Mutex<Vec<Event>>);

impl Observer for Notes {
    fn observe(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_is_told_of_admissions_refusals_and_crashes() {
    let notes = Arc::new(Notes::default());
    let limits = Limits { queue: 0, ..one_permit() };
    let pool = PoolExecutor::new(PoolOptions { limits, observer: Some(notes.clone()), ..options() }).await.unwrap();
    let pool = Arc::new(pool);
    let spinning = start(&pool, request("async () => { for (;;) {} }"), Host::default());
    until("it runs", || pool.status().running == 1).await;
    pool.execute(request("async () => 1"), Host::default()).await.unwrap_err();
    let zygote = pool.status().zygote.unwrap();
    // Whichever of them runs it.
    children(zygote).into_iter().for_each(kill);
    assert_eq!(spinning.await.unwrap().unwrap_err().code, ErrorCode::SandboxCrashed);
    let told = notes.0.lock().unwrap().clone();
    let [Event::Admitted { .. }, Event::Refused { by: RefusedBy::Queue, .. }, Event::Crashed(Crash::Killed)] = told[..]
    else {
        panic!("{told:?}")
    };
    let gauges = pool.gauges();
    assert!(gauges.forks >= 1 && gauges.zygotes == 1 && gauges.permits == 1, "{gauges:?}");
    pool.dispose().await;
}
