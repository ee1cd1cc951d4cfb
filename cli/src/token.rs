//! `token`: a new token, and its line in a file of tokens.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use codemode_protocol::Token;
use serde_json::json;

use crate::{
    args,
    exit::{Failure, Status},
    terminal::{deliver, say},
};

/// Makes a token. Its line goes to standard output, where a file can take it, the token itself to standard error, where a
/// person sees it, once.
///
/// # Errors
/// The name breaks a rule, the system gives no random numbers, or the line could not be written.
pub(crate) fn run(args: &args::Token) -> Result<Status, Failure> {
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret)
        .map_err(|error| Failure::infrastructure(format!("the system gives no random numbers: {error}")))?;
    let token = Token::new(URL_SAFE_NO_PAD.encode(secret));
    let line = codemode_daemon::token_line(&args.name, &token).map_err(Failure::usage)?;
    if args.json {
        let printed = json!({ "name": args.name, "token": token.expose(), "line": line });
        deliver(printed).map_err(Failure::infrastructure)?;
        return Ok(Status::Success);
    }
    deliver(&line).map_err(Failure::infrastructure)?;
    say(format_args!("The token of {}, which is shown this once:", args.name));
    say(token.expose());
    Ok(Status::Success)
}

/// As many as the digest has: none can be guessed.
const SECRET_BYTES: usize = 32;
