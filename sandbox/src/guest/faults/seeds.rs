//! Looks for what failed in sources and JSON texts that nobody wrote, at every place: whatever the text, nothing breaks.

use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{
    calls::Source,
    json_syntax,
    table::{Fault, Thrower, rewrite},
    words::words,
};
use crate::seeded::{Random, from_seeds};

/// What sources are put together from: words, signs, and what makes words hard to know apart.
const PIECES: &[&str] = &[
    "api.nope()",
    "a",
    " ",
    "\n",
    "\r\n",
    "\u{2028}",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "`",
    "${",
    "`x${",
    "}`",
    "'",
    "\"",
    "'s'",
    "/",
    "/re/g",
    "/[/]/",
    "//c\n",
    "/*",
    "*/",
    "=>",
    "=",
    "==",
    "++",
    "--",
    ".",
    "?.",
    "...",
    "!",
    "#p",
    "async",
    "await ",
    "function",
    "class A",
    "new ",
    "of ",
    "in ",
    "for(",
    "if(x)",
    "return ",
    "const ",
    "0x1f",
    "1.5e3",
    "1n",
    ".5",
    ",",
    ";",
    ":",
    "?",
    "\\",
    "\\u0061",
    "é",
    "😀",
    "x = null;",
    "null.foo",
    "[...x]",
    "new A.B()",
    "true",
    "null",
    "-1",
    "1e",
    "\"\\u12",
    "\u{0}",
];

/// Looks for what failed everywhere in a text; whether it was a source that can be looked through.
pub(crate) fn hold(text: &str) -> bool {
    let message = json_syntax::message(&text.encode_utf16().collect::<Vec<_>>());
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => assert_eq!(message, None, "{text:?} is JSON"),
        // A message would have to hold half a character.
        Err(_) => assert!(message.is_some() || !text.chars().all(|char| char.len_utf16() == 1), "{text:?} is no JSON"),
    }
    if let Some(words) = words(text) {
        assert!(words.windows(2).all(|pair| pair[0].end <= pair[1].start), "words follow each other");
        let is_paired = |pair: usize| words.get(pair).is_some_and(|word| word.pair.is_some());
        assert!(words.iter().all(|word| word.pair.is_none_or(is_paired)), "brackets come in pairs");
    }
    let Some(source) = Source::new(Rc::from(text), 1).map(Rc::new) else { return false };
    for (line, row) in text.split('\n').enumerate().take(PLACES) {
        for column in 0..=row.len().min(PLACES) as i32 + 2 {
            let place = (line as i32 + 1, column);
            let may_be = |message, kind| {
                let fault = Fault { kind, message, by: Thrower::Code("f", place) };
                rewrite(&fault, || Some(Rc::clone(&source)), |chain| chain.len().is_multiple_of(2))
            };
            for message in ["not a function", "not a constructor", "value is not iterable"] {
                assert!(may_be(message, "TypeError").is_none_or(|said| said.contains(" is not ")));
            }
            may_be("'a' is read-only", "TypeError");
        }
    }
    // A program names what it throws as it likes.
    for by in [Thrower::Code(text, (1, 1)), Thrower::Native(text)] {
        for message in [text, &format!("cannot read property '{text}' of null"), &format!("'{text}' is read-only")] {
            rewrite(&Fault { kind: "TypeError", message, by }, || Some(Rc::clone(&source)), |_| false);
        }
    }
    true
}

/// Lines, and columns of a line, that are looked at.
const PLACES: usize = 200;

#[test]
fn no_text_breaks_the_search_for_what_failed() {
    let looked_through = AtomicUsize::new(0);
    from_seeds(
        10_000,
        |seed| Random::of(seed).text(PIECES, 40),
        |text| {
            looked_through.fetch_add(usize::from(hold(text)), Relaxed);
        },
    );
    let looked_through = looked_through.into_inner();
    assert!(looked_through > 1000, "{looked_through} texts were sources");
}

#[test]
fn a_search_that_takes_too_many_steps_names_nothing() {
    for (spreads, expected) in [(10, Some("b is not iterable")), (20_000, None)] {
        let text = format!("[{}...b]", "...a,".repeat(spreads));
        let by = Thrower::Code("f", (1, text.len() as i32 - 1));
        let fault = Fault { kind: "TypeError", message: "value is not iterable", by };
        let said = rewrite(&fault, || Source::new(Rc::from(text.as_str()), 1).map(Rc::new), |_| false);
        assert_eq!(said.as_deref(), expected, "{spreads} spreads");
    }
}
