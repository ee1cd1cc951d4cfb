//! What the user of `run` sees of an outcome.

use std::path::Path;

use codemode_protocol::{
    ErrorDetails, ExecutorError, LogLevel, LogLine, Outcome, ResultEncoding,
    capnweb::{Object, Value},
    wire,
};

use super::status_of;
use crate::{
    exit::Status,
    json::Json,
    terminal::{Harmless, deliver, say},
};

/// Where and how outcomes are reported.
pub(crate) struct Report<'a> {
    /// One JSON object instead of result, lines and error.
    pub(crate) json: bool,
    /// The program's file, for places in it.
    pub(crate) file: &'a Path,
}

impl Report<'_> {
    /// Reports how a run ended and says how the process ends.
    pub(crate) fn ended(&self, ended: &Result<Outcome, ExecutorError>) -> Status {
        let status = match ended {
            Ok(outcome) if outcome.error.is_none() => Status::Success,
            Ok(_) => Status::Program,
            Err(failure) => status_of(failure),
        };
        let shown = match ended {
            _ if self.json => object(ended),
            Ok(outcome) => {
                lines(&outcome.logs);
                if let Some(error) = &outcome.error {
                    say(format_args!("error: {}", Harmless(error)));
                    self.place(outcome.error_details.as_ref());
                    return status;
                }
                result(outcome)
            }
            Err(failure) => {
                lines(&failure.logs);
                say(Harmless(&failure.to_string()));
                return status;
            }
        };
        match deliver(Json(&shown)) {
            Ok(()) => status,
            Err(lost) => {
                say(lost);
                Status::Infrastructure
            }
        }
    }

    fn place(&self, details: Option<&ErrorDetails>) {
        let Some(details) = details else { return };
        if let Some(stack) = details.stack.as_deref().filter(|stack| !stack.trim().is_empty()) {
            say(Harmless(stack.trim_end()));
        } else if let (Some(line), column) = (details.line, details.column.unwrap_or(1)) {
            say(format_args!("    at {}:{line}:{column}", self.file.display()));
        }
    }
}

fn lines(logs: &[LogLine]) {
    for LogLine { level, message, .. } in logs {
        match level {
            LogLevel::Log => say(Harmless(message)),
            other => say(format_args!("{other}: {}", Harmless(message))),
        }
    }
}

fn result(outcome: &Outcome) -> Value {
    // A result was checked when it came, so it decodes; there is none only when there is an error.
    outcome.result.as_ref().and_then(|result| result.decode().ok()).unwrap_or_default()
}

fn object(ended: &Result<Outcome, ExecutorError>) -> Value {
    match ended {
        Ok(outcome) => {
            let mut members = Object::new();
            if outcome.error.is_none() {
                members.insert("result", result(outcome));
            }
            let rest = Outcome { result: None, ..outcome.clone() };
            if let Value::Object(rest) = wire::outcome_to_value(rest, ResultEncoding::Value) {
                for (name, member) in rest {
                    members.insert(name, member);
                }
            }
            Value::Object(members)
        }
        Err(failure) => {
            let members = [("executorError", wire::error_to_value(failure.clone()))];
            Value::Object(members.into_iter().collect())
        }
    }
}
