//! Input from seeds, the same for a seed everywhere, and tests that take as many seeds as they are to.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Choices that a seed fixes (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// The choices of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `count`, which is not zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % count as u64) as usize
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A text of fewer than `count` pieces.
    pub(crate) fn text(&mut self, pieces: &[&str], count: usize) -> String {
        (0..self.below(count)).map(|_| *self.pick(pieces)).collect()
    }

    /// Fewer than `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..self.below(count)).map(|_| self.below(256) as u8).collect()
    }

    /// Changes, drops or adds up to three bytes.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.below(256) as u8),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }
}

/// Holds what is generated from a fixed number of seeds, or from `FUZZ_SECONDS` of them, and names the seed that fails.
pub(crate) fn from_seeds<T: Debug + RefUnwindSafe>(
    count: u64,
    generated: impl Fn(u64) -> T,
    hold: impl Fn(&T) + RefUnwindSafe,
) {
    let seconds = std::env::var("FUZZ_SECONDS").ok().map(|seconds| seconds.parse().expect("a number of seconds"));
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for seed in (0..).take_while(|seed| end.map_or(*seed < count, |end| Instant::now() < end)) {
        let input = generated(seed);
        let held = catch_unwind(|| hold(&input));
        assert!(held.is_ok(), "seed {seed}: {input:?}");
    }
}
