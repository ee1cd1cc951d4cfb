//! The client for requests of programs, against servers of the test's own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use codemode_daemon::{OutboundClient, OutboundOptions, OutboundOrigin, Resolver, SystemResolver};
use codemode_protocol::{Outbound, OutboundRequest, OutboundResponse, text};
use futures_util::future::{BoxFuture, FutureExt};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// Answers each question by the next list, the last one for ever.
struct Answers {
    lists: Vec<Vec<IpAddr>>,
    asked: Arc<AtomicUsize>,
}

impl Resolver for Answers {
    fn resolve(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        let list = self.lists.get(at).or(self.lists.last()).cloned().unwrap_or_default();
        std::future::ready(Ok(list)).boxed()
    }
}

fn resolving(lists: &[&[&str]]) -> (Arc<dyn Resolver>, Arc<AtomicUsize>) {
    let lists = lists.iter().map(|list| list.iter().map(|address| address.parse().unwrap()).collect()).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    (Arc::new(Answers { lists, asked: asked.clone() }), asked)
}

fn options(origins: &[&str]) -> OutboundOptions {
    let origins: Vec<OutboundOrigin> = origins.iter().map(|origin| origin.parse().unwrap()).collect();
    // Nothing here asks the system about a name.
    OutboundOptions { resolver: resolving(&[]).0, ..OutboundOptions::new(origins) }
}

fn client(origins: &[&str]) -> OutboundClient {
    OutboundClient::new(options(origins)).unwrap()
}

fn request(method: &str, url: &str) -> OutboundRequest {
    OutboundRequest { method: method.into(), url: url.into(), headers: Vec::new(), body: None }
}

async fn get(client: &OutboundClient, url: &str) -> Result<OutboundResponse, String> {
    client.fetch(request("GET", url)).await
}

fn refused(url: &str, rule: &str) -> Result<OutboundResponse, String> {
    Err(text::outbound_refused(&format!("GET {url}"), rule))
}

fn header<'a>(response: &'a OutboundResponse, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// A server that reads one request's head per connection, then says `answer` and closes, or keeps the connection open.
struct Raw {
    origin: String,
    connections: Arc<AtomicUsize>,
}

impl Raw {
    async fn on(address: &str, answer: &'static [u8], stays: bool) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(speak(stream, answer, stays));
            }
        });
        Self { origin, connections }
    }

    async fn saying(answer: &'static [u8], stays: bool) -> Self {
        Self::on("127.0.0.1:0", answer, stays).await
    }

    async fn got(&self) -> Result<OutboundResponse, String> {
        let options = OutboundOptions { body_bytes: 1000, ..options(&[&self.origin]) };
        get(&OutboundClient::new(options).unwrap(), &format!("{}/", self.origin)).await
    }

    fn failed(&self, what: &str) -> Result<OutboundResponse, String> {
        Err(text::outbound_failed(&format!("GET {}/", self.origin), what))
    }
}

/// Reads to the end of a request's head, or of the connection.
async fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
}

async fn speak(mut stream: TcpStream, answer: &'static [u8], stays: bool) {
    read_head(&mut stream).await;
    let _ = stream.write_all(answer).await;
    if stays {
        // Until the client has gone.
        let _ = stream.read_u8().await;
    }
}

#[tokio::test]
async fn a_request_and_its_response_cross_as_they_are() {
    let server = MockServer::start().await;
    Mock::given(matchers::method("POST"))
        .and(matchers::path("/a"))
        .and(matchers::query_param("b", "c"))
        .respond_with(ResponseTemplate::new(201).insert_header("x-one", "1").set_body_bytes([0, 159, 146, 150]))
        .mount(&server)
        .await;
    let sent = [
        ("x-two", "caf\u{e9}"),
        ("x-two", "again"),
        ("accept-encoding", "gzip"),
        ("host", "other.example"),
        ("content-length", "99"),
        ("transfer-encoding", "chunked"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("proxy-authorization", "x"),
        ("cookie", "a=b"),
    ];
    let request = OutboundRequest {
        headers: sent.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: Some(b"body".to_vec()),
        ..request("POST", &format!("{}/a?b=c", server.uri()))
    };
    let response = client(&[&server.uri()]).fetch(request).await.unwrap();
    assert_eq!((response.status, response.status_text.as_str()), (201, "Created"));
    assert_eq!((header(&response, "x-one"), response.body.as_slice()), (Some("1"), &[0, 159, 146, 150][..]));
    let received = &server.received_requests().await.unwrap()[0];
    let values = |name: &str| -> Vec<_> { received.headers.get_all(name).iter().map(|one| one.as_bytes()).collect() };
    assert_eq!(values("x-two"), [&b"caf\xe9"[..], b"again"]);
    assert_eq!(values("host"), [server.address().to_string().as_bytes()], "the program does not choose the host");
    assert_eq!(values("content-length"), [b"4"]);
    assert_eq!(values("accept-encoding"), [b"identity"]);
    assert_eq!(values("cookie"), [b"a=b"], "what the program sends itself");
    assert_eq!(values("user-agent"), [b"codemode-executor"]);
    for dropped in ["transfer-encoding", "upgrade", "proxy-authorization", "referer"] {
        assert_eq!(values(dropped), [b""; 0], "{dropped}");
    }
    assert_eq!(received.body, b"body");
}

#[tokio::test]
async fn a_request_that_could_have_a_body_says_that_it_has_none() {
    let server = MockServer::start().await;
    let url = server.uri();
    let client = client(&[&url]);
    for (method, body) in [
        ("POST", None),
        ("PUT", None),
        ("POST", Some(Vec::new())),
        ("PATCH", Some(Vec::new())),
        ("PATCH", None),
        ("GET", None),
    ] {
        client.fetch(OutboundRequest { body, ..request(method, &url) }).await.unwrap();
    }
    let received = server.received_requests().await.unwrap();
    let lengths: Vec<_> =
        received.iter().map(|one| one.headers.get("content-length").map(|length| length.as_bytes())).collect();
    assert_eq!(lengths, [Some(&b"0"[..]), Some(b"0"), Some(b"0"), Some(b"0"), None, None]);
}

#[tokio::test]
async fn the_text_of_a_status_is_the_servers() {
    for (answer, expected) in [
        (&b"HTTP/1.1 200 It is fine\r\ncontent-length: 0\r\n\r\n"[..], (200, "It is fine")),
        (b"HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n", (299, "Odd")),
        (b"HTTP/1.1 404 \r\ncontent-length: 0\r\n\r\n", (404, "")),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", (404, "Not Found")),
    ] {
        let response = Raw::saying(answer, false).await.got().await.unwrap();
        assert_eq!((response.status, response.status_text.as_str()), expected);
    }
}

#[tokio::test]
async fn no_method_header_or_address_breaks_out_of_its_place() {
    let server = MockServer::start().await;
    let origin = server.uri();
    let client = client(&[&origin]);
    for method in ["CONNECT", "TRACE", "track", "GET / HTTP/1.1\r\nx: y", "", "A B"] {
        let refused = text::outbound_refused(&format!("{method} {origin}/"), text::OUTBOUND_METHOD);
        assert_eq!(client.fetch(request(method, &format!("{origin}/"))).await, Err(refused));
    }
    for (name, value) in
        [("x", "a\r\ny: b"), ("x", "a\nb"), ("x", "a\0"), ("x\r\ny", "a"), ("x y", "a"), ("", "a"), ("x", "\u{100}")]
    {
        let request =
            OutboundRequest { headers: vec![(name.into(), value.into())], ..request("GET", &format!("{origin}/")) };
        let refused = text::outbound_refused(&format!("GET {origin}/"), text::OUTBOUND_HEADER);
        assert_eq!(client.fetch(request).await, Err(refused), "{name:?} {value:?}");
    }
    let with_user = format!("http://user:pass@{}/", server.address());
    assert_eq!(get(&client, &with_user).await, refused(&with_user, text::OUTBOUND_CREDENTIALS));
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_host_that_stands_for_closed_addresses_is_refused_without_naming_them() {
    let server = Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", false).await;
    let port = server.origin.rsplit_once(':').unwrap().1.to_owned();
    let origin = format!("http://api.example.com:{port}");
    for closed in ["127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.0", "fd00:ec2::254"] {
        let (resolver, _) = resolving(&[&[closed]]);
        let client = OutboundClient::new(OutboundOptions { resolver, ..options(&[&origin]) }).unwrap();
        let found = get(&client, &origin).await;
        assert_eq!(found, refused(&origin, text::OUTBOUND_NOT_PUBLIC));
        assert!(!found.unwrap_err().contains(closed));
    }
    let (resolver, _) = resolving(&[&[]]);
    let client = OutboundClient::new(OutboundOptions { resolver, ..options(&[&origin]) }).unwrap();
    let not_found = text::outbound_failed(&format!("GET {origin}"), text::OUTBOUND_FAILED_HOST);
    assert_eq!(get(&client, &origin).await, Err(not_found));
    assert_eq!(server.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_connection_goes_to_a_checked_address_whatever_the_resolver_says_later() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood";
    let good = Raw::saying(answer, false).await;
    let port = good.origin.rsplit_once(':').unwrap().1.to_owned();
    // Another loopback address with the same port, which is not listed.
    let bad = Raw::on(&format!("127.0.0.2:{port}"), b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad", false).await;
    let origin = format!("http://api.example.com:{port}");
    let (resolver, asked) = resolving(&[&["127.0.0.1", "127.0.0.2"], &["127.0.0.2"], &["127.0.0.2", "127.0.0.1"]]);
    let client = OutboundClient::new(OutboundOptions { resolver, ..options(&[&origin, &good.origin]) }).unwrap();
    assert_eq!(get(&client, &origin).await.unwrap().body, b"good");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "checked and connected by one answer");
    assert_eq!(get(&client, &origin).await, refused(&origin, text::OUTBOUND_NOT_PUBLIC), "and by none of before");
    assert_eq!(get(&client, &origin).await.unwrap().body, b"good");
    assert_eq!((asked.load(Ordering::SeqCst), bad.connections.load(Ordering::SeqCst)), (3, 0));
    assert_eq!(good.connections.load(Ordering::SeqCst), 2, "no connection is used twice");
}

#[tokio::test]
async fn a_redirect_is_handed_back_and_its_target_is_a_request_like_any_other() {
    let inner = Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret", false).await;
    let server = MockServer::start().await;
    let moved = ResponseTemplate::new(302).insert_header("location", inner.origin.as_str());
    Mock::given(matchers::any()).respond_with(moved).mount(&server).await;
    let client = client(&[&server.uri()]);
    let response = get(&client, &server.uri()).await.unwrap();
    assert_eq!((response.status, header(&response, "location")), (302, Some(inner.origin.as_str())));
    assert_eq!(get(&client, &inner.origin).await, refused(&inner.origin, text::OUTBOUND_NOT_LISTED));
    for spelling in ["http://2130706433", "http://0x7f.1", "http://0177.0.0.1", "http://[::ffff:127.0.0.1]"] {
        let url = inner.origin.replace("http://127.0.0.1", spelling);
        assert_eq!(get(&client, &url).await, refused(&url, text::OUTBOUND_NOT_LISTED));
    }
    assert_eq!(inner.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn bodies_are_bounded_both_ways() {
    let announced = Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", true).await;
    let get = |server: &Raw| format!("GET {}/", server.origin);
    let too_large = text::outbound_too_large("response body", &get(&announced), 99_999_999_999, 1000);
    assert_eq!(announced.got().await, Err(too_large));

    let fits = Raw::saying(b"HTTP/1.1 200 OK\r\n\r\nuntil the end", false).await;
    assert_eq!(fits.got().await.unwrap().body, b"until the end");

    let compressed =
        Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8bx", false);
    let response = compressed.await.got().await.unwrap();
    assert_eq!((header(&response, "content-encoding"), response.body.as_slice()), (Some("gzip"), &b"\x1f\x8bx"[..]));

    let request = OutboundRequest { body: Some(vec![0; 1001]), ..request("POST", &format!("{}/", fits.origin)) };
    let client = OutboundClient::new(OutboundOptions { body_bytes: 1000, ..options(&[&fits.origin]) }).unwrap();
    let name = format!("POST {}/", fits.origin);
    assert_eq!(client.fetch(request).await, Err(text::outbound_too_large("request body", &name, 1001, 1000)));
}

#[tokio::test]
async fn an_endless_body_ends_at_its_bound() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
        // Until the client closes the connection.
        while stream.write_all(b"400\r\n").await.is_ok()
            && stream.write_all(&[b'x'; 1024]).await.is_ok()
            && stream.write_all(b"\r\n").await.is_ok()
        {}
    });
    let client = OutboundClient::new(OutboundOptions { body_bytes: 100_000, ..options(&[&origin]) }).unwrap();
    assert_eq!(get(&client, &origin).await, Err(text::outbound_endless(&format!("GET {origin}"), 100_000)));
    server.await.unwrap();
}

#[tokio::test]
async fn servers_that_break_the_protocol_fail_the_request_alone() {
    for (answer, what) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort"[..], text::OUTBOUND_FAILED_BODY),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n", text::OUTBOUND_FAILED_BODY),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", text::OUTBOUND_FAILED_BODY),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", text::OUTBOUND_FAILED_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", text::OUTBOUND_FAILED_RESPONSE),
        (b"SSH-2.0-OpenSSH\r\n", text::OUTBOUND_FAILED_RESPONSE),
        (b"", text::OUTBOUND_FAILED_RESPONSE),
    ] {
        let server = Raw::saying(answer, false).await;
        assert_eq!(server.got().await, server.failed(what), "{}", String::from_utf8_lossy(answer));
    }
    // What goes on behind its announced length is not read.
    let longer = Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n", false).await;
    assert_eq!(longer.got().await.unwrap().body, b"ab");
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let failed = text::outbound_failed(&format!("GET {origin}"), text::OUTBOUND_FAILED_CONNECT);
    assert_eq!(get(&client(&[&origin]), &origin).await, Err(failed));
}

#[tokio::test]
async fn a_slow_server_and_a_slow_resolver_cost_no_more_than_the_time_bound() {
    struct Never;
    impl Resolver for Never {
        fn resolve(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            std::future::pending().boxed()
        }
    }
    let timeout = Duration::from_millis(200);
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\na"] {
        let server = Raw::saying(answer, true).await;
        let client = OutboundClient::new(OutboundOptions { timeout, ..options(&[&server.origin]) }).unwrap();
        let timed_out = text::host_call_timed_out(&format!("GET {}", server.origin), 200);
        assert_eq!(get(&client, &server.origin).await, Err(timed_out));
    }
    let url = "https://api.example.com/";
    let options = OutboundOptions { timeout, resolver: Arc::new(Never), ..options(&[url]) };
    let timed_out = text::host_call_timed_out(&format!("GET {url}"), 200);
    assert_eq!(get(&OutboundClient::new(options).unwrap(), url).await, Err(timed_out));
}

#[tokio::test]
async fn requests_beyond_the_most_at_once_wait_for_their_turn() {
    let server = MockServer::start().await;
    Mock::given(matchers::any()).respond_with(ResponseTemplate::new(200)).mount(&server).await;
    let hanging = Raw::saying(b"", true).await;
    let origins = [server.uri(), hanging.origin.clone()];
    let options = OutboundOptions { most_at_once: 1, ..options(&[&origins[0], &origins[1]]) };
    let client = OutboundClient::new(options).unwrap();
    let hangs = tokio::spawn(client.fetch(request("GET", &hanging.origin)));
    while hanging.connections.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let mut waits = client.fetch(request("GET", &server.uri()));
    assert!((&mut waits).now_or_never().is_none());
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
    // One that is given up gives its turn back.
    hangs.abort();
    assert_eq!(waits.await.unwrap().status, 200);
}

#[tokio::test]
async fn names_are_resolved_by_the_system_and_localhost_is_not() {
    let server = Raw::saying(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood", false).await;
    let resolver = SystemResolver::default();
    assert!(resolver.resolve("localhost".into()).await.unwrap().iter().all(IpAddr::is_loopback));
    // RFC 6761, 6.4: no such name exists.
    assert!(resolver.resolve("nowhere.invalid".into()).await.map_or(true, |found| found.is_empty()));
    let origin = server.origin.replace("127.0.0.1", "localhost");
    assert_eq!(get(&client(&[&origin]), &origin).await.unwrap().body, b"good", "which needs no resolver");
}

#[tokio::test]
async fn a_certificate_must_be_trusted_and_for_the_host() {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["api.example.com".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsafe").await;
                let _ = stream.shutdown().await;
            });
        }
    });
    let address = Ipv4Addr::LOCALHOST.to_string();
    let [good, other] = ["api.example.com", "other.example.com"].map(|host| format!("https://{host}:{port}"));
    let literal = format!("https://127.0.0.1:{port}");
    let with = |roots| {
        let (resolver, _) = resolving(&[&[&address]]);
        OutboundClient::new(OutboundOptions { resolver, roots, ..options(&[&good, &other, &literal]) }).unwrap()
    };
    assert_eq!(get(&with(vec![certificate.clone()]), &good).await.unwrap().body, b"safe");
    for (roots, url) in [(vec![], &good), (vec![certificate.clone()], &other), (vec![certificate], &literal)] {
        let failed = text::outbound_failed(&format!("GET {url}"), text::OUTBOUND_FAILED_CONNECT);
        assert_eq!(get(&with(roots), url).await, Err(failed));
    }
    let broken = OutboundOptions { roots: vec![CertificateDer::from(vec![1, 2, 3])], ..options(&[]) };
    assert!(OutboundClient::new(broken).unwrap_err().to_string().contains("certificate"));
}
