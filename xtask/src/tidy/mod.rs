//! The rules that no compiler knows. Each check gives a list of findings; one finding fails the whole.

mod crates;
mod documents;
mod files;
mod locks;
mod rust;
mod texts;

use anyhow::{Result, bail};

use crate::repository::Repository;

/// A file of the repository that is text.
pub(crate) struct TextFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Whether this is Rust that ships: a crate's source without its test modules.
    fn ships(&self) -> bool {
        self.path.ends_with(".rs")
            && self.path.contains("/src/")
            && !self.path.ends_with("/tests.rs")
            && !self.path.contains("/tests/")
            && !self.path.starts_with("tests/")
            && !self.path.starts_with("xtask/")
    }
}

type Check = fn(&Repository, &[TextFile]) -> Result<Vec<String>>;

const CHECKS: [(&str, Check); 7] = [
    ("imports between crates", crates::imports),
    ("what a crate must not name", crates::names),
    ("reasons for dependencies", crates::dependencies),
    ("files: length, words, paths", files::check),
    ("contract texts in one place", texts::check),
    ("lock files without addresses", locks::check),
    ("documents agree with the tree", documents::check),
];

pub(crate) fn run(repository: &Repository) -> Result<()> {
    let mut files = Vec::new();
    for path in repository.files()? {
        if let Some(text) = repository.text(&path)? {
            files.push(TextFile { path, text });
        }
    }
    let mut count = 0;
    for (name, check) in CHECKS {
        let findings = check(repository, &files)?;
        println!("tidy: {name}: {}", if findings.is_empty() { "ok" } else { "FAILED" });
        for finding in &findings {
            println!("  {finding}");
        }
        count += findings.len();
    }
    if count > 0 {
        bail!("tidy has {count} finding(s)");
    }
    Ok(())
}

/// Names in backticks of a piece of Markdown.
fn code_spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The cells of the rows of the Markdown table whose heading row starts with `heading`.
fn table<'a>(text: &'a str, heading: &str) -> Option<Vec<Vec<&'a str>>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(heading));
    lines.next()?;
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    Some(rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_its_cells_and_spans_their_names() {
        let text = "x\n\n| a | b |\n|---|---|\n| `p` | `q`, `r` |\n| s | t |\n\nend";
        let rows = table(text, "| a |").unwrap();
        assert_eq!(rows, [["`p`", "`q`, `r`"], ["s", "t"]]);
        assert_eq!(code_spans(rows[0][1]), ["q", "r"]);
    }
}
