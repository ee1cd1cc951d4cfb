//! Executions whose tools another process answers: there are names instead of functions, and calls are passed on under the
//! names that the caller knows, their JSON untouched where the dialect leaves it alone.

use std::{collections::HashMap, sync::Arc};

use codemode_protocol::{
    CodemodeRequest, Dispatch, ExecuteRequest, HostCall, HostCallError, ProviderDescriptor, encode_error,
    first_element, from_json, members, text,
};
use futures_util::future::{BoxFuture, FutureExt};

use crate::{
    executor::native_request,
    plan::{CONTROL_KEY, CONTROL_MESSAGE, control_message},
    tool_name::{collision, sanitize_tool_name},
    validate::validate_names,
};

/// The two sides of an execution whose tools another process answers.
pub struct ForwardPlan {
    /// What crosses to the executor. Its code is still what the model wrote: whoever plans says where and when it is
    /// normalized ([`normalize_code`](crate::normalize_code)), since that takes time.
    pub native: ExecuteRequest,
    /// Which name of the program is which of the caller's.
    pub tools: ForwardedTools,
}

/// Which name of the program is which of the caller's.
#[derive(Clone, Debug)]
pub struct ForwardedTools {
    namespaces: Arc<HashMap<String, Namespace>>,
}

#[derive(Debug)]
enum Namespace {
    /// Raw names by identifier.
    Provider(HashMap<String, String>),
    Connector,
}

/// Plans the execution of `request`.
///
/// # Errors
/// The text of the first rule of names that is broken, as of [`validate_execution`](crate::validate_execution): it is the
/// execution's error, and hosts parse it.
pub fn plan_request(request: CodemodeRequest) -> Result<ForwardPlan, String> {
    let CodemodeRequest { code, providers, connectors, modules, timeout, outbound, result_encoding, id } = request;
    validate_names(providers.iter().map(|provider| provider.name.as_str()), connectors.iter().map(String::as_str))?;
    for provider in &providers {
        if let Some(refusal) = collision(&provider.name, provider.tools.iter().map(String::as_str)) {
            return Err(refusal);
        }
    }
    let mut namespaces = HashMap::with_capacity(providers.len() + connectors.len());
    let mut descriptors = Vec::with_capacity(providers.len() + connectors.len());
    for provider in providers {
        let tools: Vec<String> = provider.tools.iter().map(|name| sanitize_tool_name(name)).collect();
        let raw = tools.iter().cloned().zip(provider.tools).collect();
        namespaces.insert(provider.name.clone(), Namespace::Provider(raw));
        descriptors.push(ProviderDescriptor { tools, ..provider });
    }
    for name in connectors {
        namespaces.insert(name.clone(), Namespace::Connector);
        descriptors.push(ProviderDescriptor { name, ..ProviderDescriptor::default() });
    }
    let native =
        ExecuteRequest { modules, outbound, result_encoding, id, ..native_request(code, descriptors, timeout) };
    Ok(ForwardPlan { native, tools: ForwardedTools { namespaces: Arc::new(namespaces) } })
}

impl ForwardedTools {
    /// The dispatch of a run, whose calls go to `caller`; without one there are no tools. That calls of a run which is
    /// over are refused is left to `caller`.
    pub fn lend(&self, caller: Option<Arc<dyn Dispatch>>) -> ForwardingDispatch {
        ForwardingDispatch { namespaces: self.namespaces.clone(), caller }
    }
}

/// Passes calls on under the names that the caller knows. Of a call of a connector the first argument is passed on, and
/// its answer is read for the connector's decision to pause or to fail.
#[derive(Clone)]
pub struct ForwardingDispatch {
    namespaces: Arc<HashMap<String, Namespace>>,
    caller: Option<Arc<dyn Dispatch>>,
}

impl Dispatch for ForwardingDispatch {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let at_once = |envelope: String| std::future::ready(Ok(envelope)).boxed();
        let missing = || at_once(encode_error(&text::tool_not_found(&call.tool)));
        let Some(caller) = &self.caller else { return missing() };
        match self.namespaces.get(&call.provider) {
            None => missing(),
            Some(Namespace::Provider(raw)) => match raw.get(&call.tool) {
                None => missing(),
                Some(raw) => caller.call(HostCall { tool: raw.clone(), ..call }),
            },
            Some(Namespace::Connector) => {
                let first = first_element(&call.args_json).unwrap_or_default();
                let answer = caller.call(HostCall { args_json: format!("[{first}]"), ..call });
                async move { answer.await.map(read_control_envelope) }.boxed()
            }
        }
    }
}

/// The envelope, or in its place the error that the marked object in it stands for.
fn read_control_envelope(envelope: String) -> String {
    // Most answers have neither the key nor an escape that could hide one, and are not read at all.
    if !envelope.contains(CONTROL_KEY) && !envelope.contains("\\u") {
        return envelope;
    }
    let value = |json: &str| from_json(json).ok();
    // Where there is an error it counts, as everywhere that an envelope is read.
    let Some([Some(result), None]) = members(&envelope, ["result", "error"]) else { return envelope };
    let Some([Some(control), message]) = members(result, [CONTROL_KEY, CONTROL_MESSAGE]) else { return envelope };
    // Only short words are decisions; what is longer need not be read.
    let control = (control.len() < SHORT).then(|| value(control)).flatten();
    match control_message(control.as_ref(), || message.and_then(value)) {
        Some(message) => encode_error(&message),
        None => envelope,
    }
}

/// More than any decision takes in JSON, with every character escaped.
const SHORT: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use codemode_protocol::{CancelToken, OutboundMode, ResultEncoding, TimeBound};

    use super::*;

    /// Notes each call and answers what it was told to.
    #[derive(Clone, Default)]
    struct Caller {
        calls: Arc<Mutex<Vec<String>>>,
        answer: Arc<str>,
    }

    impl Dispatch for Caller {
        fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
            self.calls.lock().unwrap().push(format!("{}.{} {}", call.provider, call.tool, call.args_json));
            std::future::ready(Ok(self.answer.to_string())).boxed()
        }
    }

    fn provider(name: &str, tools: &[&str]) -> ProviderDescriptor {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        ProviderDescriptor { name: name.into(), tools, ..ProviderDescriptor::default() }
    }

    fn request() -> CodemodeRequest {
        CodemodeRequest {
            code: "1 + 2".into(),
            providers: vec![provider("gh", &["list-issues", "delete"]), provider("none", &[])],
            connectors: vec!["mail".into()],
            ..CodemodeRequest::default()
        }
    }

    fn ask(dispatch: &ForwardingDispatch, provider: &str, tool: &str, args_json: &str) -> String {
        let call = HostCall {
            provider: provider.into(),
            tool: tool.into(),
            args_json: args_json.into(),
            cancel: CancelToken::never(),
        };
        dispatch.call(call).now_or_never().unwrap().unwrap()
    }

    #[test]
    fn identifiers_cross_to_the_executor_and_raw_names_to_the_caller() {
        let plan = plan_request(request()).unwrap();
        let described: Vec<_> = plan.native.providers.iter().map(|it| (it.name.as_str(), it.tools.join(" "))).collect();
        assert_eq!(described, [("gh", "list_issues delete_".into()), ("none", String::new()), ("mail", String::new())]);
        let caller = Caller { answer: "{\"result\":[ 1 ]}".into(), ..Caller::default() };
        let dispatch = plan.tools.lend(Some(Arc::new(caller.clone())));
        assert_eq!(ask(&dispatch, "gh", "list_issues", "[1, {\"a\":2}]"), "{\"result\":[ 1 ]}");
        assert_eq!(ask(&dispatch, "gh", "delete_", ""), "{\"result\":[ 1 ]}");
        assert_eq!(ask(&dispatch, "mail", "send mail", "[ {\"to\":[1]} , 2]"), "{\"result\":[ 1 ]}");
        assert_eq!(ask(&dispatch, "mail", "list", "[]"), "{\"result\":[ 1 ]}");
        for (provider, tool) in [("gh", "list-issues"), ("gh", "toString"), ("none", "any"), ("other", "any")] {
            let missing = format!("{{\"error\":\"Tool \\\"{tool}\\\" not found\"}}");
            assert_eq!(ask(&dispatch, provider, tool, "[]"), missing);
        }
        let expected = ["gh.list-issues [1, {\"a\":2}]", "gh.delete ", "mail.send mail [{\"to\":[1]}]", "mail.list []"];
        assert_eq!(*caller.calls.lock().unwrap(), expected);
        assert_eq!(
            ask(&plan.tools.lend(None), "gh", "delete_", "[]"),
            "{\"error\":\"Tool \\\"delete_\\\" not found\"}"
        );
    }

    #[test]
    fn what_the_caller_set_crosses_and_nothing_else() {
        let id = "123e4567-e89b-12d3-a456-426614174000";
        let set = CodemodeRequest {
            modules: Some([("m".to_owned(), String::new())].into()),
            timeout: TimeBound::Milliseconds(0),
            outbound: OutboundMode::Blocked,
            result_encoding: ResultEncoding::Text,
            id: Some(id.into()),
            ..request()
        };
        let native = plan_request(set).unwrap().native;
        assert_eq!(native.code, "1 + 2");
        assert_eq!((native.timeout, native.cpu_time), (TimeBound::Milliseconds(1), TimeBound::Ceiling));
        assert!(native.count_host_waits && native.drop_functions && !native.retain_handles);
        assert_eq!((native.outbound, native.result_encoding), (OutboundMode::Blocked, ResultEncoding::Text));
        assert_eq!((native.modules.unwrap().len(), native.id.as_deref()), (1, Some(id)));
        let native = plan_request(request()).unwrap().native;
        assert_eq!((native.modules, native.timeout, native.id), (None, TimeBound::Default, None));
    }

    #[test]
    fn a_connector_decides_by_a_marked_object() {
        let paused = "{\"error\":\"__CODEMODE_PAUSE__\"}";
        let cases = [
            ("{\"result\":{\"__codemode_control__\":\"pause\"}}", paused),
            ("{\"result\":{\"\\u005f_codemode_control__\":\"p\\u0061use\",\"x\":[1]}}", paused),
            ("{\"result\":{\"__codemode_control__\":1,\"__codemode_control__\":\"pause\"}}", paused),
            ("{\"result\":{\"__codemode_control__\":\"error\",\"message\":\"no\"}}", "{\"error\":\"no\"}"),
            ("{\"result\":{\"__codemode_control__\":\"error\"}}", "{\"error\":\"undefined\"}"),
            ("{\"result\":{\"__codemode_control__\":\"error\",\"message\":{}}}", "{\"error\":\"[object Object]\"}"),
        ];
        for (envelope, expected) in cases {
            assert_eq!(read_control_envelope(envelope.into()), expected, "{envelope}");
        }
        for kept in [
            "{}",
            "{\"result\":1}",
            "{\"result\":{\"__codemode_control__\":\"other\"}}",
            "{\"result\":[{\"__codemode_control__\":\"pause\"}]}",
            "{\"result\":{\"a\":{\"__codemode_control__\":\"pause\"}}}",
            "{\"result\":{\"__codemode_control__\":\"pause\"},\"error\":\"x\"}",
            "not JSON",
        ] {
            assert_eq!(read_control_envelope(kept.into()), kept);
        }
    }

    #[test]
    fn a_name_that_breaks_a_rule_refuses_the_request_with_the_text_of_the_dialect() {
        let with = |providers: Vec<ProviderDescriptor>, connectors: &[&str]| {
            let connectors = connectors.iter().map(|name| (*name).to_owned()).collect();
            let request = CodemodeRequest { providers, connectors, ..CodemodeRequest::default() };
            plan_request(request).err().unwrap()
        };
        assert_eq!(with(vec![provider("Promise", &[])], &[]), "Provider name \"Promise\" is reserved");
        let clash = "Duplicate name \"a\" (connector clashes with provider)";
        assert_eq!(with(vec![provider("a", &["x-y", "x.y"])], &["a"]), clash);
        assert_eq!(
            with(vec![provider("a", &["x-y", "x.y"])], &[]),
            "Tool names \"x-y\" and \"x.y\" both sanitize to \"x_y\" in provider \"a\""
        );
    }
}
