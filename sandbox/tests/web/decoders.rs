//! What must hold of text decoders, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use crate::decoder::{Decoder, name, valid_utf8};
use crate::seeded::Random;
use crate::wtf8::lossy;

/// The first byte chooses an encoding, the second how it is read, the third how long pieces are; the rest is read.
pub fn hold(data: &[u8]) {
    let [number, flags, length, data @ ..] = data else { return };
    held_by_strings(data);
    if let Some(encoding) = std::str::from_utf8(data).ok().and_then(name) {
        assert_eq!(name(&encoding), Some(encoding), "a name is a label of its own");
    }
    let encoding = name(LABELS[usize::from(*number) % LABELS.len()]).expect("a label of the standard");
    let ignore_bom = flags & 1 == 1;
    let read = |fatal, length| read(&encoding, fatal, ignore_bom, data, length);
    let text = read(false, usize::MAX).expect("nothing is fatal");
    let length = usize::from(*length) + 1;
    assert_eq!(read(false, length).as_ref(), Some(&text), "{encoding}: the pieces' length changes the text");
    assert_eq!(read(true, length), read(true, usize::MAX), "{encoding}: the pieces' length changes what is fatal");
    let strict = read(true, usize::MAX);
    assert!(strict.is_none_or(|strict| strict == text), "{encoding}: what is not malformed is read in one way");
    if encoding == "utf-8" {
        let valid = valid_utf8(data, ignore_bom).map(|text| text.encode_utf16().collect::<Vec<u16>>());
        assert_eq!(valid, read(true, usize::MAX));
        let kept = data.strip_prefix(b"\xEF\xBB\xBF").filter(|_| !ignore_bom).unwrap_or(data);
        assert_eq!(String::from_utf16_lossy(&text), String::from_utf8_lossy(kept));
    }
}

/// The text of all bytes, given in pieces; nothing when they are malformed and that is fatal.
fn read(encoding: &str, fatal: bool, ignore_bom: bool, data: &[u8], length: usize) -> Option<Vec<u16>> {
    let mut decoder = Decoder::new(encoding, fatal, ignore_bom);
    let mut text = Vec::new();
    let mut pieces = data.chunks(length.min(data.len().max(1))).peekable();
    loop {
        let piece = pieces.next().unwrap_or_default();
        let last = pieces.peek().is_none();
        let mut units = vec![0; decoder.most_units(piece.len()).expect("a short piece")];
        let written = decoder.decode(piece, &mut units, last)?;
        text.extend_from_slice(&units[..written]);
        if last {
            return Some(text);
        }
    }
}

/// The engine's own form of strings, in which lone surrogates have bytes.
fn held_by_strings(data: &[u8]) {
    let text = lossy(data);
    assert!(std::str::from_utf8(data).is_ok_and(|valid| valid == text) || text.contains('\u{FFFD}'));
    let units: Vec<u16> = data.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let mut bytes = Vec::new();
    for char in char::decode_utf16(units.iter().copied()) {
        match char {
            Ok(char) => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                bytes.extend([0xED, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]);
            }
        }
    }
    assert_eq!(lossy(&bytes), String::from_utf16_lossy(&units));
}

/// Bytes for [`hold`], the same for a seed everywhere: those that mean something in some encoding more often than chance
/// has it.
pub fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    if random.below(8) == 0 {
        let mut label = random.pick(LABELS).as_bytes().to_vec();
        random.damage(&mut label);
        return [&[0, 0, 0], label.as_slice()].concat();
    }
    let mut data: Vec<u8> = (0..3).map(|_| random.below(256) as u8).collect();
    data[2] %= 8;
    for _ in 0..random.below(12) {
        match random.below(3) {
            0 => data.extend_from_slice(random.pick::<&[u8]>(PIECES)),
            1 => data.push(0x80 + random.below(128) as u8),
            _ => data.push(random.below(128) as u8),
        }
    }
    data
}

const LABELS: &[&str] = &[
    "utf-8",
    "utf-16le",
    "utf-16be",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "gbk",
    "gb18030",
    "big5",
    "euc-kr",
    "latin1",
    "windows-1251",
    "iso-8859-8-i",
    "macintosh",
    "koi8-u",
    "x-user-defined",
];

const PIECES: &[&[u8]] = &[
    b"\xEF\xBB\xBF",
    b"\xFF\xFE",
    b"\xFE\xFF",
    b"\x1B$B",
    b"\x1B(J",
    b"\x1B(I",
    b"\x1B(B",
    b"\x1B",
    b"\xE2\x82\xAC",
    b"\xF0\x9F\x98\x80",
    b"\xED\xA0\x80",
    b"\xED\xBF\xBF",
    b"\xD8\x00",
    b"\x00\xDC",
    b"\x81\x30\x81\x30",
    b"\x84\x31\xA4\x37",
    b"\x8E\xA2",
    b"\x8F\xA2\xAF",
    b"\x88\x62",
    b"\xA1\xA1",
];
