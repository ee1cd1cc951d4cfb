//! Fuzzing: by cargo-fuzz where the toolchain allows it, else by the seeded drivers of the ordinary tests, for longer.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{process, repository::Repository};

/// How long each target runs when nothing else is asked for.
const SECONDS: u32 = 60;

/// One input that takes so many seconds is a fault.
const HANG: &str = "-timeout=20";

/// The share of `cargo xtask full`.
const SMOKE_SECONDS: u32 = 20;

/// The drivers that feed generated input to the same functions: arguments of `cargo test`, and which tests. Those of one
/// program run beside each other.
const SEEDED_TESTS: [(&[&str], &[&str]); 4] = [
    (&["--package", "codemode-protocol", "--test", "fuzz"], &[]),
    (&["--package", "codemode-adapter", "--lib"], &["normalize::tests::generated"]),
    (
        &["--package", "codemode-sandbox", "--test", "web"],
        &[
            "no_bytes_break_decompression",
            "no_bytes_break_text_decoders",
            "no_bytes_break_the_reading_of_keys",
            "no_bytes_break_what_buffers_are_made_of",
            "no_text_breaks_addresses_or_patterns",
            "no_text_breaks_data_urls",
        ],
    ),
    (
        &["--package", "codemode-sandbox", "--lib"],
        &[
            "no_body_and_no_stack_is_more_than_text",
            "no_bytes_of_a_child_are_more_than_a_violation",
            "no_specifier_leads_past_the_callers_modules",
            "no_text_breaks_the_search_for_what_failed",
            "nothing_that_is_passed_to_languages_breaks_them",
        ],
    ),
];

pub(crate) fn smoke(repository: &Repository) -> Result<()> {
    fuzz(repository, SMOKE_SECONDS, &[])
}

pub(crate) fn run(repository: &Repository, options: &[&str]) -> Result<()> {
    let mut seconds = SECONDS;
    let mut targets = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--seconds" => {
                let value = options.next().context("--seconds needs a number")?;
                seconds = value.parse().with_context(|| format!("--seconds needs a number, but got `{value}`"))?;
            }
            flag if flag.starts_with('-') => bail!("fuzz has no option `{flag}`"),
            target => targets.push(target),
        }
    }
    fuzz(repository, seconds, &targets)
}

fn fuzz(repository: &Repository, seconds: u32, targets: &[&str]) -> Result<()> {
    let all = all_targets(repository)?;
    if let Some(unknown) = targets.iter().find(|target| !all.iter().any(|known| known == *target)) {
        bail!("there is no fuzz target `{unknown}`; there are: {}", all.join(", "));
    }
    if let Some(reason) = obstacle(repository) {
        println!("cargo-fuzz cannot run here: {reason}");
        println!("the seeded drivers run for {seconds} s instead");
        for (program, tests) in SEEDED_TESTS {
            let seconds = seconds.to_string();
            let mut driver = repository.cargo();
            driver.arg("test").args(program).args(["--", "--nocapture"]).args(tests).env("FUZZ_SECONDS", seconds);
            process::run(&mut driver)?;
        }
        return Ok(());
    }
    for target in all.iter().filter(|target| targets.is_empty() || targets.contains(&target.as_str())) {
        let seconds = format!("-max_total_time={seconds}");
        process::run(nightly(repository).args(["fuzz", "run", target, "--", &seconds, HANG]))?;
    }
    Ok(())
}

/// Why cargo-fuzz cannot run, if it cannot.
fn obstacle(repository: &Repository) -> Option<&'static str> {
    if !process::succeeds(nightly(repository).arg("--version")) {
        return Some("it needs a nightly toolchain (`rustup toolchain install nightly` brings it)");
    }
    if !process::succeeds(nightly(repository).args(["fuzz", "--version"])) {
        return Some("it is not installed (`cargo install cargo-fuzz --locked` brings it)");
    }
    None
}

fn all_targets(repository: &Repository) -> Result<Vec<String>> {
    let manifest = std::fs::read_to_string(repository.root().join("fuzz/Cargo.toml"))?;
    let targets = manifest.split("[[bin]]").skip(1);
    let name =
        |target: &str| target.lines().find_map(|line| Some(line.strip_prefix("name = ")?.trim_matches('"').to_owned()));
    Ok(targets.filter_map(name).collect())
}

/// Cargo of the nightly toolchain: the one that runs us is fixed by the environment that rustup gave it.
pub(crate) fn nightly(repository: &Repository) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(repository.root()).args(["run", "nightly", "cargo"]);
    command
}
