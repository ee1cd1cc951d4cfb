//! What must hold of Buffer's bytes, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use crate::codec::{Encoding, Text, decode, encode_into, find, repeat, swap, utf8_length};

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
        assert!(std::str::from_utf8(&whole[..all]).is_ok());
    }
    let mut part = vec![0; cut.min(all)];
    let fits = encode_into(&text, encoding, &mut part);
    assert_eq!(part[..fits], whole[..fits], "{encoding:?}: a part is the beginning of the whole");

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
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let length = next(60);
    let kind = next(4);
    let mut data: Vec<u8> = vec![next(256) as u8, next(40) as u8];
    for _ in 0..length {
        data.push(match kind {
            0 => next(256) as u8,
            1 => b"ab"[next(2) as usize],
            2 => b"0123456789abcdefAF+/-_= \n"[next(25) as usize],
            _ => [0xD8, 0xDC, 0xE2, 0x82, 0xAC, 0x00, 0xF0, 0x9F][next(8) as usize],
        });
    }
    data
}
