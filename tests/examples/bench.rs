//! Our arm of the benchmark: the programs of `compat/bench`, on a daemon over loopback, through the Rust client.
//!
//! `cargo xtask bench` runs it beside the peers' arms. It prints one line of JSON, as they do.

use std::{
    collections::BTreeMap,
    env, fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use codemode_client::RemoteExecutor;
use codemode_protocol::{
    EnvelopeDispatch, ExecuteRequest, Executor, Host, HostCallError, ProviderDescriptor, ToolNotFoundError,
    capnweb::{Object, Value},
};
use codemode_tests::daemon::{Daemon, repository};
use futures_util::future::join_all;
use serde_json::json;

/// How many runs warm the daemon up before anything is counted.
const WARM_UP: usize = 5;

/// A program gets no more runs than fit into this.
const PER_PROGRAM: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().collect();
    let runs = match arguments.as_slice() {
        [_] => 100,
        [_, flag, runs] if flag == "--runs" => runs.parse().expect("--runs takes a whole number"),
        _ => panic!("the one option is `--runs N`"),
    };
    let text = fs::read_to_string(repository().join("compat/bench/programs.json")).expect("the programs are there");
    let programs: serde_json::Value = serde_json::from_str(&text).expect("the programs are JSON");

    let daemon = Daemon::start();
    let bench = Bench { executor: daemon.connect().await, tools: tools() };
    let mut samples = BTreeMap::new();
    let mut throughput = BTreeMap::new();
    for program in programs.as_array().expect("the programs are a list") {
        let (id, code) = (program["id"].as_str().expect("an id"), program["code"].as_str().expect("code"));
        for _ in 0..WARM_UP {
            bench.run(code).await;
        }
        let mut times = Vec::new();
        let end = Instant::now() + PER_PROGRAM;
        while times.len() < runs && Instant::now() < end {
            let start = Instant::now();
            bench.run(code).await;
            times.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        samples.insert(id.to_owned(), times);
        if matches!(id, "a" | "b") {
            let mut rates = serde_json::Map::new();
            for in_flight in [1, 8] {
                let (rate, times) = bench.rate(code, in_flight, runs * 10).await;
                rates.insert(in_flight.to_string(), rate.into());
                samples.insert(format!("{id}@{in_flight}"), times);
            }
            throughput.insert(id, rates);
        }
    }
    bench.executor.dispose().await;
    #[allow(clippy::print_stdout)] // what the benchmark reads
    {
        println!("{}", json!({ "programs": samples, "refused": {}, "throughput": throughput }));
    }
}

struct Bench {
    executor: RemoteExecutor,
    tools: EnvelopeDispatch,
}

impl Bench {
    async fn run(&self, code: &str) {
        let request = ExecuteRequest {
            providers: vec![ProviderDescriptor { name: "api".into(), ..ProviderDescriptor::default() }],
            ..ExecuteRequest::new(code)
        };
        let outcome =
            self.executor.execute(request, Host::with_dispatch(self.tools.clone())).await.expect("the daemon runs it");
        assert_eq!(outcome.error, None, "{code}");
    }

    /// Runs per second with so many in flight, and what each of them took in milliseconds.
    async fn rate(&self, code: &str, in_flight: usize, count: usize) -> (f64, Vec<f64>) {
        let started = AtomicUsize::new(0);
        let worker = || async {
            let mut times = Vec::new();
            while started.fetch_add(1, Ordering::Relaxed) < count {
                let start = Instant::now();
                self.run(code).await;
                times.push(start.elapsed().as_secs_f64() * 1000.0);
            }
            times
        };
        let start = Instant::now();
        let times = join_all((0..in_flight).map(|_| worker())).await;
        (count as f64 / start.elapsed().as_secs_f64(), times.concat())
    }
}

fn tools() -> EnvelopeDispatch {
    let prepared: BTreeMap<u64, Value> = [240, 1024].into_iter().map(|kib| (kib, rows(kib))).collect();
    EnvelopeDispatch::new().provider("api", move |call| {
        let argument = call.args.into_iter().next().unwrap_or_default();
        let answer = match call.tool.as_str() {
            "echo" => Ok(argument),
            "rows" => argument
                .as_object()
                .and_then(|options| options.get("kib")?.as_number())
                .and_then(|kib| prepared.get(&(kib as u64)).cloned())
                .ok_or_else(|| HostCallError::new("rows takes a size that was prepared")),
            tool => Err(ToolNotFoundError::new(tool).into()),
        };
        std::future::ready(answer)
    })
}

/// Rows that take about so many KiB as JSON; the same as the peers' tools give.
fn rows(kib: u64) -> Value {
    let row = |id: u64| {
        let tags = Value::Array(vec![Value::from("alpha"), Value::from("beta")]);
        Value::Object(Object::from(vec![
            ("id".into(), Value::Number(id as f64)),
            ("name".into(), Value::from(format!("row number {id}"))),
            ("value".into(), Value::Number(id as f64 / 3.0)),
            ("tags".into(), tags),
            ("text".into(), Value::from("a line of text of a usual length")),
        ]))
    };
    const ROW_BYTES: u64 = 129;
    Value::Array((0..kib * 1024 / ROW_BYTES).map(row).collect())
}
