//! What must hold of module specifiers, whatever a program imports. Fuzzing drives it by coverage, a test from seeds.

use std::collections::BTreeSet;

use crate::{
    guest::modules::{
        builtins::is_builtin,
        graph::{Found, Graph},
    },
    seeded::{Random, from_seeds},
};

/// Two specifiers and the keys of modules, one a line.
pub(crate) fn hold(text: &str) {
    let mut lines = text.split('\n');
    let specifiers: Vec<&str> = lines.by_ref().take(2).collect();
    let keys: BTreeSet<&str> = lines.take(20).filter(|key| *key != "executor.js").collect();
    let mut graph = Graph::new(keys.iter().map(|key| ((*key).to_owned(), format!("// {key}"))).collect());
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        // Each module is found by its key, from wherever, and is what its name stands for.
        for key in &keys {
            let name = graph.resolve("", key).expect("a key names its module").to_owned();
            assert!(!is_builtin(&name) && name != "program.js" && name != "proxy.js", "{name:?} is a name of ours");
            let source = format!("// {key}");
            assert_eq!(graph.find(&name), Some(Found { key, source: &source }));
            assert!(seen.insert(name.clone()), "what was forgotten has another name than {name:?}");
            assert_eq!(graph.resolve(&name, key), Ok(name.as_str()));
        }
        for importer in seen.iter().map(String::as_str).chain(["", "program.js"]) {
            for specifier in &specifiers {
                match graph.resolve(importer, specifier) {
                    Ok(name) => assert!(is_builtin(name) || graph.find(name).is_some(), "{name:?}"),
                    Err(path) => assert!(path.starts_with("node:") || !keys.contains(path.as_str()), "{path:?}"),
                }
            }
        }
        for key in &keys {
            let name = graph.resolve("", key).expect("a key names its module").to_owned();
            graph.forget(&name);
        }
    }
}

#[test]
fn no_specifier_leads_past_the_callers_modules() {
    from_seeds(
        10_000,
        |seed| {
            let mut random = Random::of(seed);
            let lines: Vec<String> = (0..2 + random.below(6)).map(|_| random.text(PIECES, 7)).collect();
            lines.join("\n")
        },
        |text| hold(text),
    );
}

const PIECES: &[&str] = &[
    "a",
    "b.js",
    "/",
    "/",
    "./",
    "../",
    "..",
    ".",
    "//",
    "node:",
    "fs",
    "path",
    "buffer",
    "program.js",
    "proxy.js",
    "executor.js",
    "?",
    "??",
    "https:",
    "data:",
    ":",
    "\\",
    "%2e",
    "é",
    "\u{0}",
    "#",
    "@scope/",
    "json",
];
