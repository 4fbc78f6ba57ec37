//! 16 words of 16 bits, or 8 of 32.

use std::arch::x86_64::*;

use super::Avx2;
use super::tables::{COMPRESS_16, COMPRESS_32, EXPAND_16, EXPAND_32};
use crate::simd::WordVector;

/// 16 lanes of 16 bits.
#[derive(Clone, Copy)]
pub struct Words16(__m256i);

/// 8 lanes of 32 bits.
#[derive(Clone, Copy)]
pub struct Words32(__m256i);

macro_rules! vector {
    ($name:ident, $word:ty, $lanes:literal, $splat:ident, $add:ident, $min:ident, $shl:ident, $shr:ident,
        $eq:ident, $lane_bits:literal, { $($moves:item)* }) => {
        impl $name {
            #[inline(always)]
            fn invert(mask: __m256i) -> __m256i {
                // SAFETY: a mask proves the instruction set.
                unsafe { _mm256_xor_si256(mask, _mm256_set1_epi8(-1)) }
            }

            /// The lanes whose bit is set.
            #[inline(always)]
            pub(super) fn lanes_of(_: Avx2, bits: $word) -> __m256i {
                let mut lanes: [$word; $lanes] = [1; $lanes];
                let mut lane = 0;
                while lane < $lanes {
                    lanes[lane] <<= lane;
                    lane += 1;
                }
                // SAFETY: the token proves the instruction set; the array is as long as a vector.
                unsafe {
                    let lanes = _mm256_loadu_si256(lanes.as_ptr().cast());
                    $eq(_mm256_and_si256($splat(bits as _), lanes), lanes)
                }
            }
        }

        impl WordVector for $name {
            type Simd = Avx2;
            type Word = $word;
            type Mask = __m256i;
            type Shift = __m128i;

            const LANES: usize = $lanes;
            const STREAMS: usize = 2;

            #[inline(always)]
            fn splat(_: Avx2, word: u32) -> Self {
                // SAFETY: the token proves the instruction set.
                Self(unsafe { $splat(word as _) })
            }

            #[inline(always)]
            unsafe fn load(_: Avx2, from: *const $word) -> Self {
                // SAFETY: the token proves the instruction set; the caller vouches for the memory.
                Self(unsafe { _mm256_loadu_si256(from.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller vouches for the memory.
                unsafe { _mm256_storeu_si256(to.cast(), self.0) }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm256_and_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm256_or_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $min(self.0, other.0) })
            }

            #[inline(always)]
            fn without_lowest(self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm256_and_si256(self.0, $add(self.0, $splat(-1))) })
            }

            #[inline(always)]
            fn shift(_: Avx2, count: u32) -> __m128i {
                // SAFETY: the token proves the instruction set.
                unsafe { _mm_cvtsi32_si128(count as i32) }
            }

            #[inline(always)]
            fn shl(self, shift: __m128i) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $shl(self.0, shift) })
            }

            #[inline(always)]
            fn shr(self, shift: __m128i) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $shr(self.0, shift) })
            }

            #[inline(always)]
            fn is_zero(self) -> __m256i {
                // SAFETY: a vector proves the instruction set.
                unsafe { $eq(self.0, _mm256_setzero_si256()) }
            }

            #[inline(always)]
            fn is_nonzero(self) -> __m256i {
                Self::invert(self.is_zero())
            }

            #[inline(always)]
            fn fill(self, mask: __m256i, with: Self) -> Self {
                self.or(with.and(Self(mask)))
            }

            #[inline(always)]
            fn both(a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: a mask proves the instruction set.
                unsafe { _mm256_and_si256(a, b) }
            }

            #[inline(always)]
            fn count(mask: __m256i) -> usize {
                // SAFETY: a mask proves the instruction set.
                let bytes = unsafe { _mm256_movemask_epi8(mask) };
                bytes.count_ones() as usize / size_of::<$word>()
            }

            #[inline(always)]
            fn increment(self, mask: __m256i) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $add(self.0, _mm256_and_si256(mask, $splat(1))) })
            }

            #[inline(always)]
            fn first(simd: Avx2, mask: __m256i, limit: usize) -> __m256i {
                if limit >= Self::LANES {
                    return mask;
                }
                // SAFETY: the token proves the instruction set.
                let first = unsafe {
                    let bits = _pext_u32(_mm256_movemask_epi8(mask) as u32, $lane_bits);
                    _pdep_u32((1 << limit) - 1, bits)
                };
                Self::lanes_of(simd, first as $word)
            }

            $($moves)*
        }
    };
}

vector!(
    Words16,
    u16,
    16,
    _mm256_set1_epi16,
    _mm256_add_epi16,
    _mm256_min_epu16,
    _mm256_sll_epi16,
    _mm256_srl_epi16,
    _mm256_cmpeq_epi16,
    0x5555_5555,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            to: [*mut u16; N],
        ) -> usize {
            // SAFETY: a vector proves the instruction set; the caller vouches for 16 words,
            // and the second half begins at most 8 words on.
            unsafe {
                let (low, high) = half_masks(mask);
                let bytes = halves(COMPRESS_16[low].as_ptr(), COMPRESS_16[high].as_ptr());
                let middle = low.count_ones() as usize;
                for i in 0..N {
                    let packed = _mm256_shuffle_epi8(vectors[i].0, bytes);
                    _mm_storeu_si128(to[i].cast(), _mm256_castsi256_si128(packed));
                    let upper = _mm256_extracti128_si256::<1>(packed);
                    _mm_storeu_si128(to[i].add(middle).cast(), upper);
                }
                middle + high.count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            stacks: [*const u16; N],
            len: usize,
        ) -> ([Self; N], usize) {
            let mut vectors = vectors;
            // SAFETY: a vector proves the instruction set; the caller vouches for the
            // memory.
            unsafe {
                let (low, high) = half_masks(mask);
                let bytes = halves(EXPAND_16[low].as_ptr(), EXPAND_16[high].as_ptr());
                let middle = len - high.count_ones() as usize;
                let len = middle - low.count_ones() as usize;
                for i in 0..N {
                    let words = halves(stacks[i].add(len).cast(), stacks[i].add(middle).cast());
                    let fresh = _mm256_shuffle_epi8(words, bytes);
                    let kept = _mm256_andnot_si256(mask, vectors[i].0);
                    vectors[i].0 = _mm256_or_si256(kept, fresh);
                }
                (vectors, len)
            }
        }
    }
);

/// The true 16-bit lanes of each half, one bit a lane.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn half_masks(mask: __m256i) -> (usize, usize) {
    // SAFETY: the caller vouches for the instruction set.
    let lanes = unsafe { _pext_u32(_mm256_movemask_epi8(mask) as u32, 0x5555_5555) };
    ((lanes as u8).into(), ((lanes >> 8) as u8).into())
}

/// 16 bytes from each of two places.
///
/// # Safety
/// The machine has AVX2, and the bytes may be read.
#[inline(always)]
unsafe fn halves(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: the caller vouches for the instruction set and the memory.
    unsafe {
        _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128(low.cast())),
            _mm_loadu_si128(high.cast()),
        )
    }
}

vector!(
    Words32,
    u32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_min_epu32,
    _mm256_sll_epi32,
    _mm256_srl_epi32,
    _mm256_cmpeq_epi32,
    0x1111_1111,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            to: [*mut u32; N],
        ) -> usize {
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let lanes = _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as usize;
                let positions = lane_positions(COMPRESS_32[lanes]);
                for i in 0..N {
                    Self(_mm256_permutevar8x32_epi32(vectors[i].0, positions)).store(to[i]);
                }
                lanes.count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            stacks: [*const u32; N],
            len: usize,
        ) -> ([Self; N], usize) {
            let mut vectors = vectors;
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let lanes = _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as usize;
                let positions = lane_positions(EXPAND_32[lanes]);
                let len = len - lanes.count_ones() as usize;
                for i in 0..N {
                    let fresh = _mm256_loadu_si256(stacks[i].add(len).cast());
                    let fresh = _mm256_permutevar8x32_epi32(fresh, positions);
                    vectors[i].0 = _mm256_blendv_epi8(vectors[i].0, fresh, mask);
                }
                (vectors, len)
            }
        }
    }
);

/// Eight positions of lanes, widened from bytes.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn lane_positions(positions: [u8; 8]) -> __m256i {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(positions))) }
}
