//! Who may use the daemon: the files of tokens and of the certificate, which are read again when a signal says so.

use std::path::{Path, PathBuf};

use codemode_daemon::{Config, Tls, TokenList, Tokens};
use tracing::{error, info, warn};

use crate::{files::read_small, settings::Settings};

/// What was read, and from where.
pub(crate) struct Access {
    tokens: Option<(PathBuf, Tokens)>,
    tls: Option<(Pair, Tls)>,
}

/// The files of a certificate and its key.
struct Pair {
    chain: PathBuf,
    key: PathBuf,
}

impl Access {
    /// Checks what the settings name as far as no file is needed.
    ///
    /// # Errors
    /// Settings that contradict each other; the text names them.
    pub(crate) fn check(settings: &Settings) -> Result<(), String> {
        Pair::named(settings)?;
        let insecure = settings.insecure.value || settings.tokens.value.is_some();
        let config = Config { insecure, ..Config::default() };
        config.check_listen_address(settings.listen.value).map_err(|error| error.to_string())
    }

    /// Reads what the settings name.
    ///
    /// # Errors
    /// A file that cannot be read or used; the text names it and repeats nothing of it.
    pub(crate) fn read(settings: &Settings) -> Result<Self, String> {
        let tokens = match &settings.tokens.value {
            Some(path) => Some((path.clone(), Tokens::new(token_list(path)?))),
            None => None,
        };
        let tls = match Pair::named(settings)? {
            Some(pair) => {
                let (chain, key) = pair.read()?;
                let tls = Tls::new(&chain, &key).map_err(|error| pair.refuse(&error))?;
                Some((pair, tls))
            }
            None => None,
        };
        Ok(Self { tokens, tls })
    }

    /// Tells the daemon.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.tokens = self.tokens.as_ref().map(|(_, tokens)| tokens.clone());
        config.tls = self.tls.as_ref().map(|(_, tls)| tls.clone());
    }

    /// Reads the files again. What cannot be used is logged, and what was read before stays.
    pub(crate) fn reload(&self) {
        if self.tokens.is_none() && self.tls.is_none() {
            info!("there is nothing to read again: neither tokens nor a certificate come from files");
        }
        if let Some((path, tokens)) = &self.tokens {
            match token_list(path) {
                Ok(list) => {
                    info!(tokens = list.len(), file = %path.display(), "tokens read again");
                    tokens.replace(list);
                }
                Err(error) => error!(error, "the tokens stay as they were"),
            }
        }
        if let Some((pair, tls)) = &self.tls {
            let replaced =
                pair.read().and_then(|(chain, key)| tls.replace(&chain, &key).map_err(|error| pair.refuse(&error)));
            match replaced {
                Ok(()) => info!(file = %pair.chain.display(), "certificate read again"),
                Err(error) => error!(error, "the certificate stays as it was"),
            }
        }
    }
}

impl Pair {
    fn named(settings: &Settings) -> Result<Option<Self>, String> {
        match (&settings.tls_cert.value, &settings.tls_key.value) {
            (Some(chain), Some(key)) => Ok(Some(Self { chain: chain.clone(), key: key.clone() })),
            (None, None) => Ok(None),
            (Some(_), None) => Err("tls-cert is set and tls-key is not; TLS needs both".into()),
            (None, Some(_)) => Err("tls-key is set and tls-cert is not; TLS needs both".into()),
        }
    }

    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        Ok((file("tls-cert", &self.chain)?, file("tls-key", &self.key)?))
    }

    fn refuse(&self, error: &dyn std::error::Error) -> String {
        format!("tls-cert {} and tls-key {}: {error}", self.chain.display(), self.key.display())
    }
}

fn token_list(path: &Path) -> Result<TokenList, String> {
    let text = String::from_utf8(file("tokens", path)?)
        .map_err(|_| format!("tokens {}: must be UTF-8 text", path.display()))?;
    let list = TokenList::parse(&text).map_err(|error| format!("tokens {}, {error}", path.display()))?;
    if list.is_empty() {
        warn!(file = %path.display(), "there is no token, so nobody may come in; `codemoded token NAME` makes one");
    }
    Ok(list)
}

fn file(setting: &str, path: &Path) -> Result<Vec<u8>, String> {
    read_small(path).map_err(|error| format!("{setting} {} could not be read: {error}", path.display()))
}
