//! The names that an execution may have, and the texts that refuse it.

use std::collections::HashSet;

use codemode_protocol::{JAVASCRIPT_RESERVED_WORDS, RESERVED_PROVIDER_NAMES, is_identifier};

use crate::{
    provider::{ConnectorBinding, Provider},
    tool_name::collision,
};

/// Checks the names of providers, then of connectors, then the providers' tools for two that share an identifier.
///
/// # Errors
/// The text of the first rule that is broken: it is the execution's error, and hosts parse it.
pub fn validate_execution(providers: &[Provider], connectors: &[ConnectorBinding]) -> Result<(), String> {
    validate_names(
        providers.iter().map(|provider| provider.name.as_str()),
        connectors.iter().map(|connector| connector.name.as_str()),
    )?;
    detect_sanitize_collision(providers).map_or(Ok(()), Err)
}

/// Checks the names of providers, then of connectors.
pub(crate) fn validate_names<'a>(
    providers: impl Iterator<Item = &'a str>,
    connectors: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let mut taken = HashSet::new();
    for name in providers {
        validate_name("Provider", name)?;
        if !taken.insert(name) {
            return Err(format!("Duplicate provider name \"{name}\""));
        }
    }
    for name in connectors {
        validate_name("Connector", name)?;
        if !taken.insert(name) {
            return Err(format!("Duplicate name \"{name}\" (connector clashes with provider)"));
        }
    }
    Ok(())
}

/// The text that tells of the first two tools of one provider that share an identifier, if there are two.
pub fn detect_sanitize_collision(providers: &[Provider]) -> Option<String> {
    providers.iter().find_map(|provider| collision(&provider.name, provider.tools.names()))
}

fn validate_name(kind: &str, name: &str) -> Result<(), String> {
    if RESERVED_PROVIDER_NAMES.contains(&name) || DIALECT_RESERVED.contains(&name) {
        return Err(format!("{kind} name \"{name}\" is reserved"));
    }
    if !is_identifier(name) {
        return Err(format!("{kind} name \"{name}\" is not a valid JavaScript identifier"));
    }
    if JAVASCRIPT_RESERVED_WORDS.contains(&name) {
        return Err(format!("{kind} name \"{name}\" is a JavaScript reserved word"));
    }
    Ok(())
}

/// What the dialect reserves beyond the native contract: names of the harness that its own executor generates.
const DIALECT_RESERVED: [&str; 12] = [
    "__dispatchers",
    "__connectors",
    "__logs",
    "__CODEMODE_BINARY_TAG",
    "__bytesToBase64",
    "__base64ToBytes",
    "__encodeCodemodeValue",
    "__decodeCodemodeValue",
    "__stringifyForCodemode",
    "__parseForCodemode",
    "WorkerEntrypoint",
    "CodeExecutor",
];

#[cfg(test)]
mod tests {
    use codemode_protocol::{CancelToken, HostCallError, capnweb::Value};
    use futures_util::future::{BoxFuture, FutureExt};

    use super::*;
    use crate::{Connector, Tools};

    struct Silent;

    impl Connector for Silent {
        fn call_tool(&self, _: String, _: Value, _: CancelToken) -> BoxFuture<'static, Result<Value, HostCallError>> {
            async { Ok(Value::Undefined) }.boxed()
        }
    }

    fn providers(names: &[&str]) -> Vec<Provider> {
        names.iter().map(|name| Provider::new(*name, Tools::new())).collect()
    }

    fn connectors(names: &[&str]) -> Vec<ConnectorBinding> {
        names.iter().map(|name| ConnectorBinding::new(*name, Silent)).collect()
    }

    fn provider_with(name: &str, tools: &[&str]) -> Provider {
        let tool = |tools: Tools, name: &&str| tools.with(*name, |_| async { Ok(Value::Undefined) });
        Provider::new(name, tools.iter().fold(Tools::new(), tool))
    }

    fn check(providers: &[Provider], connectors: &[ConnectorBinding], text: &str) {
        assert_eq!(validate_execution(providers, connectors), Err(text.to_owned()));
    }

    #[test]
    fn each_rule_has_its_text() {
        let names = [
            ("Promise", "name \"Promise\" is reserved"),
            ("Error", "name \"Error\" is reserved"),
            ("console", "name \"console\" is reserved"),
            ("setTimeout", "name \"setTimeout\" is reserved"),
            ("__logs", "name \"__logs\" is reserved"),
            ("CodeExecutor", "name \"CodeExecutor\" is reserved"),
            ("my-api", "name \"my-api\" is not a valid JavaScript identifier"),
            ("", "name \"\" is not a valid JavaScript identifier"),
            ("1a", "name \"1a\" is not a valid JavaScript identifier"),
            ("é", "name \"é\" is not a valid JavaScript identifier"),
            ("a\n", "name \"a\n\" is not a valid JavaScript identifier"),
            ("class", "name \"class\" is a JavaScript reserved word"),
            ("async", "name \"async\" is a JavaScript reserved word"),
            ("eval", "name \"eval\" is a JavaScript reserved word"),
            ("arguments", "name \"arguments\" is a JavaScript reserved word"),
            ("await", "name \"await\" is a JavaScript reserved word"),
        ];
        for (name, text) in names {
            check(&providers(&["first", name]), &[], &format!("Provider {text}"));
            check(&providers(&["first"]), &connectors(&[name]), &format!("Connector {text}"));
        }
        for name in DIALECT_RESERVED.iter().chain(RESERVED_PROVIDER_NAMES) {
            check(&providers(&[name]), &[], &format!("Provider name \"{name}\" is reserved"));
        }
        check(&providers(&["dup", "a", "dup"]), &[], "Duplicate provider name \"dup\"");
        let clash = "Duplicate name \"api\" (connector clashes with provider)";
        check(&providers(&["api"]), &connectors(&["api"]), clash);
        check(&[], &connectors(&["api", "api"]), clash);
    }

    #[test]
    fn names_that_the_reference_accepts_pass() {
        let names =
            ["codemode", "$", "_", "JSON", "Proxy", "String", "undefined", "err", "result", "of", "get", "Object"];
        assert_eq!(validate_execution(&providers(&names), &connectors(&["api"])), Ok(()));
    }

    #[test]
    fn the_rules_come_in_order() {
        // A name that breaks several rules is told of the first; providers come before connectors, names before tools.
        check(&providers(&["Promise", "Promise"]), &[], "Provider name \"Promise\" is reserved");
        check(&providers(&["class", "class"]), &[], "Provider name \"class\" is a JavaScript reserved word");
        check(&providers(&["a", "a"]), &connectors(&["my-api"]), "Duplicate provider name \"a\"");
        let colliding = provider_with("gh", &["list-issues", "list.issues"]);
        check(std::slice::from_ref(&colliding), &connectors(&["Promise"]), "Connector name \"Promise\" is reserved");
        check(
            &[provider_with("fine", &["a", "b"]), colliding],
            &connectors(&["api"]),
            "Tool names \"list-issues\" and \"list.issues\" both sanitize to \"list_issues\" in provider \"gh\"",
        );
    }

    #[test]
    fn tools_of_different_providers_may_share_an_identifier() {
        let both = [provider_with("a", &["x-y"]), provider_with("b", &["x.y"])];
        assert_eq!(validate_execution(&both, &[]), Ok(()));
        check(
            &[provider_with("n", &["_1", "1"])],
            &[],
            "Tool names \"1\" and \"_1\" both sanitize to \"_1\" in provider \"n\"",
        );
        check(
            &[provider_with("n", &["", "é"])],
            &[],
            "Tool names \"\" and \"é\" both sanitize to \"_\" in provider \"n\"",
        );
    }
}
