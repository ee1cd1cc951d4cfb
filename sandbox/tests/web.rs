//! The Web surface against the standards, against Node, and under attack. Data and its formats: folder `web`.
#![allow(missing_docs, unreachable_pub, dead_code, clippy::print_stdout, clippy::print_stderr)]

#[path = "web/buffers.rs"]
mod buffers;
#[path = "web/check.rs"]
mod check;
#[path = "web/data.rs"]
mod data;
#[path = "web/data_urls.rs"]
mod data_urls;
#[path = "web/decoders.rs"]
mod decoders;
#[path = "web/keys.rs"]
mod keys;
#[path = "web/packing.rs"]
mod packing;
#[path = "web/page.rs"]
mod page;
#[path = "web/seeded.rs"]
mod seeded;
#[path = "web/urls.rs"]
mod urls;
#[path = "../src/guest/web/mod.rs"]
mod web;

use check::{check_cases, compare_with_node};
use data::check_data;
use page::{Host, Page};
use seeded::from_seeds;
// Where the files that say what must hold look for them, in a fuzz target too.
use web::{address, base64url, codec, data_url, decoder, deflate, form, gcm, pattern, wtf8};

macro_rules! tests {
    ($($name:ident: $check:ident($($argument:literal),*);)*) => {
        $(#[test] fn $name() { $check($($argument),*) })*
    };
}

tests! {
    timers_follow_the_standard: check_cases("cases/timers.txt");
    events_follow_the_standard: check_cases("cases/events.txt");
    abort_follows_the_standard: check_cases("cases/abort.txt");
    encoding_follows_the_standard: check_cases("cases/encoding.txt");
    structured_clone_follows_the_standard: check_cases("cases/clone.txt");
    streams_follow_the_standard: check_cases("cases/streams.txt");
    languages_follow_the_standard: check_cases("cases/intl.txt");
    fetch_and_its_types_follow_the_standard: check_cases("cases/fetch.txt");
    cryptography_follows_the_standard: check_cases("cases/crypto.txt");
    urls_and_their_parameters_follow_the_standard: check_cases("cases/url.txt");
    url_patterns_follow_the_standard: check_cases("cases/urlpattern.txt");
    compression_follows_the_standard: check_cases("cases/compression.txt");
    damaged_input_is_read_or_refused: check_cases("cases/random.txt");
    globals_look_as_they_should: check_cases("cases/globals.txt");

    events_do_as_node: compare_with_node("events");
    encoding_does_as_node: compare_with_node("encoding");
    structured_clone_does_as_node: compare_with_node("clone");
    streams_do_as_node: compare_with_node("streams");
    fetch_and_its_types_do_as_node: compare_with_node("fetch");
    cryptography_does_as_node: compare_with_node("crypto");
    compression_does_as_node: compare_with_node("compression");
    base64_does_as_node: compare_with_node("base64");
    urls_do_as_node: compare_with_node("url");
    url_search_params_do_as_node: compare_with_node("urlsearchparams");
    buffer_does_as_node: compare_with_node("buffer");
    path_does_as_node: compare_with_node("path");
    util_does_as_node: compare_with_node("util");
    emitters_and_timers_do_as_node: compare_with_node("emitter");
    node_crypto_does_as_node: compare_with_node("nodecrypto");
    node_url_does_as_node: compare_with_node("nodeurl");
    dates_do_as_node: compare_with_node("date");
    numbers_of_languages_do_as_node: compare_with_node("intl-number");
    dates_of_languages_do_as_node: compare_with_node("intl-date");
    words_and_order_of_languages_do_as_node: compare_with_node("intl-text");
    locales_do_as_node: compare_with_node("intl-locale");

    urls_pass_the_data_of_their_crate: check_data("urls", "url", "tests/urltestdata.json");
    url_setters_pass_the_data_of_their_crate: check_data("setters", "url", "tests/setters_tests.json");
    url_patterns_pass_the_data_of_their_crate: check_data("patterns", "urlpattern", "src/testdata/urlpatterntestdata.json");
}

#[test]
fn no_bytes_break_what_buffers_are_made_of() {
    from_seeds(20_000, buffers::generated, |data| buffers::hold(data));
}

#[test]
fn no_text_breaks_addresses_or_patterns() {
    from_seeds(20_000, urls::generated, |text| urls::hold(text));
}

#[test]
fn no_text_breaks_data_urls() {
    from_seeds(20_000, data_urls::generated, |text| data_urls::hold(text));
}

#[test]
fn no_bytes_break_decompression() {
    from_seeds(300, packing::generated, |data| packing::hold(data));
}

#[test]
fn no_bytes_break_text_decoders() {
    from_seeds(20_000, decoders::generated, |data| decoders::hold(data));
}

#[test]
fn no_bytes_break_the_reading_of_keys() {
    from_seeds(2000, keys::generated, |data| keys::hold(data));
}

#[test]
fn hostile_programs_change_nothing_but_their_own_objects() {
    check_cases("cases/hostile.txt");
}

/// The engine calls `String.prototype.concat` for such a template, and reads `constructor` of a promise that is awaited:
/// both are the program's to replace.
#[test]
fn no_script_of_ours_has_a_template_with_a_substitution_or_awaits() {
    let guest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guest");
    let (mut folders, mut scripts) = (vec![guest], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                // Programs and preludes of tests are a program's own.
                folders.extend((path.file_name() != Some("tests".as_ref())).then_some(path));
            } else if path.extension() == Some("js".as_ref()) && path.file_name() != Some("warm_up.js".as_ref()) {
                let source = std::fs::read_to_string(&path).expect("a script");
                let found = source
                    .lines()
                    .position(|line| line.replace("\"${\"", "").contains("${") || line.contains("await "));
                assert_eq!(found, None, "{}: the line after this many has one", path.display());
                scripts += 1;
            }
        }
    }
    assert!(scripts > 50, "{scripts}");
}

#[test]
fn native_memory_of_streams_and_digests_is_the_engine_s() {
    let page = Page::new();
    let held = |make: &str| {
        let body = format!(
            "globalThis.kept = Array.from({{ length: 8 }}, () => {make}); await new Promise((r) => setTimeout(r, 1)); return 1"
        );
        assert_eq!(page.outcome(&body), "1");
        page.heap_bytes()
    };
    let none = held("1");
    let compressors = held("new CompressionStream('gzip')") - none;
    assert!(compressors > 8 * 300_000, "{compressors} bytes for eight compressors");
    let decompressors = held("new DecompressionStream('gzip')") - none;
    assert!((8 * 40_000..8 * 80_000).contains(&decompressors), "{decompressors} bytes for eight decompressors");
    let digests = held("new crypto.DigestStream('SHA-1')") - none;
    assert!((8 * 500..8 * 20_000).contains(&digests), "{digests} bytes for eight digests");
    assert!(held("1") - none < 10_000, "what is gone is still counted");
}

#[test]
fn encryption_that_would_not_fit_is_refused_before_it_is_made() {
    let page = Page::with(Host { charge: |bytes| bytes < 1 << 20, ..Host::default() });
    for body in [
        "const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', false, ['encrypt']); await crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, k, new Uint8Array(1 << 20))",
        "const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']); await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: k.usages && new Uint8Array(1), iterations: 1 }, k, 2 ** 31)",
        "await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-1', length: 2 ** 31 }, false, ['sign'])",
        "await crypto.subtle.importKey('jwk', { kty: 'oct', k: 'A'.repeat(1 << 21) }, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])",
    ] {
        assert_eq!(page.outcome(body), "!RangeError", "{body}");
    }
}

#[test]
fn an_address_that_would_not_fit_is_refused_before_it_is_parsed() {
    let page = Page::with(Host { charge: |bytes| bytes < 1 << 20, ..Host::default() });
    for body in [
        "return new URL('https://h/' + 'é'.repeat(1 << 19))",
        "return URL.canParse('https://h/' + 'é'.repeat(1 << 19))",
        "const u = new URL('https://h/'); u.hash = 'é'.repeat(1 << 19)",
        "return new URLSearchParams({ a: 'é'.repeat(1 << 19) }).toString()",
        "return new URLSearchParams('a=' + '%41'.repeat(1 << 19))",
        "return new URLPattern({}).test('https://h/' + 'é'.repeat(1 << 19))",
    ] {
        assert_eq!(page.outcome(body), "!RangeError", "{body}");
    }
}

#[test]
fn every_timer_is_forgotten_by_a_new_run() {
    let page = Page::new();
    page.eval("setTimeout(() => {}, 1000)");
    page.with_ctx(|ctx| {
        assert!(web::next_timer(ctx).is_some());
        web::reset_for_run(ctx);
        assert_eq!(web::next_timer(ctx), None);
    });
    assert_eq!(
        page.outcome("return performance.now() < 1000 && Math.abs(performance.timeOrigin - Date.now()) < 1000"),
        "true"
    );
}

#[test]
fn a_decoder_that_would_not_fit_is_refused_before_it_is_made() {
    let page = Page::with(Host { charge: |bytes| bytes < 1 << 20, ..Host::default() });
    let body = "return new TextDecoder('utf-16le').decode(new Uint8Array(4 << 20))";
    assert_eq!(page.outcome(body), "!RangeError");
}

/// A host whose answers depend on the path, and which shows what it was asked.
const SERVER: &str = r#"
    (method, url, headers, body, onAbort) => {
        const text = JSON.stringify([method, url, headers, body && [...body]]);
        const answer = (status, headers, body = new TextEncoder().encode(text)) =>
            ({ status, statusText: "S", headers, body });
        const path = url.replace(/^https?:\/\/[^/]*/, "");
        if (path.startsWith("/redirect/")) return Promise.resolve(answer(Number(path.slice(10, 13)), [["location", "/end"]]));
        if (path === "/loop") return Promise.resolve(answer(302, [["location", "/loop"]]));
        if (path === "/away") return Promise.resolve(answer(307, [["location", "https://other/end"]]));
        if (path === "/bytes") return Promise.resolve(answer(302, [["location", "/\u00e2\u0098\u0083%e2?\u00ff"]]));
        if (path === "/file") return Promise.resolve(answer(302, [["location", "file:///etc/passwd"]]));
        if (path === "/never") return new Promise((_, reject) => onAbort(() => { globalThis.stopped = true; }));
        if (path === "/fails") return Promise.reject(new TypeError("no route"));
        return Promise.resolve(answer(path === "/204" ? 204 : 200, [["x", "y"], ["set-cookie", "a"], ["set-cookie", "b"]]));
    }
"#;

#[test]
fn requests_go_through_the_host_and_redirects_are_followed_by_us() {
    let page = Page::with(Host { fetch: Some(SERVER), ..Host::default() });
    let cases = [
        (
            "const r = await fetch('https://h/p?q#f', {method: 'post', body: 'b', headers: {a: 'c'}}); return [r.status, r.statusText, r.url, r.redirected, r.type, r.headers.getSetCookie(), await r.json()]",
            r#"[200, "S", "https://h/p?q", false, "basic", ["a", "b"], ["POST", "https://h/p?q", [["a", "c"], ["content-type", "text/plain;charset=UTF-8"]], [98]]]"#,
        ),
        (
            "const r = await fetch('https://h/redirect/303', {method: 'PUT', body: 'b'}); return [r.url, r.redirected, await r.json()]",
            r#"["https://h/end", true, ["GET", "https://h/end", [], null]]"#,
        ),
        (
            "const r = await fetch('https://h/redirect/307', {method: 'POST', body: 'b'}); return (await r.json()).slice(0, 2).concat(1)",
            r#"["POST", "https://h/end", 1]"#,
        ),
        (
            "const r = await fetch('https://h/away', {headers: {authorization: 's', cookie: 'c', x: 'y'}}); return (await r.json())[2]",
            r#"[["x", "y"]]"#,
        ),
        ("return fetch('https://h/redirect/302', {redirect: 'error'})", "!TypeError"),
        (
            "const r = await fetch('https://h/redirect/302', {redirect: 'manual'}); return [r.status, r.headers.get('location')]",
            r#"[302, "/end"]"#,
        ),
        ("return fetch('https://h/loop').catch((e) => e.message)", r#""The server redirected more than 20 times.""#),
        (
            "return fetch('https://h/file').catch((e) => e.message)",
            r#""The server redirected to file:, which is not followed.""#,
        ),
        ("return (await fetch('https://h/bytes')).url", r#""https://h/%E2%98%83%e2?%FF""#),
        (
            "const send = async (status, body) => (await fetch('https://h/redirect/' + status, {method: 'POST', body, duplex: 'half'})).json().then((v) => v[3], (e) => e); const stream = () => ReadableStream.from([new Uint8Array([1])]); return [await send(303, stream()), await send(301, stream()).catch((e) => e.name), await send(307, stream()).catch((e) => e.message)]",
            r#"[null, "TypeError", "The server redirected, and a body that was a stream cannot be sent again; make the request of a text, bytes or a Blob."]"#,
        ),
        (
            "const first = new Request('https://h/redirect/307', {method: 'POST', body: 'b'}); first.body; const copy = first.clone(), moved = new Request(first); return [(await (await fetch(copy)).json())[3], (await (await fetch(moved)).json())[3]]",
            "[[98], [98]]",
        ),
        (
            "return fetch('https://h/p', {cache: 'only-if-cached', mode: 'same-origin'}).catch((e) => e.message)",
            r#""The request asks for a cached response, and there is no cache.""#,
        ),
        ("return fetch('https://h/fails').catch((e) => e.message)", r#""no route""#),
        ("const r = await fetch('https://h/204'); return [r.status, r.body, await r.text()]", r#"[204, null, ""]"#),
        ("const r = await fetch('https://h/x', {method: 'HEAD'}); return [r.status, r.body]", "[200, null]"),
        (
            "const e = await fetch('https://h/never', {signal: AbortSignal.timeout(2)}).catch((e) => e); return [e.name, globalThis.stopped]",
            r#"["TimeoutError", true]"#,
        ),
        (
            "const r = await fetch('https://h/x', {method: 'POST', body: ReadableStream.from([new Uint8Array([1]), new Uint8Array([2])]), duplex: 'half'}); return (await r.json())[3]",
            "[1, 2]",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(page.outcome(body), expected, "{body}");
    }
}

#[test]
fn a_warm_context_costs_what_it_is_known_to_cost() {
    let started = std::time::Instant::now();
    let page = Page::new();
    let install = started.elapsed();
    let bare = rquickjs::Runtime::new().expect("a runtime");
    let _context = rquickjs::Context::full(&bare).expect("a context");
    let heap = (page.heap_bytes() - bare.memory_usage().malloc_size) / 1024;
    println!("the Web surface: {heap} KiB of heap, installed in {install:?}");
    assert!(heap < 1150, "{heap} KiB");
}
