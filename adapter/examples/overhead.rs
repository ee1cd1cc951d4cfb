//! What the adapter adds to a run: `cargo run --release -p codemode-adapter --example overhead`.
//!
//! Prints one JSON object: the median of an execution of a 2 KB program over an executor that does nothing, with ten tools,
//! in microseconds; and the longest that texts of 1 MiB take to normalize, in milliseconds.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use codemode_adapter::{CodemodeExecutor, ExecuteOptions, Provider, Tools, normalize_code};
use codemode_protocol::{
    Encoded, ExecuteRequest, Executor, ExecutorError, Host, Outcome, Stats, Termination, capnweb::Value,
};
use futures_util::future::FutureExt;

struct Idle;

impl Executor for Idle {
    async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        black_box((request, host));
        Ok(Outcome {
            result: Encoded::from_value(&Value::Undefined).ok(),
            error: None,
            error_details: None,
            logs: Vec::new(),
            termination: Termination::Completed,
            execution_id: None,
            handles_refused: false,
            stats: Stats::default(),
        })
    }

    async fn dispose(&self) {}
}

fn main() {
    let executor = CodemodeExecutor::new(Idle);
    let names =
        ["list-issues", "get-issue", "search.code", "create", "close", "comment", "labels", "merge", "diff", "log"];
    let tools = names.iter().fold(Tools::new(), |tools, name| tools.with(*name, |_| async { Ok(Value::Undefined) }));
    let program = program(2 << 10);
    let execution = median(5_000, || {
        let providers = [Provider::new("github", tools.clone())];
        black_box(executor.execute(&program, providers, ExecuteOptions::default()).now_or_never()).is_some()
    });
    let normalization = median(5_000, || normalize_code(black_box(&program)));
    let longest = texts(1 << 20).map(|text| {
        let start = Instant::now();
        black_box(normalize_code(&text));
        start.elapsed()
    });
    println!(
        "{{\"execution2kbUs\": {:.1}, \"normalize2kbUs\": {:.1}, \"normalize1mibMaxMs\": {:.1}}}",
        micros(execution),
        micros(normalization),
        micros(longest.max().unwrap_or_default()) / 1e3,
    );
}

/// What a model writes, at least so long: statements, tool calls, a last expression.
fn program(size: usize) -> String {
    let mut text = String::from("// Collects the open issues of every page.\nconst all = [];\n");
    let mut page = 0;
    while text.len() < size {
        page += 1;
        text += &format!(
            "const page{page} = await github.list_issues({{ repo: 'octo/cat', page: {page}, state: 'open' }});\n\
             if (page{page}.length > 0) {{\n  all.push(...page{page}.map((issue) => `${{issue.number}}: ${{issue.title}}`));\n}}\n"
        );
    }
    text + "({ count: all.length, all })"
}

/// Long texts of several kinds: passed on, wrapped, and as long as may still be parsed.
fn texts(size: usize) -> impl Iterator<Item = String> {
    let arrow = format!("async () => {{\n{}\n}}", program(size - 64));
    let parts = (4..12).map(move |halvings| program((size << 4) >> halvings));
    let floods = ["(", "[", "{", "!", "a=>", "a+", "1,", "let a;", "/a(b|c)*d/u;", "// é\n", "`${", "é"];
    parts.chain([arrow]).chain(floods.into_iter().map(move |piece| piece.repeat(size / piece.len())))
}

fn median<R>(rounds: usize, mut run: impl FnMut() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[rounds / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
