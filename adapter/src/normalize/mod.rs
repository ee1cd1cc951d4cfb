//! Raw model output into the entry form: an arrow function, with static imports ahead of it.

mod check;
mod examine;
mod fence;
mod parse;
mod scan;
#[cfg(test)]
mod tests;
mod token;

use codemode_protocol::separate_imports;

use self::parse::{Budget, Shape};
use crate::space::trim;

/// The program that runs when a model wrote `code`.
///
/// One fence around the whole text is taken off, leading static imports stay ahead, and the rest becomes an arrow
/// function: one that it is already, a declaration that is called, statements with a `return` before the last expression,
/// or statements as they are. What does not parse is wrapped as well: a `return` outside a function is legal inside one,
/// and what stays broken fails in the sandbox, where the model can read why.
///
/// Deep or huge input is not parsed: it is passed on when it is an arrow function by its brackets, else wrapped.
///
/// ```
/// use codemode_adapter::normalize_code;
///
/// assert_eq!(normalize_code("const a = 40\na + 2"), "async () => {\nconst a = 40\nreturn (a + 2)\n}");
/// assert_eq!(normalize_code("```js\nasync () => 42\n```"), "async () => 42");
/// ```
pub fn normalize_code(code: &str) -> String {
    let mut budget = Budget::default();
    let mut imports = String::new();
    let mut rest = code;
    loop {
        rest = trim(rest);
        rest = trim(fence::strip(rest).unwrap_or(rest));
        let separated = separate_imports(rest);
        if !separated.imports.is_empty() {
            imports.push_str(separated.imports);
            imports.push('\n');
            rest = trim(separated.body);
        }
        if rest.is_empty() {
            return imports + "async () => {}";
        }
        imports += &match parse::shape(rest, &mut budget) {
            Shape::Default { declaration } => {
                rest = &rest[declaration];
                continue;
            }
            Shape::Arrow => rest.to_owned(),
            Shape::AnonymousDefault { declaration, is_function } => {
                let call = if is_function { "()" } else { "" };
                format!("async () => {{\nreturn ({}){call};\n}}", &rest[declaration])
            }
            Shape::Function { name } => format!("async () => {{\n{rest}\nreturn {name}();\n}}"),
            Shape::Expression { statement, expression } => {
                format!("async () => {{\n{}return ({})\n}}", &rest[..statement], &rest[expression])
            }
            Shape::Other => format!("async () => {{\n{rest}\n}}"),
        };
        return imports;
    }
}

/// Whether what was normalized is one function behind its imports, which is what an executor takes.
pub(crate) fn is_one_function(normalized: &str) -> bool {
    parse::shape(trim(separate_imports(normalized).body), &mut Budget::default()) == Shape::Arrow
}
