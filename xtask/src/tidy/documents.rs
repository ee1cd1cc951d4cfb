//! What the documents promise is in the tree: links lead to files, and each invariant's tests exist.

use anyhow::{Context, Result};

use super::{TextFile, code_spans, table};
use crate::repository::Repository;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const INVARIANTS: &str = "| invariant |";

/// Files that a reader of a fresh clone expects.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    ARCHITECTURE,
    "PROTOCOL.md",
    "CONFIGURATION.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

pub(super) fn check(repository: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let mut findings: Vec<String> = DOCUMENTS
        .iter()
        .filter(|name| !files.iter().any(|file| file.path == **name))
        .map(|name| format!("{name} is missing"))
        .collect();
    for document in files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for target in links(&document.text) {
            if !repository.root().join(folder).join(target).exists() {
                findings.push(format!("{}: a link leads to {target}, which does not exist", document.path));
            }
        }
    }
    findings.extend(invariants(files)?);
    Ok(findings)
}

/// Targets of links inside the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(char::is_whitespace))
}

/// Every invariant names what holds it: a test, a check of tidy, or a lint.
fn invariants(files: &[TextFile]) -> Result<Vec<String>> {
    let document = files.iter().find(|file| file.path == ARCHITECTURE).context("there is no ARCHITECTURE.md")?;
    let rows = table(&document.text, INVARIANTS).context("ARCHITECTURE.md has no table of invariants")?;
    let mut findings = Vec::new();
    for row in rows {
        let (Some(invariant), Some(holders)) = (row.first(), row.last()) else { continue };
        let holders = code_spans(holders);
        if holders.is_empty() {
            findings.push(format!("{ARCHITECTURE}: nothing holds \"{invariant}\""));
        }
        for holder in holders {
            if !exists(holder, files) {
                findings.push(format!("{ARCHITECTURE}: `{holder}`, which should hold \"{invariant}\", does not exist"));
            }
        }
    }
    Ok(findings)
}

fn exists(holder: &str, files: &[TextFile]) -> bool {
    if holder == "cargo xtask tidy" || holder.starts_with("clippy::") {
        return true;
    }
    let function = format!("fn {holder}(");
    let title = format!("'{holder}'");
    files.iter().any(|file| {
        (file.path.ends_with(".rs") && file.text.contains(&function))
            || (file.path.ends_with(".mjs") && file.text.contains(&title))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_inside_the_repository_are_followed() {
        let text = "[a](A.md) [b](B.md#part) [c](https://h/x) [d](#here)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["A.md", "B.md"]);
    }

    #[test]
    fn an_invariant_is_held_by_a_test_that_exists() {
        let file = TextFile { path: "a/src/b.rs".into(), text: "fn it_holds() {}".into() };
        assert!(exists("it_holds", std::slice::from_ref(&file)));
        assert!(!exists("it_does_not", &[file]));
    }
}
