//! Which requests an operator's policy lets through, purely: the origins that are listed, and the addresses that a host
//! may stand for.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use codemode_protocol::text;
use url::{Host, Url};

/// An origin that programs may reach: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundOrigin {
    scheme: String,
    host: Host,
    port: u16,
}

impl FromStr for OutboundOrigin {
    type Err = String;

    /// Reads `scheme://host` or `scheme://host:port`, with any spelling of the host that the URL standard takes. The
    /// error says which rule the text breaks.
    fn from_str(text: &str) -> Result<Self, String> {
        let rule = |broken: &str| {
            format!("must be an origin, such as https://api.example.com or http://127.0.0.1:8080: {broken}")
        };
        let url = Url::parse(text).map_err(|_| rule("it is no URL"))?;
        let origin = Self::of(&url).ok_or_else(|| rule("its scheme must be http or https"))?;
        if has_credentials(&url) {
            return Err(rule("it must have no user name and no password"));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(rule("it must have no path, no query and no fragment"));
        }
        if matches!(&origin.host, Host::Domain(name) if name.contains('*')) {
            return Err(rule("wildcards are not known, so each host must be listed"));
        }
        Ok(origin)
    }
}

impl fmt::Display for OutboundOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, host, port } = self;
        write!(f, "{scheme}://{host}")?;
        if *port != default_port(scheme) { write!(f, ":{port}") } else { Ok(()) }
    }
}

impl OutboundOrigin {
    fn of(url: &Url) -> Option<Self> {
        let scheme = url.scheme();
        if !["http", "https"].contains(&scheme) {
            return None;
        }
        let (host, port) = (url.host()?.to_owned(), url.port_or_known_default()?);
        Some(Self { scheme: scheme.to_owned(), host, port })
    }

    fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }
}

fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Policy {
    origins: Vec<OutboundOrigin>,
}

/// Where a request that is let through goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) url: Url,
    origin: OutboundOrigin,
}

/// How the addresses of a target are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// By asking for this name.
    Name(String),
    /// They are these.
    Addresses(Vec<IpAddr>),
}

impl Policy {
    pub(super) fn new(origins: Vec<OutboundOrigin>) -> Self {
        Self { origins }
    }

    /// The target of a request to `url`.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub(super) fn target(&self, url: &str) -> Result<Target, &'static str> {
        let mut url = Url::parse(url).map_err(|_| text::OUTBOUND_NO_URL)?;
        let origin = OutboundOrigin::of(&url).ok_or(text::OUTBOUND_NO_URL)?;
        if has_credentials(&url) {
            return Err(text::OUTBOUND_CREDENTIALS);
        }
        if !self.origins.contains(&origin) {
            return Err(text::OUTBOUND_NOT_LISTED);
        }
        url.set_fragment(None);
        Ok(Target { url, origin })
    }

    /// Whether a connection for `target` may go to `address`. What is not public must be listed itself, with the port; a
    /// name that stands for it is not enough.
    pub(super) fn admits(&self, target: &Target, address: IpAddr) -> bool {
        let is_listed =
            |origin: &OutboundOrigin| origin.address() == Some(address) && origin.port == target.origin.port;
        is_public(address) || (target.is_this_machine() && address.is_loopback()) || self.origins.iter().any(is_listed)
    }
}

impl Target {
    pub(super) fn place(&self) -> Place {
        match &self.origin.host {
            // No resolver is to say where this machine is (RFC 6761, 6.3).
            Host::Domain(_) if self.is_this_machine() => {
                Place::Addresses(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
            }
            Host::Domain(name) => Place::Name(name.clone()),
            Host::Ipv4(address) => Place::Addresses(vec![(*address).into()]),
            Host::Ipv6(address) => Place::Addresses(vec![(*address).into()]),
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.origin.port
    }

    /// Whether the host is a name of loopback's.
    fn is_this_machine(&self) -> bool {
        let Host::Domain(name) = &self.origin.host else { return false };
        let name = name.strip_suffix('.').unwrap_or(name);
        name == "localhost" || name.ends_with(".localhost")
    }
}

/// Whether an address is one of the open internet: not in IANA's registries of special-purpose addresses, and no service
/// that clouds offer to their own machines.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !SPECIAL_V4.iter().any(|([a, b, c, d], prefix)| {
        let network = Ipv4Addr::new(*a, *b, *c, *d).to_bits();
        (bits ^ network) >> (32 - prefix) == 0
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Those through which an IPv4 address is reached are as public as that one.
    if let Some(embedded) = address.to_ipv4_mapped() {
        return is_public_v4(embedded);
    }
    let within = |network: [u16; 2], prefix: u32| {
        let network = (u128::from(network[0]) << 112) | (u128::from(network[1]) << 96);
        (address.to_bits() ^ network) >> (128 - prefix) == 0
    };
    if address.to_bits() >> 32 == NAT64 {
        return is_public_v4(Ipv4Addr::from_bits((address.to_bits() & u128::from(u32::MAX)) as u32));
    }
    within([0x2000, 0], 3) && !SPECIAL_V6.iter().any(|(network, prefix)| within(*network, *prefix))
}

/// 64:ff9b::/96 (RFC 6052).
const NAT64: u128 = 0x0064_ff9b << 64;

const SPECIAL_V4: [([u8; 4], u32); 17] = [
    // "This network", private use, shared by providers, loopback.
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // A machine's own services in Azure.
    ([168, 63, 129, 16], 32),
    // Link-local, where clouds have their metadata.
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    // Protocols, documentation, relays to IPv6.
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    // Benchmarks.
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([233, 252, 0, 0], 24),
    // Multicast, reserved, broadcast.
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Within 2000::/3, outside of which nothing is public.
const SPECIAL_V6: [([u16; 2], u32); 4] = [
    // Protocols, Teredo and benchmarks among them.
    ([0x2001, 0], 23),
    // Documentation.
    ([0x2001, 0x0db8], 32),
    ([0x3fff, 0], 20),
    // 6to4, which leads to any IPv4 address.
    ([0x2002, 0], 16),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(origins: &[&str]) -> Policy {
        Policy::new(origins.iter().map(|origin| origin.parse().unwrap()).collect())
    }

    #[test]
    fn an_origin_is_read_by_the_url_standard_and_written_in_one_way() {
        for (text, written) in [
            ("https://api.example.com", "https://api.example.com"),
            ("HTTPS://API.Example.COM:443/", "https://api.example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://0x7f.1:80", "http://127.0.0.1"),
            ("http://[0:0::1]:3000", "http://[::1]:3000"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://localhost:0", "http://localhost:0"),
        ] {
            let origin: OutboundOrigin = text.parse().unwrap();
            assert_eq!(origin.to_string(), written);
            assert_eq!(written.parse(), Ok(origin));
        }
        for (text, rule) in [
            ("api.example.com", "no URL"),
            ("", "no URL"),
            ("https://", "no URL"),
            ("http://1.2.3.4.5", "no URL"),
            ("http://[fe80::1%25eth0]", "no URL"),
            ("ftp://example.com", "http or https"),
            ("file:///etc", "http or https"),
            ("https://user@example.com", "no user name"),
            ("https://:pass@example.com", "no user name"),
            ("https://example.com/v1", "no path"),
            ("https://example.com?x", "no path"),
            ("https://example.com#x", "no path"),
            ("https://*.example.com", "wildcards"),
        ] {
            let error = text.parse::<OutboundOrigin>().unwrap_err();
            assert!(error.contains(rule), "{text}: {error}");
        }
    }

    #[test]
    fn only_what_is_listed_is_a_target() {
        let policy = policy(&["https://api.example.com", "http://127.0.0.1:8080", "https://bücher.example:8443"]);
        for url in [
            "https://api.example.com/a?b#c",
            "https://API.EXAMPLE.com:443/",
            "http://2130706433:8080/",
            "http://0x7f000001:8080/",
            "http://0177.0.0.1:8080/",
            "http://127.1:8080/",
            "http://127.0.0.1.:8080/",
            "https://xn--bcher-kva.example:8443/",
            "https://B\u{dc}CHER.example:8443/",
        ] {
            let target = policy.target(url).unwrap_or_else(|rule| panic!("{url}: {rule}"));
            assert_eq!(target.url.fragment(), None);
        }
        for (url, rule) in [
            ("http://api.example.com/", text::OUTBOUND_NOT_LISTED),
            ("https://api.example.com:444/", text::OUTBOUND_NOT_LISTED),
            ("https://api.example.com./", text::OUTBOUND_NOT_LISTED),
            ("https://x.api.example.com/", text::OUTBOUND_NOT_LISTED),
            ("https://api.example.com.evil.example/", text::OUTBOUND_NOT_LISTED),
            ("https://evil.example/https://api.example.com", text::OUTBOUND_NOT_LISTED),
            ("https://evil.example\\@api.example.com/", text::OUTBOUND_NOT_LISTED),
            ("http://127.0.0.1/", text::OUTBOUND_NOT_LISTED),
            ("http://[::ffff:127.0.0.1]:8080/", text::OUTBOUND_NOT_LISTED),
            ("http://localhost:8080/", text::OUTBOUND_NOT_LISTED),
            ("https://user:pass@api.example.com/", text::OUTBOUND_CREDENTIALS),
            ("https://api.example.com@evil.example/", text::OUTBOUND_CREDENTIALS),
            ("file:///etc/passwd", text::OUTBOUND_NO_URL),
            ("ftp://api.example.com/", text::OUTBOUND_NO_URL),
            ("data:,x", text::OUTBOUND_NO_URL),
            ("//api.example.com/", text::OUTBOUND_NO_URL),
            ("http://[fe80::1%eth0]/", text::OUTBOUND_NO_URL),
            ("", text::OUTBOUND_NO_URL),
        ] {
            assert_eq!(policy.target(url), Err(rule), "{url}");
        }
        assert_eq!(Policy::default().target("https://api.example.com/"), Err(text::OUTBOUND_NOT_LISTED));
    }

    #[test]
    fn special_addresses_are_not_public() {
        let addresses = "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 \
            127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 \
            192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 \
            233.252.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 \
            ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 \
            64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 100::1 2001::1 2001:2::1 2001:10::1 2001:1ff::1 \
            2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 \
            fd00:ec2::254 fd20:ce::254 fe80::1 febf::1 fec0::1 ff02::1";
        for address in addresses.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        let addresses = "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 \
            168.63.129.17 169.253.255.255 172.15.255.255 172.32.0.1 192.0.1.1 192.167.1.1 192.169.0.1 \
            198.17.255.255 198.20.0.1 223.255.255.255 ::ffff:8.8.8.8 64:ff9b::808:808 2001:200::1 \
            2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00:1450::1 3ffe::1";
        for address in addresses.split_whitespace() {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_name_does_not_open_an_address_that_is_not_public_and_a_literal_does() {
        let policy =
            policy(&["https://api.example.com", "https://10.0.0.5", "http://localhost:3000", "http://db.localhost"]);
        let api = policy.target("https://api.example.com/").unwrap();
        assert_eq!(api.place(), Place::Name("api.example.com".into()));
        for (address, expected) in
            [("93.184.216.34", true), ("10.0.0.5", true), ("10.0.0.6", false), ("127.0.0.1", false), ("::1", false)]
        {
            assert_eq!(policy.admits(&api, address.parse().unwrap()), expected, "{address}");
        }
        for name in ["http://localhost:3000/", "http://db.localhost/"] {
            let local = policy.target(name).unwrap();
            let place = Place::Addresses(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
            assert_eq!(local.place(), place, "no resolver is asked");
            assert!(policy.admits(&local, Ipv4Addr::LOCALHOST.into()));
            // Listed with another port.
            assert!(!policy.admits(&local, Ipv4Addr::new(10, 0, 0, 5).into()));
        }
    }
}
