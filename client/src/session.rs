//! One session: opened, and its version compared.

use std::sync::Arc;

use codemode_protocol::{
    ErrorCode, ExecutorError, assert_protocol_compatible,
    capnweb::{ErrorValue, Target, Value, target_fn},
    wire::method,
};
use codemode_transport::{CallError, CloseOrigin, ConnectOptions, Connection, connect, start};
use http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use tokio::{sync::watch, time::timeout};

use crate::{
    failure::{not_opened, rejected, unauthorized},
    options::RemoteOptions,
};

/// Opens `url` and compares versions, within the connect timeout. `alive` is kept until the socket is closed.
///
/// A session that is dropped half-way closes by itself.
pub(crate) async fn open(
    url: &str,
    headers: HeaderMap,
    options: &RemoteOptions,
    alive: watch::Sender<()>,
) -> Result<Connection, ExecutorError> {
    let connecting = async {
        let connect_options = ConnectOptions {
            headers,
            connect_timeout: options.connect_timeout,
            message_bytes: options.transport.limits.message_bytes,
            root_certificates: options.root_certificates.clone(),
        };
        let socket = connect(url, connect_options).await.map_err(|error| not_opened(url, &error))?;
        let (connection, driver) = start(socket, nothing(), options.transport.clone());
        tokio::spawn(async move {
            driver.await;
            drop(alive);
        });
        compare_versions(url, &connection).await?;
        Ok(connection)
    };
    timeout(options.connect_timeout, connecting).await.unwrap_or_else(|_| {
        let ms = options.connect_timeout.as_millis();
        Err(rejected(url, format_args!("no answer within {ms} ms")).with_retryable(true))
    })
}

async fn compare_versions(url: &str, connection: &Connection) -> Result<(), ExecutorError> {
    let answer = connection.call(&connection.main(), &[method::PROTOCOL_VERSION], Vec::new()).await;
    let version = answer.map_err(|error| handshake_failed(url, &error))?;
    match version.as_number() {
        Some(number) if number.fract() == 0.0 && number.abs() < MAX_SAFE_INTEGER => {
            assert_protocol_compatible(number as i64)
        }
        _ => Err(rejected(url, format_args!("{}() answered {version:?}, not an integer", method::PROTOCOL_VERSION))),
    }
}

fn handshake_failed(url: &str, error: &CallError) -> ExecutorError {
    let (code, cause, lost) = match error {
        CallError::Broken { closed, .. } => {
            (closed.error_code(), closed.to_string(), closed.origin == CloseOrigin::Transport)
        }
        CallError::Thrown(Value::Error(thrown)) => (thrown.code(), thrown.to_string(), false),
        other => (None, other.to_string(), false),
    };
    match code.map(ErrorCode::from_text) {
        Some(ErrorCode::Unauthorized) => unauthorized(url, cause),
        _ => rejected(url, cause).with_retryable(lost),
    }
}

/// The first integer that JavaScript cannot tell from its neighbour.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Our main object: a daemon has no business with it.
fn nothing() -> Arc<dyn Target> {
    target_fn(|call| async move {
        let path = call.path.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        Err(ErrorValue::new("TypeError", format!("'{path}' is not a function.")).into())
    })
}

/// The headers of every upgrade, the token among them.
pub(crate) fn headers(options: &RemoteOptions) -> Result<HeaderMap, ExecutorError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &options.headers {
        let field = format!("headers[{name:?}]");
        let parsed: HeaderName = name.parse().map_err(|_| ExecutorError::invalid(&field, "is no header name"))?;
        headers.append(parsed, secret(&field, value)?);
    }
    if let Some(token) = &options.token {
        if headers.contains_key(AUTHORIZATION) {
            return Err(ExecutorError::invalid("token", "is given, and an Authorization header too; give one of them"));
        }
        headers.append(AUTHORIZATION, secret("token", &format!("Bearer {}", token.expose()))?);
    }
    Ok(headers)
}

/// A value that may be a secret, so it is not shown, by others neither.
fn secret(field: &str, value: &str) -> Result<HeaderValue, ExecutorError> {
    let mut value = HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| ExecutorError::invalid(field, "holds a character that a header value must not have"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use codemode_protocol::Token;

    use super::*;

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    fn with(token: Option<&str>, pairs: Pairs<'_>) -> Result<HeaderMap, ExecutorError> {
        let headers = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        super::headers(&RemoteOptions { token: token.map(Token::new), headers, ..RemoteOptions::default() })
    }

    #[test]
    fn a_bad_header_is_named_without_its_value() {
        let cases: [(Option<&str>, Pairs<'_>, &str); 4] = [
            (
                None,
                &[("Authorization", "Bearer secret\n")],
                "headers[\"Authorization\"]: holds a character that a header value must not have",
            ),
            (None, &[("a b", "")], "headers[\"a b\"]: is no header name"),
            (Some("secret\r\nX: y"), &[], "token: holds a character that a header value must not have"),
            (
                Some("secret"),
                &[("authorization", "Bearer secret")],
                "token: is given, and an Authorization header too; give one of them",
            ),
        ];
        for (token, pairs, message) in cases {
            assert_eq!(with(token, pairs).unwrap_err().message, message);
        }
    }

    #[test]
    fn the_token_is_a_header_that_is_not_shown() {
        let headers = with(Some("secret"), &[]).unwrap();
        assert_eq!(headers[AUTHORIZATION], "Bearer secret");
        assert!(!format!("{headers:?}").contains("secret"), "{headers:?}");
    }
}
