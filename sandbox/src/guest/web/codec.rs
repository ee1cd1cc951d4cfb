//! The encodings of Node's Buffer, purely: bytes to text and back, and searching in bytes. Knows no
//! engine: fuzzing uses it too.
//!
//! Decoding of text is as lenient as Node's: what is no digit ends hexadecimal text, is passed over in Base64, and both
//! alphabets of Base64 are read.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

/// An encoding by the number that scripts give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8; lone surrogates are written, and malformed bytes read, as U+FFFD.
    Utf8,
    /// UTF-16, little-endian; an odd last byte is not read.
    Utf16,
    /// One byte for the low eight bits of each unit.
    Latin1,
    /// Written as Latin-1, read without the highest bit.
    Ascii,
    /// Base64 with padding.
    Base64,
    /// Base64 of the URL alphabet, without padding.
    Base64Url,
    /// Hexadecimal, in lower case.
    Hex,
}

impl Encoding {
    /// The encoding with this number; any other number is UTF-8.
    pub(crate) fn of(number: u32) -> Self {
        match number {
            1 => Self::Utf16,
            2 => Self::Latin1,
            3 => Self::Ascii,
            4 => Self::Base64,
            5 => Self::Base64Url,
            6 => Self::Hex,
            _ => Self::Utf8,
        }
    }

    /// At most this many bytes are needed for text of `units` units.
    pub(crate) fn most_bytes(self, units: usize) -> usize {
        match self {
            Self::Utf8 => units.saturating_mul(3),
            Self::Utf16 => units.saturating_mul(2),
            Self::Latin1 | Self::Ascii => units,
            Self::Base64 | Self::Base64Url => (units / 4 + 1).saturating_mul(3),
            Self::Hex => units / 2,
        }
    }

    /// At most this many bytes of native memory are held while `bytes` bytes become text.
    pub(crate) fn most_text(self, bytes: usize) -> usize {
        match self {
            // A malformed byte becomes three.
            Self::Utf8 => bytes.saturating_mul(3),
            _ => bytes.saturating_mul(2),
        }
    }
}

/// Text as it goes to the engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// As UTF-8.
    Utf8(String),
    /// As UTF-16 units.
    Units(Vec<u16>),
}

/// Bytes as text.
pub(crate) fn decode(bytes: &[u8], encoding: Encoding) -> Text {
    match encoding {
        Encoding::Utf8 => Text::Utf8(String::from_utf8_lossy(bytes).into_owned()),
        Encoding::Utf16 => {
            Text::Units(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
        }
        Encoding::Latin1 => Text::Units(bytes.iter().map(|byte| u16::from(*byte)).collect()),
        Encoding::Ascii => Text::Utf8(bytes.iter().map(|byte| char::from(byte & 0x7F)).collect()),
        Encoding::Base64 => Text::Utf8(STANDARD.encode(bytes)),
        Encoding::Base64Url => Text::Utf8(URL_SAFE_NO_PAD.encode(bytes)),
        Encoding::Hex => Text::Utf8(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect()),
    }
}

/// Writes as much of a text as `room` holds and returns the number of bytes written. A character is never cut.
pub(crate) fn encode_into(units: &[u16], encoding: Encoding, room: &mut [u8]) -> usize {
    match encoding {
        Encoding::Utf8 => encode_utf8_into(units, room).1,
        Encoding::Utf16 => {
            let pairs = room.chunks_exact_mut(2).zip(units);
            2 * pairs.map(|(pair, unit)| pair.copy_from_slice(&unit.to_le_bytes())).count()
        }
        Encoding::Latin1 | Encoding::Ascii => {
            room.iter_mut().zip(units).map(|(byte, unit)| *byte = *unit as u8).count()
        }
        Encoding::Base64 | Encoding::Base64Url => fill(room, base64_bytes(units)),
        Encoding::Hex => {
            let pairs = units.chunks_exact(2);
            fill(room, pairs.map_while(|pair| Some(hex_value(pair[0])? << 4 | hex_value(pair[1])?)))
        }
    }
}

/// Writes as much of a text in UTF-8 as `room` holds and returns how many units were read and how many bytes were written.
/// Lone surrogates become U+FFFD; a character is never cut.
pub(crate) fn encode_utf8_into(units: &[u16], room: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    for unit in char::decode_utf16(units.iter().copied()) {
        let char = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
        let Some(room) = room.get_mut(written..written + char.len_utf8()) else { break };
        char.encode_utf8(room);
        written += char.len_utf8();
        read += char.len_utf16();
    }
    (read, written)
}

/// Bytes that a text takes in UTF-8.
pub(crate) fn utf8_length(units: &[u16]) -> usize {
    let chars = char::decode_utf16(units.iter().copied());
    chars.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8()).sum()
}

fn fill(room: &mut [u8], bytes: impl Iterator<Item = u8>) -> usize {
    room.iter_mut().zip(bytes).map(|(place, byte)| *place = byte).count()
}

fn hex_digit(value: u8) -> char {
    char::from(if value < 10 { b'0' + value } else { b'a' + value - 10 })
}

/// The value of a hexadecimal digit, of which, as in Node, only the low eight bits count.
fn hex_value(unit: u16) -> Option<u8> {
    char::from(unit as u8).to_digit(16).map(|digit| digit as u8)
}

/// The bytes in Base64 text up to its first `=`; what is no digit is passed over, and so are bits that make no byte.
fn base64_bytes(units: &[u16]) -> impl Iterator<Item = u8> {
    let mut digits = units.iter().take_while(|unit| **unit != u16::from(b'=')).filter_map(|unit| sextet(*unit));
    let (mut bits, mut held) = (0u32, 0u32);
    std::iter::from_fn(move || {
        while held < 8 {
            bits = (bits << 6 | u32::from(digits.next()?)) & 0xFFFF;
            held += 6;
        }
        held -= 8;
        Some((bits >> held) as u8)
    })
}

fn sextet(unit: u16) -> Option<u8> {
    Some(match u8::try_from(unit).ok()? {
        byte @ b'A'..=b'Z' => byte - b'A',
        byte @ b'a'..=b'z' => byte - b'a' + 26,
        byte @ b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Where `needle` stands in `hay`, at or after `from`, or at or before it when searching backwards; both are looked at
/// in units of `step` bytes. In time that grows with the sum of the lengths.
pub(crate) fn find(hay: &[u8], needle: &[u8], from: usize, step: usize, backwards: bool) -> Option<usize> {
    let last = hay.len().checked_sub(needle.len())?;
    if needle.is_empty() {
        return (from <= hay.len()).then_some(from);
    }
    if backwards {
        let end = from.min(last) + needle.len();
        let reversed: Vec<u8> = needle.iter().rev().copied().collect();
        let ends = occurrences(hay[..end].iter().rev().copied(), &reversed);
        // The end of an occurrence counted from the end of the part is its start counted from the front.
        return ends.map(|at| end - at).find(|at| at % step == 0);
    }
    let part = hay.get(from..)?;
    let ends = occurrences(part.iter().copied(), needle);
    ends.map(|at| from + at - needle.len()).find(|at| at % step == 0)
}

/// The ends of all occurrences, by the algorithm of Knuth, Morris and Pratt.
fn occurrences(hay: impl Iterator<Item = u8>, needle: &[u8]) -> impl Iterator<Item = usize> {
    let mut borders = vec![0; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[at] != needle[length] {
            length = borders[length - 1];
        }
        length += usize::from(needle[at] == needle[length]);
        borders[at] = length;
    }
    let mut matched = 0;
    hay.enumerate().filter_map(move |(at, byte)| {
        if matched == needle.len() {
            matched = borders[matched - 1];
        }
        while matched > 0 && needle[matched] != byte {
            matched = borders[matched - 1];
        }
        matched += usize::from(needle[matched] == byte);
        (matched == needle.len()).then_some(at + 1)
    })
}

/// Fills `room` with repetitions of `pattern`, which is not empty.
pub(crate) fn repeat(room: &mut [u8], pattern: &[u8]) {
    let first = pattern.len().min(room.len());
    room[..first].copy_from_slice(&pattern[..first]);
    let mut filled = first;
    while filled < room.len() && filled > 0 {
        let more = filled.min(room.len() - filled);
        room.copy_within(..more, filled);
        filled += more;
    }
}

/// Reverses the bytes of each group of `width`.
pub(crate) fn swap(bytes: &mut [u8], width: usize) {
    bytes.chunks_exact_mut(width.max(1)).for_each(<[u8]>::reverse);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Encoding; 7] = [
        Encoding::Utf8,
        Encoding::Utf16,
        Encoding::Latin1,
        Encoding::Ascii,
        Encoding::Base64,
        Encoding::Base64Url,
        Encoding::Hex,
    ];

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
        let units = units(text);
        let mut room = vec![0; encoding.most_bytes(units.len())];
        let written = encode_into(&units, encoding, &mut room);
        room.truncate(written);
        room
    }

    #[test]
    fn text_is_decoded_as_leniently_as_node_does() {
        let cases: [(&str, Encoding, &[u8]); 12] = [
            ("YQ==YQ==", Encoding::Base64, b"a"),
            ("Y=Q=", Encoding::Base64, b""),
            ("YWJ*jZA", Encoding::Base64, b"abcd"),
            (" Y W\nJ j", Encoding::Base64, b"abc"),
            ("-_-_", Encoding::Base64, &[0xFB, 0xFF, 0xBF]),
            ("+/+/", Encoding::Base64Url, &[0xFB, 0xFF, 0xBF]),
            ("Y", Encoding::Base64, b""),
            ("abc", Encoding::Hex, &[0xAB]),
            ("abxycd", Encoding::Hex, &[0xAB]),
            ("a\u{130}b0", Encoding::Hex, &[0xA0, 0xB0]),
            ("\u{141}é", Encoding::Latin1, &[0x41, 0xE9]),
            ("€", Encoding::Utf16, &[0xAC, 0x20]),
        ];
        for (text, encoding, expected) in cases {
            assert_eq!(encode(text, encoding), expected, "{text} {encoding:?}");
        }
        assert_eq!(encode_into(&[0xD800, 0x41], Encoding::Utf8, &mut [0; 8]), 4);
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        let mut room = [0; 4];
        assert_eq!(encode_into(&units("a€x"), Encoding::Utf8, &mut room[..3]), 1);
        assert_eq!(encode_into(&units("ab"), Encoding::Utf16, &mut room[..3]), 2);
        assert_eq!(encode_into(&units("aabb"), Encoding::Hex, &mut room[..1]), 1);
        assert_eq!(encode_into(&units("YWJj"), Encoding::Base64, &mut room[..2]), 2);
        assert_eq!(room, [b'a', b'b', 0, 0]);
    }

    #[test]
    fn occurrences_are_found_forwards_and_backwards() {
        for (hay, needle) in [("abcabcab", "abc"), ("aaaa", "aa"), ("ab", "abc"), ("xyz", "z"), ("aabaabaaab", "aaab")]
        {
            for from in 0..hay.len() {
                let (hay, needle) = (hay.as_bytes(), needle.as_bytes());
                let at = |at: &usize| hay[*at..].starts_with(needle);
                assert_eq!(find(hay, needle, from, 1, false), (from..hay.len()).find(at), "{hay:?} {needle:?} {from}");
                assert_eq!(find(hay, needle, from, 1, true), (0..=from).rev().find(at), "{hay:?} {needle:?} {from}");
                let even = (from..hay.len()).filter(|at| at % 2 == 0).find(at);
                assert_eq!(find(hay, needle, from, 2, false), even, "{hay:?} {needle:?} {from} by two");
            }
        }
    }

    #[test]
    fn bytes_survive_a_round_trip() {
        let bytes: Vec<u8> = (0..=255).collect();
        for encoding in ALL.into_iter().filter(|encoding| !matches!(encoding, Encoding::Utf8 | Encoding::Ascii)) {
            let text = match decode(&bytes, encoding) {
                Text::Utf8(text) => units(&text),
                Text::Units(units) => units,
            };
            let mut room = vec![0; 300];
            assert_eq!(encode_into(&text, encoding, &mut room), 256, "{encoding:?}");
            assert_eq!(room[..256], bytes, "{encoding:?}");
        }
    }

    #[test]
    fn a_pattern_is_repeated_and_cut() {
        let mut room = [0; 7];
        repeat(&mut room, b"abc");
        assert_eq!(&room, b"abcabca");
        repeat(&mut room[..2], b"xyz");
        assert_eq!(&room, b"xycabca");
        swap(&mut room, 2);
        assert_eq!(&room, b"yxaccba");
    }
}
