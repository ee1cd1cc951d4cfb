//! Which requests are answered at all, while there is no authentication: those that a program on this machine sends,
//! and none that a web page in a browser on this machine can cause.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, StatusCode, Uri, header};

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// For a person: the rule and what broke it.
    pub(crate) text: String,
}

/// Whether `addr` may be listened on: only loopback addresses, because every client is trusted.
pub(crate) fn may_listen_on(addr: SocketAddr) -> bool {
    addr.ip().to_canonical().is_loopback()
}

/// Checks what a browser adds to the requests of a page: `Host` (a name that was made to resolve to loopback) and, on
/// upgrades, `Origin`.
pub(crate) fn check(headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let host = match (host.map(|host| host.to_str()), more) {
        (Some(Ok(host)), None) => host,
        (None, _) => return Err(misdirected("it has no Host header")),
        _ => return Err(misdirected("its Host header is not one readable name")),
    };
    if !is_ours(host) {
        return Err(misdirected(&format!("its Host header is {host:?}")));
    }
    if let Some(authority) = uri.authority()
        && !is_ours(authority.as_str())
    {
        return Err(misdirected(&format!("its target is on {:?}", authority.as_str())));
    }
    if headers.contains_key(header::UPGRADE) && headers.contains_key(header::ORIGIN) {
        return Err(Refusal {
            status: StatusCode::FORBIDDEN,
            text: "Upgrade refused: it carries an Origin header, so a web page sent it. Pages are refused because any \
                   page may open a WebSocket to this machine and there is no authentication in this version."
                .into(),
        });
    }
    Ok(())
}

fn misdirected(found: &str) -> Refusal {
    Refusal {
        status: StatusCode::MISDIRECTED_REQUEST,
        text: format!(
            "Request refused: {found}. Only localhost, 127.0.0.1 and [::1] are served, so that no other name can be \
             made to lead here."
        ),
    }
}

/// Any port will do: a balancer or a forwarded port in front has one of its own.
fn is_ours(authority: &str) -> bool {
    let (host, given) = match authority.rsplit_once(':') {
        // Inside brackets the colon belongs to the address.
        Some((host, digits)) if !digits.ends_with(']') => (host, Some(digits)),
        _ => (authority, None),
    };
    if given.is_some_and(|digits| digits.parse::<u16>().is_err()) {
        return false;
    }
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let address = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inside) => inside.parse().map(IpAddr::V6),
        None => host.parse().map(IpAddr::V4),
    };
    address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
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
            let found = check(&headers(&[(header::HOST, host)]), &Uri::from_static("/"));
            assert_eq!(found.is_ok(), expected, "{host}: {found:?}");
        }
    }

    #[test]
    fn a_request_without_one_host_is_refused() {
        assert_eq!(check(&HeaderMap::new(), &Uri::from_static("/")).unwrap_err().status, 421);
        let mut two = headers(&[(header::HOST, "localhost")]);
        two.append(header::HOST, "localhost".parse().unwrap());
        assert_eq!(check(&two, &Uri::from_static("/")).unwrap_err().status, 421);
        let local = headers(&[(header::HOST, "localhost")]);
        assert_eq!(check(&local, &Uri::from_static("http://example.com/")).unwrap_err().status, 421);
    }

    #[test]
    fn an_upgrade_with_an_origin_is_refused_whatever_the_origin() {
        for origin in ["http://localhost:8787", "https://example.com", "null"] {
            let refusal = check(
                &headers(&[(header::HOST, "localhost"), (header::UPGRADE, "websocket"), (header::ORIGIN, origin)]),
                &Uri::from_static("/"),
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
            assert_eq!(may_listen_on(addr.parse().unwrap()), expected, "{addr}");
        }
    }
}
