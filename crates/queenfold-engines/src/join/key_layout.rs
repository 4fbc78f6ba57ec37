use super::{Half, Side};
use crate::board::Size;

/// Where each bit of a key goes: the bits that the lists are sorted by go to the top, the others to
/// the bottom.
///
/// The count is the same for any order of bits. The fastest order has those bits on top that occur
/// often in both lists. A formula predicts which these are, so that the layout is known before the
/// lists are made.
#[derive(Clone, Debug)]
pub struct KeyLayout {
    /// The new place of each bit of a key of the top half and of the bottom half; 64 if the bit is
    /// dropped. Bits that both halves can have get the same place in both.
    places: [[u8; 64]; 2],
    /// The number of bits on top.
    sorted: u32,
    /// The number of bits below those that only the keys of one half can have.
    one_sided: u32,
    /// The number of bits at the bottom.
    rest: u32,
}

impl Default for KeyLayout {
    /// Drops every bit.
    fn default() -> Self {
        Self {
            places: [[64; 64]; 2],
            sorted: 0,
            one_sided: 0,
            rest: 0,
        }
    }
}

impl KeyLayout {
    /// The largest number of bits to sort by so that the rest fits a narrow key of 32 bits: enough
    /// up to n = 27. At n = 28 it would take 20 bits, whose many buckets take 1.5 times as long as
    /// wide keys (docs/PERFORMANCE.md, Join, "What was tried").
    const MOST_SORTED: u32 = 16;

    /// The number of bits to sort by if the rest does not fit a narrow key. 12, 10, 8 and 6 bits
    /// took 0.85, 0.76, 0.69 and 0.77 of the same time at n = 24 (Zen 5, 2026-11-22).
    const SORTED_WIDE: u32 = 8;

    /// The layout for a top and a bottom half board. `weights` has, for each half, the probability
    /// that a column holds one of its queens. Bits of `kept` get a place even if only one half can
    /// have them.
    pub fn new(n: Size, [top, bottom]: [&Half; 2], weights: [&[f64]; 2], kept: u64) -> Self {
        let bits = Half::key_bits(n);
        let mut absent = [[1.0; 64]; 2];
        for ((half, weights), absent) in [top, bottom].iter().zip(weights).zip(&mut absent) {
            for row in 0..half.rows() {
                let allowed = half.allowed()[row as usize];
                for column in (0..n.get()).filter(|column| allowed >> column & 1 == 1) {
                    // The queen of a column of weight w stands in this row once in h cases.
                    let taken = weights[column as usize] / f64::from(half.rows());
                    let mut key = half.key(row, column);
                    while key != 0 {
                        absent[key.trailing_zeros() as usize] *= 1.0 - taken;
                        key &= key - 1;
                    }
                }
            }
        }
        let score = |bit: u32| (1.0 - absent[0][bit as usize]) * (1.0 - absent[1][bit as usize]);
        let mut order: Vec<u32> = (0..bits).filter(|&bit| score(bit) > 0.0).collect();
        order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
        let used = order.len() as u32;
        // Sort by exactly the bits beyond 32: one more or fewer takes more time at every n
        // measured, from 18 to 24, because the lists that remain then have the right length for the
        // recursion.
        let beyond_narrow = used.saturating_sub(32);
        let sorted = if beyond_narrow <= Self::MOST_SORTED {
            beyond_narrow
        } else {
            Self::SORTED_WIDE
        };
        let rest = used - sorted;
        let mut places = [[64; 64]; 2];
        for (index, &bit) in order.iter().enumerate() {
            let index = index as u32;
            let place = if index < sorted {
                64 - sorted + index
            } else {
                index - sorted
            } as u8;
            places
                .iter_mut()
                .for_each(|places| places[bit as usize] = place);
        }
        // Keys that are left out by the bits of `kept` need a high part, even if it is empty because what is
        // given leaves these bits to neither half.
        let mut one_sided = u32::from(kept != 0);
        for (places, absent) in places.iter_mut().zip(absent) {
            let of_one_half = (0..bits).filter(|&bit| {
                kept >> bit & 1 == 1 && score(bit) <= 0.0 && absent[bit as usize] < 1.0
            });
            for (index, bit) in of_one_half.enumerate() {
                places[bit as usize] = (63 - sorted) as u8 - index as u8;
                one_sided = one_sided.max(index as u32 + 1);
            }
        }
        Self {
            places,
            sorted,
            one_sided,
            rest,
        }
    }

    /// The number of bits on top.
    pub fn sorted(&self) -> u32 {
        self.sorted
    }

    /// The bits of the high half of a placed key that mean the same in both halves of the board.
    pub fn common_high(&self) -> u32 {
        let one_sided = (1u64 << (32 - self.sorted)) - (1 << (32 - self.sorted - self.one_sided));
        !(one_sided as u32)
    }

    /// The number of bits at the bottom: at most 32 up to n = 27.
    pub fn rest(&self) -> u32 {
        self.rest
    }

    /// Whether any bit is in the high half of a placed key.
    pub fn high(&self) -> bool {
        self.sorted + self.one_sided > 0 || self.rest > u32::BITS
    }

    /// The bits that a queen on this square sets in the key, in their new places.
    pub fn key(&self, half: &Half, row: u32, column: u32) -> u64 {
        self.place(half.side(), half.key(row, column))
    }

    /// The bits of a key of one half in their new places.
    pub fn place(&self, side: Side, mut key: u64) -> u64 {
        let mut placed = 0;
        while key != 0 {
            let place = self.places[side as usize][key.trailing_zeros() as usize];
            key &= key - 1;
            if place < 64 {
                placed |= 1 << place;
            }
        }
        placed
    }
}
