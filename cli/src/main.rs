//! `codemoded`: the executor on the command line.
//!
//! `serve` offers it by URL, `run` runs one program, `doctor` shows what confines programs on this machine.

mod args;
mod doctor;
mod exit;
mod json;
mod machine;
mod run;
mod serve;
mod signals;
mod terminal;

use std::{io::IsTerminal, process::ExitCode};

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Cli, Command},
    exit::{Failure, Status},
    terminal::{Harmless, say},
};

fn main() -> ExitCode {
    // First of all: the pool starts this program again as its zygote.
    codemode_sandbox::run_if_zygote();
    let Cli { command } = Cli::parse();
    match start(command) {
        Ok(status) => status.into(),
        Err(failure) => {
            say(format_args!("codemoded: {}", Harmless(&failure.message)));
            failure.status.into()
        }
    }
}

fn start(command: Command) -> Result<Status, Failure> {
    let filter = match &command {
        Command::Serve(args) => args.log.as_str(),
        // What they have to say is their output; beside it, only what goes wrong.
        Command::Run(_) | Command::Doctor(_) => "warn",
    };
    let filter = EnvFilter::try_new(filter).map_err(|error| Failure::usage(format!("--log {filter:?}: {error}")))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::infrastructure(format!("the runtime could not be started: {error}")))?;
    let status = match command {
        Command::Serve(args) => runtime.block_on(serve::run(args)),
        Command::Run(args) => runtime.block_on(run::run(args)),
        Command::Doctor(args) => doctor::run(&args),
    };
    // What blocks, such as a read of standard input, must not hold the process back.
    runtime.shutdown_background();
    status
}
