//! The compatibility suite: the catalogue through us and through the dialect's own executor.

use anyhow::{Result, bail};

use crate::{node, process, repository::Repository};

/// Where the releases of the reference are.
pub(crate) const FOLDER: &str = "compat/reference";

/// Runs the catalogue with the options of `codemode-compat`.
pub(crate) fn run(repository: &Repository, options: &[&str]) -> Result<()> {
    node::install(repository, FOLDER)?;
    process::run(repository.cargo().args(["build", "--package", "codemode-cli", "--package", "codemode-compat"]))?;
    let mut suite = std::process::Command::new(repository.binary("debug", "codemode-compat"));
    suite.args(options).env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded"));
    if !suite.status()?.success() {
        bail!("the suite found differences that are not listed, or listed ones that are gone");
    }
    Ok(())
}

/// Every release.
pub(crate) fn all(repository: &Repository) -> Result<()> {
    run(repository, &["--column", "all"])
}
