//! What must hold of the body of a program and of the stacks that it makes, whatever they are. Fuzzing drives it by
//! coverage, a test from seeds.

use crate::{
    guest::{
        body::{line_feeds, lines, without_semicolon},
        stack::{frames, place_of, position},
    },
    seeded::{Random, from_seeds},
};

/// One text as a body and as a stack.
pub(crate) fn hold(text: &str) {
    let body = without_semicolon(text);
    assert_eq!(body.len(), text.len());
    let changed: Vec<_> = text.bytes().zip(body.bytes()).filter(|(before, after)| before != after).collect();
    assert!(changed.is_empty() || changed == [(b';', b' ')], "{text:?} became {body:?}");
    let unified = line_feeds(text);
    let breaks = text.matches(['\r', '\n']).count() - text.matches("\r\n").count();
    assert_eq!((unified.contains('\r'), lines(&unified)), (false, breaks as i32), "{text:?}");

    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    assert!(text.ends_with(frames(text, first, second)));
    for line in text.lines() {
        assert!(place_of(line, "program.js").is_none() || line.contains("program.js:"), "{line:?}");
    }
    let named = format!("{text}\n    at f (program.js:3:7)");
    assert!(position(&named, "program.js").is_some_and(|(line, _)| line >= 1), "{text:?}");
}

#[test]
fn no_body_and_no_stack_is_more_than_text() {
    from_seeds(20_000, |seed| Random::of(seed).text(PIECES, 16), |text| hold(text));
}

const PIECES: &[&str] = &[
    ";",
    ";",
    "//",
    "/*",
    "*/",
    "\n",
    "\r",
    "\r\n",
    "\u{2028}",
    "\u{feff}",
    " ",
    "a",
    "async () => 1",
    "'",
    "`",
    "é",
    "Error: m",
    "\n    at ",
    "at ",
    "f (",
    "(",
    ")",
    "program.js",
    ":",
    ":1",
    ":-2:3",
    ":99999999999:1",
    "my-program.js:1:2",
    "native",
];
