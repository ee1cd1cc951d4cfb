//! Looks for what failed in sources and JSON texts that nobody wrote, at every place: whatever the text, nothing breaks.

use std::rc::Rc;

use super::{
    calls::{Operation, Source},
    json_syntax,
};

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

fn generated(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    (0..1 + next(40)).map(|_| PIECES[next(PIECES.len())]).collect()
}

#[test]
fn no_text_breaks_the_search_for_what_failed() {
    let mut looked_through = 0;
    for seed in 0..20_000 {
        let text = generated(seed);
        json_syntax::message(&text.encode_utf16().collect::<Vec<_>>());
        let Some(source) = Source::new(Rc::from(text.as_str()), 1) else { continue };
        looked_through += 1;
        for (line, row) in text.split('\n').enumerate() {
            for column in 0..=row.len() as i32 + 2 {
                let place = (line as i32 + 1, column);
                let uses = [Operation::Call, Operation::New, Operation::Iteration];
                source.failed_call(place, &uses, |name| name.len().is_multiple_of(2));
                source.failed_iteration(place);
                source.is_assignment(place, "a");
            }
        }
    }
    assert!(looked_through > 1000, "{looked_through} texts were sources");
}
