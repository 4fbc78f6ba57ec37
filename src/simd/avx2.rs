//! AVX2: 16 lanes of 16 bits or 8 of 32. Compress and expand are byte permutations of 128 bits,
//! looked up by the mask.

use std::arch::x86_64::*;

use super::{Program, Vector};

/// Runs `program` with these vectors.
///
/// # Safety
/// The machine has the features named.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn run<P: Program>(program: P) -> P::Output {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { program.run::<Words16, Words32>() }
}

/// 16 lanes of 16 bits.
#[derive(Clone, Copy)]
pub(super) struct Words16(__m256i);

/// 8 lanes of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Words32(__m256i);

/// Eight bytes for each mask of eight lanes: the positions of the lanes to keep, without gaps.
static COMPRESS: [u64; 256] = tables().0;
/// Eight bytes for each mask of eight lanes: the rank of each true lane among the true ones.
static EXPAND: [u64; 256] = tables().1;

const fn tables() -> ([u64; 256], [u64; 256]) {
    let (mut compress, mut expand) = ([0; 256], [0; 256]);
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut rank) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                compress[mask] |= lane << (8 * rank);
                expand[mask] |= rank << (8 * lane);
                rank += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    (compress, expand)
}

macro_rules! vector {
    ($name:ident, $word:ty, $lanes:literal, $splat:ident, $add:ident, $shl:ident, $shr:ident,
        $eq:ident, { $($moves:item)* }) => {
        impl $name {
            #[inline(always)]
            fn invert(mask: __m256i) -> __m256i {
                // SAFETY: a mask in hand proves the instruction set.
                unsafe { _mm256_xor_si256(mask, _mm256_set1_epi8(-1)) }
            }
        }

        impl Vector for $name {
            type Word = $word;
            type Mask = __m256i;
            type Shift = __m128i;

            const LANES: usize = $lanes;
            const STREAMS: usize = 1;

            #[inline(always)]
            unsafe fn splat(word: u32) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                Self(unsafe { $splat(word as _) })
            }

            #[inline(always)]
            unsafe fn shift(count: u32) -> __m128i {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { _mm_cvtsi32_si128(count as i32) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $word) -> Self {
                // SAFETY: the caller vouches for the instruction set and the memory.
                Self(unsafe { _mm256_loadu_si256(from.cast()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller vouches for the memory.
                unsafe { _mm256_storeu_si256(to.cast(), self.0) }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_and_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_or_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_xor_si256(self.0, other.0) })
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
            }

            #[inline(always)]
            fn without_lowest(self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_and_si256(self.0, $add(self.0, $splat(-1))) })
            }

            #[inline(always)]
            fn shl(self, shift: __m128i) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { $shl(self.0, shift) })
            }

            #[inline(always)]
            fn shr(self, shift: __m128i) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { $shr(self.0, shift) })
            }

            #[inline(always)]
            fn is_zero(self) -> __m256i {
                // SAFETY: a vector in hand proves the instruction set.
                unsafe { $eq(self.0, _mm256_setzero_si256()) }
            }

            #[inline(always)]
            fn is_nonzero(self) -> __m256i {
                Self::invert(self.is_zero())
            }

            #[inline(always)]
            fn is_equal(self, other: Self) -> __m256i {
                // SAFETY: a vector in hand proves the instruction set.
                unsafe { $eq(self.0, other.0) }
            }

            #[inline(always)]
            fn select(mask: __m256i, yes: Self, no: Self) -> Self {
                // SAFETY: a vector in hand proves the instruction set.
                Self(unsafe { _mm256_blendv_epi8(no.0, yes.0, mask) })
            }

            #[inline(always)]
            fn both(a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: a mask in hand proves the instruction set.
                unsafe { _mm256_and_si256(a, b) }
            }

            #[inline(always)]
            fn count(mask: __m256i) -> usize {
                // SAFETY: a mask in hand proves the instruction set.
                let bytes = unsafe { _mm256_movemask_epi8(mask) };
                bytes.count_ones() as usize / size_of::<$word>()
            }

            #[inline(always)]
            fn first(mask: __m256i, limit: usize) -> __m256i {
                let mut lanes: [$word; $lanes] = [0; $lanes];
                // SAFETY: a mask in hand proves the instruction set; the array is as long as a
                // vector.
                unsafe { Self(mask).store(lanes.as_mut_ptr()) };
                let mut left = limit;
                for lane in &mut lanes {
                    if *lane != 0 && left == 0 {
                        *lane = 0;
                    } else if *lane != 0 {
                        left -= 1;
                    }
                }
                // SAFETY: as above.
                unsafe { Self::load(lanes.as_ptr()).0 }
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
    _mm256_sll_epi16,
    _mm256_srl_epi16,
    _mm256_cmpeq_epi16,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            to: [*mut u16; N],
        ) -> usize {
            // SAFETY: a vector in hand proves the instruction set; the caller vouches for 16 words,
            // and the second half begins at most 8 words on.
            unsafe {
                let (low, high) = half_masks(mask);
                let low_bytes = word_positions(COMPRESS[low]);
                let high_bytes = word_positions(COMPRESS[high]);
                let middle = low.count_ones() as usize;
                for (vector, to) in vectors.into_iter().zip(to) {
                    let low = _mm_shuffle_epi8(_mm256_castsi256_si128(vector.0), low_bytes);
                    let high =
                        _mm_shuffle_epi8(_mm256_extracti128_si256::<1>(vector.0), high_bytes);
                    _mm_storeu_si128(to.cast(), low);
                    _mm_storeu_si128(to.add(middle).cast(), high);
                }
                middle + high.count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            ends: [*const u16; N],
        ) -> ([Self; N], usize) {
            let mut vectors = vectors;
            // SAFETY: a vector in hand proves the instruction set; the caller vouches for the memory.
            unsafe {
                let (low, high) = half_masks(mask);
                let low_bytes = word_positions(EXPAND[low]);
                let high_bytes = word_positions(EXPAND[high]);
                let middle = low.count_ones() as usize;
                let taken = middle + high.count_ones() as usize;
                for (vector, end) in vectors.iter_mut().zip(ends) {
                    let from = end.sub(taken);
                    let low = _mm_loadu_si128(from.cast());
                    let high = _mm_loadu_si128(from.add(middle).cast());
                    let fresh = _mm256_set_m128i(
                        _mm_shuffle_epi8(high, high_bytes),
                        _mm_shuffle_epi8(low, low_bytes),
                    );
                    vector.0 = _mm256_blendv_epi8(vector.0, fresh, mask);
                }
                (vectors, taken)
            }
        }
    }
);

/// The true lanes of each half, one bit a lane.
#[inline(always)]
unsafe fn half_masks(mask: __m256i) -> (usize, usize) {
    // SAFETY: the caller vouches for the instruction set.
    let lanes = unsafe {
        let halves = _mm_packs_epi16(
            _mm256_castsi256_si128(mask),
            _mm256_extracti128_si256::<1>(mask),
        );
        _mm_movemask_epi8(halves) as usize
    };
    (lanes & 0xFF, lanes >> 8)
}

/// The positions of both bytes of the words at eight positions.
#[inline(always)]
unsafe fn word_positions(positions: u64) -> __m128i {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let words = _mm_cvtsi64_si128(positions as i64);
        let pairs = _mm_unpacklo_epi8(words, words);
        _mm_add_epi8(_mm_add_epi8(pairs, pairs), _mm_set1_epi16(0x0100))
    }
}

vector!(
    Words32,
    u32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_sll_epi32,
    _mm256_srl_epi32,
    _mm256_cmpeq_epi32,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            to: [*mut u32; N],
        ) -> usize {
            // SAFETY: a vector in hand proves the instruction set; the caller vouches for the memory.
            unsafe {
                let lanes = _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as usize;
                let positions = lane_positions(COMPRESS[lanes]);
                for (vector, to) in vectors.into_iter().zip(to) {
                    Self(_mm256_permutevar8x32_epi32(vector.0, positions)).store(to);
                }
                lanes.count_ones() as usize
            }
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: __m256i,
            ends: [*const u32; N],
        ) -> ([Self; N], usize) {
            let mut vectors = vectors;
            // SAFETY: a vector in hand proves the instruction set; the caller vouches for the memory.
            unsafe {
                let lanes = _mm256_movemask_ps(_mm256_castsi256_ps(mask)) as usize;
                let positions = lane_positions(EXPAND[lanes]);
                let taken = lanes.count_ones() as usize;
                for (vector, end) in vectors.iter_mut().zip(ends) {
                    let fresh = Self::load(end.sub(taken)).0;
                    let fresh = _mm256_permutevar8x32_epi32(fresh, positions);
                    vector.0 = _mm256_blendv_epi8(vector.0, fresh, mask);
                }
                (vectors, taken)
            }
        }
    }
);

/// Eight byte positions as lane positions.
#[inline(always)]
unsafe fn lane_positions(positions: u64) -> __m256i {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(positions as i64)) }
}
