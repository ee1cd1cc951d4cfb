//! [`Outcome`] on the wire, with its log lines and figures.

use super::fields::{array, boolean, figure, named, object, string, take};
use crate::{
    Encoded, ErrorDetails, ExecutorError, LogLevel, LogLine, Outcome, ResultEncoding, ResultLimits, Stats, Termination,
    capnweb::{Object, Value},
};

/// The outcome as an object; its result goes as a value or as text.
pub fn outcome_to_value(outcome: Outcome, encoding: ResultEncoding) -> Value {
    let mut members = Object::new();
    match (outcome.result, encoding) {
        (None, _) => {}
        (Some(result), ResultEncoding::Value) => members.insert("result", Value::Encoded(result.into())),
        (Some(result), ResultEncoding::Text) => members.insert("resultText", Value::from(result.as_str())),
    }
    if let Some(error) = outcome.error {
        members.insert("error", Value::from(error));
    }
    if let Some(details) = outcome.error_details {
        members.insert("errorDetails", details_to_value(details));
    }
    members.insert("logs", logs_to_value(outcome.logs));
    members.insert("termination", Value::from(outcome.termination.as_str()));
    if let Some(id) = outcome.execution_id {
        members.insert("executionId", Value::from(id));
    }
    if outcome.handles_refused {
        members.insert("handlesRefused", Value::Bool(true));
    }
    members.insert("stats", stats_to_value(&outcome.stats));
    Value::Object(members)
}

/// The outcome that a server sent with its result as text.
///
/// # Errors
/// `INTERNAL` when a member is missing or has another type: the server does not keep the contract.
pub fn outcome_from_value(value: Value, limits: &ResultLimits) -> Result<Outcome, ExecutorError> {
    read_outcome(value, limits).map_err(|error| {
        ExecutorError::new(
            crate::ErrorCode::Internal,
            format!("The server's outcome breaks the contract: {}", error.message),
        )
    })
}

fn read_outcome(value: Value, limits: &ResultLimits) -> Result<Outcome, ExecutorError> {
    let mut members = object("outcome", value)?;
    let result = match take(&mut members, "resultText") {
        None => None,
        Some(value) => {
            let text = string("resultText", value)?;
            Some(Encoded::check(text, limits).map_err(|error| ExecutorError::invalid("resultText", error))?)
        }
    };
    let termination = members.remove("termination").unwrap_or_default();
    Ok(Outcome {
        result,
        error: take(&mut members, "error").map(lossy),
        error_details: take(&mut members, "errorDetails").map(details_from_value).transpose()?,
        logs: take(&mut members, "logs").map(logs_from_value).transpose()?.unwrap_or_default(),
        termination: named("termination", termination, "a known termination", Termination::from_text)?,
        execution_id: take(&mut members, "executionId").map(|id| string("executionId", id)).transpose()?,
        handles_refused: match take(&mut members, "handlesRefused") {
            None => false,
            Some(value) => boolean("handlesRefused", value)?,
        },
        stats: take(&mut members, "stats").map(stats_from_value).transpose()?.unwrap_or_default(),
    })
}

pub(super) fn logs_to_value(logs: Vec<LogLine>) -> Value {
    let line = |line: LogLine| {
        Value::Object(
            [
                ("level", Value::from(line.level.as_str())),
                ("method", Value::from(line.method)),
                ("message", Value::from(line.message)),
                ("timeMs", Value::Number(line.time_ms)),
            ]
            .into_iter()
            .collect(),
        )
    };
    Value::Array(logs.into_iter().map(line).collect())
}

pub(super) fn logs_from_value(value: Value) -> Result<Vec<LogLine>, ExecutorError> {
    let line = |value: Value| {
        let mut members = object("logs", value)?;
        let mut member = |name: &str| members.remove(name).unwrap_or_default();
        Ok(LogLine {
            level: named("logs.level", member("level"), "a known level", LogLevel::from_text)?,
            method: lossy(member("method")),
            message: lossy(member("message")),
            time_ms: figure("logs.timeMs", member("timeMs"))?,
        })
    };
    array("logs", value)?.into_iter().map(line).collect()
}

pub(super) fn stats_to_value(stats: &Stats) -> Value {
    let members = [
        ("wallMs", stats.wall_ms),
        ("cpuMs", stats.cpu_ms),
        ("queueMs", stats.queue_ms),
        ("hostCalls", stats.host_calls as f64),
        ("hostWaitMs", stats.host_wait_ms),
        ("peakMemoryBytes", stats.peak_memory_bytes as f64),
    ];
    Value::Object(members.into_iter().map(|(name, figure)| (name, Value::Number(figure))).collect())
}

pub(super) fn stats_from_value(value: Value) -> Result<Stats, ExecutorError> {
    let mut members = object("stats", value)?;
    let mut member = |name: &str| match take(&mut members, name) {
        None => Ok(0.0),
        Some(value) => figure(name, value),
    };
    Ok(Stats {
        wall_ms: member("wallMs")?,
        cpu_ms: member("cpuMs")?,
        queue_ms: member("queueMs")?,
        host_calls: member("hostCalls")? as u64,
        host_wait_ms: member("hostWaitMs")?,
        peak_memory_bytes: member("peakMemoryBytes")? as u64,
    })
}

fn details_to_value(details: ErrorDetails) -> Value {
    let mut members = Object::new();
    members.insert("name", Value::from(details.name));
    members.insert("message", Value::from(details.message));
    if let Some(stack) = details.stack {
        members.insert("stack", Value::from(stack));
    }
    for (name, number) in [("line", details.line), ("column", details.column)] {
        if let Some(number) = number {
            members.insert(name, Value::Number(f64::from(number)));
        }
    }
    Value::Object(members)
}

fn details_from_value(value: Value) -> Result<ErrorDetails, ExecutorError> {
    let mut members = object("errorDetails", value)?;
    let mut number = |name: &str| take(&mut members, name).map(|value| figure(name, value)).transpose();
    let (line, column) = (number("line")?, number("column")?);
    let mut member = |name: &str| members.remove(name).unwrap_or_default();
    Ok(ErrorDetails {
        name: lossy(member("name")),
        message: lossy(member("message")),
        stack: take(&mut members, "stack").map(lossy),
        line: line.map(|line| line as u32),
        column: column.map(|column| column as u32),
    })
}

fn lossy(value: Value) -> String {
    match value {
        Value::String(text) => text.into_string_lossy(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            result: Some(
                Encoded::from_value(&Value::Array(vec![Value::Undefined, Value::BigInt("7".into())])).unwrap(),
            ),
            error: Some("boom".into()),
            error_details: Some(ErrorDetails {
                name: "TypeError".into(),
                message: "boom".into(),
                stack: Some("at 1:2".into()),
                line: Some(1),
                column: Some(2),
            }),
            logs: vec![LogLine {
                level: LogLevel::Warn,
                method: "warn".into(),
                message: "careful".into(),
                time_ms: 1.5,
            }],
            termination: Termination::Threw,
            execution_id: Some("n.1".into()),
            handles_refused: true,
            stats: Stats { wall_ms: 1.0, host_calls: 2, ..Stats::default() },
        }
    }

    #[test]
    fn an_outcome_survives_the_wire_as_text() {
        let sent = outcome();
        let read = outcome_from_value(outcome_to_value(sent.clone(), ResultEncoding::Text), &ResultLimits::default());
        assert_eq!(format!("{:?}", read.unwrap()), format!("{sent:?}"));
    }

    #[test]
    fn a_value_result_is_written_verbatim() {
        let Value::Object(members) = outcome_to_value(outcome(), ResultEncoding::Value) else { panic!("no object") };
        assert!(
            matches!(members.get("result"), Some(Value::Encoded(text)) if &**text == "[[[\"undefined\"],[\"bigint\",\"7\"]]]")
        );
        assert!(members.get("resultText").is_none());
    }

    #[test]
    fn a_server_that_breaks_the_contract_is_reported() {
        let error = outcome_from_value(Value::Object(Object::new()), &ResultLimits::default()).unwrap_err();
        assert_eq!(error.code, crate::ErrorCode::Internal);
        assert!(error.message.contains("termination"), "{}", error.message);
    }
}
