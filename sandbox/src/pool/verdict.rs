//! What a run's end means: the outcome, or the error that says what became of its child.

use std::time::Duration;

use codemode_protocol::{
    Crash, Encoded, ErrorCode, ErrorDetails, ExecutorError, Limits, LogLine, Outcome, RunBounds, Stats, Termination,
    text,
};

use super::{
    child::ChildEnd,
    clock::{Bound, RunClock},
    conversation::{Violation, cut},
};
use crate::{
    frame::{DoneFrame, RESERVED_MEMORY_EXIT},
    zygote::Exit,
};

/// How a run ended.
#[derive(Debug)]
pub(super) enum End {
    /// The program's.
    Program {
        termination: Termination,
        result: Option<Encoded>,
        error: Option<String>,
        details: Option<ErrorDetails>,
        peak_memory: u64,
    },
    /// The child's, without a last word.
    Crash { text: String, retryable: bool, how: Crash },
    /// By the pool's end.
    Disposed,
}

impl End {
    /// A program that one of its bounds has ended.
    pub(super) fn bound(bound: Bound, bounds: &RunBounds, peak_memory: u64) -> Self {
        let (termination, error) = match bound {
            Bound::Run => (Termination::Timeout, text::timed_out(bounds.timeout_ms)),
            Bound::Wall => (Termination::Timeout, text::wall_exceeded(bounds.max_wall_ms)),
            Bound::Cpu => (Termination::Cpu, text::cpu_exceeded(bounds.cpu_ms)),
        };
        Self::Program { termination, result: None, error: Some(error), details: None, peak_memory }
    }

    /// A program that its memory limit has ended.
    pub(super) fn memory(bounds: &RunBounds, details: Option<ErrorDetails>, peak_memory: u64) -> Self {
        let error = Some(text::memory_exceeded(bounds.memory_bytes));
        Self::Program { termination: Termination::Memory, result: None, error, details, peak_memory }
    }

    /// What the child's last word amounts to: bounds are believed only when they are over here too, the result is
    /// checked, and where the contract has a text, that is the text.
    pub(super) fn done(
        done: DoneFrame,
        clock: &RunClock,
        now: Duration,
        bounds: &RunBounds,
        limits: &Limits,
    ) -> Result<Self, Violation> {
        let DoneFrame { termination, result, error, details, peak_memory, .. } = done;
        let peak_memory = peak_memory.min(limits.max_memory_limit);
        let details = details.map(|details| ErrorDetails {
            name: cut(details.name, limits.error_bytes),
            message: cut(details.message, limits.error_bytes),
            stack: details.stack.map(|stack| cut(stack, limits.error_bytes)),
            ..details
        });
        match termination {
            Termination::Timeout => {
                match [Bound::Wall, Bound::Run].into_iter().find(|bound| clock.is_over(*bound, now)) {
                    Some(bound) => Ok(Self::bound(bound, bounds, peak_memory)),
                    None => Err(Violation::Bound),
                }
            }
            Termination::Cpu if !clock.is_over(Bound::Cpu, now) => Err(Violation::Bound),
            Termination::Cpu => Ok(Self::bound(Bound::Cpu, bounds, peak_memory)),
            Termination::Memory => Ok(Self::memory(bounds, details, peak_memory)),
            Termination::Stalled => {
                let error = Some(text::STALLED.to_owned());
                Ok(Self::Program { termination, result: None, error, details, peak_memory })
            }
            Termination::Completed | Termination::Threw | Termination::Syntax | Termination::Result => {
                let check = |result| Encoded::check(result, &limits.result());
                let result = result.map(check).transpose().map_err(|error| Violation::Result(error.to_string()))?;
                let error = error.map(|error| cut(error, limits.error_bytes));
                let error = error.map(|error| if error.is_empty() { "Error".to_owned() } else { error });
                Ok(Self::Program { termination, result, error, details, peak_memory })
            }
        }
    }

    /// A child that did what no honest child does; we killed it.
    pub(super) fn violation(violation: &Violation) -> Self {
        let text = format!("The sandbox broke its own rules and was killed: {violation}");
        Self::Crash { text, retryable: false, how: Crash::Violation }
    }

    /// A child that is gone without a last word. `end` is absent when nobody told in time.
    pub(super) fn died(end: Option<ChildEnd>, bounds: &RunBounds, calls_started: u64) -> Self {
        if let Some(ChildEnd::Reaped(exit)) = end
            && libc::WIFEXITED(exit.status)
            && libc::WEXITSTATUS(exit.status) == RESERVED_MEMORY_EXIT
        {
            return Self::memory(bounds, None, bounds.memory_bytes);
        }
        let (how, text) = death(end);
        Self::Crash { text, retryable: calls_started == 0, how }
    }

    /// Whether the program has ended by itself, so that the host calls that it made go on.
    pub(super) fn is_the_programs_own(&self) -> bool {
        let clocks = [Termination::Timeout, Termination::Cpu];
        matches!(self, Self::Program { termination, .. } if !clocks.contains(termination))
    }

    /// Whether the child has said itself what it used.
    pub(super) fn has_figures(&self) -> bool {
        matches!(self, Self::Program { peak_memory: 1.., .. })
    }

    /// The answer for the caller.
    pub(super) fn into_answer(self, logs: Vec<LogLine>, stats: Stats) -> Result<Outcome, ExecutorError> {
        match self {
            Self::Program { termination, result, error, details, peak_memory } => Ok(Outcome {
                result,
                error,
                error_details: details,
                logs,
                termination,
                execution_id: None,
                handles_refused: false,
                stats: if peak_memory > 0 { Stats { peak_memory_bytes: peak_memory, ..stats } } else { stats },
            }),
            Self::Crash { text, retryable, .. } => {
                let mut error = ExecutorError::new(ErrorCode::SandboxCrashed, text).with_retryable(retryable);
                (error.logs, error.stats) = (logs, Some(stats));
                Err(error)
            }
            Self::Disposed => {
                let mut error = ExecutorError::new(ErrorCode::Cancelled, text::POOL_DISPOSED);
                (error.logs, error.stats) = (logs, Some(stats));
                Err(error)
            }
        }
    }
}

fn death(end: Option<ChildEnd>) -> (Crash, String) {
    match end {
        Some(ChildEnd::Reaped(Exit { status, .. })) if libc::WIFSIGNALED(status) => match libc::WTERMSIG(status) {
            libc::SIGKILL => {
                let text = "The sandbox was killed by signal 9 (SIGKILL), which was not ours: most likely the kernel's \
                            out-of-memory killer. Give the machine more memory or run fewer programs at once.";
                (Crash::Killed, text.to_owned())
            }
            signal => {
                let text = format!("The sandbox was killed by signal {signal} ({})", signal_name(signal));
                (Crash::Signal, text)
            }
        },
        Some(ChildEnd::Reaped(Exit { status, .. })) => {
            let text = format!("The sandbox ended by itself with exit status {}", libc::WEXITSTATUS(status));
            (Crash::Exit, text)
        }
        Some(ChildEnd::Orphaned) => {
            let text = "The sandbox died together with the process that sandboxes are forked from; a new one is being \
                        started";
            (Crash::Orphaned, text.to_owned())
        }
        None => (Crash::Silent, "The sandbox closed its channel without a last word and was killed".to_owned()),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGABRT => "SIGABRT",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGSYS => "SIGSYS, a forbidden system call",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        _ => "from outside",
    }
}
