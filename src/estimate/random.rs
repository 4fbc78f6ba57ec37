/// Random numbers for drawing tasks, the same ones for the same seed: SplitMix64 (Steele, Lea and
/// Flood, 2014).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Moves a random choice of `count` of the elements to the front, in random order.
    pub(super) fn choose<T>(&mut self, of: &mut [T], count: usize) {
        for place in 0..count.min(of.len()) {
            let other = place as u64 + self.below((of.len() - place) as u64);
            of.swap(place, other as usize);
        }
    }
}
