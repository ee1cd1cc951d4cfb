//! `test`, what CI runs, and `full`, which adds what takes long.

use std::process::Command;

use anyhow::Result;

use crate::{
    bench, compat, fuzz, haproxy, node, process,
    repository::Repository,
    steps::{self, Step},
    tidy,
};

/// Everything is built in one profile and one target folder: `build` makes the binary and the test executables with
/// the same features, so that `tests` compiles nothing again.
const TEST: [Step; 11] = [
    Step { name: "tidy", run: tidy::run },
    Step { name: "formatting", run: formatting },
    Step { name: "lints", run: lints },
    Step { name: "node packages", run: node_packages },
    Step { name: "load balancer", run: haproxy::fetch },
    Step { name: "build", run: build },
    Step { name: "tests", run: tests },
    Step { name: "figures under load", run: figures },
    Step { name: "documentation", run: documentation },
    Step { name: "JavaScript client", run: javascript_client },
    Step { name: "compatibility", run: compat::newest },
];

const LONG: [Step; 6] = [
    Step { name: "two minutes of chaos", run: chaos },
    Step { name: "figures of many sessions", run: many_sessions },
    Step { name: "older releases", run: compat::older },
    Step { name: "fuzzing", run: fuzz::smoke },
    Step { name: "benchmark builds", run: bench::build },
    Step { name: "dependency audit", run: dependency_audit },
];

pub(crate) fn test(repository: &Repository) -> Result<()> {
    steps::run(repository, &TEST)
}

pub(crate) fn full(repository: &Repository) -> Result<()> {
    let steps: Vec<Step> = TEST.into_iter().chain(LONG).collect();
    steps::run(repository, &steps)
}

fn formatting(repository: &Repository) -> Result<()> {
    process::run(repository.cargo().args(["fmt", "--all", "--check"]))
}

fn lints(repository: &Repository) -> Result<()> {
    process::run(repository.cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// Every package of the repository but the benchmark's peers and the releases of the reference, which are large: who needs
/// them installs them.
fn node_packages(repository: &Repository) -> Result<()> {
    for folder in repository.files()?.iter().filter_map(|file| file.strip_suffix("/package-lock.json")) {
        if ![bench::FOLDER, compat::FOLDER].contains(&folder) {
            node::install(repository, folder)?;
        }
    }
    Ok(())
}

fn build(repository: &Repository) -> Result<()> {
    process::run(repository.cargo().args(["build", "--workspace", "--bins", "--tests", "--examples"]))
}

fn tests(repository: &Repository) -> Result<()> {
    process::run(
        repository
            .cargo()
            .args(["test", "--workspace"])
            .env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded"))
            .envs(haproxy::program(repository).map(|program| ("CODEMODE_HAPROXY", program))),
    )
}

/// The test that measures once more, on its own and for everybody to see.
fn figures(repository: &Repository) -> Result<()> {
    process::run(
        repository
            .cargo()
            .args(["test", "--package", "codemode-tests", "--test", "load", "--", "--nocapture"])
            .env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded")),
    )
}

/// What idle sessions cost, and how evenly many busy ones are served.
fn many_sessions(repository: &Repository) -> Result<()> {
    process::run(
        repository
            .cargo()
            .args(["run", "--package", "codemode-tests", "--example", "sessions"])
            .env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded")),
    )
}

/// The test of what is killed, stopped and cut at random, for longer.
fn chaos(repository: &Repository) -> Result<()> {
    process::run(
        repository
            .cargo()
            .args(["test", "--package", "codemode-tests", "--test", "chaos", "--", "--nocapture"])
            .env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded"))
            .env("CODEMODE_CHAOS_SECONDS", "120"),
    )
}

fn documentation(repository: &Repository) -> Result<()> {
    process::run(repository.cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn javascript_client(repository: &Repository) -> Result<()> {
    process::run(
        node::node(repository.root().join("tests/js"))
            .args(["--test", "--test-reporter=spec"])
            .env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded")),
    )
}

/// The audit needs a tool of its own and the advisory database, which not every machine can fetch.
fn dependency_audit(repository: &Repository) -> Result<()> {
    if !process::succeeds(Command::new("cargo-deny").arg("--version")) {
        println!("skipped: cargo-deny is not installed (`cargo install cargo-deny --locked` brings it)");
        return Ok(());
    }
    process::run(repository.cargo().args(["deny", "--all-features", "check", "licenses", "bans", "sources"]))?;
    if !process::succeeds(repository.cargo().args(["deny", "fetch", "db"])) {
        println!("advisories skipped: the advisory database cannot be fetched here");
        return Ok(());
    }
    process::run(repository.cargo().args(["deny", "check", "--disable-fetch", "advisories"]))
}
