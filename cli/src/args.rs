//! The command line's shape: commands, flags and their rules.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use codemode_protocol::{LEAST_MEMORY_BYTES, Limits};
use codemode_sandbox::Level;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::run::{ToolSpec, Url};

/// Runs model-written JavaScript in warm, confined sandboxes.
#[derive(Debug, Parser)]
#[command(name = "codemoded", version, propagate_version = true, arg_required_else_help = true, after_help = EXIT_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
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
#[command(after_long_help = SERVE_HELP)]
pub(crate) struct Serve {
    /// Loopback address and port to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Sessions at once
    #[arg(long, value_name = "N", default_value_t = 1024, allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number", 1, 1_000_000))]
    pub(crate) max_sessions: u64,
    /// Refuse to start when programs are confined less than this: process, filtered or layered
    #[arg(long, value_name = "LEVEL", default_value = "process", value_parser = level)]
    pub(crate) require_confinement: Level,
    /// What is logged to standard error: off, error, warn, info, debug, trace, or a filter such as
    /// `codemode_daemon=debug`
    #[arg(long, value_name = "FILTER", env = "CODEMODED_LOG", default_value = "info", value_parser = log_filter)]
    pub(crate) log: String,
    #[command(flatten)]
    pub(crate) pool: Pool,
}

/// The operator's bounds on the pool; each one left off is the contract's default.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Pool {
    /// Programs at once [default: 32 per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number", 1, 100_000))]
    max_concurrent: Option<u64>,
    /// Sandboxes kept ready [default: 4 per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number", 0, 10_000))]
    warm: Option<u64>,
    /// Programs that may wait for a sandbox [default: 256]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number", 0, 1_000_000))]
    queue: Option<u64>,
    /// How long a program may wait for a sandbox, in milliseconds [default: 5000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of milliseconds", 1, DAY_MS))]
    queue_wait: Option<u64>,
    /// Time limit of a program that names none, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of milliseconds", 1, DAY_MS))]
    timeout_default: Option<u64>,
    /// Highest time limit that a program may ask for, in milliseconds [default: 300000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of milliseconds", 1, DAY_MS))]
    timeout_max: Option<u64>,
    /// Memory limit of a program that names none, in bytes [default: 128 MiB]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of bytes", LEAST_MEMORY_BYTES, u64::MAX))]
    memory_default: Option<u64>,
    /// Highest memory limit that a program may ask for, in bytes [default: 512 MiB]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of bytes", LEAST_MEMORY_BYTES, u64::MAX))]
    memory_max: Option<u64>,
    /// How long running programs may take to finish after SIGTERM, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of milliseconds", 0, DAY_MS))]
    drain_timeout: Option<u64>,
}

impl Pool {
    /// The contract's bounds with the operator's in their place. What the operator did not name gives way to what they
    /// did: a default is lowered to its maximum. `memory` is that of the machine, in bytes.
    ///
    /// # Errors
    /// Two bounds contradict each other, or the machine cannot keep one; the text names the flags.
    pub(crate) fn limits(&self, memory: Option<u64>) -> Result<Limits, String> {
        let mut limits = Limits::default();
        for (given, bound) in [
            (self.max_concurrent, &mut limits.max_concurrent),
            (self.queue, &mut limits.queue),
            (self.queue_wait, &mut limits.queue_wait_ms),
            (self.timeout_max, &mut limits.max_timeout_ms),
            (self.memory_max, &mut limits.max_memory_limit),
            (self.drain_timeout, &mut limits.drain_timeout_ms),
        ] {
            *bound = given.unwrap_or(*bound);
        }
        limits.warm_children =
            within(("--warm", self.warm), limits.warm_children, "--max-concurrent", limits.max_concurrent)?;
        limits.timeout_ms = within(
            ("--timeout-default", self.timeout_default),
            limits.timeout_ms,
            "--timeout-max",
            limits.max_timeout_ms,
        )?;
        limits.memory_limit = within(
            ("--memory-default", self.memory_default),
            limits.memory_limit,
            "--memory-max",
            limits.max_memory_limit,
        )?;
        if limits.max_timeout_ms > limits.max_wall_ms {
            let (max, wall) = (limits.max_timeout_ms, limits.max_wall_ms);
            return Err(format!("--timeout-max {max} is above the {wall} ms at which every run ends, waits included"));
        }
        if let Some(most) = self.memory_max {
            memory_fits("--memory-max", most, memory)?;
        }
        Ok(limits)
    }
}

/// The bound that the flag gives, or `default` lowered to `most`, the value of the flag `most_flag`.
fn within((flag, given): (&str, Option<u64>), default: u64, most_flag: &str, most: u64) -> Result<u64, String> {
    match given {
        Some(given) if given > most => Err(format!("{flag} {given} is above {most_flag}, which is {most}")),
        Some(given) => Ok(given),
        None => Ok(default.min(most)),
    }
}

/// Refuses a memory limit that the machine could never give, of `memory` bytes if that is known.
///
/// # Errors
/// Names the flag and both sizes.
pub(crate) fn memory_fits(flag: &str, bytes: u64, memory: Option<u64>) -> Result<(), String> {
    match memory {
        Some(memory) if bytes > memory => {
            Err(format!("{flag} {bytes} is above the {memory} bytes of memory that this machine has"))
        }
        _ => Ok(()),
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
    /// Time limit in milliseconds, host calls not counted; with --url, the daemon lowers it to its own maximum
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of milliseconds", 1, u64::MAX))]
    pub(crate) timeout: Option<u64>,
    /// Memory limit in bytes; with --url, the daemon lowers it to its own maximum
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true,
        value_parser = |text: &str| number(text, "a whole number of bytes", LEAST_MEMORY_BYTES, u64::MAX))]
    pub(crate) memory_limit: Option<u64>,
    /// Run on the daemon at this WebSocket URL instead of in a sandbox of this process
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<Url>,
    /// Print the whole outcome as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = DOCTOR_HELP)]
pub(crate) struct Doctor {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number between two bounds; the error says what it must be.
fn number(text: &str, what: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| match most {
        u64::MAX => format!("must be {what}, at least {least}"),
        most => format!("must be {what}, from {least} to {most}"),
    })
}

/// What is logged. A word alone is a level: as a target, which it could be too, it would say nothing and hide all.
fn log_filter(text: &str) -> Result<String, String> {
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    let plain = text.split(',').map(str::trim).filter(|part| !part.contains(['=', '[']));
    if let Some(word) = plain.clone().find(|word| !is_level(word)) {
        return Err(format!(
            "{word:?} is no level; it must be off, error, warn, info, debug, trace, or a filter such as \
             codemode_daemon=debug"
        ));
    }
    EnvFilter::try_new(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
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

const DAY_MS: u64 = 86_400_000;

const EXIT_HELP: &str = "\
Exit status: 0 success, 1 the program failed (run), 2 wrong usage, 3 the infrastructure failed, 130 interrupted (run).";

const SERVE_HELP: &str = "\
Exit status:
  0 stopped by SIGINT, SIGTERM or SIGHUP, 2 wrong usage or settings that contradict each other, 3 the address cannot be
  listened on, or no sandbox can be started or confined as required.";

const DOCTOR_HELP: &str = "\
Exit status:
  0 every attempt to break out was refused, 2 wrong usage, 3 an attempt succeeded or could not be made.";

const RUN_HELP: &str = "\
Tools:
  COMMAND gets the call's arguments as a JSON array on its standard input, and its standard output is the call's
  result: JSON if it is JSON, else text without its last line end. A status other than 0 is an error in the program
  that carries the command's standard error. Commands run at the same time when the program calls them so.
  A command is stopped when the program is: when it runs out of time, is interrupted, or loses its executor. A command
  that the program did not wait for is waited for at the end.

Output:
  The result goes to standard output as JSON, log lines to standard error. What JSON cannot say is written as
  JSON.stringify would (NaN is null, a Date is its ISO string, undefined members vanish), but for: undefined as the
  whole result is null, a BigInt is a string of digits, binary data is
  {\"__codemode_binary_v1__\": kind, \"data\": base64}, an Error is {\"name\", \"message\", ...}.
  With --json one object is printed, also on failure: result, error, errorDetails, logs, termination and stats. When the
  program never ran, or nobody can know, it has the one member executorError, with code, message, retryable and what
  else is known: INVALID_REQUEST (status 2) for a file, tool or limit that breaks a rule, CANCELLED (130) after an
  interrupt, INTERNAL (3) when this machine cannot start a sandbox, else what the daemon or the connection to it says.
  Only a command line that cannot be read at all (an unknown flag, a value that is no number) prints no object.

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
        let pool =
            Pool { timeout_max: Some(1000), memory_max: Some(1 << 20), max_concurrent: Some(1), ..Pool::default() };
        let limits = pool.limits(None).unwrap();
        assert_eq!((limits.timeout_ms, limits.memory_limit, limits.warm_children), (1000, 1 << 20, 1));
        assert_eq!(limits.queue, Limits::default().queue);
    }

    #[test]
    fn bounds_that_contradict_each_other_are_refused_by_their_flags() {
        let base = Pool::default;
        let cases = [
            (
                Pool { timeout_default: Some(400_000), ..base() },
                "--timeout-default 400000 is above --timeout-max, which is 300000",
            ),
            (
                Pool { timeout_default: Some(9), timeout_max: Some(8), ..base() },
                "--timeout-default 9 is above --timeout-max, which is 8",
            ),
            (
                Pool { memory_default: Some(2 << 20), memory_max: Some(1 << 20), ..base() },
                "--memory-default 2097152 is above --memory-max, which is 1048576",
            ),
            (
                Pool { warm: Some(3), max_concurrent: Some(2), ..base() },
                "--warm 3 is above --max-concurrent, which is 2",
            ),
            (
                Pool { timeout_max: Some(1_800_001), ..base() },
                "--timeout-max 1800001 is above the 1800000 ms at which every run ends, waits included",
            ),
            (
                Pool { memory_max: Some(5 << 30), ..base() },
                "--memory-max 5368709120 is above the 4294967296 bytes of memory that this machine has",
            ),
        ];
        for (pool, expected) in cases {
            assert_eq!(pool.limits(Some(4 << 30)).unwrap_err(), expected);
        }
        let fits = Pool { memory_max: Some(4 << 30), warm: Some(2), max_concurrent: Some(2), ..base() };
        assert!(fits.limits(Some(4 << 30)).is_ok());
    }

    #[test]
    fn a_filter_is_levels_and_targets_with_levels() {
        for good in ["off", "INFO", "debug", "codemode_daemon=debug", "warn,codemode_daemon=trace"] {
            assert_eq!(log_filter(good).as_deref(), Ok(good));
        }
        for bad in ["nonsense", "", "info,loud", "=[=", "a=loud"] {
            assert!(log_filter(bad).is_err(), "{bad}");
        }
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
