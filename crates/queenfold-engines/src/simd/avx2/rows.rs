//! Rows of 16 words, each in a register.

use std::arch::x86_64::*;

use super::Avx2;
use super::words::Words16;
use crate::simd::ROW;

/// [`Simd::increment`](crate::simd::Simd::increment).
#[inline(always)]
pub fn increment(simd: Avx2, row: &mut [u16; ROW], lanes: u16) {
    // SAFETY: the token proves the instruction set; a row has 32 bytes.
    unsafe {
        let words = _mm256_loadu_si256(row.as_ptr().cast());
        // A true lane is -1.
        let more = _mm256_sub_epi16(words, Words16::lanes_of(simd, lanes));
        _mm256_storeu_si256(row.as_mut_ptr().cast(), more);
    }
}

/// [`Simd::add_pairs`](crate::simd::Simd::add_pairs).
#[inline(always)]
pub fn add_pairs(simd: Avx2, sums: &mut [u32; ROW / 2], row: &[u16; ROW], lanes: u16) {
    // SAFETY: the token proves the instruction set; a row and the sums have 32 bytes.
    unsafe {
        let words = _mm256_loadu_si256(row.as_ptr().cast());
        let words = _mm256_and_si256(words, Words16::lanes_of(simd, lanes));
        let even = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));
        let odd = _mm256_srli_epi32::<16>(words);
        let before = _mm256_loadu_si256(sums.as_ptr().cast());
        let after = _mm256_add_epi32(before, _mm256_add_epi32(even, odd));
        _mm256_storeu_si256(sums.as_mut_ptr().cast(), after);
    }
}
