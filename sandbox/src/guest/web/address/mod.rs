//! Addresses as the API of the URL standard parses, shows and changes them. Knows no engine: fuzzing uses it too.
//!
//! The parser is the standard's own ("basic URL parser", section 4.4), because the crate `url` departs from it in
//! addresses of `file:` and in setters, and can write an address that reads as another. Hosts are the crate's.

use url::Host;

mod parser;

use parser::{State, run};

/// A URL record (URL, 4.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    scheme: String,
    username: String,
    password: String,
    /// As it is written; `None` is null, which is not the empty host.
    host: Option<String>,
    /// `None` where it is the scheme's own.
    port: Option<u16>,
    /// Each segment with the slash before it, or the whole of an opaque path.
    path: String,
    opaque: bool,
    query: Option<String>,
    fragment: Option<String>,
}

impl Address {
    /// The whole address.
    pub(crate) fn href(&self) -> String {
        let mut href = format!("{}:", self.scheme);
        if let Some(host) = &self.host {
            href.push_str("//");
            if self.has_credentials() {
                href.push_str(&self.username);
                if !self.password.is_empty() {
                    href.push(':');
                    href.push_str(&self.password);
                }
                href.push('@');
            }
            href.push_str(host);
            if let Some(port) = self.port {
                href.push_str(&format!(":{port}"));
            }
        } else if !self.opaque && self.path.starts_with("//") {
            // Or the path would read as a host.
            href.push_str("/.");
        }
        href.push_str(&self.path);
        for (sign, part) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(part) = part {
                href.push(sign);
                href.push_str(part);
            }
        }
        href
    }

    /// The query without its question mark; `None` where there is none, which is not the empty one.
    pub(crate) fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// Without its colon.
    pub(crate) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The fragment without its sign; `None` where there is none, which is not the empty one.
    pub(crate) fn fragment(&self) -> Option<&str> {
        self.fragment.as_deref()
    }

    /// Whether there is a username or a password.
    pub(crate) fn has_credentials(&self) -> bool {
        !self.username.is_empty() || !self.password.is_empty()
    }

    /// The origin as it is written: "null" for an opaque one.
    pub(crate) fn origin(&self) -> String {
        match self.scheme.as_str() {
            // Only what a page may load has an origin inside its blob.
            "blob" => match parse(&self.path, None) {
                Some(within) if matches!(within.scheme.as_str(), "http" | "https") => within.origin(),
                _ => "null".to_owned(),
            },
            "http" | "https" | "ws" | "wss" | "ftp" => format!("{}://{}", self.scheme, self.authority()),
            _ => "null".to_owned(),
        }
    }

    /// What the other getters of `URL` show, by their names.
    pub(crate) fn parts(&self) -> [(&'static str, String); 10] {
        let after = |sign: char, part: &Option<String>| match part.as_deref() {
            None | Some("") => String::new(),
            Some(part) => format!("{sign}{part}"),
        };
        [
            ("href", self.href()),
            ("protocol", format!("{}:", self.scheme)),
            ("username", self.username.clone()),
            ("password", self.password.clone()),
            ("host", self.authority()),
            ("hostname", self.host.clone().unwrap_or_default()),
            ("port", self.port.map(|port| port.to_string()).unwrap_or_default()),
            ("pathname", self.path.clone()),
            ("search", after('?', &self.query)),
            ("hash", after('#', &self.fragment)),
        ]
    }

    /// Host and port.
    fn authority(&self) -> String {
        let host = self.host.as_deref().unwrap_or_default();
        self.port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    fn is_special(&self) -> bool {
        special_port(&self.scheme).is_some()
    }

    /// "Cannot have a username/password/port".
    fn stands_alone(&self) -> bool {
        self.host.as_deref().unwrap_or_default().is_empty() || self.scheme == "file"
    }

    /// "Shorten a url's path": the letter of a drive stays.
    fn shorten(&mut self) {
        if self.scheme == "file" && self.path.strip_prefix('/').is_some_and(is_normalized_drive) {
            return;
        }
        self.path.truncate(self.path.rfind('/').unwrap_or(0));
    }
}

/// The API's URL parser: `None` for what is no URL, and when the base is none.
pub(crate) fn parse(input: &str, base: Option<&str>) -> Option<Address> {
    let base = match base {
        Some(base) => Some(parse(base, None)?),
        None => None,
    };
    let trimmed = input.trim_matches(|c: char| c <= ' ');
    let mut address = Address::default();
    run(trimmed, base.as_ref(), &mut address, State::SchemeStart, None).ok()?;
    Some(address)
}

/// Whether [`parse`] gives something.
pub(crate) fn can_parse(input: &str, base: Option<&str>) -> bool {
    parse(input, base).is_some()
}

/// The address after the setter of this name was given `value`; `query` stands for what search parameters do when they
/// change. `None` when nothing changes.
pub(crate) fn set(href: &str, member: &str, value: &str) -> Option<Address> {
    let mut address = parse(href, None)?;
    let scheme = format!("{value}:");
    let (value, state) = match member {
        "protocol" => (scheme.as_str(), State::SchemeStart),
        "host" if !address.opaque => (value, State::Host),
        "hostname" if !address.opaque => (value, State::Hostname),
        "port" if !address.stands_alone() && !value.is_empty() => (value, State::Port),
        "pathname" if !address.opaque => {
            address.path.clear();
            (value, State::PathStart)
        }
        "search" => {
            address.query = (!value.is_empty()).then(String::new);
            (value.strip_prefix('?').unwrap_or(value), State::Query)
        }
        "hash" => {
            address.fragment = (!value.is_empty()).then(String::new);
            (value.strip_prefix('#').unwrap_or(value), State::Fragment)
        }
        _ => {
            match member {
                "username" if !address.stands_alone() => address.username = parser::userinfo(value),
                "password" if !address.stands_alone() => address.password = parser::userinfo(value),
                "port" if !address.stands_alone() => address.port = None,
                "query" => address.query = (!value.is_empty()).then(|| value.to_owned()),
                _ => return None,
            }
            return Some(address);
        }
    };
    // What a failure has changed until then stays.
    let _ = run(value, None, &mut address, state, Some(state));
    Some(address)
}

/// The port of a special scheme, if the scheme is one; `file` has none.
fn special_port(scheme: &str) -> Option<Option<u16>> {
    match scheme {
        "http" | "ws" => Some(Some(80)),
        "https" | "wss" => Some(Some(443)),
        "ftp" => Some(Some(21)),
        "file" => Some(None),
        _ => None,
    }
}

/// The standard's host parser.
fn host(input: &str, special: bool) -> Option<String> {
    match (input, special) {
        ("", false) => Some(String::new()),
        (_, false) => Host::parse_opaque(input).ok().map(|host| host.to_string()),
        (_, true) => Host::parse(input).ok().map(|host| host.to_string()),
    }
}

/// A letter and a colon.
fn is_normalized_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}
