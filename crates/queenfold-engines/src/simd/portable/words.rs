//! Eight words, of 16 or 32 bits.

use super::Portable;
use crate::board::bits;
use crate::simd::{WordVector, array, each};

const LANES: usize = 8;

/// Eight lanes.
#[derive(Clone, Copy)]
pub struct Words<W>([W; LANES]);

macro_rules! vector {
    ($word:ty) => {
        impl Words<$word> {
            #[inline(always)]
            fn zip(self, other: Self, of: impl Fn($word, $word) -> $word) -> Self {
                Self(array(|i| of(self.0[i], other.0[i])))
            }

            #[inline(always)]
            fn lanes_where(self, is: impl Fn($word) -> bool) -> u8 {
                (0..LANES).fold(0, |mask, i| mask | u8::from(is(self.0[i])) << i)
            }
        }

        impl WordVector for Words<$word> {
            type Simd = Portable;
            type Word = $word;
            type Mask = u8;
            type Shift = u32;

            const LANES: usize = LANES;
            const STREAMS: usize = 1;

            #[inline(always)]
            fn splat(_: Portable, word: u32) -> Self {
                Self([word as $word; LANES])
            }

            #[inline(always)]
            fn shift(_: Portable, count: u32) -> u32 {
                count
            }

            #[inline(always)]
            unsafe fn load(_: Portable, from: *const $word) -> Self {
                // SAFETY: the caller vouches for the memory.
                Self(unsafe { from.cast::<[$word; LANES]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the caller vouches for the memory.
                unsafe { to.cast::<[$word; LANES]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self.zip(other, |a, b| a & b)
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self.zip(other, |a, b| a | b)
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                self.zip(other, |a, b| a & !b)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.zip(other, |a, b| a.min(b))
            }

            #[inline(always)]
            fn without_lowest(self) -> Self {
                Self(each(self.0, |word| word & word.wrapping_sub(1)))
            }

            #[inline(always)]
            fn shl(self, shift: u32) -> Self {
                Self(each(self.0, |word| word.wrapping_shl(shift)))
            }

            #[inline(always)]
            fn shr(self, shift: u32) -> Self {
                Self(each(self.0, |word| word.wrapping_shr(shift)))
            }

            #[inline(always)]
            fn is_zero(self) -> u8 {
                self.lanes_where(|word| word == 0)
            }

            #[inline(always)]
            fn is_nonzero(self) -> u8 {
                self.lanes_where(|word| word != 0)
            }

            #[inline(always)]
            fn fill(self, mask: u8, with: Self) -> Self {
                Self(array(|i| {
                    if mask >> i & 1 == 1 {
                        with.0[i]
                    } else {
                        self.0[i]
                    }
                }))
            }

            #[inline(always)]
            fn both(a: u8, b: u8) -> u8 {
                a & b
            }

            #[inline(always)]
            fn count(mask: u8) -> usize {
                mask.count_ones() as usize
            }

            #[inline(always)]
            fn increment(self, mask: u8) -> Self {
                Self(array(|i| self.0[i].wrapping_add((mask >> i & 1).into())))
            }

            #[inline(always)]
            fn first(_: Portable, mask: u8, limit: usize) -> u8 {
                bits(mask.into())
                    .take(limit)
                    .fold(0, |first, lane| first | 1 << lane)
            }

            #[inline(always)]
            unsafe fn append<const N: usize>(
                vectors: [Self; N],
                mask: u8,
                to: [*mut $word; N],
            ) -> usize {
                let mut written = 0;
                for i in 0..LANES {
                    for (vector, to) in vectors.iter().zip(to) {
                        // SAFETY: at most `i` words have been written before, and the caller
                        // vouches for `LANES` words.
                        unsafe { to.add(written).write(vector.0[i]) }
                    }
                    written += usize::from(mask >> i & 1);
                }
                written
            }

            #[inline(always)]
            unsafe fn refill<const N: usize>(
                vectors: [Self; N],
                mask: u8,
                stacks: [*const $word; N],
                len: usize,
            ) -> ([Self; N], usize) {
                let mut vectors = vectors;
                let mut len = len;
                for i in bits(mask.into()) {
                    len -= 1;
                    for (vector, stack) in vectors.iter_mut().zip(stacks) {
                        // SAFETY: the caller vouches for a word for each true lane.
                        vector.0[i as usize] = unsafe { stack.add(len).read() };
                    }
                }
                (vectors, len)
            }
        }
    };
}

vector!(u16);
vector!(u32);
