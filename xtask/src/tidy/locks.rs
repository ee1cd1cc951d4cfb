//! Lock files name versions and checksums, not the addresses that some machine downloaded from.

use anyhow::Result;

use super::TextFile;
use crate::repository::Repository;

/// What every Cargo.lock writes for a crate of the public index, wherever it was downloaded from.
const PUBLIC_INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(_: &Repository, files: &[TextFile]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        for (index, line) in file.text.lines().enumerate() {
            let line = line.trim();
            let addressed = match name {
                "package-lock.json" => line.starts_with("\"resolved\""),
                "Cargo.lock" => {
                    line.strip_prefix("source = ").is_some_and(|source| source.trim_matches('"') != PUBLIC_INDEX)
                }
                ".npmrc" => line.contains("registry="),
                _ => false,
            };
            if addressed {
                findings.push(format!("{}:{}: a download address: {line}", file.path, index + 1));
            }
        }
    }
    for folder in files.iter().filter_map(|file| file.path.strip_suffix("package.json")) {
        if !files.iter().any(|file| file.path == format!("{folder}package-lock.json")) {
            findings.push(format!("{folder}package.json has no package-lock.json beside it"));
        }
    }
    if !files.iter().any(|file| file.path == "Cargo.lock") {
        findings.push("Cargo.lock is missing".into());
    }
    Ok(findings)
}
