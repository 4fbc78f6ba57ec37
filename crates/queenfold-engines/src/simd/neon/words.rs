//! Eight words, of 16 bits in a register, or of 32 bits in a pair of registers.

use std::arch::aarch64::*;

use super::Neon;
use super::lanes::{
    bits_of_8, bits_of_pair, bytes_of_pair, entry, mask_of_8, mask_of_pair, permuted,
};
use super::tables::{COMPRESS_16, COMPRESS_32, EXPAND_16, EXPAND_32, TRUE_LANES};
use crate::simd::{WordVector, array, each};

/// Eight lanes of 16 bits.
#[derive(Clone, Copy)]
pub struct Words16([uint16x8_t; 1]);

/// Eight lanes of 32 bits.
#[derive(Clone, Copy)]
pub struct Words32([uint32x4_t; 2]);

/// A shift count, repeated in each lane, and its negative, by which the shift to the left shifts to
/// the right.
#[derive(Clone, Copy)]
pub struct Shift<C> {
    left: C,
    right: C,
}

macro_rules! vector {
    ($name:ident, $word:ty, $register:ident, $count:ident, $registers:literal, $streams:literal,
        $bits:ident, $mask:ident,
        $splat:ident, $splat_count:ident, $load:ident, $store:ident, $and:ident, $or:ident,
        $and_not:ident, $min:ident, $add:ident, $sub:ident, $shift:ident, $is_zero:ident,
        $test:ident, $select:ident, { $($moves:item)* }) => {
        impl $name {
            /// Words in a register.
            const EACH: usize = Self::LANES / $registers;

            #[inline(always)]
            fn zip(
                self,
                other: Self,
                of: impl Fn($register, $register) -> $register,
            ) -> Self {
                Self(array(|i| of(self.0[i], other.0[i])))
            }

            /// Bit i for each true lane i.
            #[inline(always)]
            fn lanes(mask: [$register; $registers]) -> usize {
                // SAFETY: a mask proves the instruction set.
                unsafe { $bits(mask) as usize & 0xFF }
            }
        }

        impl WordVector for $name {
            type Simd = Neon;
            type Word = $word;
            type Mask = [$register; $registers];
            type Shift = Shift<$count>;

            const LANES: usize = 8;
            const STREAMS: usize = $streams;

            #[inline(always)]
            fn splat(_: Neon, word: u32) -> Self {
                // SAFETY: the token proves the instruction set.
                Self([unsafe { $splat(word as _) }; $registers])
            }

            #[inline(always)]
            unsafe fn load(_: Neon, from: *const $word) -> Self {
                // SAFETY: the token proves the instruction set; the caller vouches for the memory.
                Self(array(|i| unsafe { $load(from.add(i * Self::EACH)) }))
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                for (i, register) in self.0.into_iter().enumerate() {
                    // SAFETY: the caller vouches for the memory.
                    unsafe { $store(to.add(i * Self::EACH), register) }
                }
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                self.zip(other, |a, b| unsafe { $and(a, b) })
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                self.zip(other, |a, b| unsafe { $or(a, b) })
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                self.zip(other, |a, b| unsafe { $and_not(a, b) })
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                self.zip(other, |a, b| unsafe { $min(a, b) })
            }

            #[inline(always)]
            fn without_lowest(self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(each(self.0, |word| unsafe { $and(word, $add(word, $splat(!0))) }))
            }

            #[inline(always)]
            fn shift(_: Neon, count: u32) -> Shift<$count> {
                // SAFETY: the token proves the instruction set.
                unsafe {
                    Shift {
                        left: $splat_count(count as _),
                        right: $splat_count(-(count as i32) as _),
                    }
                }
            }

            #[inline(always)]
            fn shl(self, shift: Shift<$count>) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(each(self.0, |word| unsafe { $shift(word, shift.left) }))
            }

            #[inline(always)]
            fn shr(self, shift: Shift<$count>) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(each(self.0, |word| unsafe { $shift(word, shift.right) }))
            }

            #[inline(always)]
            fn is_zero(self) -> Self::Mask {
                // SAFETY: a vector proves the instruction set.
                each(self.0, |word| unsafe { $is_zero(word) })
            }

            #[inline(always)]
            fn is_nonzero(self) -> Self::Mask {
                // SAFETY: a vector proves the instruction set.
                each(self.0, |word| unsafe { $test(word, word) })
            }

            #[inline(always)]
            fn fill(self, mask: Self::Mask, with: Self) -> Self {
                // SAFETY: a vector proves the instruction set.
                Self(array(|i| unsafe { $select(mask[i], with.0[i], self.0[i]) }))
            }

            #[inline(always)]
            fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask {
                Self(a).and(Self(b)).0
            }

            #[inline(always)]
            fn count(mask: Self::Mask) -> usize {
                TRUE_LANES[Self::lanes(mask)].into()
            }

            #[inline(always)]
            fn increment(self, mask: Self::Mask) -> Self {
                // SAFETY: a vector proves the instruction set. A true lane is -1.
                self.zip(Self(mask), |a, b| unsafe { $sub(a, b) })
            }

            #[inline(always)]
            fn first(_: Neon, mask: Self::Mask, limit: usize) -> Self::Mask {
                if limit >= Self::LANES {
                    return mask;
                }
                let mut beyond = Self::lanes(mask);
                for _ in 0..limit {
                    beyond &= beyond.wrapping_sub(1);
                }
                // SAFETY: the token proves the instruction set.
                Self(mask).and_not(Self(unsafe { $mask(beyond as u32) })).0
            }

            $($moves)*
        }
    };
}

/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn bits_of_one([mask]: [uint16x8_t; 1]) -> u32 {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { bits_of_8(mask) }
}

/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn mask_of_one(bits: u32) -> [uint16x8_t; 1] {
    // SAFETY: the caller vouches for the instruction set.
    [unsafe { mask_of_8(bits) }]
}

vector!(
    Words16,
    u16,
    uint16x8_t,
    int16x8_t,
    1,
    3,
    bits_of_one,
    mask_of_one,
    vdupq_n_u16,
    vdupq_n_s16,
    vld1q_u16,
    vst1q_u16,
    vandq_u16,
    vorrq_u16,
    vbicq_u16,
    vminq_u16,
    vaddq_u16,
    vsubq_u16,
    vshlq_u16,
    vceqzq_u16,
    vtstq_u16,
    vbslq_u16,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: [uint16x8_t; 1],
            to: [*mut u16; N],
        ) -> usize {
            let lanes = Self::lanes(mask);
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let bytes = vld1q_u8(COMPRESS_16[lanes].as_ptr());
                for i in 0..N {
                    let packed = vqtbl1q_u8(vreinterpretq_u8_u16(vectors[i].0[0]), bytes);
                    vst1q_u16(to[i], vreinterpretq_u16_u8(packed));
                }
            }
            TRUE_LANES[lanes].into()
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: [uint16x8_t; 1],
            stacks: [*const u16; N],
            len: usize,
        ) -> ([Self; N], usize) {
            let lanes = Self::lanes(mask);
            let len = len - usize::from(TRUE_LANES[lanes]);
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let bytes = vld1q_u8(EXPAND_16[lanes].as_ptr());
                let vectors = array(|i| {
                    let kept = vreinterpretq_u8_u16(vectors[i].0[0]);
                    let fresh = vreinterpretq_u8_u16(vld1q_u16(stacks[i].add(len)));
                    Self([vreinterpretq_u16_u8(vqtbx1q_u8(kept, fresh, bytes))])
                });
                (vectors, len)
            }
        }
    }
);

vector!(
    Words32,
    u32,
    uint32x4_t,
    int32x4_t,
    2,
    2,
    bits_of_pair,
    mask_of_pair,
    vdupq_n_u32,
    vdupq_n_s32,
    vld1q_u32,
    vst1q_u32,
    vandq_u32,
    vorrq_u32,
    vbicq_u32,
    vminq_u32,
    vaddq_u32,
    vsubq_u32,
    vshlq_u32,
    vceqzq_u32,
    vtstq_u32,
    vbslq_u32,
    {
        #[inline(always)]
        unsafe fn append<const N: usize>(
            vectors: [Self; N],
            mask: [uint32x4_t; 2],
            to: [*mut u32; N],
        ) -> usize {
            let lanes = Self::lanes(mask);
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let bytes = entry(&COMPRESS_32, lanes as u32);
                for i in 0..N {
                    Self(permuted(vectors[i].0, bytes)).store(to[i]);
                }
            }
            TRUE_LANES[lanes].into()
        }

        #[inline(always)]
        unsafe fn refill<const N: usize>(
            vectors: [Self; N],
            mask: [uint32x4_t; 2],
            stacks: [*const u32; N],
            len: usize,
        ) -> ([Self; N], usize) {
            let lanes = Self::lanes(mask);
            let len = len - usize::from(TRUE_LANES[lanes]);
            // SAFETY: a vector proves the instruction set; the caller vouches for the memory.
            unsafe {
                let bytes = entry(&EXPAND_32, lanes as u32);
                let vectors = array(|i| {
                    let from = stacks[i].add(len);
                    let fresh = bytes_of_pair([vld1q_u32(from), vld1q_u32(from.add(4))]);
                    Self(array(|j| {
                        let kept = vreinterpretq_u8_u32(vectors[i].0[j]);
                        vreinterpretq_u32_u8(vqtbx2q_u8(kept, fresh, bytes[j]))
                    }))
                });
                (vectors, len)
            }
        }
    }
);
