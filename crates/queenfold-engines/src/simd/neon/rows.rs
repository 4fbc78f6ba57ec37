//! Rows of 16 words, each in two registers.

use std::arch::aarch64::*;

use super::Neon;
use super::lanes::mask_of_8;
use crate::simd::ROW;

/// Words in a register.
const EACH: usize = 8;

/// [`Simd::increment`](crate::simd::Simd::increment).
#[inline(always)]
pub fn increment(_: Neon, row: &mut [u16; ROW], lanes: u16) {
    for half in 0..ROW / EACH {
        // SAFETY: the token proves the instruction set; a row has two halves.
        unsafe {
            let place = row.as_mut_ptr().add(half * EACH);
            // A true lane is -1.
            let more = vsubq_u16(
                vld1q_u16(place),
                mask_of_8(u32::from(lanes >> (half * EACH))),
            );
            vst1q_u16(place, more);
        }
    }
}

/// [`Simd::add_pairs`](crate::simd::Simd::add_pairs).
#[inline(always)]
pub fn add_pairs(_: Neon, sums: &mut [u32; ROW / 2], row: &[u16; ROW], lanes: u16) {
    for half in 0..ROW / EACH {
        // SAFETY: the token proves the instruction set; a row and the sums have two halves.
        unsafe {
            let words = vld1q_u16(row.as_ptr().add(half * EACH));
            let words = vandq_u16(words, mask_of_8(u32::from(lanes >> (half * EACH))));
            let sum = sums.as_mut_ptr().add(half * EACH / 2);
            vst1q_u32(sum, vpadalq_u16(vld1q_u32(sum), words));
        }
    }
}
