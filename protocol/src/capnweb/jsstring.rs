//! A JavaScript string without loss: UTF-8, or WTF-8 where it holds a surrogate without its partner.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A JavaScript string. Ordinary strings are UTF-8 inside; one with lone surrogates is kept as WTF-8, so that it
/// crosses the wire unchanged. Ordering and equality are those of the bytes.
#[derive(Clone)]
pub struct JsString(Repr);

#[derive(Clone)]
enum Repr {
    Utf8(String),
    /// Generalised UTF-8 with at least one lone surrogate (`ED A0..BF xx`), never a surrogate pair.
    Wtf8(Vec<u8>),
}

impl JsString {
    /// The empty string.
    pub const fn new() -> Self {
        Self(Repr::Utf8(String::new()))
    }

    /// Builds a string from UTF-16 code units; surrogates without a partner are kept.
    pub fn from_utf16(units: &[u16]) -> Self {
        let mut builder = Builder::default();
        for &unit in units {
            builder.push_unit(unit);
        }
        builder.finish()
    }

    /// The text, or `None` if the string holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Utf8(text) => Some(text),
            Repr::Wtf8(_) => None,
        }
    }

    /// The text with every lone surrogate replaced by U+FFFD.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Utf8(text) => Cow::Borrowed(text),
            Repr::Wtf8(bytes) => Cow::Owned(lossy(bytes)),
        }
    }

    /// The text with every lone surrogate replaced by U+FFFD, without a copy where there is none.
    pub fn into_string_lossy(self) -> String {
        match self.0 {
            Repr::Utf8(text) => text,
            Repr::Wtf8(bytes) => lossy(&bytes),
        }
    }

    /// The WTF-8 bytes.
    pub fn as_wtf8(&self) -> &[u8] {
        match &self.0 {
            Repr::Utf8(text) => text.as_bytes(),
            Repr::Wtf8(bytes) => bytes,
        }
    }

    /// The UTF-16 code units, lone surrogates included.
    pub fn to_utf16(&self) -> Vec<u16> {
        match &self.0 {
            Repr::Utf8(text) => text.encode_utf16().collect(),
            Repr::Wtf8(bytes) => {
                let mut units = Vec::with_capacity(bytes.len());
                for piece in pieces(bytes) {
                    match piece {
                        Piece::Text(text) => units.extend(text.encode_utf16()),
                        Piece::Surrogate(unit) => units.push(unit),
                    }
                }
                units
            }
        }
    }

    /// Length in UTF-16 code units, what JavaScript calls `length`.
    pub fn utf16_len(&self) -> usize {
        // A lone surrogate is three bytes and one unit, like every other three-byte sequence.
        utf16_units(self.as_wtf8())
    }

    /// Length in bytes of the inner form.
    pub fn len(&self) -> usize {
        self.as_wtf8().len()
    }

    /// Whether the string is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The runs of ordinary text and the lone surrogates, in order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        pieces(self.as_wtf8())
    }

    /// Bytes of heap memory held, for accounting.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Utf8(text) => text.capacity(),
            Repr::Wtf8(bytes) => bytes.capacity(),
        }
    }
}

/// UTF-16 code units of (generalised) UTF-8: one per leading byte, two for the four-byte ones.
pub(crate) fn utf16_units(bytes: &[u8]) -> usize {
    let mut units = 0;
    // Short sums per block let the compiler keep byte-wide counters.
    for block in bytes.chunks(128) {
        let mut sum = 0u8;
        for &byte in block {
            // Leading bytes and ASCII are everything but 0x80..=0xBF.
            sum += u8::from((byte as i8) >= -0x40);
        }
        units += usize::from(sum);
        if !block.is_ascii() {
            units += block.iter().filter(|byte| **byte >= 0xF0).count();
        }
    }
    units
}

pub(crate) enum Piece<'a> {
    Text(&'a str),
    Surrogate(u16),
}

fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => {
                rest = &[];
                return Some(Piece::Text(text));
            }
            Err(error) => error.valid_up_to(),
        };
        let (head, tail) = rest.split_at(valid);
        if !head.is_empty() {
            rest = tail;
            return std::str::from_utf8(head).ok().map(Piece::Text);
        }
        // Only surrogates are outside UTF-8 here: ED followed by A0..BF and a continuation byte.
        let unit = match tail {
            [0xED, middle, last, ..] => 0xD000 | (u16::from(middle & 0x3F) << 6) | u16::from(last & 0x3F),
            _ => 0xFFFD,
        };
        rest = tail.get(3..).unwrap_or_default();
        Some(Piece::Surrogate(unit))
    })
}

fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for piece in pieces(bytes) {
        match piece {
            Piece::Text(run) => text.push_str(run),
            Piece::Surrogate(_) => text.push('\u{FFFD}'),
        }
    }
    text
}

/// Collects text and UTF-16 units into a [`JsString`], joining surrogates that meet.
#[derive(Default)]
pub(crate) struct Builder {
    bytes: Vec<u8>,
    /// A high surrogate that may still meet its partner.
    high: Option<u16>,
    lone: bool,
}

impl Builder {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        if !text.is_empty() {
            self.settle_high();
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    pub(crate) fn push_unit(&mut self, unit: u16) {
        match (self.high, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                self.high = None;
                let scalar = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00);
                self.push_char(char::from_u32(scalar).unwrap_or('\u{FFFD}'));
            }
            (_, 0xD800..=0xDBFF) => {
                self.settle_high();
                self.high = Some(unit);
            }
            (_, 0xDC00..=0xDFFF) => {
                self.settle_high();
                self.push_lone(unit);
            }
            _ => {
                self.settle_high();
                self.push_char(char::from_u32(u32::from(unit)).unwrap_or('\u{FFFD}'));
            }
        }
    }

    pub(crate) fn finish(mut self) -> JsString {
        self.settle_high();
        if self.lone {
            return JsString(Repr::Wtf8(self.bytes));
        }
        match String::from_utf8(self.bytes) {
            Ok(text) => JsString(Repr::Utf8(text)),
            Err(error) => JsString(Repr::Utf8(String::from_utf8_lossy(error.as_bytes()).into_owned())),
        }
    }

    fn push_char(&mut self, scalar: char) {
        let mut buffer = [0; 4];
        self.bytes.extend_from_slice(scalar.encode_utf8(&mut buffer).as_bytes());
    }

    fn settle_high(&mut self) {
        if let Some(high) = self.high.take() {
            self.push_lone(high);
        }
    }

    fn push_lone(&mut self, unit: u16) {
        self.lone = true;
        self.bytes.extend_from_slice(&[0xED, 0x80 | ((unit >> 6) & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]);
    }
}

impl Default for JsString {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&str> for JsString {
    fn from(text: &str) -> Self {
        Self(Repr::Utf8(text.to_owned()))
    }
}

impl From<String> for JsString {
    fn from(text: String) -> Self {
        Self(Repr::Utf8(text))
    }
}

impl PartialEq for JsString {
    fn eq(&self, other: &Self) -> bool {
        self.as_wtf8() == other.as_wtf8()
    }
}

impl Eq for JsString {}

impl PartialEq<str> for JsString {
    fn eq(&self, other: &str) -> bool {
        self.as_wtf8() == other.as_bytes()
    }
}

impl PartialEq<&str> for JsString {
    fn eq(&self, other: &&str) -> bool {
        self.as_wtf8() == other.as_bytes()
    }
}

impl PartialOrd for JsString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for JsString {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_wtf8().cmp(other.as_wtf8())
    }
}

impl Hash for JsString {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_wtf8().hash(state);
    }
}

impl fmt::Debug for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_string_lossy(), f)
    }
}

impl fmt::Display for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_lossy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_survive_and_pairs_become_one_scalar() {
        let units = [0x61, 0xD800, 0x62, 0xD83D, 0xDE00, 0xDC00, 0xDBFF];
        let string = JsString::from_utf16(&units);
        assert_eq!(string.as_str(), None);
        assert_eq!(string.to_utf16(), units);
        assert_eq!(string.utf16_len(), units.len());
        assert_eq!(string.to_string_lossy(), "a\u{FFFD}b\u{1F600}\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn length_counts_utf16_units() {
        let text = "aé€😀".repeat(100);
        assert_eq!(JsString::from(text.as_str()).utf16_len(), text.encode_utf16().count());
    }
}
