//! 8 keys of 32 bits, or 4 of 64; a truth row is two registers.

use std::arch::x86_64::*;

use super::tables::{COMPRESS_32, COMPRESS_WIDE};
use super::{Avx2, Spread};
use crate::simd::{Fields, KeyVectors, SAMPLE, Separated, TruthRow, array};

// For all operations below: the token `self` proves the instruction set, and the caller of an
// unsafe operation vouches for the memory.
impl Avx2 {
    #[inline(always)]
    fn permutation(self, lanes: &[u8; 8]) -> __m256i {
        // SAFETY: see above; eight bytes are read.
        unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast())) }
    }

    /// All bits set in the lanes of `mask`, none in the others.
    #[inline(always)]
    fn lanes(self, mask: u32) -> __m256i {
        // SAFETY: see above.
        unsafe {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let mask = _mm256_set1_epi32(mask as i32);
            _mm256_cmpeq_epi32(_mm256_and_si256(mask, bit), bit)
        }
    }

    /// Adds the number of bits in `row` to `sum`.
    #[inline(always)]
    fn add_bits(self, sum: __m256i, row: [__m256i; 2]) -> __m256i {
        let (low, high) = (self.bits_of_bytes(row[0]), self.bits_of_bytes(row[1]));
        // SAFETY: see above; no byte exceeds 16.
        unsafe {
            let bytes = _mm256_add_epi8(low, high);
            _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()))
        }
    }

    /// The first and the second bit of the sum of three bits, in each column.
    #[inline(always)]
    fn add_three(self, a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
        // SAFETY: see above.
        unsafe {
            let differ = _mm256_xor_si256(a, b);
            (
                _mm256_xor_si256(differ, c),
                _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, c)),
            )
        }
    }

    /// The bytes of 32 keys: vector p has byte p of all keys, in order.
    #[inline(always)]
    fn planes(self, keys: &[u32; 32]) -> [__m256i; 4] {
        // SAFETY: see above; the four vectors read are the keys.
        unsafe {
            // Moves byte p of the keys of each half to word p of that half.
            let by_byte = _mm256_setr_epi8(
                0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2,
                6, 10, 14, 3, 7, 11, 15,
            );
            // Moves word p of both halves next to each other.
            let pairs = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            let [a, b, c, d] = array(
                #[inline(always)]
                |index| {
                    let keys = _mm256_loadu_si256(keys.as_ptr().add(8 * index).cast());
                    _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(keys, by_byte), pairs)
                },
            );
            let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let (even_too, odd_too) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
            [
                _mm256_permute2x128_si256::<0x20>(even, even_too),
                _mm256_permute2x128_si256::<0x20>(odd, odd_too),
                _mm256_permute2x128_si256::<0x31>(even, even_too),
                _mm256_permute2x128_si256::<0x31>(odd, odd_too),
            ]
        }
    }

    /// The number of bits in each byte.
    #[inline(always)]
    fn bits_of_bytes(self, row: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe {
            let low = _mm256_set1_epi8(15);
            let bits = _mm256_setr_epi8(
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3,
                2, 3, 3, 4,
            );
            let (low, high) = (
                _mm256_and_si256(row, low),
                _mm256_and_si256(_mm256_srli_epi16::<4>(row), low),
            );
            _mm256_add_epi8(
                _mm256_shuffle_epi8(bits, low),
                _mm256_shuffle_epi8(bits, high),
            )
        }
    }
}

/// The number of true values in rows. Most rows are added to numbers of few bits, one for each
/// column of truth values, so that their bits are counted once in four rows. Source: W. Muła,
/// N. Kurz, D. Lemire, Faster Population Counts Using AVX2 Instructions, 2018 (Harley and Seal).
#[derive(Clone, Copy)]
pub struct Sum {
    /// The number of values of rows that were added alone, in four parts.
    rows: __m256i,
    /// A quarter of the number of values that have left `twos`, in four parts.
    fours: __m256i,
    /// The second bit of the number of each column.
    twos: [__m256i; 2],
    /// The first bit of the number of each column.
    ones: [__m256i; 2],
}

impl KeyVectors for Avx2 {
    type Keys = __m256i;
    type Wide = __m256i;
    type LoadedRow = [__m256i; 2];
    type Sum = Sum;
    type Fields = Spread;
    type Choice = u64;

    const LANES: usize = 8;
    const WIDE_LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u32, count: usize) -> __m256i {
        // SAFETY: see above; lanes masked out are not read.
        unsafe { _mm256_maskload_epi32(from.cast(), self.lanes((1 << count) - 1)) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())) }
    }

    #[inline(always)]
    fn splat(self, key: u32) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set1_epi32(key as i32) }
    }

    #[inline(always)]
    fn take(self, keys: __m256i, lanes: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_permutevar8x32_epi32(keys, lanes) }
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_and_si256(a, b) }
    }

    #[inline(always)]
    fn disjoint(self, a: __m256i, b: __m256i) -> u32 {
        // SAFETY: see above.
        unsafe {
            let zero = _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256());
            _mm256_movemask_ps(_mm256_castsi256_ps(zero)) as u32
        }
    }

    #[inline(always)]
    fn separate(self, keys: __m256i, bits: __m256i) -> Separated<__m256i> {
        // SAFETY: see above.
        unsafe {
            let lacking = _mm256_cmpeq_epi32(_mm256_and_si256(keys, bits), _mm256_setzero_si256());
            Separated {
                lanes: _mm256_movemask_ps(_mm256_castsi256_ps(lacking)) as u32,
                without: _mm256_and_si256(lacking, keys),
                with: _mm256_andnot_si256(lacking, keys),
            }
        }
    }

    #[inline(always)]
    fn tally(self, counts: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe {
            let disjoint = _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256());
            _mm256_sub_epi32(counts, disjoint)
        }
    }

    #[inline(always)]
    fn sum(self, counts: __m256i) -> u64 {
        // SAFETY: see above; a vector is eight counts.
        let counts: [u32; 8] = unsafe { std::mem::transmute(counts) };
        counts.into_iter().map(u64::from).sum()
    }

    #[inline(always)]
    fn keep(self, keys: __m256i, mask: u32) -> __m256i {
        self.and(keys, self.lanes(mask))
    }

    #[inline(always)]
    unsafe fn compress(self, keys: __m256i, mask: u32, to: *mut u32) {
        let lanes = self.permutation(&COMPRESS_32[mask as u8 as usize]);
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(keys, lanes)) }
    }

    #[inline(always)]
    unsafe fn compress_exactly(self, keys: __m256i, mask: u32, to: *mut u32) {
        let lanes = self.permutation(&COMPRESS_32[mask as u8 as usize]);
        let kept = self.lanes((1 << mask.count_ones()) - 1);
        // SAFETY: see above; lanes masked out are not written.
        unsafe {
            _mm256_maskstore_epi32(to.cast(), kept, _mm256_permutevar8x32_epi32(keys, lanes));
        }
    }

    #[inline(always)]
    fn union_of_lanes(self, keys: __m256i) -> u32 {
        // SAFETY: see above; a vector is eight words.
        let words: [u32; 8] = unsafe { std::mem::transmute(keys) };
        words.into_iter().fold(0, |union, word| union | word)
    }

    #[inline(always)]
    fn splat_wide(self, key: u64) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set1_epi64x(key as i64) }
    }

    #[inline(always)]
    unsafe fn load_wide(self, from: *const u64) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    fn prefetch(self, from: *const u64) {
        // SAFETY: see above; a prefetch of any address is harmless.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    fn disjoint_wide(self, a: __m256i, b: __m256i, among: u32) -> u32 {
        // SAFETY: see above.
        unsafe {
            let zero = _mm256_cmpeq_epi64(_mm256_and_si256(a, b), _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(zero)) as u32 & among
        }
    }

    #[inline(always)]
    unsafe fn compress_wide(self, keys: __m256i, mask: u32, to: *mut u64) {
        let lanes = self.permutation(&COMPRESS_WIDE[(mask & 15) as usize]);
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(keys, lanes)) }
    }

    #[inline(always)]
    fn choice(self, mask: u64) -> u64 {
        mask
    }

    #[inline(always)]
    fn pack_bits(self, key: u64, choice: u64) -> u32 {
        // SAFETY: see above.
        unsafe { _pext_u64(key, choice) as u32 }
    }

    #[inline(always)]
    fn fields(self, fields: &Fields) -> Spread {
        Spread::new(fields)
    }

    #[inline(always)]
    fn offsets(self, key: u32, fields: Spread) -> [usize; 5] {
        // SAFETY: see above.
        unsafe { fields.offsets(key) }
    }

    #[inline(always)]
    fn frequencies(self, keys: &[u32; SAMPLE]) -> [u32; 32] {
        let mut found = [0; 32];
        let (blocks, _) = keys.as_chunks::<32>();
        for block in blocks {
            for (byte, mut plane) in self.planes(block).into_iter().enumerate() {
                for count in found[8 * byte..][..8].iter_mut().rev() {
                    // SAFETY: see above.
                    unsafe {
                        *count += _mm256_movemask_epi8(plane).count_ones();
                        plane = _mm256_add_epi8(plane, plane);
                    }
                }
            }
        }
        found
    }

    #[inline(always)]
    fn rows_lacking(
        self,
        keys: &[u32; TruthRow::LEN],
        count: usize,
        used: u32,
        rows: &mut [TruthRow; 32],
    ) {
        let (blocks, _) = keys.as_chunks::<32>();
        let blocks = &blocks[..count.div_ceil(32)];
        let mut planes = [[self.splat(0); TruthRow::LEN / 32]; 4];
        for (index, block) in blocks.iter().enumerate() {
            for (byte, plane) in self.planes(block).into_iter().enumerate() {
                planes[byte][index] = plane;
            }
        }
        let mut rest = used;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            // SAFETY: see above.
            let up = unsafe { _mm_cvtsi32_si128(7 - (bit % 8) as i32) };
            let planes = &planes[(bit / 8) as usize][..blocks.len()];
            let row = rows[bit as usize].0.as_mut_ptr().cast::<u32>();
            for (index, plane) in planes.iter().enumerate() {
                // SAFETY: see above; a row is sixteen halves of a word.
                unsafe {
                    let has = _mm256_movemask_epi8(_mm256_sll_epi16(*plane, up));
                    row.add(index).write(!has as u32);
                }
            }
        }
    }

    #[inline(always)]
    fn row(self, from: &TruthRow) -> [__m256i; 2] {
        let from = from.0.as_ptr();
        // SAFETY: see above; a row is two vectors, aligned.
        unsafe {
            [
                _mm256_load_si256(from.cast()),
                _mm256_load_si256(from.add(4).cast()),
            ]
        }
    }

    #[inline(always)]
    fn set_row(self, to: &mut TruthRow, [low, high]: [__m256i; 2]) {
        let to = to.0.as_mut_ptr();
        // SAFETY: see above; a row is two vectors, aligned.
        unsafe {
            _mm256_store_si256(to.cast(), low);
            _mm256_store_si256(to.add(4).cast(), high);
        }
    }

    #[inline(always)]
    fn both(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
        [self.and(a[0], b[0]), self.and(a[1], b[1])]
    }

    #[inline(always)]
    fn zero(self) -> Sum {
        // SAFETY: see above.
        let zero = unsafe { _mm256_setzero_si256() };
        Sum {
            rows: zero,
            fours: zero,
            twos: [zero; 2],
            ones: [zero; 2],
        }
    }

    #[inline(always)]
    fn count(self, sum: Sum, row: [__m256i; 2]) -> Sum {
        Sum {
            rows: self.add_bits(sum.rows, row),
            ..sum
        }
    }

    #[inline(always)]
    fn count_four(self, sum: Sum, [a, b, c, d]: [[__m256i; 2]; 4]) -> Sum {
        let mut fours = [self.zero().rows; 2];
        let Sum {
            mut ones, mut twos, ..
        } = sum;
        for half in 0..2 {
            let (first, second);
            (ones[half], first) = self.add_three(ones[half], a[half], b[half]);
            (ones[half], second) = self.add_three(ones[half], c[half], d[half]);
            (twos[half], fours[half]) = self.add_three(twos[half], first, second);
        }
        Sum {
            fours: self.add_bits(sum.fours, fours),
            twos,
            ones,
            ..sum
        }
    }

    #[inline(always)]
    fn total(self, sum: Sum) -> u64 {
        // SAFETY: see above; a vector is four words.
        let words = |sum| unsafe { std::mem::transmute::<__m256i, [u64; 4]>(sum) };
        let total = |sum| words(sum).into_iter().sum::<u64>();
        let zero = self.zero().rows;
        total(sum.rows)
            + 4 * total(sum.fours)
            + 2 * total(self.add_bits(zero, sum.twos))
            + total(self.add_bits(zero, sum.ones))
    }
}
