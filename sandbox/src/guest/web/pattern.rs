//! URL patterns taken apart by the crate `urlpattern`, which leaves all matching to JavaScript's regular expressions.
//! Knows no engine: fuzzing uses it too.

use urlpattern::quirks::{self, InnerMatcher, MatchInput, StringOrInit, UrlPattern, UrlPatternInit};
use urlpattern::regexp::RegExp;
use urlpattern::{Error, RegexSyntax, UrlPatternOptions};

/// A pattern or an input as a program gives it, with the base URL that it may name beside it.
pub(crate) struct Given<'a> {
    pub(crate) input: StringOrInit<'a>,
    pub(crate) base: Option<&'a str>,
}

/// Compiles a pattern. `matches_special` says of a JavaScript regular expression whether it matches one of the special
/// schemes; it is asked when that is not plain.
///
/// # Errors
/// A text that says what is wrong, or what `matches_special` fails with.
pub(crate) fn compile<E>(
    given: Given<'_>,
    ignore_case: bool,
    matches_special: impl FnOnce(&str) -> Result<bool, E>,
) -> Result<Result<UrlPattern, String>, E> {
    let protocol = match init::<Source<false>>(&given).and_then(scheme) {
        Ok(protocol) => protocol,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let special = match &protocol.matcher.inner {
        InnerMatcher::RegExp { .. } => matches_special(&protocol.regexp_string)?,
        // The crate sees without a regular expression what these match.
        InnerMatcher::Literal { .. } | InnerMatcher::SingleCapture { .. } => false,
    };
    let options = UrlPatternOptions { regex_syntax: RegexSyntax::EcmaScript, ignore_case };
    let compiled = if special {
        init::<Source<true>>(&given).and_then(|init| quirks::parse_pattern::<Source<true>>(init, options))
    } else {
        init::<Source<false>>(&given).and_then(|init| quirks::parse_pattern::<Source<false>>(init, options))
    };
    Ok(compiled.map_err(|error| error.to_string()))
}

/// The eight components of an input; `None` when it is no URL.
///
/// # Errors
/// A text that says what is wrong with the arguments.
pub(crate) fn components(given: Given<'_>) -> Result<Option<MatchInput>, String> {
    let input = quirks::process_match_input(given.input, given.base).map_err(|error| error.to_string())?;
    Ok(input.and_then(|(input, _)| quirks::parse_match_input(input)))
}

/// The most UTF-8 bytes that the texts of a pattern may have together: looking for names that stand twice takes time
/// that grows with the square of their number.
pub(crate) const MOST_PATTERN_BYTES: usize = 16 * 1024;

/// A regular expression that is not compiled here. The crate asks one question of those that it cannot answer by
/// itself, whether a protocol is special, and the answer is known by then.
struct Source<const SPECIAL: bool>(String);

impl<const SPECIAL: bool> RegExp for Source<SPECIAL> {
    fn syntax() -> RegexSyntax {
        RegexSyntax::EcmaScript
    }

    fn parse(pattern: &str, _flags: &str, _force_eval: bool) -> Result<Self, ()> {
        Ok(Self(pattern.to_owned()))
    }

    fn matches<'a>(&self, _text: &'a str) -> Option<Vec<Option<&'a str>>> {
        SPECIAL.then(Vec::new)
    }

    fn pattern_string(&self) -> &str {
        &self.0
    }
}

fn init<R: RegExp>(given: &Given<'_>) -> Result<urlpattern::UrlPatternInit, Error> {
    match &given.input {
        StringOrInit::String(pattern) => {
            let base = given.base.map(url::Url::parse).transpose().map_err(Error::Url)?;
            urlpattern::UrlPatternInit::parse_constructor_string::<R>(pattern, base)
        }
        StringOrInit::Init(init) => {
            quirks::process_construct_pattern_input(StringOrInit::Init(init.clone()), given.base)
        }
    }
}

/// The component of a pattern that has nothing but the protocol.
fn scheme(init: urlpattern::UrlPatternInit) -> Result<quirks::UrlPatternComponent, Error> {
    let alone = urlpattern::UrlPatternInit { protocol: init.protocol, ..Default::default() };
    let options = UrlPatternOptions { regex_syntax: RegexSyntax::EcmaScript, ignore_case: false };
    Ok(quirks::parse_pattern::<Source<false>>(alone, options)?.protocol)
}

/// A record of texts by the names that programs use.
pub(crate) fn record<E>(mut text: impl FnMut(&'static str) -> Result<Option<String>, E>) -> Result<UrlPatternInit, E> {
    Ok(UrlPatternInit {
        protocol: text("protocol")?,
        username: text("username")?,
        password: text("password")?,
        hostname: text("hostname")?,
        port: text("port")?,
        pathname: text("pathname")?,
        search: text("search")?,
        hash: text("hash")?,
        base_url: text("baseURL")?,
    })
}
