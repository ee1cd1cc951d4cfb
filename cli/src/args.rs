//! The command line's shape: commands, flags and their rules.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, value_parser};
use codemode_protocol::Limits;
use codemode_sandbox::Level;

use crate::run::{ToolSpec, Url};

/// Runs model-written JavaScript in warm, confined sandboxes.
#[derive(Debug, Parser)]
#[command(name = "codemoded", version, propagate_version = true, arg_required_else_help = true, after_help = EXIT_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What is logged to standard error: error, warn, info, debug, trace, or a filter such as `codemode_daemon=debug`
    /// [default: info for serve, warn otherwise]
    #[arg(long, global = true, value_name = "FILTER", env = "CODEMODED_LOG")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Offer the executor by URL; prints `listening on ws://HOST:PORT` when ready
    Serve(Serve),
    /// Run one program and print its result as JSON
    Run(Run),
    /// Show what this machine offers and how well programs are confined on it
    Doctor(Doctor),
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Loopback address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Sessions at once
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_sessions: u32,
    /// Refuse to start when programs are confined less than this: process, filtered or layered
    #[arg(long, value_name = "LEVEL", default_value = "process", value_parser = level)]
    pub(crate) require_confinement: Level,
    #[command(flatten)]
    pub(crate) pool: Pool,
}

/// The operator's bounds on the pool; each one left off is the contract's default.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Pool {
    /// Programs at once [default: 32 per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=100_000))]
    max_concurrent: Option<u64>,
    /// Sandboxes kept ready [default: 4 per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(0..=10_000))]
    warm: Option<u64>,
    /// Programs that may wait for a sandbox [default: 256]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(0..=1_000_000))]
    queue: Option<u64>,
    /// How long a program may wait for a sandbox, in milliseconds [default: 5000]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..))]
    queue_wait: Option<u64>,
    /// Time limit of a program that names none, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..))]
    timeout_default: Option<u64>,
    /// Highest time limit that a program may ask for, in milliseconds [default: 300000]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..))]
    timeout_max: Option<u64>,
    /// Memory limit of a program that names none, in bytes [default: 128 MiB]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(MIN_MEMORY..))]
    memory_default: Option<u64>,
    /// Highest memory limit that a program may ask for, in bytes [default: 512 MiB]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(MIN_MEMORY..))]
    memory_max: Option<u64>,
    /// How long running programs may take to finish after SIGTERM, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64))]
    drain_timeout: Option<u64>,
}

impl Pool {
    /// The contract's bounds with the operator's in their place. A default above its maximum is lowered to it.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for (given, bound) in [
            (self.max_concurrent, &mut limits.max_concurrent),
            (self.warm, &mut limits.warm_children),
            (self.queue, &mut limits.queue),
            (self.queue_wait, &mut limits.queue_wait_ms),
            (self.timeout_default, &mut limits.timeout_ms),
            (self.timeout_max, &mut limits.max_timeout_ms),
            (self.memory_default, &mut limits.memory_limit),
            (self.memory_max, &mut limits.max_memory_limit),
            (self.drain_timeout, &mut limits.drain_timeout_ms),
        ] {
            *bound = given.unwrap_or(*bound);
        }
        limits.timeout_ms = limits.timeout_ms.min(limits.max_timeout_ms);
        limits.memory_limit = limits.memory_limit.min(limits.max_memory_limit);
        limits
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = RUN_HELP)]
pub(crate) struct Run {
    /// The program: a file holding one arrow function, or `-` for standard input
    #[arg(value_name = "FILE.js")]
    pub(crate) file: PathBuf,
    /// A tool: the program's `NS.NAME(...)` runs COMMAND by `sh -c`; may be repeated
    #[arg(long = "tool", value_name = "NS.NAME=COMMAND")]
    pub(crate) tools: Vec<ToolSpec>,
    /// Time limit in milliseconds, host calls not counted
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Memory limit in bytes
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(1..))]
    pub(crate) memory_limit: Option<u64>,
    /// Run on the daemon at this WebSocket URL instead of in a sandbox of this process
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<Url>,
    /// Print the whole outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let addr: SocketAddr = numeric
        .as_deref()
        .unwrap_or(text)
        .parse()
        .map_err(|_| "must be an address and a port, such as 127.0.0.1:8787 or [::1]:0".to_owned())?;
    codemode_daemon::check_listen_address(addr).map_err(|error| error.to_string())?;
    Ok(addr)
}

fn level(text: &str) -> Result<Level, String> {
    Level::ALL.iter().find(|level| level.as_str() == text).copied().ok_or_else(|| {
        let names: Vec<_> = Level::ALL.iter().map(|level| level.as_str()).collect();
        format!("must be one of {}", names.join(", "))
    })
}

const MIN_MEMORY: u64 = 1 << 20;

const EXIT_HELP: &str = "\
Exit status: 0 success, 1 the program failed, 2 wrong usage, 3 the infrastructure failed, 130 interrupted.";

const RUN_HELP: &str = "\
Tools:
  COMMAND gets the call's arguments as a JSON array on its standard input, and its standard output is the call's
  result: JSON if it is JSON, else text without its last line end. A status other than 0 is an error in the program
  that carries the command's standard error. Commands run at the same time when the program calls them so.
  A command is stopped when the program runs out of time or is interrupted; a command that the program did not wait
  for is waited for at the end.

Output:
  The result goes to standard output as JSON, log lines to standard error. What JSON cannot say is written as
  JSON.stringify would (NaN is null, a Date is its ISO string, undefined members vanish), but for: undefined as the
  whole result is null, a BigInt is a string of digits, binary data is
  {\"__codemode_binary_v1__\": kind, \"data\": base64}, an Error is {\"name\", \"message\", ...}, a URL is its text.
  With --json one object is printed, also on failure: result, error, errorDetails, logs, termination and stats; or,
  when the infrastructure failed, executorError with its code, message and what else is known.

Exit status:
  0 the program returned, 1 it failed (its error is on standard error), 2 wrong usage, 3 the infrastructure failed,
  130 interrupted.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn defaults_never_exceed_a_lowered_maximum() {
        let pool = Pool { timeout_max: Some(1000), memory_max: Some(1 << 20), warm: Some(0), ..Pool::default() };
        let limits = pool.limits();
        assert_eq!((limits.timeout_ms, limits.memory_limit, limits.warm_children), (1000, 1 << 20, 0));
        assert_eq!(limits.queue, Limits::default().queue);
    }

    #[test]
    fn a_listen_address_is_loopback_with_a_port() {
        for good in ["127.0.0.1:0", "[::1]:8787", "localhost:0"] {
            assert!(listen_address(good).is_ok(), "{good}");
        }
        for (bad, rule) in [
            ("0.0.0.0:0", "only loopback addresses"),
            ("8787", "must be an address and a port"),
            ("localhost", "must be an address and a port"),
            ("example.com:80", "must be an address and a port"),
        ] {
            assert!(listen_address(bad).unwrap_err().contains(rule), "{bad}");
        }
    }
}
