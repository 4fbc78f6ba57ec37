//! AVX-512: 16 lanes of 32 bits or 8 of 64; a row is one register.

use std::arch::x86_64::*;

use super::{Row, Vector};
use crate::simd::Isa;

/// Proof that the machine has AVX-512 in the extent of [`Isa::Avx512`].
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The proof, if the machine gives it.
    pub fn new() -> Option<Self> {
        Isa::Avx512.is_available().then_some(Self(()))
    }
}

super::entry_points!(
    Avx512,
    "avx512",
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,avx2,bmi1,bmi2,popcnt"
);

// All operations below: `self` proves the instruction set; what memory may be touched, the caller
// of an unsafe operation vouches for.
impl Vector for Avx512 {
    type Keys = __m512i;
    type Wide = __m512i;
    type Row = __m512i;
    type Sum = __m512i;
    type Bits = u32;

    const LANES: usize = 16;
    const WIDE_LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u32, count: usize) -> __m512i {
        // SAFETY: see above; lanes masked out are not read.
        unsafe { _mm512_maskz_loadu_epi32((1 << count) - 1, from.cast()) }
    }

    #[inline(always)]
    fn splat(self, key: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi32(key as i32) }
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn disjoint(self, a: __m512i, b: __m512i) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_testn_epi32_mask(a, b).into() }
    }

    #[inline(always)]
    fn keep(self, keys: __m512i, mask: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_maskz_mov_epi32(mask as u16, keys) }
    }

    #[inline(always)]
    unsafe fn compress(self, keys: __m512i, mask: u32, to: *mut u32) {
        // Compress in register, then store whole: compress to memory is slow microcode.
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(mask as u16, keys)) }
    }

    #[inline(always)]
    unsafe fn compress_exactly(self, keys: __m512i, mask: u32, to: *mut u32) {
        let kept = (1u32 << mask.count_ones()) - 1;
        // SAFETY: see above; lanes masked out are not written.
        unsafe {
            let keys = _mm512_maskz_compress_epi32(mask as u16, keys);
            _mm512_mask_storeu_epi32(to.cast(), kept as u16, keys);
        }
    }

    #[inline(always)]
    fn union(self, keys: __m512i) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_or_epi32(keys) as u32 }
    }

    #[inline(always)]
    fn splat_wide(self, key: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(key as i64) }
    }

    #[inline(always)]
    unsafe fn load_wide(self, from: *const u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    fn or_wide(self, a: __m512i, b: __m512i) -> __m512i {
        self.or(a, b)
    }

    #[inline(always)]
    fn disjoint_wide(self, a: __m512i, b: __m512i) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_testn_epi64_mask(a, b).into() }
    }

    #[inline(always)]
    unsafe fn compress_wide(self, keys: __m512i, mask: u32, to: *mut u64) {
        // SAFETY: see above.
        unsafe { _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi64(mask as u8, keys)) }
    }

    #[inline(always)]
    fn bits(self, mask: u32) -> u32 {
        mask
    }

    #[inline(always)]
    fn pack(self, key: u32, bits: u32) -> u32 {
        // SAFETY: see above.
        unsafe { _pext_u32(key, bits) }
    }

    #[inline(always)]
    fn row(self, from: &Row) -> __m512i {
        // SAFETY: see above; a row is a vector, aligned.
        unsafe { _mm512_load_si512(from.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn set_row(self, to: &mut Row, row: __m512i) {
        // SAFETY: see above; a row is a vector, aligned.
        unsafe { _mm512_store_si512(to.0.as_mut_ptr().cast(), row) }
    }

    #[inline(always)]
    fn both(self, a: __m512i, b: __m512i) -> __m512i {
        self.and(a, b)
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn count(self, sum: __m512i, row: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(row)) }
    }

    #[inline(always)]
    fn total(self, sum: __m512i) -> u64 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_add_epi64(sum) as u64 }
    }
}
