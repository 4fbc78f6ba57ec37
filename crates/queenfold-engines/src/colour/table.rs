//! Counters of placements by the columns they take: how they are filled, weighed and summed.

use crate::board::Size;
use crate::simd::{Simd, Word};

/// Four indices, with the bits of `flipped` flipped in each, as parts of one word: the compiler would put them into a
/// vector, and to take them out of it takes longer.
#[inline(always)]
fn read_at_once(indices: [u16; 4], flipped: u16) -> [u16; 4] {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(indices.map(u16::to_le_bytes).as_flattened());
    let flips = 0x0001_0001_0001_0001 * u64::from(flipped);
    let word = u64::from_le_bytes(bytes) ^ flips;
    [
        word as u16,
        (word >> 16) as u16,
        (word >> 32) as u16,
        (word >> 48) as u16,
    ]
}

/// Counters of placements, by their unit and the other columns they take.
///
/// An index is the number of the unit above the word of the columns. Placements of a colour take the same number of
/// columns, so that the other bits tell the first one, and the counter is that of half the index.
#[derive(Debug)]
pub struct Table<T> {
    counters: Box<[T; COUNTERS]>,
}

/// The counters for all indices of 16 bits.
const COUNTERS: usize = 1 << 15;

/// How often the placements of one unit count, by the rank of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Where the rank is below the threshold.
    pub below: u16,
    /// Where it is the threshold.
    pub at: u16,
    /// Above it they do not count.
    pub threshold: u16,
}

impl Weights {
    /// The same weight for all columns.
    pub const fn all(weight: u16) -> Self {
        Self {
            below: weight,
            at: weight,
            threshold: u16::MAX,
        }
    }

    /// The weight of columns of this rank.
    #[inline(always)]
    pub const fn of(self, rank: u16) -> u16 {
        // Without a branch, for vectors.
        let below = if rank < self.threshold { self.below } else { 0 };
        let at = if rank == self.threshold { self.at } else { 0 };
        below | at
    }
}

/// The largest weight on boards of a size. Of odd size, a set of columns stands for the reversed one, too.
pub const fn largest_weight(n: Size) -> u32 {
    if n.get().is_multiple_of(2) { 2 } else { 4 }
}

/// What counters held before they were multiplied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Their sum modulo 2³².
    pub sum: u32,
    /// All bits that were set in any counter: no counter was larger.
    pub bits: u32,
}

impl Held {
    /// What these and other counters held.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum.wrapping_add(other.sum),
            bits: self.bits | other.bits,
        }
    }
}

impl<T: Word> Table<T> {
    /// A table of zeros.
    pub fn new() -> Self {
        let counters = vec![T::default(); COUNTERS].into_boxed_slice();
        let Ok(counters) = counters.try_into() else {
            unreachable!("the lengths are equal")
        };
        Self { counters }
    }

    /// Sets the first `count` counters to zero.
    pub fn clear(&mut self, count: usize) {
        self.counters[..count].fill(T::default());
    }

    /// Sets the counter at an index, to the low bits of `times`.
    #[inline]
    pub fn set(&mut self, index: u16, times: u32) {
        self.counters[usize::from(index) >> 1] = T::of(times);
    }

    /// The counter at an index.
    #[inline]
    pub fn at(&self, index: u16) -> u32 {
        self.counters[usize::from(index) >> 1].widen()
    }

    /// Adds 1 at each index.
    pub fn add(&mut self, indices: &[u16]) {
        let counters = &mut *self.counters;
        let mut add = |index: u16| {
            let counter = &mut counters[usize::from(index) >> 1];
            *counter = T::of(counter.widen().wrapping_add(1));
        };
        let (four, rest) = indices.as_chunks::<4>();
        for &four in four {
            for index in read_at_once(four, 0) {
                add(index);
            }
        }
        for &index in rest {
            add(index);
        }
    }

    /// The sum of the counters at the indices, in each of which the bits of `flipped` are flipped first.
    pub fn sum(&self, indices: &[u16], flipped: u16) -> u64 {
        let counters = &*self.counters;
        let at = |index: u16| u64::from(counters[usize::from(index) >> 1].widen());
        let (four, rest) = indices.as_chunks::<4>();
        let mut sums = [0; 2];
        for &four in four {
            let [a, b, c, d] = read_at_once(four, flipped);
            sums[0] += at(a) + at(b);
            sums[1] += at(c) + at(d);
        }
        let rest: u64 = rest.iter().map(|&index| at(index ^ flipped)).sum();
        sums[0] + sums[1] + rest
    }

    /// Multiplies the counters of a unit by `weights`; `ranks` are those of their columns.
    pub fn weigh<S: Simd>(
        &mut self,
        simd: S,
        unit: usize,
        ranks: &[u16],
        weights: Weights,
    ) -> Held {
        let count = ranks.len();
        let counters = &mut self.counters[unit * count..][..count];
        simd.vectorize(
            #[inline(always)]
            move || {
                let (counters, ranks) = (&mut counters[..count], &ranks[..count]);
                let (mut sum, mut bits) = (0u32, T::default());
                // By number: an iterator over two lists need not be inlined. All but the sum fits a counter,
                // so that a vector holds as many as it can.
                for place in 0..count {
                    let counter = counters[place].widen();
                    sum = sum.wrapping_add(counter);
                    bits = T::of(bits.widen() | counter);
                    let weight = weights.of(ranks[place]);
                    counters[place] = T::of(counter.wrapping_mul(weight.into()));
                }
                Held {
                    sum,
                    bits: bits.widen(),
                }
            },
        )
    }
}
