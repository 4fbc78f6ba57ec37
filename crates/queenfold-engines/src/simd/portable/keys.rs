//! 8 keys of 32 bits, or 4 of 64.

use super::{Choice, Portable};
use crate::simd::{Fields, KeyVectors, Separated, TruthRow, array, each};

/// Fields of a key whose chosen bits have been moved together.
#[derive(Clone, Copy)]
pub struct PackedFields {
    used: Choice,
    /// For each field, the number of bits below it, and the mask of its bits, moved to the low end.
    fields: [(u32, u64); 5],
}

const LANES: usize = 8;

/// Writes the keys of the lanes in `mask` to `to`, without gaps.
///
/// # Safety
/// As many keys as there are lanes may be written at `to`.
#[inline(always)]
unsafe fn write_chosen<K, const LANES: usize>(keys: [K; LANES], mask: u32, to: *mut K) {
    let mut next = to;
    for (lane, key) in keys.into_iter().enumerate() {
        // SAFETY: the caller vouches for the memory, and `next` has advanced by at most `lane` keys.
        unsafe {
            next.write(key);
            next = next.add((mask >> lane & 1) as usize);
        }
    }
}

impl KeyVectors for Portable {
    type Keys = [u32; LANES];
    type Wide = [u64; 4];
    type LoadedRow = TruthRow;
    type Sum = u64;
    type Fields = PackedFields;
    type Choice = Choice;

    const LANES: usize = LANES;
    const WIDE_LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> [u32; LANES] {
        // SAFETY: the caller vouches for the memory.
        unsafe { from.cast::<[u32; LANES]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u32, count: usize) -> [u32; LANES] {
        let mut keys = [0; LANES];
        for (index, key) in keys[..count].iter_mut().enumerate() {
            // SAFETY: the caller vouches for the memory.
            *key = unsafe { from.add(index).read() };
        }
        keys
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8) -> [u32; LANES] {
        // SAFETY: the caller vouches for the memory.
        let bytes = unsafe { from.cast::<[u8; LANES]>().read() };
        each(bytes, u32::from)
    }

    #[inline(always)]
    fn splat(self, key: u32) -> [u32; LANES] {
        [key; LANES]
    }

    #[inline(always)]
    fn take(self, keys: [u32; LANES], lanes: [u32; LANES]) -> [u32; LANES] {
        each(lanes, |lane| keys[lane as usize % LANES])
    }

    #[inline(always)]
    fn or(self, a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        array(|lane| a[lane] | b[lane])
    }

    #[inline(always)]
    fn and(self, a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        array(|lane| a[lane] & b[lane])
    }

    #[inline(always)]
    fn disjoint(self, a: [u32; LANES], b: [u32; LANES]) -> u32 {
        (0..LANES)
            .map(|lane| u32::from(a[lane] & b[lane] == 0) << lane)
            .sum()
    }

    #[inline(always)]
    fn separate(self, keys: [u32; LANES], bits: [u32; LANES]) -> Separated<[u32; LANES]> {
        let lanes = self.disjoint(keys, bits);
        Separated {
            lanes,
            without: self.keep(keys, lanes),
            with: self.keep(keys, !lanes),
        }
    }

    #[inline(always)]
    fn tally(self, counts: [u32; LANES], a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        array(|lane| counts[lane] + u32::from(a[lane] & b[lane] == 0))
    }

    #[inline(always)]
    fn sum(self, counts: [u32; LANES]) -> u64 {
        counts.into_iter().map(u64::from).sum()
    }

    #[inline(always)]
    fn keep(self, keys: [u32; LANES], mask: u32) -> [u32; LANES] {
        array(|lane| keys[lane] & (mask >> lane & 1).wrapping_neg())
    }

    #[inline(always)]
    unsafe fn compress(self, keys: [u32; LANES], mask: u32, to: *mut u32) {
        // SAFETY: the caller vouches for the memory of a whole vector.
        unsafe { write_chosen(keys, mask, to) }
    }

    #[inline(always)]
    unsafe fn compress_exactly(self, keys: [u32; LANES], mask: u32, to: *mut u32) {
        let mut next = to;
        for (lane, key) in keys.into_iter().enumerate() {
            if mask >> lane & 1 == 1 {
                // SAFETY: the caller vouches for the memory of a key for each lane of the mask.
                unsafe {
                    next.write(key);
                    next = next.add(1);
                }
            }
        }
    }

    #[inline(always)]
    fn union_of_lanes(self, keys: [u32; LANES]) -> u32 {
        keys.into_iter().fold(0, |union, key| union | key)
    }

    #[inline(always)]
    fn splat_wide(self, key: u64) -> [u64; 4] {
        [key; 4]
    }

    #[inline(always)]
    unsafe fn load_wide(self, from: *const u64) -> [u64; 4] {
        // SAFETY: the caller vouches for the memory.
        unsafe { from.cast::<[u64; 4]>().read_unaligned() }
    }

    #[inline(always)]
    fn prefetch(self, from: *const u64) {
        let _ = from;
    }

    #[inline(always)]
    fn disjoint_wide(self, a: [u64; 4], b: [u64; 4], among: u32) -> u32 {
        let disjoint: u32 = (0..4)
            .map(|lane| u32::from(a[lane] & b[lane] == 0) << lane)
            .sum();
        disjoint & among
    }

    #[inline(always)]
    unsafe fn compress_wide(self, keys: [u64; 4], mask: u32, to: *mut u64) {
        // SAFETY: the caller vouches for the memory of a whole vector.
        unsafe { write_chosen(keys, mask, to) }
    }

    #[inline(always)]
    fn choice(self, mask: u64) -> Choice {
        Choice::new(mask)
    }

    #[inline(always)]
    fn pack_bits(self, key: u64, choice: Choice) -> u32 {
        choice.pack(key) as u32
    }

    #[inline(always)]
    fn fields(self, fields: &Fields) -> PackedFields {
        let mut low = 0;
        PackedFields {
            used: Choice::new(fields.used.into()),
            fields: each(fields.widths, |width| {
                let field = (low, (1 << width) - 1);
                low += width;
                field
            }),
        }
    }

    #[inline(always)]
    fn offsets(self, key: u32, fields: PackedFields) -> [usize; 5] {
        let key = fields.used.pack(key.into());
        each(fields.fields, |(low, mask)| {
            (key >> low & mask) as usize * size_of::<TruthRow>()
        })
    }

    #[inline(always)]
    fn row(self, from: &TruthRow) -> TruthRow {
        *from
    }

    #[inline(always)]
    fn set_row(self, to: &mut TruthRow, row: TruthRow) {
        *to = row;
    }

    #[inline(always)]
    fn both(self, a: TruthRow, b: TruthRow) -> TruthRow {
        TruthRow(array(|word| a.0[word] & b.0[word]))
    }

    #[inline(always)]
    fn zero(self) -> u64 {
        0
    }

    #[inline(always)]
    fn count(self, sum: u64, row: TruthRow) -> u64 {
        sum + row
            .0
            .into_iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>()
    }

    #[inline(always)]
    fn total(self, sum: u64) -> u64 {
        sum
    }
}
