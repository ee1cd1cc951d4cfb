//! White space as JavaScript knows it.

pub(crate) use codemode_protocol::{is_line_terminator as is_line_end, is_white_space as is_space};

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
