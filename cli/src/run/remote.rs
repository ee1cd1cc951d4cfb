//! How `run` reaches a daemon: its token and the certificates that it trusts.

use std::{env, path::Path};

use codemode_client::{RemoteOptions, Token, certificates_from_pem};

use crate::{args, exit::Failure, files::read_small};

/// The options of the connection.
///
/// # Errors
/// A file cannot be read or used; the text names it and repeats nothing of it.
pub(crate) fn options(args: &args::Run) -> Result<RemoteOptions, Failure> {
    let root_certificates = match &args.tls_ca {
        Some(path) => {
            let pem = read("--tls-ca", path)?;
            certificates_from_pem(&pem)
                .map_err(|error| Failure::usage(format!("--tls-ca {}: {error}", path.display())))?
        }
        None => Vec::new(),
    };
    Ok(RemoteOptions { token: token(args)?, root_certificates, ..RemoteOptions::default() })
}

/// A token is read from a file or the environment: what stands on a command line is there for all users of the machine.
fn token(args: &args::Run) -> Result<Option<Token>, Failure> {
    let (place, text) = match &args.token_file {
        Some(path) => {
            let text = String::from_utf8(read("--token-file", path)?)
                .map_err(|_| Failure::usage(format!("--token-file {}: must be UTF-8 text", path.display())))?;
            (format!("--token-file {}", path.display()), text)
        }
        None => match env::var_os(TOKEN) {
            Some(text) if !text.is_empty() => (
                TOKEN.to_owned(),
                text.into_string().map_err(|_| Failure::usage(format!("{TOKEN}: must be UTF-8 text")))?,
            ),
            _ => return Ok(None),
        },
    };
    match text.trim() {
        "" => Err(Failure::usage(format!("{place}: holds no token"))),
        token => Ok(Some(Token::new(token))),
    }
}

fn read(flag: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    read_small(path).map_err(|error| Failure::usage(format!("{flag} {} could not be read: {error}", path.display())))
}

/// The variable that may hold a token.
pub(crate) const TOKEN: &str = "CODEMODED_TOKEN";
