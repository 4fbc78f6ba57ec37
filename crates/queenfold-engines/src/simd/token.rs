//! Tokens and vectors of words. Their traits name one another, so they share a file.

use super::Isa;

/// A token: the proof that this machine has an instruction set. Each instruction set has a type of
/// its own.
pub trait Simd: Copy + Send + 'static {
    /// Vectors of 16-bit words.
    type Words16: WordVector<Simd = Self, Word = u16>;
    /// Vectors of 32-bit words.
    type Words32: WordVector<Simd = Self, Word = u32>;

    /// The instruction set.
    const ISA: Isa;

    /// The token, if this machine has the instruction set.
    fn new() -> Option<Self>;

    /// Runs `work`, compiled for the instruction set.
    ///
    /// The compiler inlines `work` and everything in it that is `#[inline(always)]` into a function
    /// that has the features of the instruction set. So `work` must be such a closure itself, and
    /// so must be all that its hot loops call; otherwise every vector operation becomes a call.
    ///
    /// Some of the standard library is not inlined in a build of several code generation units: `map` and
    /// `from_fn` of arrays (`array` and `each` of this room are), `zip` of slices, `Vec::extend`.
    fn vectorize<R>(self, work: impl FnOnce() -> R) -> R;

    /// Adds 1 to the words of `row` whose bit is set in `lanes`.
    fn increment(self, row: &mut [u16; ROW], lanes: u16);

    /// Adds the words of `row` whose bit is set in `lanes` to `sums`: words 2i and 2i + 1 to sum i.
    fn add_pairs(self, sums: &mut [u32; ROW / 2], row: &[u16; ROW], lanes: u16);
}

/// The words of a row: as many as a word has bits, so that one says which words are meant.
pub const ROW: usize = 16;

/// An algorithm that is written once for all instruction sets.
///
/// A trait and not a closure, because closures cannot be generic.
pub trait Algorithm {
    /// What it returns.
    type Output;

    /// Runs with the vectors of one instruction set. Hot loops belong into
    /// [`simd.vectorize`](Simd::vectorize).
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// A word of a vector: an unsigned integer of 16 or 32 bits.
pub trait Word: Copy + Default + Send + Sync + 'static {
    /// Bits in a word.
    const BITS: u32;

    /// The vector of such words in an instruction set.
    type Vector<S: Simd>: WordVector<Simd = S, Word = Self>;

    /// The low bits of `word`.
    fn of(word: u32) -> Self;

    /// The word, zero-extended.
    fn widen(self) -> u32;
}

impl Word for u16 {
    const BITS: u32 = 16;

    type Vector<S: Simd> = S::Words16;

    #[inline(always)]
    fn of(word: u32) -> Self {
        word as Self
    }

    #[inline(always)]
    fn widen(self) -> u32 {
        self.into()
    }
}

impl Word for u32 {
    const BITS: u32 = 32;

    type Vector<S: Simd> = S::Words32;

    #[inline(always)]
    fn of(word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn widen(self) -> u32 {
        self
    }
}

/// A vector of unsigned words, with the operations that the row search needs. Each instruction set
/// has two such types, one for each width of a word.
///
/// A vector is made only with the token of its instruction set, and a mask only by a vector. So
/// both prove that the machine has the instruction set.
pub trait WordVector: Copy {
    /// The token.
    type Simd: Simd;
    /// The content of a lane.
    type Word: Word;
    /// One truth value for each lane.
    type Mask: Copy;
    /// A shift count, in the form that the shift instruction takes.
    type Shift: Copy;

    /// Lanes in a vector.
    const LANES: usize;
    /// How many independent vectors of nodes a search should keep in registers: enough to hide
    /// latencies, few enough to avoid spills.
    const STREAMS: usize;

    /// `word` in every lane.
    fn splat(simd: Self::Simd, word: u32) -> Self;

    /// The shift by `count` bits, which must be at least 1 and less than the bits of a word.
    fn shift(simd: Self::Simd, count: u32) -> Self::Shift;

    /// The `LANES` words at `from`, which may be unaligned.
    ///
    /// # Safety
    /// `LANES` words may be read at `from`.
    unsafe fn load(simd: Self::Simd, from: *const Self::Word) -> Self;

    /// Writes `LANES` words to `to`, which may be unaligned.
    ///
    /// # Safety
    /// `LANES` words may be written at `to`.
    unsafe fn store(self, to: *mut Self::Word);

    /// The bits that are set in both.
    fn and(self, other: Self) -> Self;

    /// The bits that are set in one or both.
    fn or(self, other: Self) -> Self;

    /// The bits that are set in `self` and not in `other`.
    fn and_not(self, other: Self) -> Self;

    /// The bits of `self`, and those that are set in `before` and not in `after`.
    #[inline(always)]
    fn or_lost(self, before: Self, after: Self) -> Self {
        self.or(before.and_not(after))
    }

    /// The smaller word of each lane.
    fn min(self, other: Self) -> Self;

    /// Clears the lowest set bit of each lane.
    fn without_lowest(self) -> Self;

    /// Shifts each lane toward higher bits.
    fn shl(self, shift: Self::Shift) -> Self;

    /// Shifts each lane toward lower bits.
    fn shr(self, shift: Self::Shift) -> Self;

    /// The lanes that are zero.
    fn is_zero(self) -> Self::Mask;

    /// The lanes that are not zero.
    fn is_nonzero(self) -> Self::Mask;

    /// `self` with the lanes of `mask` taken from `with`. Those lanes of `self` must be zero.
    fn fill(self, mask: Self::Mask, with: Self) -> Self;

    /// The lanes that are true in both.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// The number of true lanes.
    fn count(mask: Self::Mask) -> usize;

    /// Adds 1 to the lanes of `mask`.
    fn increment(self, mask: Self::Mask) -> Self;

    /// The sum of all lanes.
    #[inline(always)]
    fn sum(self) -> u64 {
        const { assert!(Self::LANES <= 32) };
        let mut words = [Self::Word::default(); 32];
        // SAFETY: no vector has more lanes.
        unsafe { self.store(words.as_mut_ptr()) };
        words.iter().map(|word| u64::from(word.widen())).sum()
    }

    /// The first `limit` true lanes.
    fn first(simd: Self::Simd, mask: Self::Mask, limit: usize) -> Self::Mask;

    /// Writes the lanes of `vectors[i]` that are true in `mask` to `to[i]`, in order and without
    /// gaps. Returns their number. What the words after those hold is undefined.
    ///
    /// # Safety
    /// At each place in `to`, `LANES` words may be written, even if `mask` has fewer true lanes.
    unsafe fn append<const N: usize>(
        vectors: [Self; N],
        mask: Self::Mask,
        to: [*mut Self::Word; N],
    ) -> usize;

    /// Replaces the lanes of `vectors[i]` that are true in `mask` by the top words of `stacks[i]`.
    /// Each stack holds `len` words. Returns the vectors, and the number of words left on each
    /// stack.
    ///
    /// The instruction set decides which word goes to which lane, but all vectors agree in it.
    ///
    /// # Safety
    /// The stacks hold at least as many words as `mask` has true lanes, and `LANES` more words may
    /// be read above them.
    unsafe fn refill<const N: usize>(
        vectors: [Self; N],
        mask: Self::Mask,
        stacks: [*const Self::Word; N],
        len: usize,
    ) -> ([Self; N], usize);
}

/// Implements [`Simd`] for the token of an instruction set, in `mod.rs` of its folder. `$detect` is
/// the macro of `std::arch` that asks the machine for a feature. The features are named here only,
/// once for the compiler and the machine together.
macro_rules! token {
    ($token:ident, $detect:ident, $($feature:tt)+) => {
        impl crate::simd::Simd for $token {
            type Words16 = words::Words16;
            type Words32 = words::Words32;

            const ISA: crate::simd::Isa = crate::simd::Isa::$token;

            fn new() -> Option<Self> {
                let is_available = true $(&& std::arch::$detect!($feature))+;
                is_available.then_some(Self(()))
            }

            #[inline(always)]
            fn vectorize<R>(self, work: impl FnOnce() -> R) -> R {
                // SAFETY: the token proves that the machine has the features.
                unsafe { vectorize(work) }
            }

            #[inline(always)]
            fn increment(self, row: &mut [u16; crate::simd::ROW], lanes: u16) {
                rows::increment(self, row, lanes);
            }

            #[inline(always)]
            fn add_pairs(
                self,
                sums: &mut [u32; crate::simd::ROW / 2],
                row: &[u16; crate::simd::ROW],
                lanes: u16,
            ) {
                rows::add_pairs(self, sums, row, lanes);
            }
        }

        #[target_feature($(enable = $feature),+)]
        fn vectorize<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
    };
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::{ROW, Simd};
    use crate::simd::stamp_tests;

    stamp_tests! {
        words_of_a_row_are_meant_by_their_bits: rows,
    }

    fn rows<S: Simd>(simd: S) {
        let mut random = Rng::with_seed(19);
        for _ in 0..1000 {
            let lanes = random.u16(..);
            let mut row = [0; ROW];
            row.fill_with(|| random.u16(..));
            let mut sums = [0; ROW / 2];
            sums.fill_with(|| random.u32(..1 << 31));
            let is_meant = |lane: usize| lanes >> lane & 1 == 1;
            let (before, sums_before) = (row, sums);
            simd.vectorize(
                #[inline(always)]
                || {
                    simd.add_pairs(&mut sums, &row, lanes);
                    simd.increment(&mut row, lanes);
                },
            );
            for lane in 0..ROW {
                let more = u16::from(is_meant(lane));
                assert_eq!(row[lane], before[lane].wrapping_add(more), "{lanes:b}");
            }
            for (pair, sum) in sums.into_iter().enumerate() {
                let words = [2 * pair, 2 * pair + 1].map(|lane| match is_meant(lane) {
                    true => u32::from(before[lane]),
                    false => 0,
                });
                assert_eq!(sum, sums_before[pair] + words[0] + words[1], "{lanes:b}");
            }
        }
    }
}
