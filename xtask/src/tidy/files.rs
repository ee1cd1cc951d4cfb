//! What holds for every file: its length, words that have no place in it, paths of one machine.

use std::collections::BTreeMap;

use anyhow::Result;

use super::{TextFile, rust::Source};
use crate::repository::Repository;

/// Beyond so many lines a source file needs a reason in [`REASONS`].
const LONGEST: usize = 600;

/// `path: reason` for each file that may be longer.
const REASONS: &str = "xtask/long-files.txt";

pub(super) fn check(_: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let mut findings = lengths(files);
    for file in files {
        if file.path.ends_with(".rs") {
            findings.extend(unfinished(file));
        }
        if !is_data(&file.path) {
            findings.extend(words(file));
        }
    }
    Ok(findings)
}

fn lengths(files: &[TextFile]) -> Vec<String> {
    let reasons = files.iter().find(|file| file.path == REASONS).map_or("", |file| &file.text);
    let mut reasons: BTreeMap<&str, &str> = reasons
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_once(':').map_or((line, ""), |(path, reason)| (path.trim(), reason.trim())))
        .collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_source(&file.path)) {
        let lines = file.text.lines().count();
        match (lines > LONGEST, reasons.remove(file.path.as_str())) {
            (true, None) => findings.push(format!(
                "{}: {lines} lines; look for the second question in it, or give a reason in {REASONS}",
                file.path
            )),
            (true, Some("")) => findings.push(format!("{REASONS}: no reason is given for {}", file.path)),
            (false, Some(_)) => findings.push(format!("{REASONS}: {} needs no entry, it has {lines} lines", file.path)),
            _ => {}
        }
    }
    findings.extend(reasons.keys().map(|path| format!("{REASONS}: there is no file {path}")));
    findings
}

/// Macros and attributes that say that something is not finished.
fn unfinished(file: &TextFile) -> Vec<String> {
    let source = Source::read(&file.text);
    [concat!("to", "do!"), concat!("unimplem", "ented!"), concat!("db", "g!"), concat!("#[ig", "nore")]
        .into_iter()
        .flat_map(|word| source.lines_naming(word).into_iter().map(move |line| (word, line)))
        .map(|(word, line)| format!("{}:{line}: `{word}`", file.path))
        .collect()
}

/// Words that have no place in a repository that speaks of itself alone. They are put together here so that this file
/// does not hold them.
const WORDS: [&str; 9] = [
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("XX", "X"),
    concat!("cla", "ude"),
    concat!("anthro", "pic"),
    concat!("sub", "agent"),
    concat!("co-auth", "ored-by"),
    concat!("registry.npm", "js"),
    concat!("index.crates", ".io"),
];

/// The first folders of paths that mean something on one machine only.
const HOMES: [&str; 4] = ["root", "home", "work", "Users"];

fn words(file: &TextFile) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let lower = line.to_lowercase();
        for word in WORDS {
            let found = if word.chars().all(char::is_uppercase) { has_word(line, word) } else { lower.contains(word) };
            if found {
                findings.push(format!("{}:{}: `{word}`", file.path, index + 1));
            }
        }
        for home in HOMES {
            let path = format!("/{home}/");
            let absolute = line.match_indices(&path).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + path.len()..].chars().next();
                !before.is_some_and(|c| c.is_alphanumeric() || "._-/}".contains(c))
                    && after.is_some_and(char::is_alphanumeric)
            });
            if absolute {
                findings.push(format!("{}:{}: a path of one machine: `{path}…`", file.path, index + 1));
            }
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

fn is_source(path: &str) -> bool {
    [".rs", ".js", ".mjs", ".ts"].iter().any(|extension| path.ends_with(extension))
}

/// Recorded or generated, so not written by anybody.
fn is_data(path: &str) -> bool {
    let tables = path.contains("/intl/data/") && path.ends_with(".txt");
    tables || path.ends_with(".jsonl") || path.ends_with("package-lock.json") || path.ends_with("Cargo.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_long_file_needs_a_reason_and_a_reason_a_long_file() {
        let long = "x\n".repeat(LONGEST + 1);
        assert_eq!(lengths(&[file("a.rs", &long)]).len(), 1);
        assert!(lengths(&[file("a.rs", &long), file(REASONS, "a.rs: one state machine\n")]).is_empty());
        assert_eq!(lengths(&[file("a.rs", &long), file(REASONS, "a.rs:\n")]).len(), 1);
        assert_eq!(lengths(&[file("a.rs", "x"), file(REASONS, "a.rs: stale\nb.rs: gone\n")]).len(), 2);
    }

    #[test]
    fn paths_of_a_machine_are_found_and_relative_ones_are_not() {
        let home = HOMES[1];
        assert_eq!(words(&file("a.md", &format!("see /{home}/someone/x"))).len(), 1);
        assert!(words(&file("a.md", &format!("see src/{home}/x and https://h/{home}/x"))).is_empty());
    }

    #[test]
    fn unfinished_code_is_found_but_not_in_comments() {
        let text = format!("// {0}()\nfn f() {{ {0}() }}\n", concat!("to", "do!"));
        assert_eq!(unfinished(&file("a.rs", &text)).len(), 1);
    }
}
