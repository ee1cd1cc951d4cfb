//! Who may import whom and what each crate must not name, as two tables in ARCHITECTURE.md say.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use super::{TextFile, code_spans, rust::Source, table};
use crate::repository::Repository;

const DOCUMENT: &str = "ARCHITECTURE.md";
const CRATES: &str = "| folder | crate |";
const NAMES: &str = "| under | must not name |";
const DEPENDENCIES: &str = "| for | crate |";

/// One row of the table of crates.
struct Row<'a> {
    folder: &'a str,
    name: &'a str,
    imports: BTreeSet<&'a str>,
    imports_in_tests: BTreeSet<&'a str>,
}

fn document_table<'a>(files: &'a [TextFile], heading: &str) -> Result<Vec<Vec<&'a str>>> {
    let document = files.iter().find(|file| file.path == DOCUMENT).context("there is no ARCHITECTURE.md")?;
    table(&document.text, heading).with_context(|| format!("{DOCUMENT} has no table `{heading}`"))
}

fn crates(files: &[TextFile]) -> Result<Vec<Row<'_>>> {
    document_table(files, CRATES)?.into_iter().map(|cells| Row::read(&cells)).collect()
}

impl<'a> Row<'a> {
    fn read(cells: &[&'a str]) -> Result<Self> {
        let [folder, name, _owns, imports, imports_in_tests] = cells else {
            bail!("{DOCUMENT}: a row of the table of crates has {} cells, not 5: {cells:?}", cells.len());
        };
        Ok(Self {
            folder: only_span(folder)?,
            name: only_span(name)?,
            imports: code_spans(imports).into_iter().collect(),
            imports_in_tests: code_spans(imports_in_tests).into_iter().collect(),
        })
    }
}

fn only_span(cell: &str) -> Result<&str> {
    match code_spans(cell).as_slice() {
        [span] => Ok(span),
        _ => bail!("{DOCUMENT}: the cell `{cell}` should hold one name in backticks"),
    }
}

/// The table lists every crate, and for each exactly the crates that its manifest names.
pub(super) fn imports(repository: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let rows = crates(files)?;
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

/// No code that ships names what the table forbids under its folder.
pub(super) fn names(_: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for row in document_table(files, NAMES)? {
        let [under, names, _because] = row.as_slice() else {
            bail!("{DOCUMENT}: a row of what must not be named has {} cells, not 3: {row:?}", row.len());
        };
        let folder = only_span(under)?;
        let mut covered =
            files.iter().filter(|file| file.ships() && file.path.starts_with(&format!("{folder}/"))).peekable();
        if covered.peek().is_none() {
            findings.push(format!("{DOCUMENT}: there is no Rust under `{folder}`"));
        }
        for file in covered {
            let source = Source::shipped(&file.text);
            for name in code_spans(names) {
                for line in source.lines_naming(name) {
                    findings.push(format!("{}:{line}: names `{name}`, which `{folder}` must not know", file.path));
                }
            }
        }
    }
    Ok(findings)
}

/// The table of dependencies names every crate of others that a manifest names, and no other.
pub(super) fn dependencies(repository: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let rows = document_table(files, DEPENDENCIES)?;
    let listed: BTreeSet<&str> = rows.iter().filter_map(|row| row.get(1)).flat_map(|cell| code_spans(cell)).collect();
    let packages = repository.packages();
    let used: BTreeSet<&str> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .filter(|name| !packages.iter().any(|package| package.name == *name))
        .collect();
    let missing = used.difference(&listed).map(|name| format!("{DOCUMENT}: the table of dependencies misses `{name}`"));
    let stale = listed.difference(&used).map(|name| format!("{DOCUMENT}: no manifest names the dependency `{name}`"));
    Ok(missing.chain(stale).collect())
}
