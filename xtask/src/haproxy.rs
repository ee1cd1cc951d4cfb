//! HAProxy for the test of daemons behind a balancer: that of the machine, else Debian's package, unpacked into the target
//! folder and not installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{process, repository::Repository};

/// The package, and those that it needs beyond what every Debian has.
const PACKAGES: [&str; 4] = ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"];

/// Unpacks HAProxy where the machine has none. A machine that cannot says so, and the test says that it was skipped.
pub(crate) fn fetch(repository: &Repository) -> Result<()> {
    if process::succeeds(Command::new("haproxy").arg("-v")) || program(repository).is_some() {
        return Ok(());
    }
    let folder = folder(repository);
    fs::create_dir_all(&folder)?;
    let updated = || process::succeeds(Command::new("apt-get").args(["update", "-q"]));
    if !(download(&folder) || updated() && download(&folder)) {
        println!("skipped: there is no haproxy here, and its Debian package cannot be fetched");
        return Ok(());
    }
    for entry in fs::read_dir(&folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "deb") {
            process::run(Command::new("dpkg").arg("-x").arg(&file).arg(&folder))?;
        }
    }
    Ok(())
}

/// The program that was unpacked, if one was.
pub(crate) fn program(repository: &Repository) -> Option<PathBuf> {
    Some(folder(repository).join("usr/sbin/haproxy")).filter(|program| program.is_file())
}

fn download(folder: &Path) -> bool {
    process::succeeds(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(folder))
}

fn folder(repository: &Repository) -> PathBuf {
    repository.target().join("haproxy")
}
