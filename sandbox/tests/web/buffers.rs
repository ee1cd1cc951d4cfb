//! What must hold of Buffer's bytes, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use crate::codec::{Encoding, Text, decode, encode_into, encode_utf8_into, find, repeat, swap, utf8_length};
use crate::seeded::Random;

/// The first byte chooses an encoding, the second where things are cut; the rest is bytes, text and needle at once.
pub fn hold(data: &[u8]) {
    let [number, cut, rest @ ..] = data else { return };
    let encoding = Encoding::of(u32::from(number % 8));
    let cut = usize::from(*cut).min(rest.len());

    let shown = units(&decode(rest, encoding));
    let mut room = vec![0; encoding.most_bytes(shown.len())];
    let written = encode_into(&shown, encoding, &mut room);
    if !matches!(encoding, Encoding::Utf8 | Encoding::Ascii) {
        let whole = if encoding == Encoding::Utf16 { rest.len() / 2 * 2 } else { rest.len() };
        assert_eq!(room[..written], rest[..whole], "{encoding:?}: what is shown is what there was");
    }

    // Any text, lone surrogates and all.
    let text: Vec<u16> =
        rest.chunks(2).map(|pair| u16::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u16::from(*low))).collect();
    let mut whole = vec![0; encoding.most_bytes(text.len())];
    let all = encode_into(&text, encoding, &mut whole);
    if encoding == Encoding::Utf8 {
        assert_eq!(all, utf8_length(&text));
        assert_eq!(std::str::from_utf8(&whole[..all]), Ok(String::from_utf16_lossy(&text).as_str()));
    }
    let mut part = vec![0; cut.min(all)];
    let fits = encode_into(&text, encoding, &mut part);
    assert_eq!(part[..fits], whole[..fits], "{encoding:?}: a part is the beginning of the whole");

    let (read, written) = encode_utf8_into(&text, &mut part);
    assert_eq!(std::str::from_utf8(&part[..written]), Ok(String::from_utf16_lossy(&text[..read]).as_str()));

    let (needle, hay) = rest.split_at(cut);
    for step in [1, 2] {
        let at = |at: &usize| at.is_multiple_of(step) && hay[*at..].starts_with(needle);
        if needle.is_empty() {
            continue;
        }
        assert_eq!(find(hay, needle, cut, step, false), (cut.min(hay.len())..hay.len()).find(at));
        assert_eq!(find(hay, needle, cut, step, true), (0..hay.len().min(cut + 1)).rev().find(at));
    }

    let mut filled = vec![0; rest.len()];
    if !needle.is_empty() {
        repeat(&mut filled, needle);
        assert!(filled.iter().zip(needle.iter().cycle()).all(|(a, b)| a == b));
    }
    for width in [2, 4, 8] {
        let mut swapped = rest.to_vec();
        swap(&mut swapped, width);
        swap(&mut swapped, width);
        assert_eq!(swapped, rest);
    }
}

fn units(text: &Text) -> Vec<u16> {
    match text {
        Text::Utf8(text) => text.encode_utf16().collect(),
        Text::Units(units) => units.clone(),
    }
}

/// Bytes that are text, digits and needles more often than chance has it.
pub fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    let kind = random.below(4);
    let mut data = vec![random.below(256) as u8, random.below(40) as u8];
    for _ in 0..random.below(60) {
        data.push(match kind {
            0 => random.below(256) as u8,
            1 => *random.pick(b"ab"),
            2 => *random.pick(b"0123456789abcdefAF+/-_= \n"),
            _ => *random.pick(&[0xD8, 0xDC, 0xE2, 0x82, 0xAC, 0x00, 0xF0, 0x9F]),
        });
    }
    data
}
