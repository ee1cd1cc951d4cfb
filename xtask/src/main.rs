//! The one place of automation: everything that is run on the repository, on a developer's machine or in CI.
//!
//! `cargo xtask test` is what CI runs. `full` adds what takes long, `tidy` holds the rules that no compiler knows,
//! `bench` compares us with our peers, `fuzz` looks for inputs that nobody thought of, `sanitize`
//! for memory that is used wrongly.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command line tool speaks on its standard streams

mod bench;
mod compat;
mod fuzz;
mod haproxy;
mod node;
mod process;
mod repository;
mod sanitize;
mod steps;
mod suite;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};
use repository::Repository;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["test"] => suite::test(&Repository::open()?),
        ["full"] => suite::full(&Repository::open()?),
        ["tidy"] => tidy::run(&Repository::open()?),
        ["bench", options @ ..] => bench::run(&Repository::open()?, options),
        ["compat", options @ ..] => compat::run(&Repository::open()?, options),
        ["fuzz", options @ ..] => fuzz::run(&Repository::open()?, options),
        ["sanitize"] => sanitize::run(&Repository::open()?),
        ["test" | "full" | "tidy" | "sanitize", option, ..] => {
            bail!("`{}` takes no argument, but got `{option}`", arguments[0])
        }
        [unknown, ..] => bail!("there is no command `{unknown}`\n\n{HELP}"),
    }
}

const HELP: &str = "\
cargo xtask COMMAND

  test                    what CI runs: tidy, formatting, lints, tests, documentation, the JavaScript client, compatibility
  full                    test, and what takes long: older releases, fuzzing for a while, benchmark builds, the dependency audit
  tidy                    the repository's own rules
  bench [--quick] [--only ours|peers]
                          our figures beside those of our peers, in turn on this machine
  compat [--case ID] [--column newest|0.5.1|0.4.4|0.3.4|older|all] [--measure] [--surface [--update]] [--corpora]
         [--corpus API]   the catalogue through us and through releases of the dialect's own executor, what programs find in
                          their sandbox, and the corpora of its APIs
  fuzz [--seconds N] [TARGET...]
                          cargo-fuzz where it can run, else the seeded drivers for longer
  sanitize                the engine and the natives under AddressSanitizer; needs a nightly toolchain";
