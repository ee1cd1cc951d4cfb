//! Tags of data: numbers that JSON lacks, dates, bytes, errors and the like.

use super::{Decoder, Keys, Result};
use crate::capnweb::expression::DecodeError;
use crate::capnweb::tags;
use crate::capnweb::value::{BytesKind, ErrorValue, Value};

impl Decoder<'_, '_> {
    /// Tags without expressions inside.
    #[inline(never)]
    pub(super) fn leaf(&mut self, tag: &str) -> Result<Value> {
        let value = match tag {
            "undefined" => Value::Undefined,
            "inf" => Value::Number(f64::INFINITY),
            "-inf" => Value::Number(f64::NEG_INFINITY),
            "nan" => Value::Number(f64::NAN),
            "date" => {
                self.comma()?;
                self.reader.count_node()?;
                if self.reader.peek() == Some(b'n') {
                    self.reader.word("null")?;
                    Value::Date(f64::NAN)
                } else {
                    self.number_operand()?
                }
            }
            "bigint" => {
                self.comma()?;
                let text = self.operand()?;
                let digits = tags::bigint_digits(&text).ok_or_else(|| self.reader.expression(tags::BAD_BIGINT))?;
                if digits > self.bounds.bigint_digits {
                    let limit = self.bounds.bigint_digits as u64;
                    return Err(DecodeError::Limit { bound: "digits of a BigInt", limit });
                }
                Value::BigInt(tags::canonical_bigint(&text))
            }
            "bytes" => {
                self.comma()?;
                self.reader.count_node()?;
                let text = self.reader.raw_string()?;
                let bytes = if text.escaped {
                    text.decode().as_str().and_then(tags::decode_base64)
                } else {
                    tags::decode_base64(text.text)
                };
                let bytes = bytes.ok_or_else(|| self.reader.expression(tags::BAD_BASE64))?;
                let mut kind = BytesKind::Uint8Array;
                if self.reader.eat(b',') {
                    let name = self.operand()?;
                    kind = BytesKind::from_name(&name).ok_or_else(|| self.reader.expression(tags::BAD_KIND))?;
                }
                if !tags::fits_kind(bytes.len(), kind) {
                    return Err(self.reader.expression(tags::BAD_LENGTH));
                }
                Value::Bytes(kind, bytes)
            }
            "url" => {
                self.comma()?;
                let href = self.operand()?;
                if !tags::is_url(&href) {
                    return Err(self.reader.expression(tags::BAD_URL));
                }
                Value::Url(href)
            }
            "headers" => {
                self.comma()?;
                self.headers()?
            }
            "export" | "promise" | "writable" | "readable" => {
                self.comma()?;
                self.reference(tag)?
            }
            _ => return Err(self.reader.expression("unknown tag")),
        };
        self.close()?;
        Ok(value)
    }

    fn number_operand(&mut self) -> Result<Value> {
        if !matches!(self.reader.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.reader.unexpected("expected a number"));
        }
        Ok(Value::Date(tags::clip_date(self.reader.number()?)))
    }

    fn headers(&mut self) -> Result<Value> {
        let mut pairs = Vec::new();
        self.reader.expect(b'[', "expected a list of headers")?;
        if self.reader.eat(b']') {
            return Ok(Value::Headers(pairs));
        }
        loop {
            self.reader.count_node()?;
            self.reader.expect(b'[', "expected a header as a pair")?;
            let name = self.operand()?;
            self.comma()?;
            let value = self.operand()?;
            self.close()?;
            if !tags::is_header(&name, &value) {
                return Err(self.reader.expression(tags::BAD_HEADER));
            }
            pairs.push((name, value));
            if !self.reader.more(b']')? {
                return Ok(Value::Headers(pairs));
            }
        }
    }

    pub(super) fn error(&mut self, depth: usize) -> Result<Value> {
        let mut error = self.error_texts()?;
        if self.reader.eat(b',') {
            error.props = self.object(depth, Keys::ErrorProps)?;
        }
        self.close()?;
        Ok(Value::Error(error))
    }

    #[inline(never)]
    fn error_texts(&mut self) -> Result<Box<ErrorValue>> {
        self.comma()?;
        let name = self.operand()?;
        self.comma()?;
        let message = self.operand()?;
        let mut error = Box::new(ErrorValue::new(name, message));
        if self.reader.eat(b',') {
            self.reader.count_node()?;
            if self.reader.peek() == Some(b'n') {
                self.reader.word("null")?;
            } else {
                error.stack = Some(self.reader.text()?);
            }
        }
        Ok(error)
    }
}
