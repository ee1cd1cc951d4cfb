//! What must hold of addresses and patterns, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use std::borrow::Cow;

use urlpattern::quirks::StringOrInit;

use crate::seeded::Random;
use crate::{address, form, pattern};

/// Four texts, one a line: an address, its base, what setters are given, and which parts of a pattern are.
pub fn hold(data: &str) {
    let mut lines = data.split('\n');
    let mut next = || lines.next().unwrap_or_default();
    let (input, base, value, kind) = (next(), next(), next(), next());
    for base in [None, Some(base)] {
        let ours = address::parse(input, base);
        let theirs = base.map(url::Url::parse).transpose().ok().map(|base| {
            let parsed = url::Url::options().base_url(base.as_ref()).parse(input);
            parsed.map_or(String::new(), |url| if WEB.contains(&url.scheme()) { url.into() } else { String::new() })
        });
        if let (Some(url), Some(theirs)) = (&ours, theirs.filter(|theirs| !theirs.is_empty())) {
            // The crate is older than the standard, which encodes this in a path.
            assert_eq!(url.href().replace('^', "%5E"), theirs.replace('^', "%5E"));
        }
        let Some(url) = ours else { continue };
        shown(&url);
        for (member, _) in url.parts().into_iter().chain([("query", String::new())]) {
            let written: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
            let value = if member == "query" { &written } else { value };
            if let Some(changed) = address::set(&url.href(), member, value) {
                shown(&changed);
            }
        }
    }
    let base = kind.len().is_multiple_of(3).then_some(base);
    let asks = |source: &str| Ok::<_, ()>(source.len().is_multiple_of(2));
    let texts = [input, base.unwrap_or_default(), value, kind];
    let mut index = 0;
    let init = pattern::record(|_| {
        index += 1;
        Ok::<_, ()>((kind.len() >> (index % 4) & 1 == 1).then(|| texts[index % 4].to_owned()))
    });
    let init = init.expect("no error is made");
    for given in [StringOrInit::String(Cow::Borrowed(input)), StringOrInit::Init(init)] {
        let given = || pattern::Given { input: given.clone(), base };
        if let Ok(Ok(compiled)) = pattern::compile(given(), kind.len().is_multiple_of(2), asks) {
            assert!(compiled.pathname.regexp_string.starts_with('^') && compiled.pathname.regexp_string.ends_with('$'));
        }
        let _ = pattern::components(given());
    }
    let _ = url::quirks::domain_to_unicode(input);
    held_by_forms(value);
}

/// A name or a value of a form is read as the crate reads it, and comes back when it is written.
fn held_by_forms(value: &str) {
    let written = form::encode(value);
    assert!(written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*-._+%".contains(&byte)), "{written}");
    assert_eq!(form::decode(&written), value);
    if !value.contains('&') {
        let pair = format!("={value}");
        let theirs = url::form_urlencoded::parse(pair.as_bytes()).next();
        assert_eq!(theirs, Some(("".into(), form::decode(value).into())));
    }
}

/// All parts can be read, and the whole reads as the same address again.
fn shown(url: &address::Address) {
    let _ = url.origin();
    for (name, text) in url.parts() {
        assert!(text.is_ascii(), "{name} of {url:?}: {text}");
    }
    assert_eq!(address::parse(&url.href(), None).as_ref(), Some(url));
}

/// A text for [`hold`], the same for a seed everywhere.
pub fn generated(seed: u64) -> String {
    let mut random = Random::of(seed);
    let lines: Vec<String> = (0..4).map(|_| random.text(PIECES, 9)).collect();
    lines.join("\n")
}

/// What the crate `url` does as the standard.
const WEB: &[&str] = &["http", "https", "ws", "wss", "ftp"];

const PIECES: &[&str] = &[
    "http",
    "https",
    "file",
    "foo",
    "data",
    "blob:",
    "javascript:",
    ":",
    "/",
    "//",
    "\\",
    "?",
    "#",
    "@",
    "[",
    "]",
    "[::1]",
    "(",
    ")",
    "{",
    "}",
    "*",
    "+",
    "\\",
    ":a",
    ":\u{e9}",
    "(?",
    "(?:",
    "(a|b)",
    ".",
    "..",
    "%2e",
    "%",
    "%41",
    "%zz",
    "1.2.3.4",
    "0x7f",
    "80",
    ":80",
    "99999",
    "\u{e9}",
    "\u{1F600}",
    "\u{ad}",
    "xn--",
    "xn--9ca",
    "\t",
    "\r",
    " ",
    "\0",
    "|",
    "C|",
    "C:",
    "^",
    "<",
    "a",
    "Z",
    "_",
    "-",
    "&",
    "=",
    "\u{fffd}",
    "\u{200d}",
    "/.//",
    "\u{ff0e}",
    "\u{ff0f}",
    "\u{3002}",
];
