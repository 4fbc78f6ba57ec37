//! Masks of lanes: as vectors, with all bits of a true lane set, and as numbers, with a bit for each
//! lane. And permutations of a pair of registers.

use std::arch::aarch64::*;

use crate::simd::each;

/// In lane i bit i.
const BITS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Bit i for lane i.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn bits_of_8(mask: uint16x8_t) -> u32 {
    // SAFETY: the caller vouches for the instruction set; the array is as long as a vector.
    unsafe { vaddvq_u16(vandq_u16(mask, vld1q_u16(BITS.as_ptr()))).into() }
}

/// Bit i for lane i, for lanes of 32 bits.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn bits_of_pair(mask: [uint32x4_t; 2]) -> u32 {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { bits_of_8(vuzp1q_u16(halves(mask[0]), halves(mask[1]))) }
}

/// The mask of eight lanes of 16 bits for the low bits of a number.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn mask_of_8(bits: u32) -> uint16x8_t {
    // SAFETY: the caller vouches for the instruction set; the array is as long as a vector.
    unsafe { vtstq_u16(vdupq_n_u16(bits as u16), vld1q_u16(BITS.as_ptr())) }
}

/// The mask of eight lanes of 32 bits for the low bits of a number.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn mask_of_pair(bits: u32) -> [uint32x4_t; 2] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let mask = vreinterpretq_s16_u16(mask_of_8(bits));
        [
            vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(mask))),
            vreinterpretq_u32_s32(vmovl_high_s16(mask)),
        ]
    }
}

/// The bytes of `pair` that `bytes` names.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn permuted(pair: [uint32x4_t; 2], bytes: [uint8x16_t; 2]) -> [uint32x4_t; 2] {
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let table = bytes_of_pair(pair);
        each(bytes, |bytes| {
            vreinterpretq_u32_u8(vqtbl2q_u8(table, bytes))
        })
    }
}

/// A pair of registers in the form that permutations take.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn bytes_of_pair(pair: [uint32x4_t; 2]) -> uint8x16x2_t {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { uint8x16x2_t(vreinterpretq_u8_u32(pair[0]), vreinterpretq_u8_u32(pair[1])) }
}

/// An entry of a table of permutations of a pair.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
pub unsafe fn entry(table: &[[u8; 32]], mask: u32) -> [uint8x16_t; 2] {
    let entry = table[mask as usize & (table.len() - 1)].as_ptr();
    // SAFETY: the caller vouches for the instruction set; an entry has 32 bytes.
    unsafe { [vld1q_u8(entry), vld1q_u8(entry.add(16))] }
}

#[inline(always)]
unsafe fn halves(mask: uint32x4_t) -> uint16x8_t {
    // SAFETY: the caller vouches for the instruction set.
    unsafe { vreinterpretq_u16_u32(mask) }
}
