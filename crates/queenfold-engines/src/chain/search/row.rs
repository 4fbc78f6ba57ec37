//! A row to fill, as a number and repeated in every lane.

use crate::simd::WordVector;

/// A row that the search fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchRow {
    /// The distance to the previous row of the search; it has no meaning in the first row.
    pub gap: u32,
    /// The squares that no queen of the border attacks: one bit for each column.
    pub allowed: u32,
}

/// A [`SearchRow`], repeated in every lane.
pub(super) struct VectorRow<V: WordVector> {
    pub(super) gap: V::Shift,
    pub(super) allowed: V,
}

impl<V: WordVector> VectorRow<V> {
    #[inline(always)]
    pub(super) fn new(simd: V::Simd, row: SearchRow) -> Self {
        Self {
            gap: V::shift(simd, row.gap),
            allowed: V::splat(simd, row.allowed),
        }
    }
}
