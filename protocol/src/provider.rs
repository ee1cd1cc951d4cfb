//! Providers: what the program sees as namespaces, and the names they may have.

use std::collections::HashSet;

use crate::{ExecutorError, Limits, text};

/// One namespace of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderDescriptor {
    /// The binding in the program's scope.
    pub name: String,
    /// What the host will answer; empty means that any name is dispatched.
    pub tools: Vec<String>,
    /// Host-authored source that runs before the program, in its scope.
    pub prelude: Option<String>,
    /// False passes exactly one argument; absent or true passes all.
    pub positional_args: Option<bool>,
    /// An expression evaluating to a function that gets the raw dispatcher and returns the namespace.
    pub proxy_source: Option<String>,
}

/// Names that the entry's scope needs itself.
pub const RESERVED_PROVIDER_NAMES: &[&str] = &["Promise", "Error", "console", "setTimeout"];

/// Words that no binding of strict module code can have, and three that none should have.
pub const JAVASCRIPT_RESERVED_WORDS: &[&str] = &[
    "arguments",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Whether `name` matches `^[A-Za-z_$][A-Za-z0-9_$]*$`.
pub fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

/// Checks names and bounds of a request's providers.
///
/// # Errors
/// `INVALID_REQUEST`, naming the provider's position and the rule.
pub fn validate_providers(providers: &[ProviderDescriptor], limits: &Limits) -> Result<(), ExecutorError> {
    validate_provider_bounds(providers, limits)?;
    let mut seen = HashSet::new();
    for (position, provider) in providers.iter().enumerate() {
        let refuse = |rule: String| Err(ExecutorError::invalid(format_args!("providers[{position}].name"), rule));
        let name = provider.name.as_str();
        if !is_identifier(name) {
            return refuse(format!("{name:?} is no identifier; it must match ^[A-Za-z_$][A-Za-z0-9_$]*$"));
        }
        if RESERVED_PROVIDER_NAMES.contains(&name) {
            return refuse(format!("{name:?} is reserved for the program's scope"));
        }
        if JAVASCRIPT_RESERVED_WORDS.contains(&name) {
            return refuse(format!("{name:?} is a reserved word of JavaScript"));
        }
        if !seen.insert(name) {
            return refuse(format!("{name:?} is the name of two providers"));
        }
    }
    Ok(())
}

/// Checks how many there are and what they take.
pub(crate) fn validate_provider_bounds(providers: &[ProviderDescriptor], limits: &Limits) -> Result<(), ExecutorError> {
    if providers.len() as u64 > limits.providers {
        let rule = text::too_many_providers(providers.len(), limits.providers);
        return Err(ExecutorError::invalid("providers", rule));
    }
    let tools: u64 = providers.iter().map(|provider| provider.tools.len() as u64).sum();
    if tools > limits.tools {
        return Err(ExecutorError::invalid("providers", text::too_many_tools(tools, limits.tools)));
    }
    let sources = providers.iter().flat_map(|provider| [&provider.prelude, &provider.proxy_source]).flatten();
    let source_bytes: u64 = sources.map(|source| source.len() as u64).sum();
    if source_bytes > limits.preludes_bytes {
        let rule = text::preludes_too_large(source_bytes, limits.preludes_bytes);
        return Err(ExecutorError::invalid("providers", rule));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<ProviderDescriptor> {
        names.iter().map(|name| ProviderDescriptor { name: (*name).into(), ..Default::default() }).collect()
    }

    #[test]
    fn names_that_the_scope_can_bind_are_accepted() {
        let providers = named(&["a", "$", "_x9", "undefined", "URL", "result", "Object", "NaN", "of", "get"]);
        assert!(validate_providers(&providers, &Limits::default()).is_ok());
    }

    #[test]
    fn a_bad_name_is_refused_with_its_place_and_rule() {
        let cases = [
            ("", "is no identifier"),
            ("my-api", "is no identifier"),
            ("9a", "is no identifier"),
            ("é", "is no identifier"),
            ("Promise", "is reserved"),
            ("setTimeout", "is reserved"),
            ("class", "reserved word"),
            ("async", "reserved word"),
            ("eval", "reserved word"),
            ("first", "two providers"),
        ];
        for (name, rule) in cases {
            let error = validate_providers(&named(&["first", name]), &Limits::default()).unwrap_err();
            assert!(error.message.starts_with("providers[1].name: "), "{}", error.message);
            assert!(error.message.contains(rule), "{name}: {}", error.message);
        }
    }

    #[test]
    fn too_many_providers_tools_or_prelude_bytes_are_refused() {
        let limits = Limits { providers: 1, tools: 2, preludes_bytes: 4, ..Limits::default() };
        let refused = |providers: &[ProviderDescriptor]| validate_providers(providers, &limits).unwrap_err().message;
        let message = "providers: 2 providers; at most 1 are allowed. Offer only those that the program needs.";
        assert_eq!(refused(&named(&["a", "b"])), message);
        let mut one = named(&["a"]);
        one[0].tools = vec!["x".into(), "y".into(), "z".into()];
        let message = "providers: 3 tool names in all; at most 2 are allowed. Name fewer, or none: a provider without names \
                       takes any.";
        assert_eq!(refused(&one), message);
        let mut one = named(&["a"]);
        one[0].prelude = Some("12345".into());
        let message = "providers: preludes and proxy sources take 5 bytes; at most 4 are allowed. Send less source.";
        assert_eq!(refused(&one), message);
    }
}
