//! Takes the fields of keys apart, four keys at a time: NEON has no instruction that moves chosen bits
//! together.

use std::arch::aarch64::*;

use super::Choice;
use crate::simd::{Fields, TruthRow, array, each};

/// Fields of a key, in the form of [`Choice`], repeated in each lane. The offsets of rows are made from
/// the bits that were moved together.
#[derive(Clone, Copy)]
pub struct FieldsOfFour {
    used: uint32x4_t,
    moves: [uint32x4_t; 5],
    /// For each field, by how many places it moves to the left to become an offset.
    shifts: [int32x4_t; 5],
    /// For each field, the bits of an offset.
    masks: [uint32x4_t; 5],
}

impl FieldsOfFour {
    /// The form of `fields`.
    ///
    /// # Safety
    /// The machine has NEON.
    #[inline(always)]
    pub unsafe fn new(fields: &Fields) -> Self {
        const { assert!(size_of::<TruthRow>().is_power_of_two()) };
        let up = size_of::<TruthRow>().ilog2();
        let used = Choice::new(fields.used.into());
        let mut low = 0;
        let lows = each(fields.widths, |width| {
            low += width;
            low - width
        });
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            Self {
                used: vdupq_n_u32(fields.used),
                moves: array(|step| vdupq_n_u32(used.moves[step] as u32)),
                shifts: each(lows, |low| vdupq_n_s32(up as i32 - low as i32)),
                masks: each(fields.widths, |width| vdupq_n_u32(((1 << width) - 1) << up)),
            }
        }
    }

    /// For each field and each of four keys, the value of its bits as the offset in bytes of a row.
    ///
    /// # Safety
    /// The machine has NEON.
    #[inline(always)]
    pub unsafe fn offsets(self, keys: uint32x4_t) -> [uint32x4_t; 5] {
        macro_rules! step {
            ($keys:ident, $step:literal) => {{
                let moving = vandq_u32($keys, self.moves[$step]);
                let staying = vbicq_u32($keys, self.moves[$step]);
                vsraq_n_u32::<{ 1 << $step }>(staying, moving)
            }};
        }
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let keys = vandq_u32(keys, self.used);
            let keys = step!(keys, 0);
            let keys = step!(keys, 1);
            let keys = step!(keys, 2);
            let keys = step!(keys, 3);
            let keys = step!(keys, 4);
            array(|field| vandq_u32(vshlq_u32(keys, self.shifts[field]), self.masks[field]))
        }
    }
}
