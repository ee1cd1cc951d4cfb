//! What the user of `run` sees of an outcome.

use std::path::Path;

use codemode_protocol::{
    ErrorDetails, ExecutorError, LogLevel, LogLine, Outcome, ResultEncoding,
    capnweb::{Object, Value},
    wire,
};

use super::{dialect::Ended, status_of};
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
    pub(crate) fn ended(&self, ended: &Result<Ended, ExecutorError>) -> Status {
        let (error, status) = match ended {
            Ok(Ended::Native(outcome)) => (outcome.error.as_ref(), Status::Success),
            Ok(Ended::Codemode(result)) => (result.error.as_ref(), Status::Success),
            Err(failure) => (None, status_of(failure)),
        };
        let status = error.map_or(status, |_| Status::Program);
        if self.json {
            return delivered(&object(ended), status);
        }
        match ended {
            Ok(Ended::Native(outcome)) => lines(&outcome.logs),
            // The dialect has put the level into the line.
            Ok(Ended::Codemode(result)) => result.logs.iter().flatten().for_each(|line| say(Harmless(line))),
            Err(failure) => {
                lines(&failure.logs);
                say(Harmless(&failure.to_string()));
                return status;
            }
        }
        if let Some(error) = error {
            say(format_args!("error: {}", Harmless(error)));
            if let Ok(Ended::Native(outcome)) = ended {
                self.place(outcome.error_details.as_ref());
            }
            return status;
        }
        delivered(&result(ended), status)
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

/// Prints what was asked for; output that is lost is a failure of its own.
fn delivered(shown: &Value, status: Status) -> Status {
    match deliver(Json(shown)) {
        Ok(()) => status,
        Err(lost) => {
            say(lost);
            Status::Infrastructure
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

fn result(ended: &Result<Ended, ExecutorError>) -> Value {
    let encoded = match ended {
        Ok(Ended::Native(outcome)) => outcome.result.as_ref(),
        Ok(Ended::Codemode(result)) => result.result.as_ref(),
        Err(_) => None,
    };
    // A result was checked when it came, so it decodes; there is none only when there is an error.
    encoded.and_then(|encoded| encoded.decode().ok()).unwrap_or_default()
}

fn object(ended: &Result<Ended, ExecutorError>) -> Value {
    let mut members = Object::new();
    match ended {
        Ok(Ended::Native(outcome)) => {
            if outcome.error.is_none() {
                members.insert("result", result(ended));
            }
            let rest = Outcome { result: None, ..outcome.clone() };
            if let Value::Object(rest) = wire::outcome_to_value(rest, ResultEncoding::Value) {
                for (name, member) in rest {
                    members.insert(name, member);
                }
            }
        }
        Ok(Ended::Codemode(outcome)) => {
            match &outcome.error {
                None => members.insert("result", result(ended)),
                Some(error) => members.insert("error", Value::from(error.as_str())),
            }
            let lines = outcome.logs.iter().flatten().map(|line| Value::from(line.as_str()));
            members.insert("logs", Value::Array(lines.collect()));
        }
        Err(failure) => members.insert("executorError", wire::error_to_value(failure.clone())),
    }
    Value::Object(members)
}
