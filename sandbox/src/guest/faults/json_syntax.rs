//! What V8 says of a text that is no JSON.

/// V8's message about `text`, in UTF-16; nothing when it is JSON, or when the message would hold half a character.
pub(super) fn message(text: &[u16]) -> Option<String> {
    let mut reader = Reader { text, at: 0, open: Vec::new() };
    let fault = reader.document().err()?;
    reader.describe(fault)
}

/// Why a text is no JSON; the reader stands where V8 says it is.
enum Fault {
    /// A character that cannot stand there, or the end.
    Unexpected,
    /// With a text of its own, at a place.
    Named(&'static str),
}

struct Reader<'a> {
    text: &'a [u16],
    at: usize,
    /// What is open: true for an object.
    open: Vec<bool>,
}

impl Reader<'_> {
    /// Values are read in a loop, as deep as they like.
    fn document(&mut self) -> Result<(), Fault> {
        loop {
            self.skip_space();
            // A value begins here.
            match self.peek() {
                Some('{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != Some('}') {
                        self.key("Expected property name or '}' in JSON")?;
                        self.open.push(true);
                        continue;
                    }
                    self.at += 1;
                }
                Some('[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() != Some(']') {
                        self.open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                Some('"') => self.string()?,
                Some('-' | '0'..='9') => self.number()?,
                Some('t') => self.literal("true")?,
                Some('f') => self.literal("false")?,
                Some('n') => self.literal("null")?,
                _ => return Err(Fault::Unexpected),
            }
            // It has ended, and with it what may end.
            loop {
                self.skip_space();
                match (self.open.last(), self.peek()) {
                    (None, None) => return Ok(()),
                    (None, _) => return Err(Fault::Named("Unexpected non-whitespace character after JSON")),
                    (Some(true), Some(',')) => {
                        self.at += 1;
                        self.skip_space();
                        self.key("Expected double-quoted property name in JSON")?;
                        break;
                    }
                    (Some(false), Some(',')) => {
                        self.at += 1;
                        break;
                    }
                    (Some(true), Some('}')) | (Some(false), Some(']')) => {
                        self.at += 1;
                        self.open.pop();
                    }
                    (Some(true), _) => return Err(Fault::Named("Expected ',' or '}' after property value in JSON")),
                    (Some(false), _) => return Err(Fault::Named("Expected ',' or ']' after array element in JSON")),
                }
            }
        }
    }

    fn key(&mut self, missing: &'static str) -> Result<(), Fault> {
        if self.peek() != Some('"') {
            return Err(Fault::Named(missing));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(':') {
            return Err(Fault::Named("Expected ':' after property name in JSON"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            match self.peek() {
                None if self.at >= self.text.len() => return Err(Fault::Named("Unterminated string in JSON")),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some('\0'..='\x1f') => return Err(Fault::Named("Bad control character in string literal in JSON")),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => self.at += 1,
            Some('u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|digit| digit.is_ascii_hexdigit()) {
                        return Err(Fault::Named("Bad Unicode escape in JSON"));
                    }
                    self.at += 1;
                }
            }
            None if self.at >= self.text.len() => return Err(Fault::Unexpected),
            _ => return Err(Fault::Named("Bad escaped character in JSON")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some('-') {
            self.at += 1;
            if !self.is_digit() {
                return Err(Fault::Named("No number after minus sign in JSON"));
            }
        }
        if self.peek() == Some('0') {
            self.at += 1;
            if self.is_digit() {
                return Err(Fault::Named("Unexpected number in JSON"));
            }
        }
        self.digits();
        if self.peek() == Some('.') {
            self.at += 1;
            if !self.is_digit() {
                return Err(Fault::Named("Unterminated fractional number in JSON"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            if !self.is_digit() {
                return Err(Fault::Named("Exponent part is missing a number in JSON"));
            }
            self.digits();
        }
        Ok(())
    }

    fn literal(&mut self, literal: &str) -> Result<(), Fault> {
        for expected in literal.chars() {
            if self.peek() != Some(expected) {
                return Err(Fault::Unexpected);
            }
            self.at += 1;
        }
        Ok(())
    }

    /// The unit as a character; nothing at the end, and for surrogates, which are all alike here.
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).and_then(|unit| char::from_u32(u32::from(*unit)))
    }

    fn is_digit(&self) -> bool {
        self.peek().is_some_and(|digit| digit.is_ascii_digit())
    }

    fn digits(&mut self) {
        while self.is_digit() {
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn describe(&self, fault: Fault) -> Option<String> {
        let named = match fault {
            Fault::Named(text) => Some(text),
            Fault::Unexpected => match self.peek() {
                None if self.at >= self.text.len() => return Some("Unexpected end of JSON input".into()),
                Some('-' | '0'..='9') => Some("Unexpected number in JSON"),
                Some('"') => Some("Unexpected string in JSON"),
                _ => None,
            },
        };
        if let Some(text) = named {
            let (line, column) = self.place();
            return Some(format!("{text} at position {} (line {line} column {column})", self.at));
        }
        let text = |range: std::ops::Range<usize>| String::from_utf16(&self.text[range]).ok();
        let length = self.text.len();
        if length < LONGEST_WHOLE {
            let whole = text(0..length)?;
            return Some(match SPECIAL.contains(&whole.as_str()) {
                true => format!("\"{whole}\" is not valid JSON"),
                false => format!("Unexpected token '{}', \"{whole}\" is not valid JSON", text(self.at..self.at + 1)?),
            });
        }
        let token = text(self.at..self.at + 1)?;
        let (from, to) = (self.at.saturating_sub(CONTEXT), (self.at + CONTEXT).min(length));
        let (before, after) = match self.at {
            at if at < CONTEXT => ("", "..."),
            at if at < length - CONTEXT => ("...", "..."),
            _ => ("...", ""),
        };
        let shown = text(if before.is_empty() { 0 } else { from }..if after.is_empty() { length } else { to })?;
        Some(format!("Unexpected token '{token}', {before}\"{shown}\"{after} is not valid JSON"))
    }

    fn place(&self) -> (usize, usize) {
        let (mut line, mut start, mut at) = (1, 0, 0);
        while at < self.at {
            let unit = self.text[at];
            at += 1;
            if unit == u16::from(b'\r') && at < self.at && self.text[at] == u16::from(b'\n') {
                at += 1;
            }
            if unit == u16::from(b'\r') || unit == u16::from(b'\n') {
                (line, start) = (line + 1, at);
            }
        }
        (line, 1 + self.at - start)
    }
}

/// Texts that are not JSON but what other values become when they are passed as text.
const SPECIAL: &[&str] = &["undefined", "NaN", "Infinity", "[object Object]"];

/// Units before and behind the fault that V8 shows of a longer text.
const CONTEXT: usize = 10;

/// A text of fewer units is shown whole.
const LONGEST_WHOLE: usize = 2 * CONTEXT + 1;

#[cfg(test)]
mod tests {
    #[test]
    fn the_messages_are_those_measured_at_the_reference() {
        let rows: Vec<(String, Option<String>)> =
            serde_json::from_str(include_str!("../tests/json-messages.json")).unwrap();
        for (text, expected) in rows {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(super::message(&units), expected, "{text:?}");
        }
    }

    #[test]
    fn half_characters_are_not_shown() {
        assert_eq!(super::message(&[0xd83d, 0xdd0d]), None);
        assert_eq!(super::message(&[]).as_deref(), Some("Unexpected end of JSON input"));
    }
}
