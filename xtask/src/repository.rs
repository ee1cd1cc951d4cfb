//! What there is to work on: folders, tracked files, and the workspace as cargo sees it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The checkout that xtask was built from.
pub(crate) struct Repository {
    root: PathBuf,
    target: PathBuf,
    packages: Vec<Package>,
}

/// One crate of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Relative to the repository's root.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a crate's manifest.
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Needed by tests, examples and benchmarks alone.
    pub(crate) for_tests: bool,
}

impl Repository {
    pub(crate) fn open() -> Result<Self> {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask's folder has no parent")?.to_path_buf();
        let mut command = cargo_in(&root);
        command.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
        let metadata: Value = serde_json::from_str(&process::output(&mut command)?)?;
        let target = PathBuf::from(text(&metadata, "target_directory")?);
        let packages = metadata["packages"]
            .as_array()
            .context("cargo metadata lists no packages")?
            .iter()
            .map(|package| Package::read(package, &root))
            .collect::<Result<_>>()?;
        Ok(Self { root, target, packages })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// `cargo`, the same that runs us, in the repository's root.
    pub(crate) fn cargo(&self) -> Command {
        cargo_in(&self.root)
    }

    /// Where things are built.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A binary of the workspace, once it is built.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(name)
    }

    /// Every file that belongs to the repository: tracked, or new and not ignored.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let mut command = Command::new("git");
        command.current_dir(&self.root).args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
        let listed = process::output(&mut command)?;
        let mut files: Vec<String> = listed.split('\0').filter(|name| !name.is_empty()).map(String::from).collect();
        files.retain(|name| self.root.join(name).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The text of a file, or nothing where it is not text.
    pub(crate) fn text(&self, file: &str) -> Result<Option<String>> {
        let bytes = fs::read(self.root.join(file)).with_context(|| format!("could not read {file}"))?;
        Ok(String::from_utf8(bytes).ok())
    }
}

impl Package {
    fn read(package: &Value, root: &Path) -> Result<Self> {
        let manifest = PathBuf::from(text(package, "manifest_path")?);
        let folder = manifest
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok())
            .with_context(|| format!("{} is outside the repository", manifest.display()))?;
        let dependencies = package["dependencies"]
            .as_array()
            .context("a package without a list of dependencies")?
            .iter()
            .map(|dependency| {
                Ok(Dependency { name: text(dependency, "name")?.to_owned(), for_tests: dependency["kind"] == "dev" })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            name: text(package, "name")?.to_owned(),
            folder: folder.to_string_lossy().into_owned(),
            dependencies,
        })
    }
}

fn cargo_in(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str> {
    value[member].as_str().with_context(|| format!("cargo metadata has no `{member}`"))
}
