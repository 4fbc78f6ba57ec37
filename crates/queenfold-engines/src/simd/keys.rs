//! Vectors of keys, for the join: what an instruction set has to offer.

use super::each;

/// The number of keys in a sample, which is a whole number of vectors in every instruction set.
pub const SAMPLE: usize = 64;

/// A row of [`LEN`](Self::LEN) truth values, which fills a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct TruthRow(pub [u64; 8]);

impl TruthRow {
    /// The number of truth values. Value i is bit i % 64 of word i / 64.
    pub const LEN: usize = 512;
}

/// A choice of bits of a key, divided into up to five fields. The first field has the lowest of the
/// chosen bits, and so on.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    /// The chosen bits.
    pub used: u32,
    /// The number of chosen bits in each field.
    pub widths: [u32; 5],
}

impl Fields {
    /// Divides the bits of `used` into as few fields of at most `widest` bits as possible. Their
    /// widths differ by at most 1.
    pub fn new(used: u32, widest: u32) -> Self {
        Self::divided(used, used.count_ones().div_ceil(widest).max(1))
    }

    /// Divides the bits of `used` into so many fields. Their widths differ by at most 1.
    pub fn divided(used: u32, fields: u32) -> Self {
        let count = used.count_ones();
        let width = |field: u32| count / fields + u32::from(field < count % fields);
        let widths = each([0, 1, 2, 3, 4], |field| {
            if field < fields { width(field) } else { 0 }
        });
        Self { used, widths }
    }

    /// The number of fields with any bits.
    pub fn count(&self) -> usize {
        self.widths.iter().filter(|width| **width > 0).count()
    }
}

/// A vector of keys, separated by whether they have any of some bits.
#[derive(Clone, Copy)]
pub struct Separated<K> {
    /// The lanes of the keys without any of the bits.
    pub lanes: u32,
    /// Those keys; the other lanes are 0.
    pub without: K,
    /// The other keys; the lanes of those without are 0.
    pub with: K,
}

/// Vectors of keys and of truth values, with the operations that the join needs. The token of each
/// instruction set implements it.
///
/// A key is a set of bits. A narrow key has 32 bits, a *wide* key has 64.
pub trait KeyVectors: Copy {
    /// A vector of keys.
    type Keys: Copy;
    /// A vector of wide keys.
    type Wide: Copy;
    /// A [`TruthRow`] in registers.
    type LoadedRow: Copy;
    /// Sums of truth values.
    type Sum: Copy;
    /// Fields, in the form that [`offsets`](Self::offsets) takes.
    type Fields: Copy;
    /// A choice of bits, in the form that [`pack_bits`](Self::pack_bits) takes.
    type Choice: Copy;

    /// Keys in a vector, at most 32.
    const LANES: usize;
    /// Wide keys in a vector, at most 32.
    const WIDE_LANES: usize;

    /// The keys at `from`.
    ///
    /// # Safety
    /// `LANES` keys may be read at `from`.
    unsafe fn load(self, from: *const u32) -> Self::Keys;

    /// The first `count` keys at `from`; the other lanes are 0.
    ///
    /// # Safety
    /// `count` is less than `LANES`, and so many keys may be read at `from`.
    unsafe fn load_first(self, from: *const u32, count: usize) -> Self::Keys;

    /// The `LANES` bytes at `from`, each as a number of 32 bits.
    ///
    /// # Safety
    /// `LANES` bytes may be read at `from`.
    unsafe fn load_bytes(self, from: *const u8) -> Self::Keys;

    /// `key` in every lane.
    fn splat(self, key: u32) -> Self::Keys;

    /// In each lane the key of the lane that `lanes` names there, by a number below `LANES`.
    fn take(self, keys: Self::Keys, lanes: Self::Keys) -> Self::Keys;

    /// The bits that are set in one or both.
    fn or(self, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// The bits that are set in both.
    fn and(self, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// The lanes that share no bit. Bit i of the result stands for lane i.
    fn disjoint(self, a: Self::Keys, b: Self::Keys) -> u32;

    /// Separates `keys` by whether they have any of `bits`.
    fn separate(self, keys: Self::Keys, bits: Self::Keys) -> Separated<Self::Keys>;

    /// Adds 1 to the lanes of `counts` in which `a` and `b` share no bit.
    fn tally(self, counts: Self::Keys, a: Self::Keys, b: Self::Keys) -> Self::Keys;

    /// The sum of all lanes.
    fn sum(self, counts: Self::Keys) -> u64;

    /// The keys of the lanes in `mask`; the other lanes are 0.
    fn keep(self, keys: Self::Keys, mask: u32) -> Self::Keys;

    /// Writes the keys of the lanes in `mask` to `to`, in order and without gaps. What the keys
    /// after those hold is undefined.
    ///
    /// # Safety
    /// `LANES` keys may be written at `to`, even if `mask` has fewer lanes.
    unsafe fn compress(self, keys: Self::Keys, mask: u32, to: *mut u32);

    /// As [`compress`](Self::compress), but writes only the keys of the lanes in `mask`.
    ///
    /// # Safety
    /// As many keys as `mask` has lanes may be written at `to`.
    unsafe fn compress_exactly(self, keys: Self::Keys, mask: u32, to: *mut u32);

    /// The bits that any lane has.
    fn union_of_lanes(self, keys: Self::Keys) -> u32;

    /// `key` in every lane.
    fn splat_wide(self, key: u64) -> Self::Wide;

    /// The keys at `from`.
    ///
    /// # Safety
    /// `WIDE_LANES` keys may be read at `from`.
    unsafe fn load_wide(self, from: *const u64) -> Self::Wide;

    /// Asks the machine to bring the cache line at `from` into the cache. Any address is allowed.
    fn prefetch(self, from: *const u64);

    /// The lanes of `among` that share no bit. Bit i stands for lane i.
    fn disjoint_wide(self, a: Self::Wide, b: Self::Wide, among: u32) -> u32;

    /// As [`compress`](Self::compress), for wide keys.
    ///
    /// # Safety
    /// `WIDE_LANES` keys may be written at `to`, even if `mask` has fewer lanes.
    unsafe fn compress_wide(self, keys: Self::Wide, mask: u32, to: *mut u64);

    /// The choice of the bits of `mask`, which has at most 32 of them.
    fn choice(self, mask: u64) -> Self::Choice;

    /// The chosen bits of `key`, moved together to the low end.
    fn pack_bits(self, key: u64, choice: Self::Choice) -> u32;

    /// Prepares `fields` for [`offsets`](Self::offsets).
    fn fields(self, fields: &Fields) -> Self::Fields;

    /// For each field, the number that its bits in `key` make when they are moved together, times
    /// the size of a [`TruthRow`] in bytes: the offset of that row in a table.
    fn offsets(self, key: u32, fields: Self::Fields) -> [usize; 5];

    /// Whether it is faster to find the offsets of four keys together.
    const FOUR_AT_ONCE: bool = false;

    /// The [`offsets`](Self::offsets) of four keys.
    #[inline(always)]
    fn offsets_of_four(self, keys: [u32; 4], fields: Self::Fields) -> [[usize; 5]; 4] {
        each(
            keys,
            #[inline(always)]
            |key| self.offsets(key, fields),
        )
    }

    /// For each bit, the number of keys that have it.
    #[inline(always)]
    fn frequencies(self, keys: &[u32; SAMPLE]) -> [u32; 32] {
        const { assert!(SAMPLE.is_multiple_of(Self::LANES)) };
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

    /// For each bit in `used`, the row that says which of the first `count` keys, at most all, lack
    /// it: truth value i is that of key i. Other truth values and other rows are undefined.
    #[inline(always)]
    fn rows_lacking(
        self,
        keys: &[u32; TruthRow::LEN],
        count: usize,
        used: u32,
        rows: &mut [TruthRow; 32],
    ) {
        const { assert!(64_usize.is_multiple_of(Self::LANES)) };
        for (bit, row) in rows.iter_mut().enumerate() {
            if used >> bit & 1 == 0 {
                continue;
            }
            let mask = self.splat(1 << bit);
            for (index, word) in row.0[..count.div_ceil(64)].iter_mut().enumerate() {
                let from = 64 * index;
                *word = 0;
                for part in (0..64).step_by(Self::LANES) {
                    // SAFETY: the keys are a whole number of vectors.
                    let keys = unsafe { self.load(keys.as_ptr().add(from + part)) };
                    *word |= u64::from(self.disjoint(keys, mask)) << part;
                }
            }
        }
    }

    /// Loads a row.
    fn row(self, from: &TruthRow) -> Self::LoadedRow;

    /// Stores a row.
    fn set_row(self, to: &mut TruthRow, row: Self::LoadedRow);

    /// The truth values that are true in both.
    fn both(self, a: Self::LoadedRow, b: Self::LoadedRow) -> Self::LoadedRow;

    /// A sum of 0.
    fn zero(self) -> Self::Sum;

    /// Adds the number of true values in `row`.
    fn count(self, sum: Self::Sum, row: Self::LoadedRow) -> Self::Sum;

    /// Adds the numbers of true values in four rows.
    #[inline(always)]
    fn count_four(self, sum: Self::Sum, rows: [Self::LoadedRow; 4]) -> Self::Sum {
        let mut sum = sum;
        for row in rows {
            sum = self.count(sum, row);
        }
        sum
    }

    /// The value of the sum.
    fn total(self, sum: Self::Sum) -> u64;
}
