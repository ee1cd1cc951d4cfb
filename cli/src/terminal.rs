//! Text of programs and tools on the user's terminal.

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
};

/// Displays a text without the control characters with which it could drive the terminal: all but line ends and tabs
/// are shown escaped.
pub(crate) struct Harmless<'a>(pub(crate) &'a str);

impl fmt::Display for Harmless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\n' | '\t' => f.write_char(character)?,
                control if control.is_control() => write!(f, "{}", control.escape_default())?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Writes one line to standard error. A reader that is gone is no reason to fail.
pub(crate) fn say(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes one line to standard output and flushes it.
///
/// # Errors
/// When the reader is gone.
pub(crate) fn print(line: impl fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Writes one line to standard output. A reader that is gone does not want it, which is no failure.
///
/// # Errors
/// The line is lost for another reason, such as a full disk; the text says so.
pub(crate) fn deliver(line: impl fmt::Display) -> Result<(), String> {
    match print(line) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("what was to be printed on standard output is lost: {error}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(Harmless("a\u{1b}[2Jb\n\tc\u{9b}\r").to_string(), "a\\u{1b}[2Jb\n\tc\\u{9b}\\r");
    }
}
