use crate::simd::{Simd, Word};

/// Counters of placements, by their unit and the odd columns they take.
///
/// An index is the number of the unit above the word of the columns.
#[derive(Debug)]
pub struct Table<T> {
    counters: Box<[T; 1 << 16]>,
}

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

/// The largest weight.
pub const MOST: u32 = 4;

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
        let counters = vec![T::default(); 1 << 16].into_boxed_slice();
        let Ok(counters) = counters.try_into() else {
            unreachable!("the lengths are equal")
        };
        Self { counters }
    }

    /// Sets the first `count` counters to zero.
    pub fn clear(&mut self, count: usize) {
        self.counters[..count].fill(T::default());
    }

    /// Adds 1 at each index.
    pub fn add(&mut self, indices: &[u16]) {
        let counters = &mut *self.counters;
        for &index in indices {
            let counter = &mut counters[usize::from(index)];
            *counter = T::of(counter.widen().wrapping_add(1));
        }
    }

    /// The sum of the counters at the indices, in each of which the bits of `flipped` are flipped first.
    pub fn sum(&self, indices: &[u16], flipped: u16) -> u64 {
        let counters = &*self.counters;
        let at = |index: u16| u64::from(counters[usize::from(index ^ flipped)].widen());
        let pairs = indices.chunks_exact(2);
        let last = pairs.remainder().first().map_or(0, |&index| at(index));
        let sums = pairs.fold([last, 0], |[one, other], pair| {
            [one + at(pair[0]), other + at(pair[1])]
        });
        sums[0] + sums[1]
    }

    /// Multiplies the counters of a unit by `weights`; `ranks` are those of its words.
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
