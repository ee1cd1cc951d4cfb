//! Checking a data expression in one pass, without building it: the text comes from a process that ran guest code.

use super::decode::DATA_ONLY;
use super::expression::DecodeError;
use super::is_dropped_key;
use super::jsstring::utf16_units;
use super::limits::{DataLimits, DroppedKeys};
use super::reader::{RawString, Reader};
use super::tags;
use super::value::BytesKind;

type Result<T> = std::result::Result<T, DecodeError>;

pub(crate) fn check(text: &str, limits: &DataLimits) -> Result<()> {
    check_units(text, limits)?;
    let mut checker = Checker { reader: Reader::new(text, limits.nodes), limits };
    checker.expression(0)?;
    checker.reader.finish()
}

pub(crate) fn check_units(text: &str, limits: &DataLimits) -> Result<()> {
    // There are never more units than bytes, so most texts need no counting.
    if text.len() > limits.utf16_units && utf16_units(text.as_bytes()) > limits.utf16_units {
        let limit = limits.utf16_units as u64;
        return Err(DecodeError::Limit { bound: "UTF-16 units of one text", limit });
    }
    Ok(())
}

struct Checker<'t, 'l> {
    reader: Reader<'t>,
    limits: &'l DataLimits,
}

impl<'t> Checker<'t, '_> {
    /// Recursion is bounded by the depth limit.
    fn expression(&mut self, depth: usize) -> Result<()> {
        if depth >= self.limits.depth {
            return Err(DecodeError::Limit { bound: "levels of nested values", limit: self.limits.depth as u64 });
        }
        self.reader.count_node()?;
        match self.reader.peek() {
            Some(b'"') => self.reader.raw_string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.reader.number().map(drop),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.bracket(depth),
            Some(b't') => self.reader.word("true"),
            Some(b'f') => self.reader.word("false"),
            Some(b'n') => self.reader.word("null"),
            _ => Err(self.reader.syntax("expected a value")),
        }
    }

    fn bracket(&mut self, depth: usize) -> Result<()> {
        self.reader.expect(b'[', "expected an array")?;
        match self.reader.peek() {
            Some(b'[') => {
                self.reader.expect(b'[', "expected a list")?;
                if !self.reader.eat(b']') {
                    loop {
                        self.expression(depth + 1)?;
                        if !self.reader.more(b']')? {
                            break;
                        }
                    }
                }
                self.reader.expect(b']', "an array stands alone inside another one")
            }
            Some(b'"') => {
                let tag = self.reader.raw_string()?.text;
                if tag == "error" { self.error(depth) } else { self.leaf(tag) }
            }
            _ => Err(self.reader.unexpected("an array that is neither wrapped nor tagged")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<()> {
        self.reader.expect(b'{', "expected an object")?;
        if self.reader.eat(b'}') {
            return Ok(());
        }
        loop {
            let key = self.reader.raw_key()?;
            self.key(key)?;
            self.expression(depth + 1)?;
            if !self.reader.more(b'}')? {
                return Ok(());
            }
        }
    }

    #[inline(never)]
    fn key(&self, key: RawString<'_>) -> Result<()> {
        /// The longest escape of one character.
        const ESCAPE: usize = 6;
        /// The longest dropped key.
        const LONGEST: usize = "propertyIsEnumerable".len();
        if self.limits.dropped_keys == DroppedKeys::Allow || key.text.len() > LONGEST * ESCAPE {
            return Ok(());
        }
        let dropped = if key.escaped {
            key.decode().as_str().filter(|name| is_dropped_key(name)).map(str::to_owned)
        } else {
            is_dropped_key(key.text).then(|| key.text.to_owned())
        };
        dropped.map_or(Ok(()), |key| Err(DecodeError::DroppedKey { key }))
    }

    fn error(&mut self, depth: usize) -> Result<()> {
        for _ in ["name", "message"] {
            self.comma()?;
            self.reader.count_node()?;
            self.reader.raw_string()?;
        }
        if self.reader.eat(b',') {
            self.reader.count_node()?;
            match self.reader.peek() {
                Some(b'n') => self.reader.word("null")?,
                _ => drop(self.reader.raw_string()?),
            }
            if self.reader.eat(b',') {
                self.object(depth)?;
            }
        }
        self.close()
    }

    #[inline(never)]
    fn leaf(&mut self, tag: &str) -> Result<()> {
        match tag {
            "undefined" | "inf" | "-inf" | "nan" => {}
            "date" => {
                self.comma()?;
                self.reader.count_node()?;
                match self.reader.peek() {
                    Some(b'n') => self.reader.word("null")?,
                    Some(b'-' | b'0'..=b'9') => drop(self.reader.number()?),
                    _ => return Err(self.reader.unexpected("expected a number")),
                }
            }
            "bigint" => {
                let text = self.plain_operand(tags::BAD_BIGINT)?;
                let digits = tags::bigint_digits(text).ok_or_else(|| self.reader.expression(tags::BAD_BIGINT))?;
                if digits > self.limits.bigint_digits {
                    let limit = self.limits.bigint_digits as u64;
                    return Err(DecodeError::Limit { bound: "digits of a BigInt", limit });
                }
            }
            "bytes" => {
                let text = self.plain_operand(tags::BAD_BASE64)?;
                let length = tags::base64_length(text).ok_or_else(|| self.reader.expression(tags::BAD_BASE64))?;
                let mut kind = BytesKind::Uint8Array;
                if self.reader.peek() == Some(b',') {
                    let name = self.plain_operand(tags::BAD_KIND)?;
                    kind = BytesKind::from_name(name).ok_or_else(|| self.reader.expression(tags::BAD_KIND))?;
                }
                if !tags::fits_kind(length, kind) {
                    return Err(self.reader.expression(tags::BAD_LENGTH));
                }
            }
            "url" => {
                let href = self.operand()?.decode();
                if !href.as_str().is_some_and(tags::is_url) {
                    return Err(self.reader.expression(tags::BAD_URL));
                }
            }
            "headers" => {
                self.comma()?;
                self.headers()?;
            }
            "export" | "promise" | "writable" | "readable" | "import" | "pipeline" | "remap" | "request"
            | "response" | "blob" => return Err(self.reader.expression(DATA_ONLY)),
            _ => return Err(self.reader.expression("unknown tag")),
        }
        self.close()
    }

    fn headers(&mut self) -> Result<()> {
        self.reader.expect(b'[', "expected a list of headers")?;
        if self.reader.eat(b']') {
            return Ok(());
        }
        loop {
            self.reader.count_node()?;
            self.reader.expect(b'[', "expected a header as a pair")?;
            self.reader.count_node()?;
            let name = self.reader.raw_string()?.decode();
            let value = self.operand()?.decode();
            self.close()?;
            if !matches!((name.as_str(), value.as_str()), (Some(name), Some(value)) if tags::is_header(name, value)) {
                return Err(self.reader.expression(tags::BAD_HEADER));
            }
            if !self.reader.more(b']')? {
                return Ok(());
            }
        }
    }

    /// A string operand after a comma.
    fn operand(&mut self) -> Result<RawString<'t>> {
        self.comma()?;
        self.reader.count_node()?;
        self.reader.raw_string()
    }

    /// A string operand that no encoder has a reason to escape.
    fn plain_operand(&mut self, problem: &'static str) -> Result<&'t str> {
        let raw = self.operand()?;
        if raw.escaped { Err(self.reader.expression(problem)) } else { Ok(raw.text) }
    }

    fn comma(&mut self) -> Result<()> {
        self.reader.expect(b',', "an operand is missing")
    }

    fn close(&mut self) -> Result<()> {
        self.reader.expect(b']', "too many operands")
    }
}
