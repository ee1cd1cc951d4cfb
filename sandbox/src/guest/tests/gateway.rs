//! A gateway that hides its namespaces behind one provider and frames what its host says of failed calls.

use codemode_protocol::Termination;

use super::harness::{Answer, Ran, provider, run_in_fork, spec};
use crate::frame::ProviderSpec;

/// What nobody but the prelude may ever see.
const FRAME: &str = "\u{1}connecta:";

fn run_behind_gateway(code: &str) -> Ran {
    let mut spec = spec(code);
    let prelude = Some(include_str!("gateway.prelude.js").into());
    spec.providers =
        vec![ProviderSpec { prelude, tools: ["__callNamespace"].into_iter().collect(), ..provider("connecta") }];
    run_in_fork(&spec, |_, _, args| {
        let (namespace, tool, args): (String, String, serde_json::Value) = serde_json::from_str(args).unwrap();
        match tool.as_str() {
            "fail" => {
                let framed = serde_json::json!({
                    "text": format!("{namespace} refused"), "code": "RATE_LIMITED", "retryable": true, "details": args,
                });
                Answer::Envelope(serde_json::json!({ "error": format!("{FRAME}{framed}") }).to_string())
            }
            "plain" => Answer::Envelope(serde_json::json!({ "error": "unframed" }).to_string()),
            _ => Answer::Envelope(serde_json::json!({ "result": [namespace, tool, args] }).to_string()),
        }
    })
}

#[test]
fn namespaces_behind_one_provider_call_the_host_and_cannot_be_replaced() {
    let ran = run_behind_gateway(
        "async () => { const one = await github.list({ page: 1 }); const [two] = await Promise.all([files.read('a', 2)]); \
         const refused = []; for (const change of [() => { github = 1 }, () => { github.list = 1 }, () => { Error = 1 }, \
         () => delete globalThis.Error]) { try { change() } catch (e) { refused.push(e instanceof TypeError) } } \
         return [one, two, refused, await github, typeof github.toString, github.list === github.list] }",
    );
    let refused = "[[true,true,true,true]]";
    assert_eq!(
        ran.result(),
        format!(
            "[[[[\"github\",\"list\",[[{{\"page\":1}}]]]],[[\"files\",\"read\",[[\"a\",2]]]],{refused},{{}},\"function\",true]]"
        )
    );
}

#[test]
fn a_failed_call_is_decoded_before_the_program_sees_it() {
    let ran = run_behind_gateway(
        "async () => { try { await github.fail({ id: 7 }) } catch (e) { return [e instanceof Error, e.name, e.message, e.code, \
         e.retryable, e.details[0].id, String(e), e.cause === undefined, Object.keys(e).join()] } }",
    );
    assert_eq!(
        ran.result(),
        "[[true,\"Error\",\"github refused\",\"RATE_LIMITED\",true,7,\"Error: github refused\",true,\"code,retryable,details\"]]"
    );
}

#[test]
fn the_frame_is_never_visible() {
    let looks = [
        "e.message",
        "e.stack",
        "String(e)",
        "`${e.cause}`",
        "JSON.stringify(e, Object.getOwnPropertyNames(e))",
        "Object.getOwnPropertyNames(e).map((key) => String(e[key])).join()",
        "(() => { const o = {}; Error.captureStackTrace(o); return o.stack })()",
        "new Error('wrapped', { cause: e }).cause.stack",
        "(console.log(e), console.error(e.stack), console.table(e), console.dir(e), 'logged')",
        "(() => { Error.prepareStackTrace = (error, sites) => error.message + sites.map(String); return e.stack })()",
        "new AggregateError([e], 'many').errors[0].message",
        "(() => { class Mine extends Error {} return new Mine(e.message).stack })()",
    ];
    for look in looks {
        let ran = run_behind_gateway(&format!(
            "async () => {{ try {{ await github.fail(1) }} catch (e) {{ return {look} }} }}"
        ));
        assert!(!ran.result().contains("connecta"), "{look}: {}", ran.result());
        assert!(ran.lines().iter().all(|line| !line.contains("connecta")), "{look}: {:?}", ran.lines());
    }
    for code in [
        "async () => { await github.fail(1) }",
        "() => github.fail(1)",
        "async () => { try { await github.fail(1) } catch (e) { throw new Error('again: ' + e.message, { cause: e }) } }",
        "async () => Promise.any([github.fail(1), files.fail(2)])",
        "async () => { try { await github.fail(1) } catch (e) { return { toString() {}, get broken() { throw e } } } }",
    ] {
        let ran = run_behind_gateway(code);
        let (termination, error) = ran.error();
        assert!(matches!(termination, Termination::Threw | Termination::Result), "{code}");
        assert!(!error.contains("connecta:"), "{code}: {error}");
        let details = format!("{:?}", ran.done().details);
        assert!(!details.contains("connecta:"), "{code}: {details}");
    }
    let ran = run_behind_gateway("async () => { try { await github.fail(1) } catch (e) { return e } }");
    assert_eq!(ran.result(), "[\"error\",\"Error\",\"github refused\"]");
}

#[test]
fn what_is_not_framed_is_an_ordinary_error() {
    let ran = run_behind_gateway(
        "async () => { const seen = []; try { await github.plain() } catch (e) { seen.push(e.message, e.code) } \
         try { await connecta.other() } catch (e) { seen.push(e.message) } seen.push(new Error('own').message, \
         new TypeError('typed') instanceof Error, (() => { try { null.x } catch (e) { return e instanceof Error } })()); \
         return seen }",
    );
    assert_eq!(ran.result(), "[[\"unframed\",[\"undefined\"],\"Tool \\\"other\\\" not found\",\"own\",true,true]]");
}
