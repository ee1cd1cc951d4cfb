//! What of an execution crosses to the executor, and what stays here to answer its calls.

use std::{collections::HashMap, sync::Arc};

use codemode_protocol::{
    EnvelopeDispatch, HostCallError, ProviderDescriptor, ToolCall, ToolHandler, ToolNotFoundError, capnweb::Value,
    to_json,
};

use crate::{
    provider::{ConnectorBinding, Provider},
    tool_name::sanitize_tool_name,
};

/// The two sides of an execution. Functions never leave this process: only names cross, and what source a provider brought.
pub struct ExecutionPlan {
    /// What crosses, in the program's order: providers, then connectors.
    pub descriptors: Vec<ProviderDescriptor>,
    /// What answers.
    pub dispatch: EnvelopeDispatch,
}

/// Plans the execution of a program that sees `providers` and `connectors`, whose names have been validated.
pub fn plan_execution(providers: Vec<Provider>, connectors: Vec<ConnectorBinding>) -> ExecutionPlan {
    let mut descriptors = Vec::with_capacity(providers.len() + connectors.len());
    let mut dispatch = EnvelopeDispatch::new();
    for provider in providers {
        let tools = provider.tools.entries().map(|(name, function)| (sanitize_tool_name(name), function.clone()));
        let tools: Vec<(String, ToolHandler)> = tools.collect();
        descriptors.push(ProviderDescriptor {
            name: provider.name.clone(),
            tools: tools.iter().map(|(identifier, _)| identifier.clone()).collect(),
            prelude: provider.prelude,
            positional_args: provider.positional_args,
            proxy_source: provider.proxy_source,
        });
        let tools: Arc<HashMap<String, ToolHandler>> = Arc::new(tools.into_iter().collect());
        dispatch = dispatch.provider(provider.name, move |call| {
            let function = tools.get(&call.tool).cloned();
            async move {
                match function {
                    Some(function) => function(call).await,
                    None => Err(ToolNotFoundError::new(call.tool).into()),
                }
            }
        });
    }
    for ConnectorBinding { name, connector } in connectors {
        descriptors.push(ProviderDescriptor { name: name.clone(), ..ProviderDescriptor::default() });
        dispatch = dispatch.provider(name, move |call: ToolCall| {
            let argument = call.args.into_iter().next().unwrap_or_default();
            let answer = connector.call_tool(call.tool, argument, call.cancel);
            async move { answer.await.and_then(read_control_marker) }
        });
    }
    ExecutionPlan { descriptors, dispatch }
}

/// A connector says that it pauses or fails by a marked object in the place of a result; here it becomes the failure.
fn read_control_marker(answer: Value) -> Result<Value, HostCallError> {
    let member = |name: &str| answer.as_object().and_then(|object| object.get(name));
    match control_message(member(CONTROL_KEY), || member(CONTROL_MESSAGE).cloned()) {
        Some(message) => Err(HostCallError::new(message)),
        None => Ok(answer),
    }
}

/// What a call rejects with whose answer has the member `control`, if that is a decision of a connector.
pub(crate) fn control_message(control: Option<&Value>, message: impl FnOnce() -> Option<Value>) -> Option<String> {
    match control.and_then(Value::as_str) {
        Some("pause") => Some(PAUSE.into()),
        Some("error") => Some(message_text(&message().unwrap_or_default())),
        _ => None,
    }
}

/// `String(message)`, for what a message can sensibly be.
fn message_text(message: &Value) -> String {
    match message {
        Value::String(text) => text.to_string(),
        Value::Object(_) => "[object Object]".into(),
        other => to_json(other).ok().flatten().unwrap_or_else(|| "undefined".into()),
    }
}

/// The member that marks an answer as a connector's decision.
pub(crate) const CONTROL_KEY: &str = "__codemode_control__";

/// The member that says why a call fails.
pub(crate) const CONTROL_MESSAGE: &str = "message";

/// What a paused call rejects with; the dialect's runtime looks for it.
const PAUSE: &str = "__CODEMODE_PAUSE__";
