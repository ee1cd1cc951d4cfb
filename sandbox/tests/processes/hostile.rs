//! Programs that try to take time, memory or the pool itself: each ends with its typed outcome, and a bystander does
//! not notice.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use codemode_protocol::{ExecuteRequest, Executor, Host, Limits, Outcome, Termination, TimeBound, text};
use codemode_sandbox::PoolExecutor;

use crate::common::{host, pool, pool_with, quick_host, request, start, text as result};

/// Runs `request` while a bystander runs again and again.
async fn beside_a_bystander(pool: &Arc<PoolExecutor>, request: ExecuteRequest, host: Host) -> Outcome {
    let hostile = start(pool, request, host);
    let mut calm = 0;
    while !hostile.is_finished() || calm == 0 {
        let program = self::request("async () => [await api.one(), 'calm']");
        let outcome = pool.execute(program, quick_host()).await.unwrap();
        assert_eq!(result(&outcome), "[[1,\"calm\"]]");
        calm += 1;
    }
    hostile.await.unwrap().unwrap()
}

async fn check(code: &str, expected: Termination) -> Outcome {
    let pool = Arc::new(pool().await);
    let patience = if expected == Termination::Timeout { 300 } else { 60_000 };
    let request = ExecuteRequest { timeout: TimeBound::Milliseconds(patience), ..request(code) };
    let began = Instant::now();
    let outcome = beside_a_bystander(&pool, request, quick_host()).await;
    let took = began.elapsed();
    assert_eq!(outcome.termination, expected, "{code}: {:?} {:?}", outcome.error, outcome.stats);
    assert_eq!(outcome.error.is_none(), expected == Termination::Completed, "{code}");
    if expected == Termination::Timeout {
        assert_eq!(outcome.error.as_deref(), Some(text::timed_out(300).as_str()));
        println!("{took:?} for a bound of 300 ms: {code}");
        assert!(took < Duration::from_millis(300 + 10 * 150), "{took:?}: {code}");
    }
    pool.dispose().await;
    outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_is_timed_out() {
    check("async () => { for (;;) {} }", Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_microtasks_are_timed_out() {
    check("async () => { for (;;) await null }", Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promise_executor_that_swallows_interrupts_is_killed() {
    check("async () => { for (;;) new Promise(() => { for (;;) {} }) }", Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stack_trace_hook_that_swallows_interrupts_is_killed() {
    let code = "async () => {
        Error.prepareStackTrace = () => { for (;;) {} };
        for (;;) { try { null.x } catch (error) { error.stack } new Error('x').stack }
    }";
    check(code, Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loops_inside_builtins_are_killed() {
    for code in [
        "async () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
        "async () => Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)",
        "async () => { const s = 'ab'.repeat(5e6); for (;;) s.indexOf('ab'.repeat(1e5) + 'b') }",
    ] {
        check(code, Termination::Timeout).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_regular_expression_bomb_is_timed_out() {
    check("async () => /(a+)+$/.test('a'.repeat(60) + 'b')", Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_getter_in_the_result_that_never_returns_is_timed_out() {
    check("async () => ({ get a() { for (;;) {} } })", Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_followed_by_a_loop_is_not_waiting() {
    check("async () => { api.one(); for (;;) {} }", Termination::Timeout).await;
    let code = "async () => { await api.one(); for (;;) new Promise(() => { for (;;) {} }) }";
    check(code, Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn allocation_bombs_end_at_the_memory_limit() {
    for code in [
        "async () => { const all = []; for (;;) all.push(new Array(1000).fill(1)) }",
        "async () => { const all = {}; for (let i = 0; ; i++) all['key' + i] = { i } }",
        "async () => { let s = 'x'; for (;;) s = [s, s].join('') }",
        "async () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20)) }",
    ] {
        let outcome = check(code, Termination::Memory).await;
        assert_eq!(outcome.error.as_deref(), Some(text::memory_exceeded(64 << 20).as_str()), "{code}");
    }
}

/// A program with a stream that makes 76 MB of 0.48: runs of zeros, each of thirteen bits (RFC 1951, 3.2.6).
fn with_bomb(body: &str) -> String {
    let bomb = "
        const match = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0];
        const bits = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0];
        while (bits.length < 200) bits.push(...match);
        const byte = (at) => { let value = 0; for (let i = 0; i < 8; i++) value |= bits[at * 8 + i] << i; return value };
        const bomb = Uint8Array.from({ length: 480000 }, (_, at) => byte(at < 2 ? at : 2 + (at - 2) % 13));
        const stream = new DecompressionStream('deflate-raw'), writer = stream.writable.getWriter();
        const written = writer.write(bomb).then(() => 'written', (error) => error.name);";
    format!("async () => {{ {bomb} {body} }}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decompression_bomb_costs_what_is_read_of_it() {
    let caught = "try { await new Response(stream.readable).bytes() } catch { return 'caught' }";
    assert_eq!(result(&check(&with_bomb(caught), Termination::Completed).await), "\"caught\"");
    let counted = "let total = 0;
        for await (const chunk of stream.readable) { total += chunk.length; if (total > 70e6) return 'much' }";
    assert_eq!(result(&check(&with_bomb(counted), Termination::Completed).await), "\"much\"");
    let unread = "const reader = stream.readable.getReader();
        await reader.read();
        await new Promise((resolve) => setTimeout(resolve, 20));
        await reader.cancel();
        return written";
    assert_eq!(result(&check(&with_bomb(unread), Termination::Completed).await), "\"written\"");
    check("async () => { const all = []; for (;;) all.push(new CompressionStream('gzip')) }", Termination::Memory)
        .await;
    check("async () => { const all = []; for (;;) all.push(new crypto.DigestStream('MD5')) }", Termination::Memory)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_derivation_without_end_is_killed() {
    let code = "async () => {
        const key = await crypto.subtle.importKey('raw', new Uint8Array(1), 'PBKDF2', false, ['deriveBits']);
        const algorithm = { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(1), iterations: 4294967295 };
        await crypto.subtle.deriveBits(algorithm, key, 512)
    }";
    check(code, Termination::Timeout).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn null_thrown_when_memory_is_out_is_still_the_memory_limit() {
    let code = "async () => {
        const all = [];
        try { for (;;) all.push({ a: all.length, b: 'x' + all.length }) } catch { throw null }
    }";
    check(code, Termination::Memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_recursion_is_an_ordinary_range_error() {
    let outcome = check("async () => { const f = () => f() + 1; return f() }", Termination::Threw).await;
    assert_eq!(outcome.error.as_deref(), Some("Maximum call stack size exceeded"));
    let caught = "async () => { const f = () => f() + 1; try { f() } catch (error) { return error.name } }";
    assert_eq!(result(&check(caught, Termination::Completed).await), "\"RangeError\"");
    let nested = "async () => JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))";
    check(nested, Termination::Threw).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_flood_is_cut_and_the_run_goes_on() {
    let outcome =
        check("async () => { for (let i = 0; i < 2e4; i++) console.log(i); return 1 }", Termination::Completed).await;
    let limits = Limits::default();
    assert_eq!(outcome.logs.len() as u64, limits.log_lines + 1, "one marker line takes the place of the rest");
    let outcome = check("async () => { for (;;) console.error('x'.repeat(60000)) }", Termination::Timeout).await;
    let bytes: usize = outcome.logs.iter().map(|line| line.message.len()).sum();
    assert!(bytes as u64 <= limits.log_bytes + limits.log_line_bytes, "{bytes} bytes of log");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_call_flood_is_started_in_full_and_delays_nobody() {
    let code = "async () => { for (let i = 0; i < 5000; i++) api.one(i); return 'gone' }";
    let outcome = check(code, Termination::Completed).await;
    assert_eq!((result(&outcome), outcome.stats.host_calls), ("\"gone\"", 5000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_never_answers_fails_its_call_at_its_bound() {
    let pool = Arc::new(pool_with(Limits { host_call_timeout_ms: 200, warm_children: 2, ..Limits::default() }).await);
    let deaf = || host(|_| std::future::pending());
    let outcome = beside_a_bystander(&pool, request("async () => { await api.one() }"), deaf()).await;
    assert_eq!(outcome.termination, Termination::Threw);
    assert_eq!(outcome.error.as_deref(), Some(text::host_call_timed_out("api.one", 200).as_str()));
    let caught = "async () => { try { await api.one() } catch { return 'caught' } }";
    let outcome = beside_a_bystander(&pool, request(caught), deaf()).await;
    assert_eq!(result(&outcome), "\"caught\"");
    assert!(outcome.stats.host_wait_ms >= 150.0, "{:?}", outcome.stats);
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_no_peer_could_take_end_the_run() {
    for code in [
        "async () => { let deep = []; for (let i = 0; i < 300; i++) deep = [deep]; return deep }",
        "async () => 10n ** 20000n",
        "async () => { const loop = {}; loop.loop = loop; return loop }",
    ] {
        check(code, Termination::Result).await;
    }
    let pool = Arc::new(pool().await);
    let large = ExecuteRequest { memory_limit: None, ..request("async () => 'x'.repeat(1e8)") };
    let outcome = beside_a_bystander(&pool, large, Host::default()).await;
    assert_eq!(outcome.termination, Termination::Result, "{outcome:?}");
    let loud = ExecuteRequest { memory_limit: None, ..request("async () => { throw new Error('x'.repeat(4e7)) }") };
    let outcome = beside_a_bystander(&pool, loud, Host::default()).await;
    assert_eq!(outcome.termination, Termination::Threw);
    let error = outcome.error.unwrap();
    assert!(error.starts_with("xxx") && error.len() as u64 <= Limits::default().error_bytes, "{} bytes", error.len());
    pool.dispose().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cpu_is_bounded_apart_from_time() {
    let pool = Arc::new(pool().await);
    let busy = "async () => { for (;;) { await api.one(); for (let i = 0; i < 1e5; i++); } }";
    let request = ExecuteRequest { cpu_time: TimeBound::Milliseconds(200), ..request(busy) };
    let outcome = beside_a_bystander(&pool, request, quick_host()).await;
    assert_eq!(outcome.termination, Termination::Cpu, "{outcome:?}");
    assert_eq!(outcome.error.as_deref(), Some(text::cpu_exceeded(200).as_str()));
    assert!(outcome.stats.cpu_ms >= 150.0, "{:?}", outcome.stats);
    pool.dispose().await;
}
