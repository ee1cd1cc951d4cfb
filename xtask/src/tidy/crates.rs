//! Who may import whom and what each crate must not name, as the table of crates in ARCHITECTURE.md says.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::{TextFile, code_spans, rust::Source, table};
use crate::repository::Repository;

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "| folder | crate |";

/// One row of the table.
struct Row<'a> {
    folder: &'a str,
    name: &'a str,
    imports: BTreeSet<&'a str>,
    imports_in_tests: BTreeSet<&'a str>,
    must_not_name: Vec<&'a str>,
}

fn rows(files: &[TextFile]) -> Result<Vec<Row<'_>>> {
    let document = files.iter().find(|file| file.path == DOCUMENT).context("there is no ARCHITECTURE.md")?;
    let rows = table(&document.text, HEADING).with_context(|| format!("{DOCUMENT} has no table `{HEADING}`"))?;
    rows.iter()
        .map(|cells| {
            let [folder, name, _owns, imports, imports_in_tests, must_not_name] = cells.as_slice() else {
                anyhow::bail!("{DOCUMENT}: a row of the table of crates has {} cells, not 6: {cells:?}", cells.len());
            };
            Ok(Row {
                folder: code_spans(folder).first().copied().context("a row without a folder")?,
                name: code_spans(name).first().copied().context("a row without a crate")?,
                imports: code_spans(imports).into_iter().collect(),
                imports_in_tests: code_spans(imports_in_tests).into_iter().collect(),
                must_not_name: code_spans(must_not_name),
            })
        })
        .collect()
}

/// The table lists every crate, and for each exactly the crates that its manifest names.
pub(super) fn imports(repository: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let rows = rows(files)?;
    let mut findings = Vec::new();
    let folder_of = |name: &str| {
        repository.packages().iter().find(|package| package.name == name).map(|package| package.folder.as_str())
    };
    for row in &rows {
        if folder_of(row.name) != Some(row.folder) {
            findings.push(format!("{DOCUMENT}: the workspace has no crate `{}` in `{}`", row.name, row.folder));
        }
    }
    for package in repository.packages() {
        let Some(row) = rows.iter().find(|row| row.name == package.name) else {
            findings.push(format!("{DOCUMENT}: the table of crates misses `{}`", package.name));
            continue;
        };
        for (for_tests, listed, where_) in
            [(false, &row.imports, "imports"), (true, &row.imports_in_tests, "imports in its tests")]
        {
            let actual: BTreeSet<&str> = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.for_tests == for_tests)
                .filter_map(|dependency| folder_of(&dependency.name))
                .collect();
            for edge in actual.difference(listed) {
                findings.push(format!("`{}` {where_} `{edge}`, which the table does not allow", package.folder));
            }
            for edge in listed.difference(&actual) {
                findings.push(format!("the table says that `{}` {where_} `{edge}`, which it does not", package.folder));
            }
        }
    }
    Ok(findings)
}

/// No crate names what its row forbids, neither as a dependency nor in code that ships.
pub(super) fn names(repository: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for row in rows(files)? {
        if let Some(package) = repository.packages().iter().find(|package| package.name == row.name) {
            for dependency in package.dependencies.iter().filter(|dependency| !dependency.for_tests) {
                if row.must_not_name.contains(&dependency.name.as_str()) {
                    findings.push(format!("`{}` depends on `{}`, which it must not know", row.folder, dependency.name));
                }
            }
        }
        let folder = format!("{}/src/", row.folder);
        for file in files.iter().filter(|file| file.path.starts_with(&folder) && file.ships()) {
            let source = Source::shipped(&file.text);
            for name in &row.must_not_name {
                // A crate is written with underscores in code.
                for line in source.lines_naming(&name.replace('-', "_")) {
                    findings
                        .push(format!("{}:{line}: names `{name}`, which `{}` must not know", file.path, row.folder));
                }
            }
        }
    }
    Ok(findings)
}
