//! `codemoded`: the executor on the command line.
//!
//! `serve` offers it by URL, `config` shows with which settings, `token` makes tokens, `run` runs one program, `doctor`
//! shows what confines programs on this machine.

mod access;
mod args;
mod doctor;
mod exit;
mod files;
mod json;
mod run;
mod serve;
mod settings;
mod signals;
mod telemetry;
mod terminal;
mod token;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Cli, Command},
    exit::{Failure, Status},
    settings::Settings,
    telemetry::Telemetry,
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
    let command = Task::of(command)?;
    let telemetry = match &command {
        Task::Serve(settings) => Telemetry::of(settings)?,
        // What they have to say is their output; beside it, only what goes wrong.
        Task::Config(_) | Task::Token(_) | Task::Run(_) | Task::Doctor(_) => Telemetry::warnings()?,
    };
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::infrastructure(format!("the runtime could not be started: {error}")))?;
    let status = match command {
        Task::Serve(settings) => runtime.block_on(serve::run(*settings)),
        Task::Config(settings) => settings::print(&settings),
        Task::Token(args) => token::run(&args),
        Task::Run(args) => runtime.block_on(run::run(args)),
        Task::Doctor(args) => doctor::run(&args),
    };
    // What blocks, such as a read of standard input, must not hold the process back.
    runtime.shutdown_background();
    telemetry.end();
    status
}

/// What is to be done, with the settings read.
enum Task {
    Serve(Box<Settings>),
    Config(Box<Settings>),
    Token(args::Token),
    Run(args::Run),
    Doctor(args::Doctor),
}

impl Task {
    fn of(command: Command) -> Result<Self, Failure> {
        let settings = |flags| Settings::load(flags, std::env::vars_os()).map(Box::new).map_err(Failure::usage);
        Ok(match command {
            Command::Serve(args) => Self::Serve(settings(args.settings)?),
            Command::Config(args) => Self::Config(settings(args.settings)?),
            Command::Token(args) => Self::Token(args),
            Command::Run(args) => Self::Run(args),
            Command::Doctor(args) => Self::Doctor(args),
        })
    }
}
