//! An outcome as a host of the dialect reads it.

use codemode_protocol::{Encoded, ExecutionTimeoutError, LogLevel, LogLine, Outcome, Termination, text};

/// What an execution gave. Exactly one of `result` and `error` is present.
#[derive(Clone, Debug, PartialEq)]
pub struct CodemodeResult {
    /// What the program returned; an undefined result is present and decodes to undefined.
    pub result: Option<Encoded>,
    /// What the program threw, the bound that ended it, or the rule that its request breaks.
    pub error: Option<String>,
    /// The lines of `console.log`, `console.warn` and `console.error`, the latter two with a prefix. Absent when the
    /// request was refused, so that no program ran.
    pub logs: Option<Vec<String>>,
}

impl CodemodeResult {
    /// An execution that a rule of the dialect refuses with the text `error`, so that no program ran.
    pub fn refused(error: String) -> Self {
        Self { result: None, error: Some(error), logs: None }
    }
}

impl From<Outcome> for CodemodeResult {
    fn from(outcome: Outcome) -> Self {
        let error = outcome.error.map(|error| render_error(error, outcome.termination));
        Self { result: outcome.result, error, logs: Some(format_logs(outcome.logs)) }
    }
}

/// A run that the clock ended reads `Execution timed out`, as it always did for hosts of the dialect; every other error is
/// passed on.
///
/// How a run ended is the executor's word, so a program that throws the text of a timeout keeps it. The text decides only
/// where the executor does not tell: where it leaves [`Termination::Completed`] beside an error. The CPU bound of a
/// request of this adapter is its timeout, and a stalled program is one that would have waited for it.
fn render_error(error: String, termination: Termination) -> String {
    let timed_out = match termination {
        Termination::Timeout | Termination::Stalled | Termination::Cpu => true,
        Termination::Completed => ExecutionTimeoutError::matches(&error),
        _ => false,
    };
    if timed_out { text::TIMEOUT_MESSAGE.into() } else { error }
}

/// The lines that the dialect captures, flat. Lines of other methods (`info`, `debug`, `table` …) are not among them.
fn format_logs(logs: Vec<LogLine>) -> Vec<String> {
    let captured = logs.into_iter().filter(|line| matches!(line.method.as_str(), "log" | "warn" | "error"));
    captured.map(|line| format!("{}{}", prefix(line.level), line.message)).collect()
}

fn prefix(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Warn => "[warn] ",
        LogLevel::Error => "[error] ",
        LogLevel::Log | LogLevel::Info | LogLevel::Debug => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_executors_word_makes_a_timeout() {
        let whole = ExecutionTimeoutError { timeout_ms: 300 }.to_string();
        let vendor = "Execution timed out waiting for the vendor API";
        let cases = [
            (whole.as_str(), Termination::Timeout, "Execution timed out"),
            (&text::wall_exceeded(9), Termination::Timeout, "Execution timed out"),
            (text::STALLED, Termination::Stalled, "Execution timed out"),
            (&text::cpu_exceeded(300), Termination::Cpu, "Execution timed out"),
            (&whole, Termination::Threw, &whole),
            (&whole, Termination::Result, &whole),
            (vendor, Termination::Threw, vendor),
            ("Execution timed out", Termination::Threw, "Execution timed out"),
            (&text::memory_exceeded(9), Termination::Memory, &text::memory_exceeded(9)),
            ("SyntaxError: x", Termination::Syntax, "SyntaxError: x"),
            // An executor that does not tell how runs end.
            (&whole, Termination::Completed, "Execution timed out"),
            (vendor, Termination::Completed, vendor),
        ];
        for (error, termination, rendered) in cases {
            assert_eq!(render_error(error.into(), termination), rendered, "{error} {termination}");
        }
    }

    #[test]
    fn lines_of_three_methods_are_flattened_with_prefixes() {
        let line = |level, method: &str, message: &str| LogLine {
            level,
            method: method.into(),
            message: message.into(),
            time_ms: 0.5,
        };
        let lines = vec![
            line(LogLevel::Log, "log", "a"),
            line(LogLevel::Info, "info", "b"),
            line(LogLevel::Debug, "debug", "c"),
            line(LogLevel::Warn, "warn", "d"),
            line(LogLevel::Error, "error", "e"),
            line(LogLevel::Info, "table", "f"),
            line(LogLevel::Error, "assert", "g"),
            line(LogLevel::Warn, "warn", "l1\nl2"),
            line(LogLevel::Log, "log", ""),
        ];
        assert_eq!(format_logs(lines), ["a", "[warn] d", "[error] e", "[warn] l1\nl2", ""]);
    }
}
