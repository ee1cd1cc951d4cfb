//! Where a request carries a token (PROTOCOL.md, "Authentication").

use axum::http::{HeaderMap, header};
use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use codemode_protocol::Token;

/// The sub-protocol that is answered.
pub(crate) const PROTOCOL: &str = "codemode.v1";

/// The token of an upgrade, if it carries one: `Authorization: Bearer`, or the sub-protocol `bearer.` with the token in
/// base64url.
///
/// # Errors
/// What is wrong with the way in which it is carried. The token is not repeated.
pub(crate) fn of_upgrade(headers: &HeaderMap) -> Result<Option<Token>, &'static str> {
    let by_header = match authorization(headers)? {
        Some(("bearer", token)) => Some(Token::new(token)),
        Some(_) => return Err("the Authorization header of an upgrade must be Bearer"),
        None => None,
    };
    let mut by_protocol = None;
    let mut spoken = false;
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    for offer in offers.flat_map(|value| value.split(',')).map(str::trim) {
        spoken |= offer == PROTOCOL;
        let Some(encoded) = offer.strip_prefix("bearer.") else { continue };
        let token = decoded(&URL_SAFE, encoded).ok_or("the sub-protocol after bearer. must be a token in base64url")?;
        if by_protocol.replace(Token::new(token)).is_some() {
            return Err("more than one sub-protocol carries a token");
        }
    }
    match (by_header, by_protocol) {
        (Some(_), Some(_)) => Err("both the Authorization header and a sub-protocol carry a token"),
        // A browser closes a socket whose answer names none of the sub-protocols that it offered.
        (None, Some(_)) if !spoken => Err("a sub-protocol carries a token, and codemode.v1 is not offered beside it"),
        (header, protocol) => Ok(header.or(protocol)),
    }
}

/// The token of another request, if it carries one: `Authorization: Bearer`, or `Basic` with the token as the password, for
/// browsers.
///
/// # Errors
/// What is wrong with the way in which it is carried.
pub(crate) fn of_request(headers: &HeaderMap) -> Result<Option<Token>, &'static str> {
    match authorization(headers)? {
        None => Ok(None),
        Some(("bearer", token)) => Ok(Some(Token::new(token))),
        Some(("basic", encoded)) => {
            let pair = decoded(&STANDARD, encoded).ok_or("the Basic Authorization header must be base64")?;
            let (_, password) = pair.split_once(':').ok_or("the Basic Authorization header holds no password")?;
            Ok(Some(Token::new(password)))
        }
        Some(_) => Err("the Authorization header must be Bearer, or Basic with the token as the password"),
    }
}

/// Scheme, in lower case where it is known, and credentials of the `Authorization` header.
fn authorization(headers: &HeaderMap) -> Result<Option<(&str, &str)>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("there is more than one Authorization header");
    }
    let value = std::str::from_utf8(value.as_bytes()).map_err(|_| "the Authorization header is not UTF-8")?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    let known = ["bearer", "basic"].into_iter().find(|known| known.eq_ignore_ascii_case(scheme));
    Ok(Some((known.unwrap_or(scheme), credentials.trim())))
}

fn decoded(alphabet: &base64::alphabet::Alphabet, encoded: &str) -> Option<String> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    String::from_utf8(GeneralPurpose::new(alphabet, config).decode(encoded).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs<'a> = &'a [(header::HeaderName, &'a str)];

    fn headers(pairs: Pairs<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), value.parse().unwrap());
        }
        headers
    }

    fn token(found: Result<Option<Token>, &'static str>) -> Result<Option<String>, &'static str> {
        found.map(|token| token.map(|token| token.expose().to_owned()))
    }

    #[test]
    fn an_upgrade_carries_its_token_in_a_header_or_a_sub_protocol() {
        use header::{AUTHORIZATION as AUTH, SEC_WEBSOCKET_PROTOCOL as SUB};
        let good: &[(Pairs<'_>, Option<&str>)] = &[
            (&[], None),
            (&[(AUTH, "Bearer abc")], Some("abc")),
            (&[(AUTH, "bEARER  abc ")], Some("abc")),
            (&[(AUTH, "Bearer")], Some("")),
            (&[(SUB, "codemode.v1")], None),
            (&[(SUB, "something.else")], None),
            (&[(SUB, "codemode.v1, bearer.YWJj")], Some("abc")),
            (&[(SUB, "bearer.YWJjZA=="), (SUB, "codemode.v1")], Some("abcd")),
            (&[(SUB, "codemode.v1,bearer.fn5-Pz8_")], Some("~~~???")),
        ];
        for (pairs, expected) in good {
            assert_eq!(token(of_upgrade(&headers(pairs))), Ok(expected.map(str::to_owned)), "{pairs:?}");
        }
        let bad: &[Pairs<'_>] = &[
            &[(AUTH, "Basic YTphYmM=")],
            &[(AUTH, "Bearer a"), (AUTH, "Bearer b")],
            &[(AUTH, "Bearer abc"), (SUB, "codemode.v1, bearer.YWJj")],
            &[(SUB, "bearer.YWJj")],
            &[(SUB, "codemode.v1, bearer.!!!")],
            &[(SUB, "codemode.v1, bearer._w")],
            &[(SUB, "codemode.v1, bearer.YWJj, bearer.YWJj")],
        ];
        for pairs in bad {
            assert!(of_upgrade(&headers(pairs)).is_err(), "{pairs:?}");
        }
    }

    #[test]
    fn a_request_carries_its_token_as_a_bearer_or_as_a_password() {
        let of = |value: &str| token(of_request(&headers(&[(header::AUTHORIZATION, value)])));
        assert_eq!(of("Bearer abc"), Ok(Some("abc".into())));
        assert_eq!(of("Basic YTphYmM6ZA=="), Ok(Some("abc:d".into())));
        assert_eq!(token(of_request(&HeaderMap::new())), Ok(None));
        for bad in ["Basic !!!", "Basic YWJj", "Digest abc", ""] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
