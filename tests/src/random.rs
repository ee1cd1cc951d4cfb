//! Random choices that a seed repeats.

/// The generator splitmix64: the same numbers everywhere for the same seed.
pub struct Random(u64);

impl Random {
    /// A generator whose choices the seed decides.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own that the next number of this one seeds.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "a generator of numbers has no end, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is at least 1.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// One of `choices`, if there are any.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let count = choices.len() as u64;
        (count > 0).then(|| &choices[self.below(count) as usize])
    }
}
