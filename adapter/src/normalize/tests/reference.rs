//! The normaliser and the tool names against the dialect's own package, in Node.
//!
//! The package is installed by `npm ci` in `compat/normalizer`. Without it the comparison is skipped, and says so; in CI
//! (environment variable `CI`) it fails. `PROGRAM_SEED`, a number, looks at other programs than the usual ones.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use codemode_protocol::separate_imports;
use serde_json::json;

use super::{
    super::{fence, normalize_code},
    programs::{Choices, seeds},
};
use crate::{sanitize_tool_name, space::trim};

const PROGRAMS: usize = 20_000;
const NAMES: usize = 50_000;

#[test]
fn generated_programs_are_normalized_as_by_the_package() {
    let seeds = seeds();
    let seed = std::env::var("PROGRAM_SEED").map_or(0xc0de, |seed| seed.parse().expect("PROGRAM_SEED is a number"));
    let mut choices = Choices::new(seed);
    let generated = (0..PROGRAMS).map(|index| if index % 16 == 0 { choices.nest(12) } else { choices.program(&seeds) });
    let programs: Vec<String> = seeds.iter().cloned().chain(generated).collect();
    // The package knows no static imports: there the part behind them is compared.
    let parts: Vec<(&str, &str)> = programs.iter().map(|code| split(code)).collect();
    let questions = parts.iter().map(|(_, body)| json!({ "normalize": body }));
    let Some(answers) = ask(questions.map(|question| question.to_string()).collect()) else { return };
    let mut different = Vec::new();
    for ((code, (imports, _)), answer) in programs.iter().zip(&parts).zip(answers) {
        let expected = if imports.is_empty() { answer } else { format!("{imports}\n{answer}") };
        let ours = normalize_code(code);
        if ours != expected {
            different.push(format!("{code:?}\n  ours      {ours:?}\n  reference {expected:?}"));
        }
    }
    assert!(different.is_empty(), "{} of {}:\n{}", different.len(), programs.len(), different.join("\n"));
}

/// What is normalized in another way, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("async(...items)", "the parser takes a call of a function named async with a spread for parameters"),
    (
        "[a = eval] = []",
        "the check takes eval and arguments in a default of a destructuring assignment for what is assigned to",
    ),
];

#[test]
fn listed_differences_are_still_there() {
    let questions = DIFFERENCES.iter().map(|(code, _)| json!({ "normalize": code }).to_string());
    let Some(answers) = ask(questions.collect()) else { return };
    for ((code, reason), answer) in DIFFERENCES.iter().zip(answers) {
        assert_ne!(normalize_code(code), answer, "{code:?} is no difference any more ({reason}): take it off the list");
    }
}

#[test]
fn generated_tool_names_are_sanitized_as_by_the_package() {
    let mut choices = Choices::new(0x7001);
    let names: Vec<String> = (0..NAMES).map(|_| choices.tool_name()).collect();
    let questions = names.iter().map(|name| json!({ "sanitize": name }).to_string());
    let Some(answers) = ask(questions.collect()) else { return };
    for (name, expected) in names.iter().zip(answers) {
        assert_eq!(sanitize_tool_name(name), expected, "{name:?}");
    }
}

/// The static imports and what stands behind them; all of the code when there are none.
fn split(code: &str) -> (&str, &str) {
    let text = trim(code);
    let text = trim(fence::strip(text).unwrap_or(text));
    let separated = separate_imports(text);
    if separated.imports.is_empty() { ("", code) } else { (separated.imports, separated.body) }
}

/// The package's answer to each question; `None` when it is not installed.
fn ask(questions: Vec<String>) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compat/normalizer");
    if !folder.join("node_modules").exists() {
        let reason = "compat/normalizer has no node_modules: run `npm ci` there";
        assert!(std::env::var_os("CI").is_none(), "{reason}");
        println!("skipped: {reason}");
        return None;
    }
    let mut node = Command::new("node")
        .current_dir(folder)
        .arg("answer.mjs")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node can be started");
    let mut input = node.stdin.take().expect("the input is piped");
    let count = questions.len();
    let writer = thread::spawn(move || input.write_all(questions.join("\n").as_bytes()));
    let output = node.wait_with_output().expect("node can be waited for");
    writer.join().expect("the writer does not panic").expect("node reads its input");
    assert!(output.status.success(), "node failed: {}", output.status);
    let text = String::from_utf8(output.stdout).expect("node writes UTF-8");
    let answers: Vec<String> =
        text.split('\n').map(|line| serde_json::from_str(line).expect("an answer is a JSON string")).collect();
    assert_eq!(answers.len(), count);
    Some(answers)
}
