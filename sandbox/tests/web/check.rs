//! Runs files of cases, and compares corpora with Node.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::Page;

/// A file of cases: blocks of `--- what holds`, a program's body, and `=> outcome`.
pub fn check_cases(file: &str) {
    let text = fs::read_to_string(folder().join(file)).expect(file);
    let page = Page::new();
    let mut wrong = String::new();
    for block in text.split("\n--- ").skip(1) {
        let (name, rest) = block.split_once('\n').expect("a name");
        let (body, expected) = rest.split_once("\n=> ").unwrap_or_else(|| panic!("{file}: {name}: no outcome"));
        let expected = expected.trim_end();
        // A case that changes the globals gets an engine of its own.
        let outcome = if name.starts_with("hostile: ") { Page::new().outcome(body) } else { page.outcome(body) };
        if outcome != expected {
            let _ = write!(wrong, "\n{name}\n  expected {expected}\n  got      {outcome}");
        }
    }
    assert!(wrong.is_empty(), "{file}:{wrong}");
}

/// Evaluates a corpus in Node and here. Differences are listed in `<api>.differences`: lines of `# reason`, each
/// followed by rules: a case whose source contains the text, or all of several texts with `&&` between them, may differ, and
/// `"text" => "text"` says that ours is Node's with the one text replaced by the other. One that matches no difference is stale.
pub fn compare_with_node(api: &str) {
    let node =
        Command::new("node").env("TZ", "UTC").arg("--no-warnings").arg(folder().join("node.mjs")).arg(api).output();
    let Ok(node) = node else {
        eprintln!("{api}: Node is not installed, nothing to compare with");
        return;
    };
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
    let rules = fs::read_to_string(folder().join(format!("corpus/{api}.differences"))).unwrap_or_default();
    let rules: Vec<&str> = rules.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut used = vec![false; rules.len()];
    let (mut same, mut listed, mut wrong) = (0, 0, String::new());
    let page = Page::new();
    for line in String::from_utf8(node.stdout).expect("UTF-8").lines() {
        let (source, expected): (String, String) = serde_json::from_str(line).expect("a case");
        let outcome = page.outcome(&format!("'use strict';{source}"));
        if outcome == expected {
            same += 1;
        } else if let Some(rule) = rules.iter().position(|rule| explains(rule, &source, &expected, &outcome)) {
            used[rule] = true;
            listed += 1;
        } else {
            let _ = write!(wrong, "\n{source}\n  node {expected}\n  ours {outcome}");
        }
    }
    println!("{api}: {same} same, {listed} differ as listed");
    assert!(wrong.is_empty(), "{api}:{wrong}");
    let stale: Vec<_> = rules.iter().zip(used).filter(|(_, used)| !used).map(|(rule, _)| rule).collect();
    assert!(stale.is_empty(), "{api}: listed differences that are none: {stale:?}");
}

fn explains(rule: &str, source: &str, node: &str, ours: &str) -> bool {
    let text = |quoted| serde_json::from_str::<String>(quoted);
    match rule.split_once(" => ").map(|(theirs, with)| (text(theirs), text(with))) {
        Some((Ok(theirs), Ok(with))) => node.replace(&theirs, &with) == ours,
        _ => rule.split(" && ").all(|part| source.contains(part)),
    }
}

/// Where the data of these tests is.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web")
}
