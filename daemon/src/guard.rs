//! Which requests are answered at all: those that a program sends, and of those that a web page in a browser can cause
//! only what the operator allows.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use axum::http::{HeaderMap, StatusCode, Uri, header, uri::Authority};

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// For a person: the rule and what broke it.
    pub(crate) text: String,
}

/// What the answer depends on beside the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    /// Where the daemon listens.
    pub(crate) listener: SocketAddr,
    /// Whether every request has to carry a token.
    pub(crate) tokens: bool,
    /// Names by which the daemon may be called, beside its addresses.
    pub(crate) hosts: &'a [HostName],
    /// Pages that may open sessions.
    pub(crate) origins: &'a [Origin],
}

/// Whether `addr` may be listened on where whoever connects is trusted: only loopback addresses.
pub(crate) fn is_private(addr: SocketAddr) -> bool {
    addr.ip().to_canonical().is_loopback()
}

/// Checks what a browser adds to the requests of a page: `Host` (a name that was made to resolve to this machine) and,
/// on upgrades, `Origin`.
pub(crate) fn check(headers: &HeaderMap, uri: &Uri, rules: &Rules<'_>) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let host = match (host.map(|host| host.to_str()), more) {
        (Some(Ok(host)), None) => host,
        (None, _) => return Err(misdirected("it has no Host header", rules)),
        _ => return Err(misdirected("its Host header is not one readable name", rules)),
    };
    if !is_ours(host, rules) {
        return Err(misdirected(&format!("its Host header is {host:?}"), rules));
    }
    if let Some(authority) = uri.authority()
        && !is_ours(authority.as_str(), rules)
    {
        return Err(misdirected(&format!("its target is on {:?}", authority.as_str()), rules));
    }
    if headers.contains_key(header::UPGRADE) && headers.contains_key(header::ORIGIN) {
        return check_origin(headers, rules.origins);
    }
    Ok(())
}

fn check_origin(headers: &HeaderMap, allowed: &[Origin]) -> Result<(), Refusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (origin, more) = (origins.next(), origins.next());
    let origin = origin.filter(|_| more.is_none()).and_then(|origin| origin.to_str().ok()?.parse::<Origin>().ok());
    if origin.is_some_and(|origin| allowed.contains(&origin)) {
        return Ok(());
    }
    Err(Refusal {
        status: StatusCode::FORBIDDEN,
        text: "Upgrade refused: it carries an Origin header, so a web page sent it, and the page's origin is none that is \
               allowed. Pages are refused unless their origin is listed, because any page may open a WebSocket to any \
               address that its reader can reach."
            .into(),
    })
}

fn misdirected(found: &str, rules: &Rules<'_>) -> Refusal {
    let served = if rules.tokens {
        "One Host header that names a host is needed"
    } else if is_private(rules.listener) {
        "Only localhost, 127.0.0.1, [::1] and hosts that are allowed"
    } else {
        "Only localhost, addresses, and hosts that are allowed"
    };
    let rest = if rules.tokens { "." } else { " are served, so that no other name can be made to lead here." };
    Refusal { status: StatusCode::MISDIRECTED_REQUEST, text: format!("Request refused: {found}. {served}{rest}") }
}

/// Whether a `Host` names us. Where a token is needed any name may: whoever made it lead here has no token. Elsewhere a
/// page's script can speak to any address that its own name is made to resolve to, so names count only when they are
/// allowed; an address cannot be made to lead elsewhere.
fn is_ours(authority: &str, rules: &Rules<'_>) -> bool {
    let Some(host) = host_of(authority) else { return false };
    if rules.tokens || rules.hosts.iter().any(|allowed| allowed.0.eq_ignore_ascii_case(host)) {
        return !host.is_empty();
    }
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inside) => inside.parse().map(IpAddr::V6),
        None => host.parse().map(IpAddr::V4),
    };
    address.is_ok_and(|address| !is_private(rules.listener) || address.is_loopback())
}

/// The host of an authority without a user. Any port will do: a balancer or a forwarded port in front has one of its own.
fn host_of(authority: &str) -> Option<&str> {
    if authority.contains('@') {
        return None;
    }
    match authority.rsplit_once(':') {
        // Inside brackets the colon belongs to the address.
        Some((host, digits)) if !digits.ends_with(']') => digits.parse::<u16>().is_ok().then_some(host),
        _ => Some(authority),
    }
}

/// A web page's origin, `scheme://host` or `scheme://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = || "must be an origin, such as https://example.com or http://localhost:3000".to_owned();
        let (scheme, authority) = text.split_once("://").ok_or_else(rule)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if scheme.is_empty() || !scheme.bytes().all(plain) || authority.contains('@') {
            return Err(rule());
        }
        let authority: Authority = authority.parse().map_err(|_| rule())?;
        let default = match scheme.to_ascii_lowercase().as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let port = match authority.port_u16().filter(|port| Some(*port) != default) {
            Some(port) => format!(":{port}"),
            None => String::new(),
        };
        Ok(Self(format!("{scheme}://{}{port}", authority.host()).to_ascii_lowercase()))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name by which a daemon may be called: a host without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let label = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if text.is_empty() || !text.bytes().all(label) {
            return Err("must be the name of a host without a port, such as executor.example.com".into());
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn rules(listener: &str) -> Rules<'static> {
        Rules { listener: listener.parse().unwrap(), tokens: false, hosts: &[], origins: &[] }
    }

    #[test]
    fn only_our_own_names_are_served() {
        let cases = [
            ("localhost", true),
            ("LOCALHOST:8787", true),
            ("127.0.0.1", true),
            ("127.0.0.1:8787", true),
            ("127.9.9.9:8787", true),
            ("[::1]", true),
            ("[::1]:8787", true),
            ("127.0.0.1:8788", true),
            ("127.0.0.1:65536", false),
            ("127.0.0.1:", false),
            ("127.0.0.1:port", false),
            ("::1", false),
            ("[::2]:8787", false),
            ("[127.0.0.1]:8787", false),
            ("example.com", false),
            ("example.com:8787", false),
            ("localhost.example.com:8787", false),
            ("127.0.0.1.example.com", false),
            ("user@localhost:8787", false),
            ("0.0.0.0:8787", false),
            ("", false),
        ];
        for (host, expected) in cases {
            let found = check(&headers(&[(header::HOST, host)]), &Uri::from_static("/"), &rules("127.0.0.1:8787"));
            assert_eq!(found.is_ok(), expected, "{host}: {found:?}");
        }
    }

    #[test]
    fn a_listener_that_others_reach_is_called_by_addresses_and_by_names_that_are_allowed() {
        let hosts = ["executor.example.com".parse().unwrap()];
        let open = Rules { hosts: &hosts, ..rules("0.0.0.0:8787") };
        let with_tokens = Rules { tokens: true, ..rules("0.0.0.0:8787") };
        for (host, by_rule, by_token) in [
            ("10.1.2.3:8787", true, true),
            ("[2001:db8::1]", true, true),
            ("localhost:1", true, true),
            ("Executor.Example.com:443", true, true),
            ("example.com", false, true),
            ("", false, false),
            (":80", false, false),
            ("user@example.com", false, false),
            ("example.com:port", false, false),
        ] {
            let ours = |rules| check(&headers(&[(header::HOST, host)]), &Uri::from_static("/"), rules).is_ok();
            assert_eq!((ours(&open), ours(&with_tokens)), (by_rule, by_token), "{host}");
        }
        assert_eq!(check(&HeaderMap::new(), &Uri::from_static("/"), &with_tokens).unwrap_err().status, 421);
    }

    #[test]
    fn a_page_whose_origin_is_allowed_may_open_a_session_and_no_other() {
        let origins = ["https://Example.com:443", "http://localhost:3000", "app://id"].map(|one| one.parse().unwrap());
        let rules = Rules { origins: &origins, ..rules("127.0.0.1:8787") };
        for (origin, expected) in [
            ("https://example.com", true),
            ("HTTPS://EXAMPLE.COM", true),
            ("http://localhost:3000", true),
            ("app://id", true),
            ("http://example.com", false),
            ("https://example.com:444", false),
            ("https://example.com.evil.org", false),
            ("https://user@example.com", false),
            ("http://localhost", false),
            ("null", false),
            ("", false),
        ] {
            let upgrade =
                headers(&[(header::HOST, "localhost"), (header::UPGRADE, "websocket"), (header::ORIGIN, origin)]);
            assert_eq!(check(&upgrade, &Uri::from_static("/"), &rules).is_ok(), expected, "{origin}");
        }
        let mut two = headers(&[(header::HOST, "localhost"), (header::UPGRADE, "websocket")]);
        two.append(header::ORIGIN, "https://example.com".parse().unwrap());
        two.append(header::ORIGIN, "https://evil.org".parse().unwrap());
        assert!(check(&two, &Uri::from_static("/"), &rules).is_err());
    }

    #[test]
    fn what_is_allowed_is_an_origin_and_a_host() {
        for bad in ["", "example.com", "*", "null", "https://", "https://a b", "https://a/path", "://x"] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
        for bad in ["", "a:80", "*", "https://a", "a b", "[::1]"] {
            assert!(bad.parse::<HostName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_request_without_one_host_is_refused() {
        assert_eq!(check(&HeaderMap::new(), &Uri::from_static("/"), &rules("127.0.0.1:1")).unwrap_err().status, 421);
        let mut two = headers(&[(header::HOST, "localhost")]);
        two.append(header::HOST, "localhost".parse().unwrap());
        assert_eq!(check(&two, &Uri::from_static("/"), &rules("127.0.0.1:1")).unwrap_err().status, 421);
        let local = headers(&[(header::HOST, "localhost")]);
        assert_eq!(
            check(&local, &Uri::from_static("http://example.com/"), &rules("127.0.0.1:80")).unwrap_err().status,
            421
        );
    }

    #[test]
    fn an_upgrade_with_an_origin_is_refused_whatever_the_origin() {
        for origin in ["http://localhost:8787", "https://example.com", "null"] {
            let refusal = check(
                &headers(&[(header::HOST, "localhost"), (header::UPGRADE, "websocket"), (header::ORIGIN, origin)]),
                &Uri::from_static("/"),
                &rules("127.0.0.1:8787"),
            )
            .unwrap_err();
            assert_eq!(refusal.status, StatusCode::FORBIDDEN);
            assert!(refusal.text.contains("Origin"), "{}", refusal.text);
        }
    }

    #[test]
    fn only_loopback_may_be_listened_on() {
        for (addr, expected) in [
            ("127.0.0.1:0", true),
            ("127.1.2.3:0", true),
            ("[::1]:0", true),
            ("[::ffff:127.0.0.1]:0", true),
            ("0.0.0.0:0", false),
            ("[::]:0", false),
            ("192.168.0.1:0", false),
        ] {
            assert_eq!(is_private(addr.parse().unwrap()), expected, "{addr}");
        }
    }
}
