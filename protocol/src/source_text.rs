//! Characters of JavaScript's source text (ECMA-262, section 12).

/// Whether `character` is WhiteSpace or LineTerminator: what `\s` matches and `trim` removes. Other than Unicode's
/// property, it has U+FEFF and lacks U+0085.
pub fn is_white_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

/// Whether `character` is a LineTerminator.
pub fn is_line_terminator(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
