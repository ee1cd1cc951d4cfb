//! Strings as JSON text, escaped as `JSON.stringify` escapes them.

use std::fmt::Write as _;

use super::jsstring::{JsString, Piece};
use super::reader::plain_run;

/// Appends `string` with its quotes; lone surrogates become escapes.
pub(crate) fn write_string(string: &JsString, out: &mut String) {
    match string.as_str() {
        Some(text) => write_text(text, out),
        None => {
            out.push('"');
            for piece in string.pieces() {
                match piece {
                    Piece::Text(text) => escape(text, out),
                    // Writing to a String cannot fail.
                    Piece::Surrogate(unit) => _ = write!(out, "\\u{unit:04x}"),
                }
            }
            out.push('"');
        }
    }
}

/// Appends `text` with its quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    escape(text, out);
    out.push('"');
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    loop {
        let run = plain_run(rest.as_bytes());
        out.push_str(&rest[..run]);
        let Some(&byte) = rest.as_bytes().get(run) else { return };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // Writing to a String cannot fail.
            control => _ = write!(out, "\\u{control:04x}"),
        }
        rest = &rest[run + 1..];
    }
}
