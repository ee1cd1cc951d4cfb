//! The command line's shape: commands, flags and their rules.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use codemode_protocol::LEAST_MEMORY_BYTES;

use crate::{
    run::{Dialect, ToolSpec, Url},
    settings::{Flags, Kind, Size, Time},
};

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
    /// Print the settings that `serve` would use, with the place that each comes from
    Config(Config),
    /// Make a token: prints its line for a file of tokens, and on standard error the token itself
    Token(Token),
    /// Show what this machine offers and how well programs are confined on it
    Doctor(Doctor),
}

#[derive(Debug, Args)]
#[command(after_long_help = SERVE_HELP)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) settings: Flags,
}

#[derive(Debug, Args)]
#[command(after_long_help = CONFIG_HELP)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) settings: Flags,
}

#[derive(Debug, Args)]
#[command(after_long_help = TOKEN_HELP)]
pub(crate) struct Token {
    /// Who bears it: the tenant that runs are counted for
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print one JSON object with name, token and line instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = RUN_HELP)]
pub(crate) struct Run {
    /// The program: a file holding one arrow function (see --dialect), or `-` for standard input
    #[arg(value_name = "FILE.js")]
    pub(crate) file: PathBuf,
    /// What the program is: one arrow function, or what a model wrote for @cloudflare/codemode
    #[arg(long, value_enum, default_value_t)]
    pub(crate) dialect: Dialect,
    /// A tool: the program's `NS.NAME(...)` runs COMMAND by `sh -c`; may be repeated
    #[arg(long = "tool", value_name = "NS.NAME=COMMAND")]
    pub(crate) tools: Vec<ToolSpec>,
    /// Time limit, such as 500ms or 5s, host calls not counted; with --url, the daemon lowers it to its own maximum
    #[arg(long, value_name = "TIME", allow_negative_numbers = true,
        value_parser = |text: &str| Time { least: 1, most: u64::MAX }.read(text))]
    pub(crate) timeout: Option<u64>,
    /// Memory limit, such as 64MiB; with --url, the daemon lowers it to its own maximum
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true,
        value_parser = |text: &str| Size { least: LEAST_MEMORY_BYTES, most: u64::MAX }.read(text))]
    pub(crate) memory_limit: Option<u64>,
    /// Run on the daemon at this WebSocket URL instead of in a sandbox of this process
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<Url>,
    /// File that holds the token for --url; CODEMODED_TOKEN may hold the token itself
    #[arg(long, value_name = "FILE", env = "CODEMODED_TOKEN_FILE", hide_env_values = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// File of certificates, PEM, that a wss:// daemon's may be signed by, beside those of the Web's authorities
    #[arg(long, value_name = "FILE", env = "CODEMODED_TLS_CA", hide_env_values = true)]
    pub(crate) tls_ca: Option<PathBuf>,
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

const EXIT_HELP: &str = "\
Exit status: 0 success, 1 the program failed (run), 2 wrong usage, 3 the infrastructure failed, 130 interrupted (run).";

const SERVE_HELP: &str = "\
Settings:
  A flag may also be given in the environment (--queue-wait as CODEMODED_QUEUE_WAIT) and in the TOML file that --config or
  CODEMODED_CONFIG names (queue-wait = \"5s\"). A flag goes before the environment, the environment before the file.
  Times are written 250ms, 5s, 2m or 1h, sizes 64KiB, 128MiB or 1GiB; a number alone is milliseconds or bytes.
  `codemoded config` shows what is used and where it comes from.

Exit status:
  0 stopped by SIGINT or SIGTERM, 2 wrong usage, settings that contradict each other or a file that cannot be used,
  3 the address cannot be listened on, or no sandbox can be started or confined as required.";

const CONFIG_HELP: &str = "\
It takes the flags of serve, and prints a file that --config would read, with a comment behind each key: the flag,
variable or file that its value comes from.

Exit status:
  0 the settings can be used, 2 they cannot, and the error says why.";

const TOKEN_HELP: &str = "\
  codemoded token alice >> tokens

The file holds no token, only digests. A name may have several lines, so that a new token can be given out before the
line of the old one goes. A running daemon reads the file again on SIGHUP.

Exit status:
  0 success, 2 wrong usage, 3 the system gives no random numbers, or the line could not be written.";

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

Dialects:
  native: the file holds one arrow function, after static imports if there are any; nothing is rewritten.
  codemode: the file holds what a model wrote for @cloudflare/codemode. A Markdown fence around it is taken off, bare
  statements become a function that returns the last expression, a declared function is called. A tool NAME may have any
  characters; the program calls it by the identifier that the dialect makes of it (list-issues is list_issues). The time
  limit counts host calls too. Only console.log, .warn and .error are shown, as the dialect shows them, and with --json
  the object is {result, error, logs}.

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
}
