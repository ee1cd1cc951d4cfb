//! The identifier under which a program finds a tool, and what two tools that share one are told.

use std::collections::{HashMap, hash_map::Entry};

use crate::space::is_space;

/// The identifier that the tool `name` is exposed under: what the dialect's type generator shows to the model.
///
/// Hyphens, dots and white space become underscores, every other character outside `[A-Za-z0-9_$]` is dropped, a leading
/// digit gets an underscore in front and a reserved word one behind; `_` when nothing is left.
///
/// ```
/// use codemode_adapter::sanitize_tool_name;
///
/// assert_eq!(sanitize_tool_name("list-issues"), "list_issues");
/// assert_eq!(sanitize_tool_name("2fa-verify"), "_2fa_verify");
/// assert_eq!(sanitize_tool_name("delete"), "delete_");
/// ```
pub fn sanitize_tool_name(name: &str) -> String {
    let mut identifier: String = name
        .chars()
        .filter_map(|character| match character {
            '-' | '.' => Some('_'),
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' => Some(character),
            _ => is_space(character).then_some('_'),
        })
        .collect();
    if identifier.is_empty() {
        return "_".into();
    }
    if identifier.starts_with(|first: char| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    if RESERVED.binary_search(&identifier.as_str()).is_ok() {
        identifier.push('_');
    }
    identifier
}

/// The first two of a provider's tool names that share an identifier, as the text that refuses the execution.
pub(crate) fn collision<'a>(provider: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut taken: HashMap<String, &str> = HashMap::new();
    for name in names {
        match taken.entry(sanitize_tool_name(name)) {
            Entry::Occupied(first) => {
                return Some(format_sanitize_collision(first.get(), name, first.key(), provider));
            }
            Entry::Vacant(free) => {
                free.insert(name);
            }
        }
    }
    None
}

fn format_sanitize_collision(first: &str, second: &str, identifier: &str, provider: &str) -> String {
    format!("Tool names \"{first}\" and \"{second}\" both sanitize to \"{identifier}\" in provider \"{provider}\"")
}

/// The reserved words of every edition of ECMAScript (those that the first three reserved for later included), the names
/// that strict mode restricts, and `undefined`; in order.
const RESERVED: [&str; 65] = [
    "abstract",
    "arguments",
    "await",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "function",
    "goto",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "let",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "volatile",
    "while",
    "with",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_identifiers_of_the_table() {
        let cases = [
            ("list-issues", "list_issues"),
            ("search.code", "search_code"),
            ("send email", "send_email"),
            ("files:read!", "filesread"),
            ("2fa-verify", "_2fa_verify"),
            ("delete", "delete_"),
            ("-delete", "_delete"),
            ("поиск🔍", "_"),
            ("", "_"),
            ("---", "___"),
            ("a\u{2028}b\u{feff}c\u{3000}d", "a_b_c_d"),
            ("a\u{85}b\u{180e}c", "abc"),
            ("é", "_"),
            ("ｄelete", "elete"),
            ("1", "_1"),
            ("$x_9", "$x_9"),
            ("undefined", "undefined_"),
            ("arguments", "arguments_"),
            ("eval", "eval_"),
            ("await!", "await_"),
            ("synchronized", "synchronized_"),
            ("async", "async"),
            ("of", "of"),
            ("__proto__", "__proto__"),
            ("greet/tool", "greettool"),
        ];
        for (name, identifier) in cases {
            assert_eq!(sanitize_tool_name(name), identifier, "{name}");
        }
    }

    #[test]
    fn the_reserved_words_are_in_order_and_all_take_a_suffix() {
        assert!(RESERVED.is_sorted());
        for word in RESERVED {
            assert_eq!(sanitize_tool_name(word), format!("{word}_"));
        }
    }

    #[test]
    fn the_first_two_names_that_collide_are_told() {
        let told = collision("gh", ["a", "list-issues", "b", "list.issues", "list issues"].into_iter());
        assert_eq!(
            told.as_deref(),
            Some("Tool names \"list-issues\" and \"list.issues\" both sanitize to \"list_issues\" in provider \"gh\"")
        );
        assert_eq!(collision("gh", ["a", "b"].into_iter()), None);
    }
}
