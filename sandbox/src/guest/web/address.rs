//! Addresses as the API of the URL standard parses, shows and changes them. Knows no engine: fuzzing uses it too.

use url::{Url, quirks};

/// The API's URL parser: `None` for what is no URL, and when the base is none.
pub(crate) fn parse(input: &str, base: Option<&str>) -> Option<Url> {
    let base = base.map(Url::parse).transpose().ok()?;
    Url::options().base_url(base.as_ref()).parse(input).ok()
}

/// Whether [`parse`] gives something.
pub(crate) fn can_parse(input: &str, base: Option<&str>) -> bool {
    parse(input, base).is_some()
}

/// The URL after the setter of this name was given `value`; `query` stands for what search parameters do when they
/// change. `None` when nothing changes.
pub(crate) fn set(href: &str, member: &str, value: &str) -> Option<Url> {
    let mut url = Url::parse(href).ok()?;
    match member {
        "protocol" => quirks::set_protocol(&mut url, value).ok()?,
        "username" => quirks::set_username(&mut url, value).ok()?,
        "password" => quirks::set_password(&mut url, value).ok()?,
        "host" => quirks::set_host(&mut url, value).ok()?,
        "hostname" => quirks::set_hostname(&mut url, value).ok()?,
        "port" => quirks::set_port(&mut url, value).ok()?,
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        "hash" => quirks::set_hash(&mut url, value),
        "query" => url.set_query((!value.is_empty()).then_some(value)),
        _ => return None,
    }
    Some(url)
}

/// What the getter of the origin shows: "null" for an opaque one.
pub(crate) fn origin(url: &Url) -> String {
    // Only what a page may load has an origin inside its blob.
    let within = (url.scheme() == "blob").then(|| Url::parse(url.path()).ok()).flatten();
    match &within {
        Some(within) if !matches!(within.scheme(), "http" | "https") => "null".to_owned(),
        _ => quirks::origin(url),
    }
}

/// What the other getters show, by their names.
pub(crate) fn parts(url: &Url) -> [(&'static str, &str); 10] {
    [
        ("href", quirks::href(url)),
        ("protocol", quirks::protocol(url)),
        ("username", quirks::username(url)),
        ("password", quirks::password(url)),
        ("host", quirks::host(url)),
        ("hostname", quirks::hostname(url)),
        ("port", quirks::port(url)),
        ("pathname", quirks::pathname(url)),
        ("search", quirks::search(url)),
        ("hash", quirks::hash(url)),
    ]
}
