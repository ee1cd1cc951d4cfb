//! Where daemons are.

use codemode_protocol::ExecutorError;
use url::Url;

/// One URL or several, all of daemons that may serve the same programs: made of a string, or of an array, slice or
/// vector of strings.
///
/// ```
/// use codemode_client::Endpoints;
///
/// let one = Endpoints::from("ws://127.0.0.1:8787");
/// let two = Endpoints::from(["ws://10.0.0.1:8787", "ws://10.0.0.2:8787"]);
/// # let _ = (one, two);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints(Vec<String>);

impl Endpoints {
    /// The URLs, at least one, each of which can be opened.
    pub(crate) fn checked(self) -> Result<Vec<String>, ExecutorError> {
        if self.0.is_empty() {
            return Err(ExecutorError::invalid("url", "is missing; at least one is needed"));
        }
        let one = self.0.len() == 1;
        for (at, url) in self.0.iter().enumerate() {
            check(&if one { "url".to_owned() } else { format!("urls[{at}]") }, url)?;
        }
        Ok(self.0)
    }
}

impl From<&str> for Endpoints {
    fn from(url: &str) -> Self {
        Self(vec![url.to_owned()])
    }
}

impl From<&String> for Endpoints {
    fn from(url: &String) -> Self {
        Self(vec![url.clone()])
    }
}

impl From<String> for Endpoints {
    fn from(url: String) -> Self {
        Self(vec![url])
    }
}

impl<U: Into<String>> From<Vec<U>> for Endpoints {
    fn from(urls: Vec<U>) -> Self {
        Self(urls.into_iter().map(Into::into).collect())
    }
}

impl<U: Into<String>, const N: usize> From<[U; N]> for Endpoints {
    fn from(urls: [U; N]) -> Self {
        Self(urls.into_iter().map(Into::into).collect())
    }
}

impl<U: AsRef<str>> From<&[U]> for Endpoints {
    fn from(urls: &[U]) -> Self {
        Self(urls.iter().map(|url| url.as_ref().to_owned()).collect())
    }
}

fn check(field: &str, url: &str) -> Result<(), ExecutorError> {
    let invalid = |rule: String| ExecutorError::invalid(field, rule);
    let parsed = Url::parse(url).map_err(|error| invalid(format!("{url:?}: {error}")))?;
    match parsed.scheme() {
        "ws" | "wss" => {}
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

#[cfg(test)]
mod tests {
    use codemode_protocol::ErrorCode;

    use super::*;

    #[test]
    fn a_bad_url_is_refused_with_the_rule() {
        let cases = [
            ("http://h/", "url: the scheme is \"http\"; it must be ws or wss"),
            ("not a url", "url: \"not a url\": relative URL without a base"),
            ("ws://u:p@h/", "url: holds credentials; send them in a header"),
            ("ws://h/#x", "url: has a fragment, which WebSocket does not allow"),
            ("ws://", "url: \"ws://\": empty host"),
        ];
        for (url, message) in cases {
            let error = Endpoints::from(url).checked().unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (ErrorCode::InvalidRequest, message));
        }
        assert_eq!(Endpoints::from("ws://127.0.0.1:1234").checked().unwrap(), ["ws://127.0.0.1:1234"]);
    }

    #[test]
    fn one_bad_url_of_several_is_named() {
        let error = Endpoints::from(["ws://h/", "ftp://h/"]).checked().unwrap_err();
        assert_eq!(error.message, "urls[1]: the scheme is \"ftp\"; it must be ws or wss");
        let none = Endpoints::from(Vec::<String>::new()).checked().unwrap_err();
        assert_eq!(none.message, "url: is missing; at least one is needed");
    }
}
