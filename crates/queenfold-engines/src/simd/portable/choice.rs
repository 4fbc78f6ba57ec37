//! Moves chosen bits of a number together, without an instruction for it.

/// A choice of bits, as the bits that have to move by 1, 2, 4, 8, 16 and 32 places to close the
/// gaps. Source: H. S. Warren, Hacker's Delight, "compress".
#[derive(Clone, Copy)]
pub struct Choice {
    /// The chosen bits.
    pub mask: u64,
    /// For each distance, the bits that move by it, where the bits are that have moved by less.
    pub moves: [u64; 6],
}

impl Choice {
    /// The choice of the bits of `mask`.
    pub fn new(mask: u64) -> Self {
        let mut moves = [0; 6];
        let mut left = mask;
        // Bits with an odd number of gaps below them move by 1 first, and so on.
        let mut empty = !mask << 1;
        for (step, moving) in moves.iter_mut().enumerate() {
            let mut parity = empty;
            for distance in [1, 2, 4, 8, 16, 32] {
                parity ^= parity << distance;
            }
            *moving = parity & left;
            left = (left ^ *moving) | *moving >> (1 << step);
            empty &= !parity;
        }
        Self { mask, moves }
    }

    /// The chosen bits of `key`, moved together to the low end.
    #[inline(always)]
    pub fn pack(self, key: u64) -> u64 {
        let mut key = key & self.mask;
        for (step, moving) in self.moves.into_iter().enumerate() {
            let moved = key & moving;
            key = (key ^ moved) | moved >> (1 << step);
        }
        key
    }
}
