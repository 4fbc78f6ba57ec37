use std::arch::x86_64::*;

use super::Row;
use super::leaf::Fields;

/// The fields of a leaf, in the form that `pext` and `pdep` want them.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    used: u32,
    /// Four words of 16 bits, in each of them the places of a field times the size of a row.
    words: u64,
    /// The number of bits in those four fields.
    low: u32,
}

impl Spread {
    #[inline(always)]
    pub fn new(fields: &Fields) -> Self {
        let word = |field: usize| ((1 << fields.widths[field]) - 1) * size_of::<Row>() as u64;
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
            // One instruction for each word, where shifting and masking would be two.
            [
                (spread & 0xFFFF) as usize,
                _bextr_u64(spread, 16, 16) as usize,
                _bextr_u64(spread, 32, 16) as usize,
                (spread >> 48) as usize,
                u64::from(packed).unbounded_shr(self.low) as usize * size_of::<Row>(),
            ]
        }
    }
}
