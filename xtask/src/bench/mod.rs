//! Our figures beside those of our peers, taken in turn on one machine, so that their ratios mean something where the
//! absolute figures drift. Every arm is a process that runs the same programs and prints its samples as JSON.

mod samples;
mod table;

use std::{collections::BTreeMap, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};
use samples::Arm;

use crate::{node, process, repository::Repository};

/// The programs and the peers' arms.
pub(crate) const FOLDER: &str = "compat/bench";

/// The peers that npm can install, by the names of their scripts.
const PEERS: [&str; 3] = ["workerd", "quickjs-emscripten", "isolated-vm"];

/// What we are called in the tables.
const OURS: &str = "ours";

/// A trivial program takes about 0.3 ms; ten times that says that something is broken, not that the machine is busy.
const GUARD_PROGRAM: &str = "a";
const GUARD_MILLISECONDS: f64 = 3.0;

/// The same of the runs per second with eight in flight, of which there are about 2,000.
const GUARD_RATE: f64 = 200.0;

struct Options {
    ours: bool,
    peers: bool,
    rounds: u32,
    runs: u32,
}

impl Options {
    fn parse(options: &[&str]) -> Result<Self> {
        let mut parsed = Self { ours: true, peers: true, rounds: 3, runs: 100 };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match *option {
                "--quick" => (parsed.rounds, parsed.runs) = (1, 20),
                "--only" => match options.next() {
                    Some(&"ours") => parsed.peers = false,
                    Some(&"peers") => parsed.ours = false,
                    _ => bail!("--only needs `ours` or `peers`"),
                },
                unknown => bail!("bench has no option `{unknown}`"),
            }
        }
        Ok(parsed)
    }
}

/// Builds our arm without running it.
pub(crate) fn build(repository: &Repository) -> Result<()> {
    process::run(repository.cargo().args([
        "build",
        "--release",
        "--package",
        "codemode-cli",
        "--package",
        "codemode-tests",
        "--bin",
        "codemoded",
        "--example",
        "bench",
    ]))
}

pub(crate) fn run(repository: &Repository, options: &[&str]) -> Result<()> {
    let options = Options::parse(options)?;
    let mut arms = Vec::new();
    if options.ours {
        build(repository)?;
        arms.push(OURS);
    }
    let mut peers_folder = None;
    if options.peers {
        match node::install(repository, FOLDER) {
            Ok(folder) => {
                peers_folder = Some(folder);
                arms.extend(PEERS);
            }
            Err(error) => println!("peers are left out: {error:#}"),
        }
    }
    let mut measured: BTreeMap<&str, Arm> = BTreeMap::new();
    for round in 1..=options.rounds {
        // Each round starts with another arm, so that none always meets the machine in the same state.
        let first = (round as usize - 1) % arms.len().max(1);
        for arm in arms.iter().cycle().skip(first).take(arms.len()) {
            if measured.get(arm).is_some_and(|arm| arm.unavailable.is_some()) {
                continue;
            }
            println!("round {round} of {}: {arm}", options.rounds);
            let mut command = match &peers_folder {
                Some(folder) if *arm != OURS => peer(folder.clone(), arm),
                _ => ours(repository),
            };
            command.args(["--runs", &options.runs.to_string()]);
            let printed = process::output(&mut command).with_context(|| format!("the arm `{arm}` failed"))?;
            let samples = Arm::parse(&printed).with_context(|| format!("the arm `{arm}` printed no samples"))?;
            measured.entry(arm).or_default().add(samples);
        }
    }
    let programs = samples::programs(&repository.root().join(FOLDER).join("programs.json"))?;
    table::print(&programs, &arms, &measured);
    guard(measured.get(OURS))
}

fn ours(repository: &Repository) -> Command {
    let mut command = Command::new(repository.binary("release", "examples/bench"));
    command.current_dir(repository.root()).env("CODEMODE_TEST_BIN", repository.binary("release", "codemoded"));
    command
}

fn peer(folder: PathBuf, arm: &str) -> Command {
    let mut command = node::node(folder);
    command.args(["--no-node-snapshot", "measure.mjs", arm]);
    command
}

fn guard(ours: Option<&Arm>) -> Result<()> {
    let Some(p50) = ours.and_then(|arm| arm.quantile(GUARD_PROGRAM, 0.5)) else { return Ok(()) };
    if p50 > GUARD_MILLISECONDS {
        bail!(
            "a trivial run took {p50:.2} ms at the median; more than {GUARD_MILLISECONDS} ms means that something broke"
        );
    }
    if let Some(rate) = ours.and_then(|arm| arm.rate(GUARD_PROGRAM, 8)).filter(|rate| *rate < GUARD_RATE) {
        bail!("{rate:.0} trivial runs per second; less than {GUARD_RATE} means that something broke");
    }
    Ok(())
}
