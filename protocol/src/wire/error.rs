//! [`ExecutorError`] on the wire: an Error with its members as own properties.

use super::{
    fields::take,
    outcome::{logs_from_value, logs_to_value, stats_from_value, stats_to_value},
};
use crate::{
    ErrorCode, ExecutorError, Started,
    capnweb::{ErrorValue, Value},
};

/// The error as a value that every JavaScript peer receives as an Error with `code`.
pub fn error_to_value(error: ExecutorError) -> Value {
    let mut value = ErrorValue::new("Error", error.message).with_code(error.code.as_str());
    let mut set = |name: &str, member: Value| value.props.insert(name, member);
    set("retryable", Value::Bool(error.retryable));
    if let Some(ms) = error.retry_after_ms {
        set("retryAfterMs", Value::Number(ms as f64));
    }
    if let Some(started) = error.started {
        set("started", Value::from(started.as_str()));
    }
    if !error.logs.is_empty() {
        set("logs", logs_to_value(error.logs));
    }
    if let Some(stats) = &error.stats {
        set("stats", stats_to_value(stats));
    }
    if let Some(cause) = error.cause {
        set("cause", Value::from(cause));
    }
    value.into()
}

/// The error that a peer rejected with, rebuilt from its code. An unknown code, or none, passes through with its
/// message as [`ErrorCode::Other`].
pub fn rehydrate(thrown: Value) -> ExecutorError {
    let mut value = match thrown {
        Value::Error(value) => *value,
        Value::String(text) => return ExecutorError::new(ErrorCode::Other(String::new()), text.into_string_lossy()),
        other => return ExecutorError::new(ErrorCode::Other(String::new()), format!("{other:?}")),
    };
    let code = ErrorCode::from_text(value.code().unwrap_or_default());
    let mut error = ExecutorError::new(code, value.message);
    let props = &mut value.props;
    if let Some(retryable) = props.get("retryable").and_then(Value::as_bool) {
        error.retryable = retryable;
    }
    error.retry_after_ms = props.get("retryAfterMs").and_then(Value::as_number).map(|ms| ms as u64);
    error.started = props.get("started").and_then(Value::as_str).and_then(Started::from_text);
    error.logs = take(props, "logs").and_then(|logs| logs_from_value(logs).ok()).unwrap_or_default();
    error.stats = take(props, "stats").and_then(|stats| stats_from_value(stats).ok());
    error.cause = match take(props, "cause") {
        Some(Value::Error(cause)) => Some(cause.to_string()),
        Some(cause) => cause.as_str().map(str::to_owned),
        None => None,
    };
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogLevel, LogLine, Stats};

    #[test]
    fn an_error_survives_the_wire() {
        let mut error = ExecutorError::new(ErrorCode::Overloaded, "full").caused_by("queue").with_started(Started::No);
        error.retry_after_ms = Some(40);
        error.logs = vec![LogLine { level: LogLevel::Log, method: "log".into(), message: "kept".into(), time_ms: 0.5 }];
        error.stats = Some(Stats { queue_ms: 5.0, ..Stats::default() });
        assert_eq!(format!("{:?}", rehydrate(error_to_value(error.clone()))), format!("{error:?}"));
    }

    #[test]
    fn an_unknown_code_or_none_passes_through() {
        let unknown = rehydrate(ErrorValue::new("Error", "new").with_code("NEW").into());
        assert_eq!((unknown.code, unknown.message), (ErrorCode::Other("NEW".into()), "new".into()));
        let none = rehydrate(ErrorValue::new("TypeError", "plain").into());
        assert_eq!((none.code, none.message), (ErrorCode::Other(String::new()), "plain".into()));
        assert_eq!(rehydrate(Value::from("text")).message, "text");
    }
}
