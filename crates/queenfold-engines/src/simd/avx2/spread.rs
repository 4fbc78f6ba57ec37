//! Takes the fields of a key apart with `pext` and `pdep`.

use std::arch::x86_64::*;

use crate::simd::{Fields, TruthRow};

/// Fields of a key, in the form that `pext` and `pdep` take.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    used: u32,
    /// Four words of 16 bits. Each has the bits set that a field takes when it is moved to the
    /// lowest bits and multiplied by the size of a row.
    words: u64,
    /// The number of bits in those four fields together.
    low: u32,
}

impl Spread {
    /// The form of `fields`.
    #[inline(always)]
    pub fn new(fields: &Fields) -> Self {
        let word = |field: usize| ((1 << fields.widths[field]) - 1) * size_of::<TruthRow>() as u64;
        Self {
            used: fields.used,
            words: word(0) | word(1) << 16 | word(2) << 32 | word(3) << 48,
            low: fields.widths[..4].iter().sum(),
        }
    }

    /// For each field, the value of its bits in `key` as the offset in bytes of a row.
    ///
    /// # Safety
    /// The machine has BMI1 and BMI2.
    #[inline(always)]
    pub unsafe fn offsets(self, key: u32) -> [usize; 5] {
        // SAFETY: the caller vouches for the instructions.
        unsafe {
            let packed = _pext_u32(key, self.used);
            let spread = _pdep_u64(packed.into(), self.words);
            // `bextr` is one instruction for each word; a shift and a mask would be two.
            [
                (spread & 0xFFFF) as usize,
                _bextr_u64(spread, 16, 16) as usize,
                _bextr_u64(spread, 32, 16) as usize,
                (spread >> 48) as usize,
                // `low` is at most 32; the mask spares the compiler a comparison.
                (u64::from(packed) >> (self.low & 63)) as usize * size_of::<TruthRow>(),
            ]
        }
    }
}
