//! Test data that the packages of the registry carry: read from the installed package, checked by a script.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::check::folder;
use crate::page::Page;

/// Runs `data/<checker>.js` over the file of a package. The checker is a function of the parsed data; it returns how many
/// cases it ran and a list of those that failed, `[case, what it was]`, the case as one line of text. Expected failures
/// are the lines of `data/<checker>.failures`, under `# reason`; one that passes is stale.
pub fn check_data(checker: &str, package: &str, file: &str) {
    let path = package_folder(package).join(file);
    let data = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let script = fs::read_to_string(folder().join(format!("data/{checker}.js"))).expect("the checker");
    let literal = Value::from(data).to_string();
    let outcome = Page::new().outcome(&format!("return JSON.stringify(({script})(JSON.parse({literal})))"));
    let text: String = serde_json::from_str(&outcome).unwrap_or_else(|_| panic!("{checker}: {outcome}"));
    let report: Report = serde_json::from_str(&text).expect("a report");
    let listed = fs::read_to_string(folder().join(format!("data/{checker}.failures"))).unwrap_or_default();
    let listed: Vec<&str> = listed.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let failed = |case: &str| report.failed.iter().any(|(failed, _)| failed == case);
    let stale: Vec<_> = listed.iter().filter(|case| !failed(case)).collect();
    let mut wrong = String::new();
    for (case, detail) in report.failed.iter().filter(|(case, _)| !listed.contains(&case.as_str())) {
        let _ = write!(wrong, "\n{case}\n  {detail}");
    }
    println!("{checker}: {} of {} pass, {} fail as listed", report.run - report.failed.len(), report.run, listed.len());
    assert!(report.run > 0, "{checker}: no cases");
    assert!(wrong.is_empty(), "{checker}:{wrong}");
    assert!(stale.is_empty(), "{checker}: listed failures that pass: {stale:#?}");
}

#[derive(Deserialize)]
struct Report {
    run: usize,
    failed: Vec<(String, String)>,
}

/// Where the sources of a dependency are.
fn package_folder(name: &str) -> PathBuf {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package =
        packages.iter().find(|package| package["name"] == name).unwrap_or_else(|| panic!("no package {name}"));
    PathBuf::from(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder").to_owned()
}
