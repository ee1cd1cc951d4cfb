//! White space as JavaScript knows it.

/// Whether `character` is matched by `\s` and removed by `trim`: WhiteSpace and LineTerminator (ECMA-262, sections 12.2
/// and 12.3). Other than Unicode's property, it has U+FEFF and lacks U+0085.
pub(crate) fn is_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// Whether `character` ends a line (ECMA-262, section 12.3).
pub(crate) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// `String.prototype.trim`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_removes_what_javascript_removes() {
        assert_eq!(trim("\u{feff}\u{2028}\u{3000}\t a \r\n\u{2029}\u{a0}"), "a");
        for kept in ["\u{85}", "\u{180e}", "\u{200b}", "\u{1c}", "\0"] {
            assert_eq!(trim(kept), kept);
        }
    }
}
