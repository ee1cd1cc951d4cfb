//! What `fetch` calls for each hop (CONTRACT section 10).

use codemode_protocol::{OutboundResponse, Termination, text};

use super::harness::{Answer, FETCH, Ran, host, run_in_fork, spec};
use crate::frame::{OutboundSpec, RunSpec};

fn outbound(code: &str) -> RunSpec {
    RunSpec { outbound: OutboundSpec::Host, outbound_bytes: 1000, ..spec(code) }
}

fn run(code: &str) -> Ran {
    run_in_fork(&outbound(code), |provider, tool, args| match (provider, args) {
        (FETCH, "https://fails/") => Answer::Rejection("no such host".into()),
        (FETCH, "https://never/") => Answer::Never,
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
        const { status, statusText, headers, body } =
            await hook('POST', 'https://h/', [['x', '1'], ['x', '2']], new Uint8Array([9, 0, 255, 9]).subarray(1, 3));
        return [status, statusText, headers, String.fromCharCode(...body)];
    }");
    assert_eq!(ran.result(), "[[201,\"Made\",[[[[\"a\",\"\\\"ö\\\"\"]],[[\"a\",\"2\"]]]],\"POST https://h/\"]]");
    let [request] = ran.fetches.as_slice() else { panic!("{ran:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "https://h/"));
    assert_eq!(request.headers, [("x".to_owned(), "1".to_owned()), ("x".to_owned(), "2".to_owned())]);
    assert_eq!(request.body.as_deref(), Some(&[0, 255][..]));
    assert!(ran.waits >= 1, "the clock stands meanwhile");
}

#[test]
fn failures_are_type_errors_that_a_program_can_catch() {
    let caught = |call: &str| {
        let ran = run(&format!(
            "async () => {{ try {{ await {call} }} catch (e) {{ return [e instanceof TypeError, e.message] }} }}"
        ));
        (ran.result().to_owned(), ran.fetches.len())
    };
    assert_eq!(caught("hook('GET', 'https://fails/', [], null)"), ("[[true,\"no such host\"]]".to_owned(), 1));
    let large = text::outbound_too_large("request body", "PUT https://h/", 1001, 1000);
    let expected = format!("[[true,\"{large}\"]]");
    assert_eq!(caught("hook('PUT', 'https://h/', [], new Uint8Array(1001))"), (expected, 0));
    let (found, sent) = caught("hook('PUT', 'https://h/', [['a', 'x'.repeat(3e5)]], null)");
    assert!(found.contains("The request head of PUT https://h/ takes ") && sent == 0, "{found}");
}

#[test]
fn a_request_that_is_given_up_is_told_to_the_host_and_holds_up_nothing() {
    let ran = run("async () => {
        let stop;
        const pending = hook('GET', 'https://never/', [], null, (give) => { stop = give });
        await null;
        stop(); stop();
        return pending.catch((error) => error.message);
    }");
    assert_eq!((ran.result(), ran.aborted.is_empty()), ("\"given up\"", false));
}

#[test]
fn requests_share_the_bound_in_flight_with_other_calls() {
    let mut spec = outbound(
        "async () => {
        const stops = [];
        const first = hook('GET', 'https://h/1', [], null);
        const taken = hook('GET', 'https://h/2', [], null, (give) => stops.push(give));
        const last = api.echo(3);
        stops[0]();
        await first;
        return await last;
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
    assert_eq!((ran.done().termination, ran.result()), (Termination::Completed, "[[3]]"));
    assert_eq!(seen, ["https://h/1", "[3]"], "what was given up before it went out never goes");
}
