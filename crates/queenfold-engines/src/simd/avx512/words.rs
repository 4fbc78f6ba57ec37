//! 32 words of 16 bits, or 16 of 32.

use std::arch::x86_64::*;

use super::Avx512;
use crate::simd::WordVector;

/// 32 lanes of 16 bits.
#[derive(Clone, Copy)]
pub struct Words16(__m512i);

/// 16 lanes of 32 bits.
#[derive(Clone, Copy)]
pub struct Words32(__m512i);

macro_rules! vector {
    (
        $name:ident, $word:ty, $mask:ty, $lanes:literal,
        $splat:ident, $sub:ident, $min:ident, $shl:ident, $shr:ident, $testn:ident, $test:ident,
        $blend:ident, $mask_add:ident, $compress:ident, $expand:ident
    ) => {
        impl WordVector for $name {
            type Simd = Avx512;
            type Word = $word;
            type Mask = $mask;
            // A count for each lane: such a shift is one operation. A shift of all lanes by the
            // count in the lowest lane of a register is two.
            type Shift = Self;

            const LANES: usize = $lanes;
            const STREAMS: usize = 4;

            #[inline(always)]
            fn splat(_: Avx512, word: u32) -> Self {
                // SAFETY: the token proves the instruction set.
                Self(unsafe { $splat(word as _) })
            }

            #[inline(always)]
            fn shift(_: Avx512, count: u32) -> Self {
                // SAFETY: the token proves the instruction set.
                Self(unsafe { $splat(count as _) })
            }

            #[inline(always)]
            unsafe fn load(_: Avx512, from: *const $word) -> Self {
                // SAFETY: the token proves the instruction set; the caller vouches for the memory.
                Self(unsafe { _mm512_loadu_si512(from.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller vouches for the memory.
                unsafe { _mm512_storeu_si512(to.cast(), self.0) }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm512_and_si512(self.0, other.0) })
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm512_or_si512(self.0, other.0) })
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm512_andnot_si512(other.0, self.0) })
            }

            #[inline(always)]
            fn or_lost(self, before: Self, after: Self) -> Self {
                // One operation. Written as two, the compiler would compute the second once for
                // several calls, and the calls would take one operation more together.
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm512_ternarylogic_epi32::<0b1111_0100>(self.0, before.0, after.0) })
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $min(self.0, other.0) })
            }

            #[inline(always)]
            fn without_lowest(self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { _mm512_and_si512(self.0, $sub(self.0, $splat(1))) })
            }

            #[inline(always)]
            fn shl(self, shift: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $shl(self.0, shift.0) })
            }

            #[inline(always)]
            fn shr(self, shift: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $shr(self.0, shift.0) })
            }

            #[inline(always)]
            fn is_zero(self) -> $mask {
                // SAFETY: a vector proves the instruction set.
                unsafe { $testn(self.0, self.0) }
            }

            #[inline(always)]
            fn is_nonzero(self) -> $mask {
                // SAFETY: a vector proves the instruction set.
                unsafe { $test(self.0, self.0) }
            }

            #[inline(always)]
            fn fill(self, mask: $mask, with: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $blend(mask, self.0, with.0) })
            }

            #[inline(always)]
            fn both(a: $mask, b: $mask) -> $mask {
                a & b
            }

            #[inline(always)]
            fn count(mask: $mask) -> usize {
                mask.count_ones() as usize
            }

            #[inline(always)]
            fn increment(self, mask: $mask) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(unsafe { $mask_add(self.0, mask, self.0, $splat(1)) })
            }

            #[inline(always)]
            fn first(_: Avx512, mask: $mask, limit: usize) -> $mask {
                if limit >= Self::LANES {
                    return mask;
                }
                // SAFETY: the token proves the instruction set.
                unsafe { _pdep_u32((1 << limit) - 1, mask.into()) as $mask }
            }

            #[inline(always)]
            unsafe fn append<const N: usize>(
                vectors: [Self; N],
                mask: $mask,
                to: [*mut $word; N],
            ) -> usize {
                for i in 0..N {
                    // In a register and then a full store, because compress to memory is slow
                    // microcode.
                    // SAFETY: a vector proves the instruction set; the caller vouches for the
                    // memory.
                    unsafe { Self($compress(mask, vectors[i].0)).store(to[i]) }
                }
                Self::count(mask)
            }

            #[inline(always)]
            unsafe fn refill<const N: usize>(
                vectors: [Self; N],
                mask: $mask,
                stacks: [*const $word; N],
                len: usize,
            ) -> ([Self; N], usize) {
                let len = len - Self::count(mask);
                let mut vectors = vectors;
                for i in 0..N {
                    // SAFETY: a vector proves the instruction set; the caller vouches for the
                    // memory.
                    unsafe {
                        let fresh = _mm512_loadu_si512(stacks[i].add(len).cast());
                        vectors[i].0 = $expand(vectors[i].0, mask, fresh);
                    }
                }
                (vectors, len)
            }
        }
    };
}

vector!(
    Words16,
    u16,
    __mmask32,
    32,
    _mm512_set1_epi16,
    _mm512_sub_epi16,
    _mm512_min_epu16,
    _mm512_sllv_epi16,
    _mm512_srlv_epi16,
    _mm512_testn_epi16_mask,
    _mm512_test_epi16_mask,
    _mm512_mask_blend_epi16,
    _mm512_mask_add_epi16,
    _mm512_maskz_compress_epi16,
    _mm512_mask_expand_epi16
);
vector!(
    Words32,
    u32,
    __mmask16,
    16,
    _mm512_set1_epi32,
    _mm512_sub_epi32,
    _mm512_min_epu32,
    _mm512_sllv_epi32,
    _mm512_srlv_epi32,
    _mm512_testn_epi32_mask,
    _mm512_test_epi32_mask,
    _mm512_mask_blend_epi32,
    _mm512_mask_add_epi32,
    _mm512_maskz_compress_epi32,
    _mm512_mask_expand_epi32
);
