//! The text of a program's body: what is taken off before it is put into its place.

use std::borrow::Cow;

use codemode_protocol::{is_line_terminator, is_white_space};

/// The body without its one trailing semicolon, which becomes a space: the last one that only white space and comments
/// follow. If several qualify, all but the first stand in comments.
pub(super) fn without_semicolon(body: &str) -> Cow<'_, str> {
    let mut found = None;
    for (at, _) in body.rmatch_indices(';').take(SEMICOLONS) {
        // Not the end of the search: this one may stand in a comment that follows the one that counts.
        if is_trivia(&body[at + 1..]) {
            found = Some(at);
        }
    }
    match found {
        Some(at) => format!("{} {}", &body[..at], &body[at + 1..]).into(),
        None => body.into(),
    }
}

/// Whether `text` is nothing but white space and comments.
fn is_trivia(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches(is_white_space);
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.find(is_line_terminator).map_or("", |end| &comment[end..]);
        } else if let Some(comment) = text.strip_prefix("/*") {
            let Some(end) = comment.find("*/") else { return false };
            text = &comment[end + 2..];
        } else {
            return text.is_empty();
        }
    }
}

/// Line breaks as line feeds, as the language reads them, so that counting them is exact.
pub(super) fn line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// Line feeds of a text.
pub(super) fn lines(text: &str) -> i32 {
    text.bytes().filter(|byte| *byte == b'\n').count() as i32
}

/// Semicolons at the end of a body that are looked at; more of them in one comment are a program's own loss.
const SEMICOLONS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trailing_semicolon_goes_and_columns_stay() {
        let cases = [
            ("f;", "f "),
            ("f; // a;", "f  // a;"),
            ("f; /* a; */ // b;\n ", "f  /* a; */ // b;\n "),
            ("f // a;", "f // a "),
            ("f;;", "f; "),
            ("`;`", "`;`"),
            ("';' + /;/", "';' + /;/"),
            ("() => { a; b; }", "() => { a; b; }"),
            ("", ""),
            (";", " "),
        ];
        for (body, expected) in cases {
            assert_eq!(without_semicolon(body), expected, "{body}");
        }
    }
}
