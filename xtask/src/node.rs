//! Node packages of the repository: installed from their lock files, once.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};

use crate::{process, repository::Repository};

/// The oldest Node that the scripts are written for.
const OLDEST_NODE: u32 = 20;

/// Installs the packages of `folder` unless those of its lock file are there already; gives the folder's path.
pub(crate) fn install(repository: &Repository, folder: &str) -> Result<PathBuf> {
    let path = repository.root().join(folder);
    let lock =
        fs::read(path.join("package-lock.json")).with_context(|| format!("{folder} has no package-lock.json"))?;
    let installed = path.join("node_modules/.installed-from");
    if fs::read(&installed).is_ok_and(|from| from == lock) {
        println!("{folder}: packages are current");
        return Ok(path);
    }
    check_version()?;
    process::run(Command::new("npm").current_dir(&path).args(["ci", "--no-audit", "--no-fund"]))
        .with_context(|| format!("could not install the packages of {folder}"))?;
    fs::write(&installed, &lock)?;
    Ok(path)
}

/// `node` in `folder`.
pub(crate) fn node(folder: PathBuf) -> Command {
    let mut command = Command::new("node");
    command.current_dir(folder);
    command
}

fn check_version() -> Result<()> {
    let version = process::output(Command::new("node").arg("--version"))
        .with_context(|| format!("Node {OLDEST_NODE} or later is needed for the JavaScript client's tests"))?;
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        _ => bail!(
            "Node {OLDEST_NODE} or later is needed for the JavaScript client's tests, but this is {}",
            version.trim()
        ),
    }
}
