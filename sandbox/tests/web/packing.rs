//! What must hold of compression, whatever a program passes. Fuzzing drives it by coverage, a test from seeds.

use crate::deflate::{Deflater, Format, Inflater};
use crate::seeded::Random;

/// The first byte chooses the format, the second how long pieces are, the rest is taken as compressed and as not.
pub fn hold(data: &[u8]) {
    let [format, length, data @ ..] = data else { return };
    let format = [Format::Raw, Format::Zlib, Format::Gzip][usize::from(format % 3)];
    let length = usize::from(*length) + 1;
    assert_eq!(
        inflate(format, data, length),
        inflate(format, data, usize::MAX),
        "the pieces' length changes what comes out"
    );
    let packed = deflate(format, data, length);
    assert_eq!(inflate(format, &packed, length), Some((data.to_vec(), true)), "what was compressed does not come back");
}

/// Input for [`hold`], the same for a seed everywhere: compressed bytes, most of them damaged a little.
pub fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    let kind = random.below(3);
    let variety = 1 + random.below(256);
    let plain: Vec<u8> = (0..random.below(600)).map(|_| random.below(variety) as u8).collect();
    let mut packed = deflate([Format::Raw, Format::Zlib, Format::Gzip][kind], &plain, 4096);
    for _ in 0..random.below(4) {
        let at = random.below(packed.len());
        match random.below(4) {
            0 => packed.truncate(at + 1),
            1 => packed.push(random.below(256) as u8),
            _ => packed[at] ^= 1 << random.below(8),
        }
    }
    packed.splice(0..0, [kind as u8, random.below(256) as u8]);
    packed
}

/// What comes of the input, and whether its end was reached; nothing when it is damaged. Cut at [`MOST`] bytes.
fn inflate(format: Format, data: &[u8], length: usize) -> Option<(Vec<u8>, bool)> {
    let mut inflater = Inflater::new(format);
    let mut output = Vec::new();
    let mut room = vec![0; length.min(4096)];
    for mut piece in data.chunks(length.min(data.len().max(1))) {
        loop {
            let progress = inflater.step(piece, &mut room).ok()?;
            output.extend_from_slice(&room[..progress.written]);
            piece = &piece[progress.read..];
            if output.len() >= MOST {
                output.truncate(MOST);
                return Some((output, false));
            }
            if progress.written < room.len() {
                break;
            }
        }
        assert!(piece.is_empty() || inflater.is_done(), "room was left and input was not taken");
    }
    Some((output, inflater.is_done()))
}

fn deflate(format: Format, data: &[u8], length: usize) -> Vec<u8> {
    let mut deflater = Deflater::new(format);
    let mut output = Vec::new();
    let mut room = vec![0; length];
    let mut from = 0;
    while !deflater.is_done() {
        let progress = deflater.step(&data[from..], &mut room, true).expect("not called after its end");
        output.extend_from_slice(&room[..progress.written]);
        from += progress.read;
    }
    output
}

/// More than a bomb of the inputs' size needs to be one.
const MOST: usize = 1 << 20;
