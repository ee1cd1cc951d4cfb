//! Performs the requests that the policy lets through. Each has an HTTP client of its own, which is told the addresses
//! that were checked and knows no other way to find one: no resolver, no proxy, no redirects, no cookies, and no
//! connection of an earlier request.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use codemode_protocol::{Outbound, OutboundRequest, OutboundResponse, text};
use futures_util::future::{BoxFuture, FutureExt};
use hyper::ext::ReasonPhrase;
use reqwest::{
    Client, Method, Request, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{self, HeaderMap, HeaderName, HeaderValue},
    redirect, retry,
};
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};
use tokio::{sync::Semaphore, time::timeout};
use tracing::debug;

use super::policy::{OutboundOrigin, Place, Policy, Target};

/// Finds the addresses of a host.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of `name`, a domain name; none when it has none.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver, asked by at most 32 threads at once.
#[derive(Clone, Debug)]
pub struct SystemResolver {
    threads: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { threads: Arc::new(Semaphore::new(32)) }
    }
}

impl Resolver for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let threads = self.threads.clone();
        async move {
            // Nobody closes it; then the thread would not be counted.
            let thread = threads.acquire_owned().await.ok();
            // The system cannot be told that nobody waits any more, so the thread is counted until it answers.
            let asked = tokio::spawn(async move {
                let found = tokio::net::lookup_host((name, 0)).await;
                drop(thread);
                found
            });
            Ok(asked.await.map_err(io::Error::other)??.map(|found| found.ip()).collect())
        }
        .boxed()
    }
}

/// Requests that an [`OutboundClient`] performs at once by default, each with one descriptor.
pub const MOST_REQUESTS_AT_ONCE: usize = 128;

/// What an [`OutboundClient`] may do.
#[derive(Clone)]
pub struct OutboundOptions {
    /// The origins that programs may reach, and no other. Addresses that are not public (loopback, private, link-local,
    /// multicast and the other special ones) are reached only where they are listed themselves, by any listed name of
    /// the same port, and loopback by the listed name `localhost`.
    pub origins: Vec<OutboundOrigin>,
    /// Bytes of one request's body, and of one response's.
    pub body_bytes: u64,
    /// How long one request may take in all, its turn included.
    pub timeout: Duration,
    /// How long the connection may take, the secure one included.
    pub connect_timeout: Duration,
    /// Requests at once, at least 1; further ones wait.
    pub most_at_once: usize,
    /// Certificates to be trusted besides the authorities that browsers trust.
    pub roots: Vec<CertificateDer<'static>>,
    /// Is asked about names; whatever it answers is checked.
    pub resolver: Arc<dyn Resolver>,
}

impl OutboundOptions {
    /// The contract's bounds, for these origins.
    pub fn new(origins: Vec<OutboundOrigin>) -> Self {
        let limits = codemode_protocol::Limits::default();
        Self {
            origins,
            body_bytes: limits.outbound_body_bytes,
            timeout: Duration::from_millis(limits.host_call_timeout_ms),
            connect_timeout: Duration::from_secs(10),
            most_at_once: MOST_REQUESTS_AT_ONCE,
            roots: Vec::new(),
            resolver: Arc::new(SystemResolver::default()),
        }
    }
}

/// Why an [`OutboundClient`] cannot be made: a certificate that is none.
#[derive(Debug, thiserror::Error)]
#[error("a certificate to be trusted cannot be: {0}")]
pub struct OutboundError(#[from] rustls::Error);

/// Performs requests by an operator's policy. Give it to a pool as its `outbound`.
///
/// It follows no redirect: `fetch` does, inside the sandbox, and each hop comes here as a request of its own.
#[derive(Clone)]
pub struct OutboundClient {
    shared: Arc<Shared>,
}

struct Shared {
    policy: Policy,
    body_bytes: u64,
    timeout: Duration,
    connect_timeout: Duration,
    turns: Semaphore,
    tls: ClientConfig,
    resolver: Arc<dyn Resolver>,
}

impl fmt::Debug for OutboundClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundClient").field("policy", &self.shared.policy).finish_non_exhaustive()
    }
}

impl OutboundClient {
    /// A client that reaches what `options` list.
    ///
    /// # Errors
    /// One of the further certificates is none.
    pub fn new(options: OutboundOptions) -> Result<Self, OutboundError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for root in options.roots {
            roots.add(root)?;
        }
        let mut tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let shared = Shared {
            policy: Policy::new(options.origins),
            body_bytes: options.body_bytes,
            timeout: options.timeout,
            connect_timeout: options.connect_timeout,
            turns: Semaphore::new(options.most_at_once.clamp(1, Semaphore::MAX_PERMITS)),
            tls,
            resolver: options.resolver,
        };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl Outbound for OutboundClient {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        let shared = self.shared.clone();
        async move {
            let name = format!("{} {}", request.method, request.url);
            let name = text::shortened(&name, NAME_BYTES).into_owned();
            let performed = timeout(shared.timeout, shared.perform(&name, request)).await;
            let bound = u64::try_from(shared.timeout.as_millis()).unwrap_or(u64::MAX);
            performed.unwrap_or_else(|_| Err(text::host_call_timed_out(&name, bound)))
        }
        .boxed()
    }
}

impl Shared {
    async fn perform(&self, name: &str, request: OutboundRequest) -> Result<OutboundResponse, String> {
        let refused = |rule: &str| text::outbound_refused(name, rule);
        let target = self.policy.target(&request.url).map_err(refused)?;
        let prepared = self.prepare(name, &target, request)?;
        // Nobody closes it; then the request would go without a turn.
        let _turn = self.turns.acquire().await.ok();
        let addresses = self.addresses(name, &target).await?;
        let response = self.client(name, &addresses)?.execute(prepared).await.map_err(|error| failed(name, error))?;
        // Whatever connected: it must have gone where the check allowed.
        let peer = response.remote_addr().map(|peer| peer.ip());
        if !peer.is_some_and(|peer| addresses.iter().any(|checked| checked.ip().to_canonical() == peer.to_canonical()))
        {
            return Err(refused(text::OUTBOUND_NOT_PUBLIC));
        }
        self.read(name, response).await
    }

    /// The request as it is sent. What says how the message is framed, or which of a server's hosts is meant, is not the
    /// program's to say, and nothing here undoes a compression.
    fn prepare(&self, name: &str, target: &Target, request: OutboundRequest) -> Result<Request, String> {
        let refused = |rule: &str| text::outbound_refused(name, rule);
        let OutboundRequest { method, headers, body, .. } = request;
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| refused(text::OUTBOUND_METHOD))?;
        if ["CONNECT", "TRACE", "TRACK"].iter().any(|closed| method.as_str().eq_ignore_ascii_case(closed)) {
            return Err(refused(text::OUTBOUND_METHOD));
        }
        let mut sent = HeaderMap::new();
        sent.insert(header::USER_AGENT, HeaderValue::from_static("codemode-executor"));
        let mut named_agent = false;
        for (name, value) in headers {
            let name: HeaderName = name.parse().map_err(|_| refused(text::OUTBOUND_HEADER))?;
            let value = header_value(&value).ok_or_else(|| refused(text::OUTBOUND_HEADER))?;
            if is_ours(&name) {
                continue;
            }
            if name == header::USER_AGENT && !std::mem::replace(&mut named_agent, true) {
                sent.insert(name, value);
            } else {
                sent.try_append(name, value).map_err(|_| refused(text::OUTBOUND_HEADER))?;
            }
        }
        sent.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // What sends the request says the length of a body that has bytes, and no other.
        let expects_body = body.is_some() || method == Method::POST || method == Method::PUT;
        if expects_body && body.as_ref().is_none_or(Vec::is_empty) {
            sent.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let mut prepared = Request::new(method, target.url.clone());
        *prepared.headers_mut() = sent;
        if let Some(body) = body {
            let size = body.len() as u64;
            if size > self.body_bytes {
                return Err(text::outbound_too_large("request body", name, size, self.body_bytes));
            }
            *prepared.body_mut() = Some(body.into());
        }
        Ok(prepared)
    }

    /// The addresses that a connection may go to, at least one.
    async fn addresses(&self, name: &str, target: &Target) -> Result<Vec<SocketAddr>, String> {
        let found = match target.place() {
            Place::Addresses(addresses) => addresses,
            Place::Name(host) => self.resolver.resolve(host).await.unwrap_or_else(|error| {
                debug!(request = name, %error, "a host was not found");
                Vec::new()
            }),
        };
        if found.is_empty() {
            return Err(text::outbound_failed(name, text::OUTBOUND_FAILED_HOST));
        }
        let admitted = found.into_iter().filter(|address| self.policy.admits(target, *address));
        let admitted: Vec<_> = admitted.map(|address| SocketAddr::new(address, target.port())).collect();
        if admitted.is_empty() {
            return Err(text::outbound_refused(name, text::OUTBOUND_NOT_PUBLIC));
        }
        Ok(admitted)
    }

    fn client(&self, name: &str, addresses: &[SocketAddr]) -> Result<Client, String> {
        let built = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Arc::new(Checked(addresses.to_vec())))
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .http1_only()
            .pool_max_idle_per_host(0)
            .connect_timeout(self.connect_timeout)
            .build();
        built.map_err(|error| failed(name, error))
    }

    async fn read(&self, name: &str, mut response: Response) -> Result<OutboundResponse, String> {
        let announced = response.content_length().filter(|size| *size > self.body_bytes);
        if let Some(size) = announced {
            return Err(text::outbound_too_large("response body", name, size, self.body_bytes));
        }
        let status = response.status();
        // Kept only where it is not the usual one.
        let reason = response.extensions().get::<ReasonPhrase>().map(|reason| isomorphic(reason.as_bytes()));
        let fields = response.headers().iter();
        let headers = fields.map(|(name, value)| (name.as_str().to_owned(), isomorphic(value.as_bytes()))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| {
            debug!(request = name, ?error, "a response body broke off");
            text::outbound_failed(name, text::OUTBOUND_FAILED_BODY)
        })? {
            if (body.len() + chunk.len()) as u64 > self.body_bytes {
                return Err(text::outbound_endless(name, self.body_bytes));
            }
            body.extend_from_slice(&chunk);
        }
        let status_text = reason.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().to_owned());
        Ok(OutboundResponse { status: status.as_u16(), status_text, headers, body })
    }
}

/// The addresses that were checked, whatever name is asked for.
struct Checked(Vec<SocketAddr>);

impl Resolve for Checked {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        std::future::ready(Ok(addresses)).boxed()
    }
}

/// A failure in words that name no address: those of the client's own would.
fn failed(name: &str, error: reqwest::Error) -> String {
    let what = if error.is_connect() { text::OUTBOUND_FAILED_CONNECT } else { text::OUTBOUND_FAILED_RESPONSE };
    debug!(request = name, error = ?error, "a request failed");
    text::outbound_failed(name, what)
}

/// Whether a header is set by what sends the message, if at all.
fn is_ours(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with("proxy-") || OUR_HEADERS.contains(&name)
}

const OUR_HEADERS: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

/// A value of a program's as bytes: each character is one (Infra, "isomorphic encode").
fn header_value(value: &str) -> Option<HeaderValue> {
    let bytes: Option<Vec<u8>> = value.chars().map(|one| u8::try_from(u32::from(one)).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

/// Bytes as a text of as many characters.
fn isomorphic(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Bytes of a request's method and address that texts show.
const NAME_BYTES: u64 = 512;
