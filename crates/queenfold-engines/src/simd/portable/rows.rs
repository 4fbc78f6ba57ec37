//! Rows of 16 words, as a loop.

use super::Portable;
use crate::simd::ROW;

/// [`Simd::increment`](crate::simd::Simd::increment).
#[inline(always)]
pub fn increment(_: Portable, row: &mut [u16; ROW], lanes: u16) {
    for (lane, word) in row.iter_mut().enumerate() {
        *word = word.wrapping_add(lanes >> lane & 1);
    }
}

/// [`Simd::add_pairs`](crate::simd::Simd::add_pairs).
#[inline(always)]
pub fn add_pairs(_: Portable, sums: &mut [u32; ROW / 2], row: &[u16; ROW], lanes: u16) {
    for (lane, word) in row.iter().enumerate() {
        // All bits of it or none, without a branch.
        let is_meant = (lanes >> lane & 1).wrapping_neg();
        let sum = &mut sums[lane / 2];
        *sum = sum.wrapping_add((word & is_meant).into());
    }
}
