//! A growing text for what leaves the guest: counted against the memory limit, bounded, and measured in the units that
//! the contract bounds.

use super::alloc::Charge;
use super::js::{Piece, pieces};

/// Text under construction. Past its byte bound it keeps counting but holds nothing any more.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    charge: Charge,
    bound: u64,
    size: u64,
    units: u64,
    escapes: u64,
}

impl Output {
    /// An empty text of at most `bound` bytes.
    pub(super) fn new(bound: u64) -> Self {
        Self { bytes: Vec::new(), charge: Charge::NONE, bound, size: 0, units: 0, escapes: 0 }
    }

    /// Bytes written, also those past the bound.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// UTF-16 units written.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// UTF-16 units that the text takes once it is escaped as a JSON string: everything that needs an escape there is
    /// a quote or a backslash, because control characters are escaped already.
    pub(super) fn escaped_units(&self) -> u64 {
        self.units + self.escapes
    }

    /// The text, unless it went past its bound.
    pub(super) fn finish(self) -> Option<String> {
        if self.size > self.bound {
            return None;
        }
        // Only proper text was written: `&str` pieces and ASCII escapes.
        Some(match String::from_utf8(self.bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// Appends text.
    pub(super) fn push(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            self.units += u64::from(byte & 0xc0 != 0x80) + u64::from(byte >= 0xf0);
            self.escapes += u64::from(byte == b'"' || byte == b'\\');
        }
        self.append(text.as_bytes());
    }

    /// Appends a JSON string literal of WTF-8 text; lone surrogates become `\udXXX`.
    pub(super) fn push_string(&mut self, text: &[u8]) {
        self.push("\"");
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => self.push_escaped(text),
                Piece::Surrogate(unit) => self.push(&format!("\\u{unit:04x}")),
            }
        }
        self.push("\"");
    }

    fn push_escaped(&mut self, text: &str) {
        let mut start = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            // Everything that is escaped is one ASCII byte, so both cuts are character boundaries.
            self.push(&text[start..at]);
            start = at + 1;
            match byte {
                b'"' => self.push("\\\""),
                b'\\' => self.push("\\\\"),
                b'\n' => self.push("\\n"),
                b'\r' => self.push("\\r"),
                b'\t' => self.push("\\t"),
                0x08 => self.push("\\b"),
                0x0c => self.push("\\f"),
                _ => self.push(&format!("\\u{byte:04x}")),
            }
        }
        self.push(&text[start..]);
    }

    /// Appends the base64 of `data` in quotes.
    pub(super) fn push_base64(&mut self, data: &[u8], padding: Padding) {
        use base64::engine::{
            Engine,
            general_purpose::{STANDARD, STANDARD_NO_PAD},
        };
        self.push("\"");
        // Whole groups of three give whole groups of four, so the pieces join.
        for piece in data.chunks(3 * 4096) {
            let text = match padding {
                Padding::With => STANDARD.encode(piece),
                Padding::Without => STANDARD_NO_PAD.encode(piece),
            };
            self.push(&text);
        }
        self.push("\"");
    }

    fn append(&mut self, piece: &[u8]) {
        self.size += piece.len() as u64;
        if self.size > self.bound {
            self.bytes = Vec::new();
            self.charge.resize(0);
            return;
        }
        let wanted = self.bytes.len() + piece.len();
        if wanted > self.bytes.capacity() {
            let capacity = wanted.max(self.bytes.capacity() * 2).max(256);
            self.charge.resize(capacity);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
    }
}

/// Whether base64 text ends in `=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    /// As the binary tag of host calls has it.
    With,
    /// As Cap'n Web writes it.
    Without,
}
