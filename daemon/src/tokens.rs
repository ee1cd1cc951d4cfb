//! Who may use a daemon: names, and the digests of the tokens that prove them.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
};

use codemode_protocol::Token;
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use tokio::sync::watch;

/// The tokens that a daemon takes. Clones share one list, which may be replaced while the daemon serves: sessions whose
/// token is no longer on it end.
#[derive(Clone)]
pub struct Tokens(watch::Sender<Arc<TokenList>>);

/// A list of names and digests, as a file has it: `name:sha256hex` a line, blank lines and lines that begin with `#`
/// aside. A name may have several tokens, so that a new one can be given out before the old one goes.
pub struct TokenList(Vec<Entry>);

struct Entry {
    name: Arc<str>,
    digest: Hash,
}

/// What a token proved.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The token's name: the tenant.
    pub(crate) tenant: Arc<str>,
    /// Which of the name's tokens it was.
    digest: Hash,
}

type Hash = [u8; 32];

/// A line that is none of a [`TokenList`]. What stands in it is not repeated: it may be a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct TokensError {
    /// Counted from 1.
    pub line: usize,
    /// The rule that the line breaks.
    pub rule: String,
}

impl TokenList {
    /// Reads a list.
    ///
    /// # Errors
    /// The first line that breaks a rule.
    pub fn parse(text: &str) -> Result<Self, TokensError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: Vec<usize> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let refuse = |rule: String| Err(TokensError { line: line_number, rule });
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((name, digest)) = line.split_once(':') else {
                return refuse("has no \":\"; a line is name:sha256hex".into());
            };
            if !is_name(name) {
                return refuse(format!("the name {NAME_RULE}"));
            }
            let Some(digest) = hash_from_hex(digest) else {
                return refuse("what follows the name must be the SHA-256 of the token, 64 hexadecimal digits".into());
            };
            if let Some(first) = entries.iter().position(|entry| entry.digest == digest) {
                return refuse(format!("has the same token as line {}", lines[first]));
            }
            entries.push(Entry { name: name.into(), digest });
            lines.push(line_number);
        }
        Ok(Self(entries))
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody may come in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares with every entry, and in the same time whatever the token is.
    fn find(&self, token: &Token) -> Option<Grant> {
        let digest: Hash = Sha256::digest(token.expose()).into();
        let mut found = u64::MAX;
        for (at, entry) in (0_u64..).zip(&self.0) {
            found.conditional_assign(&at, entry.digest.ct_eq(&digest));
        }
        let entry = self.0.get(usize::try_from(found).ok()?)?;
        Some(Grant { tenant: entry.name.clone(), digest })
    }

    fn holds(&self, grant: &Grant) -> bool {
        self.0.iter().any(|entry| entry.name == grant.tenant && entry.digest == grant.digest)
    }
}

impl Tokens {
    /// The tokens of a list.
    pub fn new(list: TokenList) -> Self {
        Self(watch::Sender::new(Arc::new(list)))
    }

    /// Takes another list from now on.
    pub fn replace(&self, list: TokenList) {
        self.0.send_replace(Arc::new(list));
    }

    /// Who the token proves its bearer to be.
    pub(crate) fn find(&self, token: &Token) -> Option<Grant> {
        let list = self.0.borrow().clone();
        list.find(token)
    }

    /// Resolves when what was granted is no longer.
    pub(crate) async fn removed(&self, grant: &Grant) {
        // An error means that the sender is gone, and `self` is one.
        let _ = self.0.subscribe().wait_for(|list| !list.holds(grant)).await;
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self.0.borrow(), f)
    }
}

impl fmt::Debug for TokenList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|entry| &entry.name)).finish()
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Grant").field(&self.tenant).finish()
    }
}

/// The line of a token list for `token`, under that name.
///
/// # Errors
/// The rule that the name breaks.
pub fn token_line(name: &str, token: &Token) -> Result<String, String> {
    if !is_name(name) {
        return Err(format!("the name {NAME_RULE}"));
    }
    let mut line = format!("{name}:");
    for byte in Sha256::digest(token.expose()) {
        // Writing to a string cannot fail.
        let _ = write!(line, "{byte:02x}");
    }
    Ok(line)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

const NAME_RULE: &str = "must be 1 to 64 letters, digits, \".\", \"_\" and \"-\"";

fn hash_from_hex(text: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    let digits = text.as_bytes();
    if digits.len() != 2 * hash.len() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, token: &str) -> String {
        token_line(name, &Token::new(token)).unwrap()
    }

    #[test]
    fn a_token_is_known_by_its_digest_and_names_its_tenant() {
        // echo -n abc | sha256sum
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(line("a", "abc"), format!("a:{known}"));
        let upper =
            format!("# people\n\n  alice:{}  \r\n{}\n{}\n", known.to_uppercase(), line("bob", "x"), line("alice", "y"));
        let tokens = Tokens::new(TokenList::parse(&upper).unwrap());
        let tenant = |token: &str| tokens.find(&Token::new(token)).map(|grant| grant.tenant.to_string());
        assert_eq!(tenant("abc").as_deref(), Some("alice"));
        assert_eq!(tenant("y").as_deref(), Some("alice"), "a name may have several tokens");
        assert_eq!(tenant("x").as_deref(), Some("bob"));
        for wrong in ["", "abcd", "ab", "ABC", known, "alice"] {
            assert_eq!(tenant(wrong), None, "{wrong}");
        }
        assert_eq!(Tokens::new(TokenList::parse("").unwrap()).find(&Token::new("abc")), None);
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_not_repeated() {
        let good = line("a", "1");
        let cases = [
            ("SECRET".to_owned(), "has no \":\"; a line is name:sha256hex"),
            ("a:SECRET".into(), "what follows the name must be the SHA-256 of the token, 64 hexadecimal digits"),
            (
                format!("a:{}", "g".repeat(64)),
                "what follows the name must be the SHA-256 of the token, 64 hexadecimal digits",
            ),
            (
                format!("a:{}", "é".repeat(32)),
                "what follows the name must be the SHA-256 of the token, 64 hexadecimal digits",
            ),
            (
                format!("SECRET SECRET:{}", "0".repeat(64)),
                "the name must be 1 to 64 letters, digits, \".\", \"_\" and \"-\"",
            ),
            (format!(":{}", "0".repeat(64)), "the name must be 1 to 64 letters, digits, \".\", \"_\" and \"-\""),
            (good.replace("a:", "b:"), "has the same token as line 2"),
        ];
        for (bad, rule) in cases {
            let error = TokenList::parse(&format!("# comment\n{good}\n\n{bad}\n")).unwrap_err();
            assert_eq!(error, TokensError { line: 4, rule: rule.into() }, "{bad}");
            assert!(!error.to_string().contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn neither_tokens_nor_digests_are_shown() {
        let tokens = Tokens::new(TokenList::parse(&line("alice", "hunter2")).unwrap());
        let grant = tokens.find(&Token::new("hunter2")).unwrap();
        assert_eq!((format!("{tokens:?}"), format!("{grant:?}")), ("{\"alice\"}".into(), "Grant(\"alice\")".into()));
    }

    #[tokio::test]
    async fn a_grant_ends_when_its_line_goes_and_not_before() {
        let tokens = Tokens::new(TokenList::parse(&format!("{}\n{}", line("a", "1"), line("b", "2"))).unwrap());
        let grant = tokens.find(&Token::new("1")).unwrap();
        let mut removed = std::pin::pin!(tokens.removed(&grant));
        assert!(futures_util::poll!(&mut removed).is_pending());
        tokens.replace(TokenList::parse(&format!("{}\n{}", line("c", "3"), line("a", "1"))).unwrap());
        assert!(futures_util::poll!(&mut removed).is_pending());
        tokens.replace(TokenList::parse(&line("a", "2")).unwrap());
        assert!(futures_util::poll!(&mut removed).is_ready());
    }
}
