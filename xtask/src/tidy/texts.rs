//! The texts and codes of the contract stand once: in `protocol`.

use anyhow::{Context, Result};

use super::{TextFile, rust::Source};
use crate::repository::Repository;

const TEXTS: &str = "protocol/src/text.rs";
const CODES: &str = "protocol/src/error.rs";

pub(super) fn check(_: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let find = |path: &str| files.iter().find(|file| file.path == path).with_context(|| format!("there is no {path}"));
    let texts: Vec<String> =
        Source::shipped(&find(TEXTS)?.text).literals.iter().flat_map(|(_, literal)| fragments(literal)).collect();
    let codes: Vec<String> = Source::shipped(&find(CODES)?.text)
        .literals
        .into_iter()
        .map(|(_, literal)| literal)
        .filter(|literal| is_code(literal))
        .collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with("protocol/src/")) {
        if file.ships() {
            for (line, literal) in Source::shipped(&file.text).literals {
                findings.extend(texts.iter().filter(|text| literal.contains(text.as_str())).map(|text| {
                    format!("{}:{line}: the text {text:?} stands in {TEXTS}; use it from there", file.path)
                }));
                findings.extend(
                    codes.iter().filter(|code| literal == **code).map(|code| {
                        format!("{}:{line}: the code {code} stands in {CODES}; use `ErrorCode`", file.path)
                    }),
                );
            }
        } else if file.path.contains("/src/") && file.path.ends_with(".js") {
            findings.extend(
                texts
                    .iter()
                    .filter(|text| file.text.contains(text.as_str()))
                    .map(|text| format!("{}: the text {text:?} stands in {TEXTS}; pass it in from there", file.path)),
            );
        }
    }
    Ok(findings)
}

/// The fixed parts of a format string that are long enough to be recognised: three words and more.
fn fragments(literal: &str) -> Vec<String> {
    literal
        .split(['{', '}'])
        .step_by(2)
        .map(|part| part.trim().to_owned())
        .filter(|part| part.split_whitespace().count() >= 3 && part.len() >= 14)
        .collect()
}

fn is_code(literal: &str) -> bool {
    literal.len() >= 6 && literal.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_the_fixed_parts_of_some_length() {
        assert_eq!(fragments("{A} at its {b} ms bound. Do less work per run."), ["ms bound. Do less work per run."]);
        assert_eq!(fragments("Execution timed out"), ["Execution timed out"]);
        assert!(fragments("Tool \"{tool}\" not found").is_empty());
        assert!(is_code("INVALID_REQUEST") && !is_code("Error"));
    }
}
