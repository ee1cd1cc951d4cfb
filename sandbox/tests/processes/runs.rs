//! What one run gives, and what it leaves to the next: nothing.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use codemode_protocol::{
    ErrorCode, ExecuteRequest, Executor, Host, HostCallError, LEAST_MEMORY_BYTES, LEAST_STACK_BYTES, Limits, Outbound,
    OutboundMode, OutboundRequest, OutboundResponse, ProviderDescriptor, Termination, TimeBound, text,
};

use codemode_sandbox::{PoolExecutor, PoolOptions};
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::Barrier;

use crate::common::{children, host, options, pool, pool_with, quick_host, request, run, start, text as result, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_returns_its_value_its_log_and_its_figures() {
    let pool = pool().await;
    let code = "async () => { console.warn('one', 2); const x = await api.get({ a: 1 }); return { x, big: 5n } }";
    let answer = host(|call| async move {
        assert_eq!(
            (call.provider.as_str(), call.tool.as_str(), call.args_json.as_str()),
            ("api", "get", "[{\"a\":1}]")
        );
        tokio::time::sleep(Duration::from_millis(30)).await;
        Ok("{\"result\":[true]}".to_owned())
    });
    let outcome = pool.execute(request(code), answer).await.unwrap();
    assert_eq!(result(&outcome), "{\"x\":[[true]],\"big\":[\"bigint\",\"5\"]}");
    assert_eq!((outcome.termination, outcome.error.as_deref()), (Termination::Completed, None));
    assert_eq!((outcome.logs.len(), outcome.logs[0].message.as_str()), (1, "one 2"));
    let stats = outcome.stats;
    assert_eq!(stats.host_calls, 1);
    assert!(stats.host_wait_ms >= 25.0 && stats.wall_ms >= stats.host_wait_ms, "{stats:?}");
    assert!(stats.cpu_ms > 0.0 && stats.cpu_ms < stats.wall_ms && stats.peak_memory_bytes > 0, "{stats:?}");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_with_the_least_of_memory_and_stack_runs_programs() {
    let limits = Limits {
        max_memory_limit: LEAST_MEMORY_BYTES,
        memory_limit: LEAST_MEMORY_BYTES,
        max_stack_limit: LEAST_STACK_BYTES,
        stack_limit: LEAST_STACK_BYTES,
        ..Limits::default()
    };
    let pool = pool_with(limits).await;
    assert_eq!(result(&run(&pool, "async () => [1].concat(2)").await), "[[1,2]]");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn languages_and_time_zones_need_no_file() {
    let pool = pool().await;
    let code = "async () => {
        const date = new Date(1735689599000);
        const money = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });
        return [
            date.toLocaleString(), date.toLocaleString('fr-FR', { timeZone: 'Asia/Tokyo', dateStyle: 'long', timeStyle: 'short' }),
            money.format(1234.5), ['b', 'a', 'ä'].sort(new Intl.Collator('sv').compare).join(''),
            [...new Intl.Segmenter('ja', { granularity: 'word' }).segment('今日は')].length > 0,
        ]
    }";
    let expected = "[[\"12/31/2024, 11:59:59 PM\",\"1 janvier 2025 à 08:59\",\"1.234,50\u{a0}€\",\"abä\",true]]";
    assert_eq!(result(&run(&pool, code).await), expected);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_runs_at_once_give_twenty_random_numbers_from_twenty_processes() {
    let pool = Arc::new(pool().await);
    let runs: Vec<_> = (0..20).map(|_| start(&pool, request("async () => Math.random()"), Host::default())).collect();
    let mut seen = HashSet::new();
    for run in runs {
        let outcome = run.await.unwrap().unwrap();
        assert!(seen.insert(result(&outcome).to_owned()), "{} twice", result(&outcome));
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_sandbox_holds_little_memory() {
    let pool = pool_with(Limits { warm_children: 8, ..Limits::default() }).await;
    let zygote = pool.status().zygote.unwrap();
    let asleep = |child: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|fields| fields.starts_with('S'))
    };
    // One that does not sleep is still being warmed up.
    until("eight wait", || {
        pool.status().warm == 8 && children(zygote).iter().filter(|child| asleep(child)).count() == 8
    })
    .await;
    // Its own pages, and its share of those that it has in common with the others.
    let mut sizes: Vec<u64> = children(zygote).into_iter().filter_map(proportional_kib).collect();
    sizes.sort_unstable();
    println!("KiB in proportion, smallest to largest: {sizes:?}");
    assert_eq!(sizes.len(), 8);
    // Code that is not optimized touches more.
    let bound = if cfg!(debug_assertions) { 2048 } else { 1024 };
    assert!(sizes[sizes.len() / 2] < bound, "{sizes:?}");
    pool.dispose().await;
}

/// The proportional set size of a process.
fn proportional_kib(pid: u32) -> Option<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_run_leaves_behind_is_seen_by_the_next() {
    let pool = pool_with(Limits { warm_children: 1, ..Limits::default() }).await;
    let code = "async () => {
        const seen = [globalThis.mark, Array.prototype.mark, Object.mark, JSON.parse.mark];
        globalThis.mark = Array.prototype.mark = Object.mark = JSON.parse.mark = 1;
        Array.prototype.map = Promise.prototype.then = undefined;
        return seen.filter(mark => mark !== undefined).length
    }";
    for _ in 0..30 {
        assert_eq!(result(&run(&pool, code).await), "0");
    }
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_serves_two_runs() {
    let pool = Arc::new(pool_with(Limits { warm_children: 2, max_concurrent: 3, ..Limits::default() }).await);
    let zygote = pool.status().zygote.unwrap();
    let seen = Arc::new(Mutex::new(HashSet::new()));
    // During a host call the run's process is the one that is neither warm nor gone: collect all that exist at any
    // call, and count as many at least as there were runs.
    let calls = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let (seen, calls) = (seen.clone(), calls.clone());
        let answer = host(move |_| {
            let (seen, calls) = (seen.clone(), calls.clone());
            async move {
                calls.fetch_add(1, Ordering::Relaxed);
                seen.lock().unwrap().extend(children(zygote));
                Ok("{}".to_owned())
            }
        });
        pool.execute(request("async () => { await api.look() }"), answer).await.unwrap();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 20);
    assert!(seen.lock().unwrap().len() >= 20, "{:?}", seen.lock().unwrap());
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_calls_run_beside_each_other() {
    let pool = pool().await;
    let code = "async () => (await Promise.all(Array.from({ length: 20 }, () => api.slow()))).length";
    let slow = host(|_| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok("{}".to_owned())
    });
    let began = Instant::now();
    assert_eq!(result(&pool.execute(request(code), slow).await.unwrap()), "20");
    assert!(began.elapsed() < Duration::from_millis(1000), "{:?}", began.elapsed());
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_most_the_bound_of_host_calls_is_in_flight() {
    let pool = pool_with(Limits { calls_in_flight: 4, warm_children: 1, ..Limits::default() }).await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (now.clone(), most.clone());
    let counting = host(move |_| {
        let (now, most) = (counted.clone(), peak.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok("{}".to_owned())
        }
    });
    let code = "async () => (await Promise.all(Array.from({ length: 40 }, () => api.slow()))).length";
    assert_eq!(result(&pool.execute(request(code), counting).await.unwrap()), "40");
    assert_eq!(most.load(Ordering::SeqCst), 4);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_call_and_a_handler_that_panics_are_errors_of_the_tool() {
    let pool = pool().await;
    let code = "async () => { try { await api.get() } catch (error) { return error.message } }";
    let rejecting = host(|_| async { Err(HostCallError::new("no luck")) });
    assert_eq!(result(&pool.execute(request(code), rejecting).await.unwrap()), "\"no luck\"");
    let panicking = host(|_| async { panic!("a bug of the host") });
    let outcome = pool.execute(request(code), panicking).await.unwrap();
    assert!(result(&outcome).contains("api.get failed"), "{outcome:?}");
    let outcome = pool.execute(request(code), Host::default()).await.unwrap();
    assert_eq!(result(&outcome), format!("\"{}\"", text::tool_not_found("get").replace('"', "\\\"")));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_over_its_bound_fails_that_call_alone() {
    let pool = pool_with(Limits { call_result_bytes: 1000, warm_children: 1, ..Limits::default() }).await;
    let code = "async () => { try { await api.get() } catch (error) { return error.message } }";
    let large = host(|_| async { Ok(format!("{{\"result\":\"{}\"}}", "x".repeat(2000))) });
    let expected = text::call_result_too_large("api.get", 2013, 1000);
    assert_eq!(result(&pool.execute(request(code), large).await.unwrap()), format!("\"{expected}\""));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_values_cross_in_both_directions() {
    let pool = pool().await;
    let code = "async () => { const s = await api.echo('é'.repeat(2e6)); return [s.length, s] }";
    let echo = host(|call| async move {
        let inner = &call.args_json[1..call.args_json.len() - 1];
        Ok(format!("{{\"result\":{inner}}}"))
    });
    let outcome = pool.execute(ExecuteRequest { memory_limit: None, ..request(code) }, echo).await.unwrap();
    assert!(result(&outcome).starts_with("[[2000000,\"ééé") && result(&outcome).len() > 4_000_000);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_left_running_are_not_cancelled_and_those_of_a_timeout_are() {
    let pool = pool().await;
    let (told, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let watching = |told: Arc<AtomicUsize>, left: Arc<AtomicUsize>| {
        host(move |call| {
            let (told, left) = (told.clone(), left.clone());
            async move {
                tokio::select! {
                    () = call.cancel.cancelled() => told.fetch_add(1, Ordering::SeqCst),
                    () = tokio::time::sleep(Duration::from_millis(400)) => left.fetch_add(1, Ordering::SeqCst),
                };
                Ok("{}".to_owned())
            }
        })
    };
    let code = "async () => { api.a(); api.b(); return 1 }";
    pool.execute(request(code), watching(told.clone(), left.clone())).await.unwrap();
    until("both calls ran on", || left.load(Ordering::SeqCst) == 2).await;
    assert_eq!(told.load(Ordering::SeqCst), 0);
    let code = "async () => { api.a(); for (;;) {} }";
    let timed = ExecuteRequest { timeout: TimeBound::Milliseconds(100), ..request(code) };
    pool.execute(timed, watching(told.clone(), left.clone())).await.unwrap();
    until("the call was told", || told.load(Ordering::SeqCst) == 1).await;
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_future_kills_the_child_and_frees_its_place() {
    let pool = Arc::new(pool_with(Limits { max_concurrent: 1, warm_children: 1, ..Limits::default() }).await);
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    let deaf = host(move |call| {
        let told = counter.clone();
        async move {
            call.cancel.cancelled().await;
            told.fetch_add(1, Ordering::SeqCst);
            Ok("{}".to_owned())
        }
    });
    let run = start(&pool, request("async () => { api.a(); for (;;) {} }"), deaf);
    let child = crate::common::spinning_child(&pool).await;
    run.abort();
    until("the child is gone", || !crate::common::exists(child)).await;
    until("the tool was told", || told.load(Ordering::SeqCst) == 1).await;
    assert_eq!(result(&self::run(&pool, "async () => 'next'").await), "\"next\"");
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_request_is_refused_before_any_sandbox_is_touched() {
    let pool = pool_with(Limits { code_bytes: 100, warm_children: 1, ..Limits::default() }).await;
    until("a child is warm", || pool.status().warm == 1).await;
    let zygote = pool.status().zygote.unwrap();
    let before = children(zygote);
    let reserved = vec![ProviderDescriptor { name: "Promise".into(), ..ProviderDescriptor::default() }];
    let base = || ExecuteRequest::new("async () => 1");
    for (bad, names) in [
        (ExecuteRequest::new("x".repeat(101)), "code"),
        (ExecuteRequest { providers: reserved, ..base() }, "Promise"),
        (ExecuteRequest { outbound: OutboundMode::Stub, ..base() }, "outbound: must be a function"),
    ] {
        let error = pool.execute(bad, quick_host()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidRequest);
        assert!(error.message.contains(names), "{error}");
    }
    assert_eq!(children(zygote), before);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_brings_modules_or_gets_those_of_the_pool() {
    let modules = |source: &str| BTreeMap::from([("lib.js".to_owned(), source.to_owned())]);
    let limits = Limits { warm_children: 2, module_bytes: 64, ..Limits::default() };
    let options = PoolOptions { limits, modules: modules("export default 'default'"), ..options() };
    let pool = PoolExecutor::new(options).await.unwrap();
    let run = |modules| {
        let code = "import found from 'lib.js';\nasync () => [found, (await import('lib.js')).default]";
        pool.execute(ExecuteRequest { modules, ..ExecuteRequest::new(code) }, Host::default())
    };
    assert_eq!(result(&run(None).await.unwrap()), "[[\"default\",\"default\"]]");
    let own = run(Some(modules("export default await Promise.resolve(1)"))).await.unwrap();
    assert_eq!(result(&own), "[[1,1]]");
    let none = run(Some(BTreeMap::new())).await.unwrap();
    assert_eq!((none.termination, none.error), (Termination::Threw, Some(text::no_such_module("lib.js"))));
    let spin = ExecuteRequest {
        modules: Some(modules("for (;;) new Promise(() => { for (;;); })")),
        timeout: TimeBound::Milliseconds(300),
        ..ExecuteRequest::new("import 'lib.js';\nasync () => 1")
    };
    let ended = pool.execute(spin, Host::default()).await.unwrap();
    assert_eq!((ended.termination, ended.error), (Termination::Timeout, Some(text::timed_out(300))));
    let refused = run(Some(modules(&"x".repeat(65)))).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidRequest);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_go_to_the_callers_function_and_nowhere_else() {
    struct Site;
    impl Outbound for Site {
        fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
            let (status, headers) = match request.url.as_str() {
                "https://site/old" => (308, vec![("location".to_owned(), "/new".to_owned())]),
                _ => (200, vec![("content-type".to_owned(), "application/json".to_owned())]),
            };
            let body = request.body.unwrap_or_default();
            async move {
                tokio::time::sleep(Duration::from_millis(150)).await;
                Ok(OutboundResponse { status, status_text: String::new(), headers, body })
            }
            .boxed()
        }
    }
    let pool = pool().await;
    let code = "async () => {
        const response = await fetch('https://site/old', { method: 'POST', body: JSON.stringify({ a: [1] }) });
        return [response.url, await response.json()];
    }";
    let stub = ExecuteRequest { outbound: OutboundMode::Stub, timeout: TimeBound::Milliseconds(250), ..request(code) };
    let outcome = pool.execute(stub, Host { outbound: Some(Arc::new(Site)), ..Host::default() }).await.unwrap();
    assert_eq!(result(&outcome), "[[\"https://site/new\",{\"a\":[[1]]}]]", "and the clock stands meanwhile");
    let code = "async () => {
        const failed = await fetch('https://site/').catch((error) => error.message);
        return [failed, await (await fetch('data:,x')).text()];
    }";
    for outbound in [OutboundMode::Blocked, OutboundMode::Default] {
        let host = Host { outbound: Some(Arc::new(Site)), ..Host::default() };
        let outcome = pool.execute(ExecuteRequest { outbound, ..request(code) }, host).await.unwrap();
        assert_eq!(result(&outcome), format!("[[\"{}\",\"x\"]]", text::NETWORK_OFF));
    }
    pool.dispose().await;
}

/// Requests at work, and the most that were so at once.
struct Counted {
    now: AtomicUsize,
    most: AtomicUsize,
    /// Where six meet before any of them is answered.
    six: Barrier,
}

struct AtWork(Arc<Counted>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Client(Arc<Counted>);

impl Outbound for Client {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        let counted = self.0.clone();
        async move {
            let now = counted.now.fetch_add(1, Ordering::SeqCst) + 1;
            counted.most.fetch_max(now, Ordering::SeqCst);
            let at_work = AtWork(counted);
            match request.url.as_str() {
                "https://site/never" => std::future::pending().await,
                "https://site/six" => {
                    at_work.0.six.wait().await;
                }
                _ => {}
            }
            Ok(OutboundResponse { status: 200, status_text: String::new(), headers: Vec::new(), body: b"x".to_vec() })
        }
        .boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_the_default_mode_go_to_the_pools_client_and_the_clock_goes_on() {
    let counted = Arc::new(Counted { now: AtomicUsize::new(0), most: AtomicUsize::new(0), six: Barrier::new(6) });
    let client: Arc<dyn Outbound> = Arc::new(Client(counted.clone()));
    let pool = PoolExecutor::new(PoolOptions { outbound: Some(client.clone()), ..options() }).await.unwrap();

    let many = "async () => {
        const all = await Promise.all(Array.from({ length: 18 }, () => fetch('https://site/six')));
        return (await Promise.all(all.map((response) => response.text()))).join('');
    }";
    let outcome = pool.execute(request(many), Host::default()).await.unwrap();
    assert_eq!(result(&outcome), format!("\"{}\"", "x".repeat(18)));
    assert_eq!(counted.most.load(Ordering::SeqCst), 6);
    assert_eq!(outcome.stats.host_wait_ms, 0.0, "nobody waited for the caller");

    let never = ExecuteRequest {
        timeout: TimeBound::Milliseconds(300),
        ..request("async () => { console.log('kept'); await fetch('https://site/never') }")
    };
    let outcome = pool.execute(never, Host::default()).await.unwrap();
    assert_eq!((outcome.termination, outcome.error.as_deref()), (Termination::Timeout, Some(&*text::timed_out(300))));
    assert_eq!(outcome.logs.len(), 1);

    let left = request("async () => { fetch('https://site/never'); await fetch('https://site/'); return 1 }");
    assert_eq!(result(&pool.execute(left, Host::default()).await.unwrap()), "1");
    // Both were given up with their runs.
    until("nothing of a run that is over is at work", || counted.now.load(Ordering::SeqCst) == 0).await;

    let code = "async () => fetch('https://site/').catch((error) => `${error instanceof TypeError} ${error.message}`)";
    let blocked = ExecuteRequest { outbound: OutboundMode::Blocked, ..request(code) };
    let outcome = pool.execute(blocked, Host { outbound: Some(client), ..Host::default() }).await.unwrap();
    assert_eq!(result(&outcome), format!("\"true {}\"", text::NETWORK_OFF));
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_waits_for_its_timer_is_on_the_clock_and_uses_no_cpu() {
    let pool = pool().await;
    let bounded = |code| ExecuteRequest { timeout: TimeBound::Milliseconds(300), ..request(code) };
    let outcome = pool.execute(bounded("async () => scheduler.wait(100)"), Host::default()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Completed, "{outcome:?}");
    assert!(outcome.stats.wall_ms >= 99.0 && outcome.stats.cpu_ms < 50.0, "{:?}", outcome.stats);
    let never = host(|_| std::future::pending());
    let code = "async () => { setInterval(() => {}, 10); await api.never() }";
    let outcome = pool.execute(bounded(code), never).await.unwrap();
    let expected = (Termination::Timeout, Some(text::timed_out(300)));
    assert_eq!((outcome.termination, outcome.error), expected);
    pool.dispose().await;
}
