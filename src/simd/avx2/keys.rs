//! 8 keys of 32 bits, or 4 of 64; a truth row is two registers.

use std::arch::x86_64::*;

use super::tables::{COMPRESS_32, COMPRESS_WIDE};
use super::{Avx2, Spread};
use crate::simd::{Fields, KeyVectors, TruthRow};

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

impl KeyVectors for Avx2 {
    type Keys = __m256i;
    type Wide = __m256i;
    type LoadedRow = [__m256i; 2];
    type Sum = __m256i;
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
    fn splat(self, key: u32) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set1_epi32(key as i32) }
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
    fn zero(self) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn count(self, sum: __m256i, row: [__m256i; 2]) -> __m256i {
        let (low, high) = (self.bits_of_bytes(row[0]), self.bits_of_bytes(row[1]));
        // SAFETY: see above; no byte exceeds 16.
        unsafe {
            let bytes = _mm256_add_epi8(low, high);
            _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()))
        }
    }

    #[inline(always)]
    fn total(self, sum: __m256i) -> u64 {
        // SAFETY: see above; a vector is four words.
        let words: [u64; 4] = unsafe { std::mem::transmute(sum) };
        words.into_iter().sum()
    }
}
