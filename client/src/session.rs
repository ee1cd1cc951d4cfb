//! One session: opened, and its version compared.

use std::{future::Future, sync::Arc};

use codemode_protocol::{
    ExecutorError, assert_protocol_compatible,
    capnweb::{ErrorValue, Target, Value, target_fn},
    unavailable,
    wire::method,
};
use codemode_transport::{CallError, CloseOrigin, ConnectOptions, Connection, connect, start};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{sync::watch, time::timeout};
use url::Url;

use crate::{
    failure::{not_opened, rejected},
    options::RemoteOptions,
};

/// A session that answers.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    /// Open until the socket is closed.
    socket: watch::Receiver<()>,
}

impl Session {
    /// Opens `url` and compares versions, within the connect timeout.
    pub(crate) async fn open(url: &str, options: &RemoteOptions) -> Result<Self, ExecutorError> {
        check_url(url)?;
        let headers = headers(&options.headers)?;
        let connecting = async {
            let connect_options = ConnectOptions {
                headers,
                connect_timeout: options.connect_timeout,
                message_bytes: options.transport.limits.message_bytes,
            };
            let socket = connect(url, connect_options).await.map_err(|error| not_opened(url, &error))?;
            let (connection, driver) = start(socket, nothing(), options.transport.clone());
            let (open, socket) = watch::channel(());
            tokio::spawn(async move {
                driver.await;
                drop(open);
            });
            compare_versions(url, &connection).await?;
            Ok(Self { connection, socket })
        };
        // A session that is dropped half-way closes by itself.
        timeout(options.connect_timeout, connecting).await.unwrap_or_else(|_| {
            let ms = options.connect_timeout.as_millis();
            Err(rejected(url, format_args!("no answer within {ms} ms")).with_retryable(true))
        })
    }

    /// Closes the session; ready when the peer has been told.
    pub(crate) fn close(&self) -> impl Future<Output = ()> + Send + use<> {
        self.connection.close();
        let mut socket = self.socket.clone();
        // An error says that the driver is gone, which is what we wait for.
        async move { while socket.changed().await.is_ok() {} }
    }
}

async fn compare_versions(url: &str, connection: &Connection) -> Result<(), ExecutorError> {
    let answer = connection.call(&connection.main(), &[method::PROTOCOL_VERSION], Vec::new()).await;
    let version = match answer {
        Ok(version) => version,
        Err(CallError::Broken { closed, .. }) => {
            return Err(rejected(url, &closed).with_retryable(closed.origin == CloseOrigin::Transport));
        }
        Err(CallError::Thrown(Value::Error(error))) => return Err(rejected(url, error)),
        Err(error) => return Err(rejected(url, error)),
    };
    match version.as_number() {
        Some(number) if number.fract() == 0.0 && number.abs() < MAX_SAFE_INTEGER => {
            assert_protocol_compatible(number as i64)
        }
        _ => Err(rejected(url, format_args!("{}() answered {version:?}, not an integer", method::PROTOCOL_VERSION))),
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

fn check_url(url: &str) -> Result<(), ExecutorError> {
    let invalid = |rule: String| ExecutorError::invalid("url", rule);
    let parsed = Url::parse(url).map_err(|error| invalid(format!("{url:?}: {error}")))?;
    match parsed.scheme() {
        "ws" => {}
        "wss" => return Err(unavailable("wss://")),
        other => return Err(invalid(format!("the scheme is {other:?}; it must be ws or wss"))),
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(invalid("holds credentials; send them in a header".into()));
    }
    if parsed.fragment().is_some() {
        return Err(invalid("has a fragment, which WebSocket does not allow".into()));
    }
    Ok(())
}

fn headers(pairs: &[(String, String)]) -> Result<HeaderMap, ExecutorError> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let field = format!("headers[{name:?}]");
        let parsed: HeaderName = name.parse().map_err(|_| ExecutorError::invalid(&field, "is no header name"))?;
        // The value may be a secret, so it is not shown.
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| ExecutorError::invalid(&field, "holds a character that a header value must not have"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_url_is_refused_with_the_rule() {
        let cases = [
            ("http://h/", "url: the scheme is \"http\"; it must be ws or wss"),
            ("not a url", "url: \"not a url\": relative URL without a base"),
            ("wss://h/", "wss:// is not available in this version"),
            ("ws://u:p@h/", "url: holds credentials; send them in a header"),
            ("ws://h/#x", "url: has a fragment, which WebSocket does not allow"),
            ("ws://", "url: \"ws://\": empty host"),
        ];
        for (url, message) in cases {
            let error = check_url(url).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (ErrorCode::InvalidRequest, message));
        }
        assert!(check_url("ws://127.0.0.1:1234").is_ok());
    }

    #[test]
    fn a_bad_header_is_named_without_its_value() {
        let error = headers(&[("Authorization".into(), "Bearer secret\n".into())]).unwrap_err();
        assert_eq!(error.message, "headers[\"Authorization\"]: holds a character that a header value must not have");
        assert_eq!(
            headers(&[("a b".into(), String::new())]).unwrap_err().message,
            "headers[\"a b\"]: is no header name"
        );
    }

    use codemode_protocol::ErrorCode;
}
