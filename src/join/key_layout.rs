use super::{Half, Side};
use crate::board::Size;

/// Where each bit of a key goes: the bits that the lists are first sorted by to the top, the others
/// to the bottom.
///
/// Any order of bits counts the same pairs; a good one puts those bits on top that occur often in
/// both lists. They are chosen by a formula, so that no list is needed to choose them.
#[derive(Clone, Debug)]
pub struct KeyLayout {
    /// The new place of each bit of a key of the top half and of the bottom half; 64 where it has none.
    /// Bits that can be shared have the same in both.
    places: [[u8; 64]; 2],
    /// The number of bits on top.
    sorted: u32,
    /// The number of bits next to those, of which no key of one half has any that a key of the other
    /// may have.
    one_sided: u32,
    /// The number of bits at the bottom.
    rest: u32,
}

impl Default for KeyLayout {
    /// No bit anywhere.
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
    /// The largest number of bits to sort by so that the rest fits a narrow key: enough up to n = 27.
    /// The 20 bits that 28 queens need make so many buckets that the time is 1.5 times that of wide
    /// keys.
    const MOST_SORTED: u32 = 16;

    /// The number of bits to sort by where the rest does not fit a narrow key.
    const SORTED_WIDE: u32 = 8;

    /// The layout for two half boards, of which each queen stands in a column with the chance that
    /// `weights` gives for the top half and for the bottom half. Bits of `kept` have a place even if
    /// they can never be shared.
    pub fn new(n: Size, [top, bottom]: [&Half; 2], weights: [&[f64]; 2], kept: u64) -> Self {
        let bits = Half::key_bits(n);
        let mut chances = [[1.0; 64]; 2];
        for ((half, weights), chances) in [top, bottom].iter().zip(weights).zip(&mut chances) {
            for row in 0..half.rows() {
                let allowed = half.allowed()[row as usize];
                for column in (0..n.get()).filter(|column| allowed >> column & 1 == 1) {
                    // A column of weight w holds its queen in this row once in h cases.
                    let taken = weights[column as usize] / f64::from(half.rows());
                    let mut key = half.key(row, column);
                    while key != 0 {
                        chances[key.trailing_zeros() as usize] *= 1.0 - taken;
                        key &= key - 1;
                    }
                }
            }
        }
        let score = |bit: u32| (1.0 - chances[0][bit as usize]) * (1.0 - chances[1][bit as usize]);
        let mut order: Vec<u32> = (0..bits).filter(|&bit| score(bit) > 0.0).collect();
        order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
        let used = order.len() as u32;
        // Lists get the right length for what follows, too, when all beyond 32 bits are sorted by:
        // one bit fewer or more costs time at each n measured, from 18 to 24.
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
        let mut one_sided = 0;
        for (places, chances) in places.iter_mut().zip(chances) {
            let of_one_half = (0..bits).filter(|&bit| {
                kept >> bit & 1 == 1 && score(bit) <= 0.0 && chances[bit as usize] < 1.0
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

    /// The number of bits next to those on top, which one half one_sided can take.
    pub fn one_sided(&self) -> u32 {
        self.one_sided
    }

    /// The number of bits at the bottom: at most 32 up to n = 27.
    pub fn rest(&self) -> u32 {
        self.rest
    }

    /// The part of the key that a queen on this square contributes, its bits in their new places.
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
