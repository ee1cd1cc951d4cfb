//! A secret that says who somebody is.

use std::{fmt, sync::Arc};

/// A bearer token. Neither its `Debug` form nor anything else here shows it, so that it reaches no log and no error by
/// accident; clones share the one text.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// The secret as a token.
    pub fn new(secret: impl Into<Arc<str>>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for whoever sends or digests it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new("hunter2");
        assert_eq!((format!("{token:?}"), format!("{token:#?}")), ("Token(…)".into(), "Token(…)".into()));
        assert_eq!(token.expose(), "hunter2");
    }
}
