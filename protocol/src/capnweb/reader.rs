//! A one-pass JSON scanner with bounds, as lenient and as strict as `JSON.parse`.
//!
//! Lone surrogate escapes are legal and kept, `1e400` is Infinity, and no input makes it recurse.

use super::expression::DecodeError;
use super::jsstring::{Builder, JsString};

type Result<T> = std::result::Result<T, DecodeError>;

/// Where we are in one JSON text.
pub(crate) struct Reader<'t> {
    text: &'t str,
    pos: usize,
    nodes: usize,
    node_limit: usize,
}

/// The text between the quotes of a JSON string, checked but not decoded.
#[derive(Clone, Copy)]
pub(crate) struct RawString<'t> {
    pub(crate) text: &'t str,
    pub(crate) escaped: bool,
}

/// How deep raw JSON may nest that is skipped, not read: what 256 levels of values need, and a little.
const RAW_DEPTH: usize = 520;

/// Integers up to here are exact in JavaScript.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str, node_limit: usize) -> Self {
        Self { text, pos: 0, nodes: 0, node_limit }
    }

    pub(crate) fn at(&self) -> usize {
        self.pos
    }

    pub(crate) fn syntax(&self, problem: &'static str) -> DecodeError {
        DecodeError::Syntax { at: self.pos, problem }
    }

    pub(crate) fn expression(&self, problem: &'static str) -> DecodeError {
        DecodeError::Expression { at: self.pos, problem }
    }

    /// Charges one JSON value.
    pub(crate) fn count_node(&mut self) -> Result<()> {
        self.nodes += 1;
        if self.nodes > self.node_limit {
            return Err(DecodeError::Limit { bound: "JSON values in one text", limit: self.node_limit as u64 });
        }
        Ok(())
    }

    /// The next byte that is not white space, not consumed.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.pos)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.pos += 1;
        }
    }

    /// Consumes `byte` if it is next.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, byte: u8, problem: &'static str) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(problem)) }
    }

    /// Text that ends early, or holds what cannot start a value, is a syntax error; the rest is a matter of form.
    pub(crate) fn unexpected(&mut self, problem: &'static str) -> DecodeError {
        match self.peek() {
            None => self.syntax("the text ends early"),
            Some(b'"' | b'{' | b'[' | b']' | b'}' | b',' | b':' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {
                self.expression(problem)
            }
            Some(_) => self.syntax("unexpected character"),
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn finish(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("text after the value")),
        }
    }

    /// After an element: whether another one follows before `close`, which is consumed.
    pub(crate) fn more(&mut self, close: u8) -> Result<bool> {
        match self.peek() {
            Some(b',') => {
                self.pos += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.pos += 1;
                Ok(false)
            }
            Some(_) => Err(self.syntax("expected a comma or the end of the list")),
            None => Err(self.syntax("the text ends early")),
        }
    }

    /// `true`, `false` or `null`, whichever `word` is.
    pub(crate) fn word(&mut self, word: &'static str) -> Result<()> {
        if self.text.as_bytes()[self.pos..].starts_with(word.as_bytes()) {
            self.pos += word.len();
            Ok(())
        } else {
            Err(self.syntax("unexpected word"))
        }
    }

    /// A string, checked and not decoded.
    pub(crate) fn raw_string(&mut self) -> Result<RawString<'t>> {
        if !self.eat(b'"') {
            return Err(self.unexpected("expected a string"));
        }
        let start = self.pos;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            self.pos += plain_run(&bytes[self.pos..]);
            match bytes.get(self.pos) {
                Some(b'"') => {
                    // Both ends are next to an ASCII byte, so this is a character boundary.
                    let text = &self.text[start..self.pos];
                    self.pos += 1;
                    return Ok(RawString { text, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.pos += 1;
                    match bytes.get(self.pos) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 1,
                        Some(b'u') if hex4(bytes.get(self.pos + 1..).unwrap_or_default()).is_some() => self.pos += 5,
                        _ => return Err(self.syntax("bad escape in a string")),
                    }
                }
                Some(_) => return Err(self.syntax("control character in a string")),
                None => return Err(self.syntax("the text ends inside a string")),
            }
        }
    }

    /// A string.
    pub(crate) fn string(&mut self) -> Result<JsString> {
        Ok(self.raw_string()?.decode())
    }

    /// A string that must not hold lone surrogates where it names something; they become U+FFFD.
    pub(crate) fn text(&mut self) -> Result<String> {
        Ok(self.string()?.into_string_lossy())
    }

    /// A number.
    pub(crate) fn number(&mut self) -> Result<f64> {
        self.peek();
        let bytes = self.text.as_bytes();
        let start = self.pos;
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let whole = digits(bytes, at);
        if whole == 0 || (whole > 1 && bytes[at] == b'0') {
            return Err(self.syntax("bad number"));
        }
        let first_digit = at;
        at += whole;
        let mut integer = true;
        if bytes.get(at) == Some(&b'.') {
            integer = false;
            let fraction = digits(bytes, at + 1);
            if fraction == 0 {
                return Err(self.syntax("bad number"));
            }
            at += 1 + fraction;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            integer = false;
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let exponent = digits(bytes, at);
            if exponent == 0 {
                return Err(self.syntax("bad number"));
            }
            at += exponent;
        }
        self.pos = at;
        if integer && whole <= 15 {
            let size = bytes[first_digit..at].iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
            let size = size as f64;
            // Negating the float, not the integer, keeps -0.
            return Ok(if first_digit > start { -size } else { size });
        }
        self.text[start..at].parse().map_err(|_| self.syntax("bad number"))
    }

    /// An integer that JavaScript can hold exactly.
    pub(crate) fn integer(&mut self) -> Result<i64> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.unexpected("expected an integer"));
        }
        let number = self.number()?;
        if number.fract() == 0.0 && number.abs() <= MAX_SAFE {
            Ok(number as i64)
        } else {
            Err(self.expression("expected an integer of at most 2^53"))
        }
    }

    /// Skips one JSON value of any form.
    pub(crate) fn skip_value(&mut self) -> Result<()> {
        // One bit per open bracket: set for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            self.count_node()?;
            match self.peek() {
                Some(b'{') => {
                    self.pos += 1;
                    if !self.eat(b'}') {
                        self.open(&mut open, true)?;
                        self.raw_key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.pos += 1;
                    if !self.eat(b']') {
                        self.open(&mut open, false)?;
                        continue;
                    }
                }
                Some(b'"') => drop(self.raw_string()?),
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                _ => return Err(self.syntax("expected a value")),
            }
            loop {
                let Some(&object) = open.last() else { return Ok(()) };
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.raw_key()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    fn open(&self, open: &mut Vec<bool>, object: bool) -> Result<()> {
        if open.len() >= RAW_DEPTH {
            return Err(DecodeError::Limit { bound: "levels of nested JSON", limit: RAW_DEPTH as u64 });
        }
        open.push(object);
        Ok(())
    }

    /// An object key and its colon.
    pub(crate) fn raw_key(&mut self) -> Result<RawString<'t>> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax("expected a key"));
        }
        let key = self.raw_string()?;
        if !self.eat(b':') {
            return Err(self.syntax("expected a colon"));
        }
        Ok(key)
    }
}

impl RawString<'_> {
    pub(crate) fn decode(self) -> JsString {
        if !self.escaped {
            return JsString::from(self.text);
        }
        let mut builder = Builder::with_capacity(self.text.len());
        let mut rest = self.text;
        while let Some(at) = rest.as_bytes().iter().position(|byte| *byte == b'\\') {
            builder.push_str(&rest[..at]);
            let escape = &rest.as_bytes()[at + 1..];
            // `raw_string` has checked every escape, so the fallbacks are never taken.
            let (unit, used) = match escape.first() {
                Some(b'b') => (0x08, 1),
                Some(b'f') => (0x0C, 1),
                Some(b'n') => (0x0A, 1),
                Some(b'r') => (0x0D, 1),
                Some(b't') => (0x09, 1),
                Some(b'u') => (hex4(&escape[1..]).unwrap_or(0xFFFD), 5),
                Some(&same) => (u16::from(same), 1),
                None => break,
            };
            builder.push_unit(unit);
            rest = rest.get(at + 1 + used..).unwrap_or_default();
        }
        builder.push_str(rest);
        builder.finish()
    }
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn hex4(bytes: &[u8]) -> Option<u16> {
    let four = bytes.first_chunk::<4>()?;
    let mut unit = 0;
    for byte in four {
        unit = unit << 4 | char::from(*byte).to_digit(16)?;
    }
    u16::try_from(unit).ok()
}

/// How many bytes from the start need no attention in a JSON string: no quote, backslash or control character.
/// Eight bytes at a time, because large strings are what large messages are made of.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        // Each term has the high bit of a byte set where the byte is below 0x20 or equals zero. A borrow can set
        // bits above a true hit only, and we look at the lowest.
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special = control | (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
        let hits = special & HIGHS;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let tail = &bytes[at..];
    at + tail.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> f64 {
        Reader::new(text, 10).number().unwrap()
    }

    #[test]
    fn numbers_are_read_as_json_parse_does() {
        assert_eq!(number("0"), 0.0);
        assert!(number("-0").is_sign_negative());
        assert_eq!(number("123456789012345"), 123_456_789_012_345.0);
        assert_eq!(number("-12.5e-1"), -1.25);
        assert_eq!(number("1e400"), f64::INFINITY);
        assert_eq!(number("12345678901234567890"), 12_345_678_901_234_567_890.0);
        for bad in ["01", "-", "1.", ".5", "1e", "1e+", "+1", "Infinity", ""] {
            let mut reader = Reader::new(bad, 10);
            assert!(reader.number().and_then(|_| reader.finish()).is_err(), "{bad}");
        }
    }

    #[test]
    fn strings_keep_lone_surrogates_and_join_pairs() {
        let decoded = Reader::new(r#""a\ud800\n\ud83d\ude00\/é\u00e9""#, 10).string().unwrap();
        assert_eq!(
            decoded.to_utf16(),
            "a\u{0}".encode_utf16().take(1).chain([0xD800]).chain("\n😀/éé".encode_utf16()).collect::<Vec<_>>()
        );
        for bad in ["\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\n\"", "\"\\"] {
            assert!(Reader::new(bad, 10).string().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_plain_run_ends_at_each_special_byte_wherever_it_stands() {
        for special in (0..0x20).chain([b'"', b'\\']) {
            for at in 0..40 {
                let mut bytes = vec![b'a'; 40];
                bytes[at] = special;
                assert_eq!(plain_run(&bytes), at);
            }
        }
        assert_eq!(plain_run("é€😀\u{7f} !#[]".repeat(9).as_bytes()), "é€😀\u{7f} !#[]".len() * 9);
    }

    #[test]
    fn raw_values_are_skipped_without_recursion() {
        let deep = format!("{}{}", "[".repeat(RAW_DEPTH), "]".repeat(RAW_DEPTH));
        assert!(Reader::new(&deep, 10_000).skip_value().is_ok());
        let deeper = "[".repeat(1_000_000);
        assert!(matches!(Reader::new(&deeper, 10_000_000).skip_value(), Err(DecodeError::Limit { .. })));
        for good in [r#"{"a":[1,{"b":null}],"c":{}} "#, "[]", "-1.5", "true"] {
            let mut reader = Reader::new(good, 100);
            assert!(reader.skip_value().and_then(|()| reader.finish()).is_ok(), "{good}");
        }
        for bad in ["[1,]", "{\"a\":}", "{1:2}", "[1 2]", "{\"a\":1,}", "[", "tru", "[}"] {
            let mut reader = Reader::new(bad, 100);
            assert!(reader.skip_value().and_then(|()| reader.finish()).is_err(), "{bad}");
        }
    }
}
