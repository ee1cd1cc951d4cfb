//! `fetch` and the host.

use codemode_protocol::{OutboundResponse, Termination, text};

use super::harness::{Answer, FETCH, Ran, host, run_in_fork, run_spec, spec};
use crate::frame::{OutboundSpec, RunSpec};

fn outbound(code: &str) -> RunSpec {
    RunSpec { outbound: OutboundSpec::Host, outbound_bytes: 1000, ..spec(code) }
}

fn run(code: &str) -> Ran {
    run_in_fork(&outbound(code), |provider, tool, args| match (provider, args) {
        (FETCH, "https://fails/") => Answer::Rejection(NO_SUCH_HOST.repeat(40)),
        (FETCH, "https://never/") => Answer::Never,
        (FETCH, "https://moved/") => Answer::Response(OutboundResponse {
            status: 303,
            status_text: String::new(),
            headers: vec![("location".into(), "//h/there".into())],
            body: Vec::new(),
        }),
        (FETCH, url) => Answer::Response(OutboundResponse {
            status: 201,
            status_text: "Made".into(),
            headers: vec![("a".into(), "\"ö\"".into()), ("a".into(), "2".into())],
            body: format!("{tool} {url}").into_bytes(),
        }),
        _ => host(provider, tool, args),
    })
}

#[test]
fn a_request_goes_to_the_host_and_its_response_comes_back() {
    let ran = run("async () => {
        const response = await fetch('https://h/#part', {
            method: 'post', headers: [['x', '1'], ['x', '2']], body: new Uint8Array([9, 0, 255, 9]).subarray(1, 3),
        });
        const { status, statusText, headers, url } = response;
        return [status, statusText, headers.get('a'), url, await response.text()];
    }");
    assert_eq!(ran.result(), "[[201,\"Made\",\"\\\"ö\\\", 2\",\"https://h/\",\"POST https://h/\"]]");
    let [request] = ran.fetches.as_slice() else { panic!("{ran:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "https://h/"));
    assert_eq!(request.headers, [("x".to_owned(), "1".to_owned()), ("x".to_owned(), "2".to_owned())]);
    assert_eq!(request.body.as_deref(), Some(&[0, 255][..]));
    assert!(ran.waits >= 1, "the clock stands meanwhile");
}

#[test]
fn each_hop_of_a_redirect_goes_through_the_host() {
    let ran = run("async () => {
        const response = await fetch('https://moved/', { method: 'POST', body: 'b' });
        return [response.url, response.redirected, await response.text()];
    }");
    assert_eq!(ran.result(), "[[\"https://h/there\",true,\"GET https://h/there\"]]");
    let hops: Vec<_> = ran.fetches.iter().map(|hop| (&*hop.method, &*hop.url, hop.body.is_some())).collect();
    assert_eq!(hops, [("POST", "https://moved/", true), ("GET", "https://h/there", false)]);
}

#[test]
fn failures_are_type_errors_that_a_program_can_catch() {
    let caught = |call: &str| {
        let ran = run(&format!(
            "async () => {{ try {{ await {call} }} catch (e) {{ return [e instanceof TypeError, e.message] }} }}"
        ));
        (ran.result().to_owned(), ran.fetches.len())
    };
    let message = NO_SUCH_HOST.repeat(40);
    assert_eq!(caught("fetch('https://fails/')"), (format!("[[true,\"{message}\"]]"), 1));
    let large = text::outbound_too_large("request body", "PUT https://h/", 1001, 1000);
    let expected = format!("[[true,\"{large}\"]]");
    assert_eq!(caught("fetch('https://h/', { method: 'PUT', body: new Uint8Array(1001) })"), (expected, 0));
    let (found, sent) = caught("fetch('https://h/', { headers: { a: 'x'.repeat(3e5) } })");
    assert!(found.contains("The request head of GET https://h/ takes ") && sent == 0, "{found}");
}

#[test]
fn without_network_access_only_data_can_be_fetched() {
    let code = "async () => {
        const failed = (address, init) => fetch(address, init).catch((error) => [error instanceof TypeError, error.message]);
        return [
            await (await fetch('data:text/plain;base64,aGk=')).text(),
            await failed('https://h/'),
            await failed('http://h/', { method: 'POST', body: 'b' }),
            await failed('file:///etc/passwd'),
        ];
    }";
    let ran = run_spec(&spec(code));
    let off = format!("[[true,\"{}\"]]", text::NETWORK_OFF);
    let file = "[[true,\"Fetch API cannot load: file:///etc/passwd\"]]";
    assert_eq!(ran.result(), format!("[[\"hi\",{off},{off},{file}]]"));
    assert!(ran.fetches.is_empty());
    let ran =
        run("async () => [await (await fetch('data:,hi')).text(), await fetch('file:///x').catch((e) => e.name)]");
    assert_eq!(ran.result(), "[[\"hi\",\"TypeError\"]]");
    assert!(ran.fetches.is_empty());
}

#[test]
fn a_request_that_is_given_up_is_told_to_the_host_and_holds_up_nothing() {
    let ran = run("async () => {
        const controller = new AbortController();
        const pending = fetch('https://never/', { signal: controller.signal });
        await null;
        controller.abort(); controller.abort();
        return pending.catch((error) => error.name);
    }");
    assert_eq!(ran.result(), "\"AbortError\"");
    let ran = run("async () => {
        const signal = AbortSignal.timeout(1);
        return fetch('https://never/', { signal }).catch((error) => [error.name, error === signal.reason]);
    }");
    assert_eq!((ran.result(), ran.aborted.as_slice()), ("[[\"TimeoutError\",true]]", &[1][..]));
}

#[test]
fn requests_share_the_bound_in_flight_with_other_calls() {
    let mut spec = outbound(
        "async () => {
        const controller = new AbortController();
        const first = fetch('https://h/1');
        const taken = fetch('https://h/2', controller).catch(({ name }) => name);
        // So that both are on their way.
        await new Promise(queueMicrotask);
        const last = api.echo(3);
        controller.abort();
        await first;
        return [await taken, await last];
    }",
    );
    spec.calls_in_flight = 1;
    let mut seen = Vec::new();
    let ran = run_in_fork(&spec, |provider, tool, args| {
        seen.push(args.to_owned());
        match provider {
            FETCH => Answer::Response(OutboundResponse {
                status: 200,
                status_text: String::new(),
                headers: Vec::new(),
                body: Vec::new(),
            }),
            _ => host(provider, tool, args),
        }
    });
    assert_eq!((ran.done().termination, ran.result()), (Termination::Completed, "[[\"AbortError\",[[3]]]]"));
    assert_eq!(seen, ["https://h/1", "[3]"], "what was given up before it went out never goes");
}

/// Repeated it is longer than the engine's own messages can be.
const NO_SUCH_HOST: &str = "no such höst ";
