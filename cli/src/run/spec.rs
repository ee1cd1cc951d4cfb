//! What `run` is given on the command line, checked: tools and the daemon's URL.

use std::{collections::HashSet, str::FromStr};

use codemode_protocol::{JAVASCRIPT_RESERVED_WORDS, ProviderDescriptor, RESERVED_PROVIDER_NAMES, is_identifier};

/// One `--tool NS.NAME=COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolSpec {
    /// The namespace that the program sees.
    pub(crate) namespace: String,
    /// The member of the namespace.
    pub(crate) name: String,
    /// Run by `sh -c`.
    pub(crate) command: String,
}

impl FromStr for ToolSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((address, command)) = text.split_once('=') else {
            return Err("there is no \"=\"; a tool is written NS.NAME=COMMAND".into());
        };
        let Some((namespace, name)) = address.split_once('.') else {
            return Err(format!("{address:?} has no \".\"; a tool is written NS.NAME=COMMAND"));
        };
        if !is_identifier(namespace) {
            return Err(format!("the namespace {namespace:?} must match ^[A-Za-z_$][A-Za-z0-9_$]*$"));
        }
        if RESERVED_PROVIDER_NAMES.contains(&namespace) || JAVASCRIPT_RESERVED_WORDS.contains(&namespace) {
            return Err(format!("the namespace {namespace:?} is a reserved name"));
        }
        if name.is_empty() {
            return Err(format!("the tool's name after \"{namespace}.\" is empty"));
        }
        if name == "then" {
            return Err("no tool can be named \"then\": a namespace with one would be taken for a promise".into());
        }
        if command.trim().is_empty() {
            return Err(format!("the command of {address:?} is empty"));
        }
        Ok(Self { namespace: namespace.into(), name: name.into(), command: command.into() })
    }
}

/// The namespaces that the program sees, in the order of their first tools.
///
/// # Errors
/// Names the tool that is given twice.
pub(crate) fn providers(tools: &[ToolSpec]) -> Result<Vec<ProviderDescriptor>, String> {
    let mut seen = HashSet::new();
    let mut providers: Vec<ProviderDescriptor> = Vec::new();
    for ToolSpec { namespace, name, .. } in tools {
        if !seen.insert((namespace, name)) {
            return Err(format!("the tool {namespace}.{name} is given twice"));
        }
        match providers.iter_mut().find(|provider| provider.name == *namespace) {
            Some(provider) => provider.tools.push(name.clone()),
            None => providers.push(ProviderDescriptor {
                name: namespace.clone(),
                tools: vec![name.clone()],
                ..ProviderDescriptor::default()
            }),
        }
    }
    Ok(providers)
}

/// The URL of a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url(pub(crate) String);

impl FromStr for Url {
    type Err = String;

    fn from_str(address: &str) -> Result<Self, String> {
        let url =
            url::Url::parse(address).map_err(|error| format!("{error}; it must be such as ws://127.0.0.1:8787"))?;
        match url.scheme() {
            "ws" | "wss" => {}
            other => return Err(format!("the scheme is {other:?}; it must be ws or wss")),
        }
        if url.fragment().is_some() {
            return Err("a WebSocket URL has no fragment (the part after \"#\")".into());
        }
        Ok(Self(url.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> ToolSpec {
        text.parse().unwrap()
    }

    #[test]
    fn a_tool_is_split_at_its_first_equals_sign_and_dot() {
        let found = spec("git.log=git log --format=%H a.b");
        assert_eq!((found.namespace.as_str(), found.name.as_str()), ("git", "log"));
        assert_eq!(found.command, "git log --format=%H a.b");
        assert_eq!(spec("a.b.c=x").name, "b.c");
    }

    #[test]
    fn a_bad_tool_is_refused_with_its_rule() {
        for (text, rule) in [
            ("git.log", "there is no \"=\""),
            ("git=x", "\"git\" has no \".\""),
            ("my-ns.x=y", "the namespace \"my-ns\" must match"),
            (".x=y", "the namespace \"\" must match"),
            ("class.x=y", "reserved"),
            ("Promise.x=y", "reserved"),
            ("git.=y", "the tool's name after \"git.\" is empty"),
            ("git.then=y", "named \"then\""),
            ("git.log= ", "the command of \"git.log\" is empty"),
        ] {
            let error = text.parse::<ToolSpec>().unwrap_err();
            assert!(error.contains(rule), "{text}: {error}");
        }
    }

    #[test]
    fn tools_of_one_namespace_make_one_provider() {
        let found = providers(&[spec("b.x=1"), spec("a.y=2"), spec("b.z=3")]).unwrap();
        let found: Vec<_> = found.iter().map(|provider| (provider.name.as_str(), provider.tools.join(","))).collect();
        assert_eq!(found, [("b", "x,z".to_owned()), ("a", "y".to_owned())]);
        assert_eq!(providers(&[spec("a.x=1"), spec("a.x=2")]).unwrap_err(), "the tool a.x is given twice");
    }

    #[test]
    fn a_url_names_a_web_socket() {
        assert!("ws://127.0.0.1:8787".parse::<Url>().is_ok() && "wss://a".parse::<Url>().is_ok());
        for (text, rule) in [
            ("http://a", "the scheme is \"http\""),
            ("127.0.0.1:8787", "ws://127.0.0.1:8787"),
            ("ws://", "empty host"),
            ("ws://a/#b", "fragment"),
        ] {
            let error = text.parse::<Url>().unwrap_err();
            assert!(error.contains(rule), "{text}: {error}");
        }
    }
}
