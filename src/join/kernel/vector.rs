use super::leaf::Fields;
use super::{LEAF, Row, SAMPLE};

/// The vectors that the join is made of, for one instruction set.
///
/// A value of the implementing type is the proof that the instruction set is there: only its
/// `new` makes one. Algorithms are written once over this trait, in the neighbouring files, and
/// are inlined into the entry points of each instruction set.
pub trait Vector: Copy {
    /// 32-bit keys.
    type Keys: Copy;
    /// 64-bit keys.
    type Wide: Copy;
    /// A row of 512 truth values, one for each pattern.
    type Row: Copy;
    /// Sums of truth values.
    type Sum: Copy;
    /// A choice of bits, in the form that [`offsets`](Self::offsets) wants it.
    type Bits: Copy;
    /// A choice of bits, in the form that [`pack`](Self::pack) wants it.
    type Choice: Copy;

    /// 32-bit keys in a vector, at most 32.
    const LANES: usize;
    /// 64-bit keys in a vector, at most 32.
    const WIDE_LANES: usize;

    /// The keys at `from`.
    ///
    /// # Safety
    /// `LANES` keys may be read there.
    unsafe fn load(self, from: *const u32) -> Self::Keys;

    /// The first `count` keys at `from`, the other lanes 0.
    ///
    /// # Safety
    /// `count` < `LANES` keys may be read there.
    unsafe fn load_first(self, from: *const u32, count: usize) -> Self::Keys;

    /// `key` in every lane.
    fn splat(self, key: u32) -> Self::Keys;

    /// Bits in either.
    fn or(self, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// Bits in both.
    fn and(self, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// Lanes that share no bit: lane i is bit i.
    fn disjoint(self, a: Self::Keys, b: Self::Keys) -> u32;

    /// Counts 1 more in the lanes that share no bit.
    fn tally(self, counts: Self::Keys, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// The sum of all lanes.
    fn sum(self, counts: Self::Keys) -> u64;

    /// Keys of the lanes in `mask`, 0 in the others.
    fn keep(self, keys: Self::Keys, mask: u32) -> Self::Keys;

    /// Writes the keys of the lanes in `mask` to `to`, without gaps.
    ///
    /// # Safety
    /// `LANES` keys may be written there, however many are in `mask`.
    unsafe fn compress(self, keys: Self::Keys, mask: u32, to: *mut u32);

    /// As [`compress`](Self::compress), writing no more than the keys in `mask`.
    ///
    /// # Safety
    /// As many keys as `mask` has lanes may be written at `to`.
    unsafe fn compress_exactly(self, keys: Self::Keys, mask: u32, to: *mut u32);

    /// The bits of all lanes together.
    fn union(self, keys: Self::Keys) -> u32;

    /// `key` in every lane.
    fn splat_wide(self, key: u64) -> Self::Wide;

    /// The keys at `from`.
    ///
    /// # Safety
    /// `WIDE_LANES` keys may be read there.
    unsafe fn load_wide(self, from: *const u64) -> Self::Wide;

    /// Asks for the keys at `from`, which may lie anywhere, to be brought into the cache.
    fn prefetch(self, from: *const u64);

    /// Bits in either.
    fn or_wide(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// Those of the lanes in `among` that share no bit: lane i is bit i.
    fn disjoint_wide(self, a: Self::Wide, b: Self::Wide, among: u32) -> u32;

    /// Writes the keys of the lanes in `mask` to `to`, without gaps.
    ///
    /// # Safety
    /// `WIDE_LANES` keys may be written there, however many are in `mask`.
    unsafe fn compress_wide(self, keys: Self::Wide, mask: u32, to: *mut u64);

    /// As [`compress_wide`](Self::compress_wide), the low 32 bits of each key alone.
    ///
    /// # Safety
    /// `WIDE_LANES` keys may be written there, however many are in `mask`.
    unsafe fn compress_low(self, keys: Self::Wide, mask: u32, to: *mut u32);

    /// The choice of the bits of `mask`, of which there are at most 32.
    fn choice(self, mask: u64) -> Self::Choice;

    /// The chosen bits of `key`, moved together.
    fn pack(self, key: u64, choice: Self::Choice) -> u32;

    /// The bits of `fields`.
    fn bits(self, fields: &Fields) -> Self::Bits;

    /// For each field, the value of its bits in `key`, moved together, as the offset in bytes of a
    /// row.
    fn offsets(self, key: u32, bits: Self::Bits) -> [usize; 5];

    /// How many of the keys have each bit.
    #[inline(always)]
    fn frequencies(self, keys: &[u32; SAMPLE]) -> [u32; 32] {
        let mut found = [0; 32];
        for at in (0..SAMPLE).step_by(Self::LANES) {
            // SAFETY: the sample is a whole number of vectors.
            let keys = unsafe { self.load(keys.as_ptr().add(at)) };
            for (bit, count) in found.iter_mut().enumerate() {
                let lacking = self.disjoint(keys, self.splat(1 << bit));
                *count += Self::LANES as u32 - lacking.count_ones();
            }
        }
        found
    }

    /// For each bit in `used`, which of the keys lack it; truth value i is that of key i.
    #[inline(always)]
    fn lacking(self, keys: &[u32; LEAF], used: u32, rows: &mut [Row; 32]) {
        for (bit, row) in rows.iter_mut().enumerate() {
            if used >> bit & 1 == 0 {
                continue;
            }
            let mask = self.splat(1 << bit);
            for (word, from) in row.0.iter_mut().zip((0..LEAF).step_by(64)) {
                *word = 0;
                for part in (0..64).step_by(Self::LANES) {
                    // SAFETY: the keys are a whole number of vectors.
                    let keys = unsafe { self.load(keys.as_ptr().add(from + part)) };
                    *word |= u64::from(self.disjoint(keys, mask)) << part;
                }
            }
        }
    }

    /// The row at `from`.
    fn row(self, from: &Row) -> Self::Row;

    /// Writes `row` to `to`.
    fn set_row(self, to: &mut Row, row: Self::Row);

    /// Truth values true in both.
    fn both(self, a: Self::Row, b: Self::Row) -> Self::Row;

    /// Nothing counted yet.
    fn zero(self) -> Self::Sum;

    /// Adds the number of true values of `row`.
    fn count(self, sum: Self::Sum, row: Self::Row) -> Self::Sum;

    /// What has been counted.
    fn total(self, sum: Self::Sum) -> u64;
}
