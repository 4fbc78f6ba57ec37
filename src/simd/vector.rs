/// A lane: an unsigned word of 16 or 32 bits.
pub trait Word: Copy + Default + Send + Sync + 'static {
    /// Bits in a lane.
    const BITS: u32;

    /// Which of an instruction set's two vectors has such lanes.
    type Vector<V16: Vector<Word = u16>, V32: Vector<Word = u32>>: Vector<Word = Self>;

    /// The low bits of `word`.
    fn of(word: u32) -> Self;

    /// The word, zero-extended.
    fn widen(self) -> u32;
}

impl Word for u16 {
    const BITS: u32 = 16;

    type Vector<V16: Vector<Word = u16>, V32: Vector<Word = u32>> = V16;

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

    type Vector<V16: Vector<Word = u16>, V32: Vector<Word = u32>> = V32;

    #[inline(always)]
    fn of(word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn widen(self) -> u32 {
        self
    }
}

/// A vector of unsigned words, and the few operations the row search is made of.
///
/// Each instruction set has one type for each width of lane; an algorithm is written once over this
/// trait and instantiated by [`Isa::run`](super::Isa::run). Every method is inlined into that
/// instantiation.
///
/// Creating a vector or a mask out of nothing is `unsafe`, because the instruction set must be
/// there. A value in hand is the proof that it is, so operations on values are safe.
pub trait Vector: Copy {
    /// A lane.
    type Word: Word;
    /// One truth value for each lane.
    type Mask: Copy;
    /// A shift count, in the form the shift instruction wants it.
    type Shift: Copy;

    /// Lanes in a vector.
    const LANES: usize;
    /// How many independent vectors of nodes a search should keep in registers: enough to hide
    /// latencies, few enough not to spill.
    const STREAMS: usize;

    /// `word` in every lane.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn splat(word: u32) -> Self;

    /// The count for shifts by `count`: at least 1, and less than a lane has bits.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn shift(count: u32) -> Self::Shift;

    /// The `LANES` words at `from`, which need not be aligned.
    ///
    /// # Safety
    /// The machine has the instruction set, and `LANES` words may be read at `from`.
    unsafe fn load(from: *const Self::Word) -> Self;

    /// Writes `LANES` words to `to`, which need not be aligned.
    ///
    /// # Safety
    /// `LANES` words may be written at `to`.
    unsafe fn store(self, to: *mut Self::Word);

    /// Bits in both.
    fn and(self, other: Self) -> Self;

    /// Bits in either.
    fn or(self, other: Self) -> Self;

    /// Bits in exactly one.
    fn xor(self, other: Self) -> Self;

    /// Bits in `self` and not in `other`.
    fn and_not(self, other: Self) -> Self;

    /// Bits in `self`, or in `before` and not in `after`.
    #[inline(always)]
    fn or_lost(self, before: Self, after: Self) -> Self {
        self.or(before.and_not(after))
    }

    /// Each lane without its lowest set bit.
    fn without_lowest(self) -> Self;

    /// Each lane shifted to higher bits.
    fn shl(self, shift: Self::Shift) -> Self;

    /// Each lane shifted to lower bits.
    fn shr(self, shift: Self::Shift) -> Self;

    /// Lanes that are zero.
    fn is_zero(self) -> Self::Mask;

    /// Lanes that are not zero.
    fn is_nonzero(self) -> Self::Mask;

    /// `self`, which must be zero in the lanes of `mask`, with the lanes of `with` in their place.
    fn fill(self, mask: Self::Mask, with: Self) -> Self;

    /// Lanes true in both.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// The number of true lanes.
    fn count(mask: Self::Mask) -> usize;

    /// Each lane of `mask` plus one, the others as they are.
    fn increment(self, mask: Self::Mask) -> Self;

    /// The sum of all lanes.
    #[inline(always)]
    fn sum(self) -> u64 {
        let mut words = [Self::Word::default(); 32];
        // SAFETY: no vector has more lanes.
        unsafe { self.store(words.as_mut_ptr()) };
        words.iter().map(|word| u64::from(word.widen())).sum()
    }

    /// The first `limit` of the true lanes.
    fn first(mask: Self::Mask, limit: usize) -> Self::Mask;

    /// Writes the lanes of each vector that are true in `mask`, in order and without gaps, to its
    /// place. Returns their number.
    ///
    /// # Safety
    /// At each place in `to`, `LANES` words may be written whatever the mask; those past the number
    /// returned are left with anything.
    unsafe fn append<const N: usize>(
        vectors: [Self; N],
        mask: Self::Mask,
        to: [*mut Self::Word; N],
    ) -> usize;

    /// Replaces the lanes of each vector that are true in `mask` by the top words of its stack, all
    /// stacks holding `len` words. Returns the vectors and the words left on each stack.
    ///
    /// Which of the words goes to which lane is left to the instruction set, but is the same for
    /// all vectors.
    ///
    /// # Safety
    /// There are at least as many words as `mask` has true lanes, and `LANES` more may be read
    /// above them.
    unsafe fn refill<const N: usize>(
        vectors: [Self; N],
        mask: Self::Mask,
        stacks: [*const Self::Word; N],
        len: usize,
    ) -> ([Self; N], usize);
}
