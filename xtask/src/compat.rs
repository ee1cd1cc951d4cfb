//! The compatibility suite: the catalogue through us and through the dialect's own executor.

use anyhow::{Result, bail};

use crate::{node, process, repository::Repository};

/// Where the releases of the reference are.
pub(crate) const FOLDER: &str = "compat/reference";

/// Builds what the catalogue needs and runs it with the options of `codemode-compat`.
pub(crate) fn run(repository: &Repository, options: &[&str]) -> Result<()> {
    // All of the workspace, as every other step: with fewer packages the dependencies get other features, and are built again.
    process::run(repository.cargo().args(["build", "--workspace", "--bins"]))?;
    run_built(repository, options)
}

/// The newest release, what programs find in their sandbox and the corpora of its APIs; everything is built.
pub(crate) fn newest(repository: &Repository) -> Result<()> {
    run_built(repository, &[])
}

/// The other releases; everything is built.
pub(crate) fn older(repository: &Repository) -> Result<()> {
    run_built(repository, &["--column", "older"])
}

fn run_built(repository: &Repository, options: &[&str]) -> Result<()> {
    node::install(repository, FOLDER)?;
    let mut suite = std::process::Command::new(repository.binary("debug", "codemode-compat"));
    suite.args(options).env("CODEMODE_TEST_BIN", repository.binary("debug", "codemoded"));
    if !suite.status()?.success() {
        bail!("the suite found differences that are not listed, or listed ones that are gone");
    }
    Ok(())
}
