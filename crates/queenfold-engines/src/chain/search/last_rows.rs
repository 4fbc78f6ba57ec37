//! The last two rows, counted in closed form.

use super::level::Level;
use super::row::SearchRow;
use super::step::{Effort, Target, advance, among};
use crate::simd::WordVector;

/// The number of rows at the bottom that are counted in closed form instead of searched.
pub const CLOSED_ROWS: usize = 2;

/// Takes nodes with three rows left from `source` until it runs low, or until it is empty if
/// `flush` is set. Searches the first of the rows and counts the others in closed form. Returns the
/// number of completions and the effort.
#[inline(always)]
pub(super) fn complete<V: WordVector>(
    simd: V::Simd,
    source: &mut Level<V::Word>,
    rows: &[SearchRow],
    flush: bool,
) -> (u64, Effort) {
    let [row, first, second] = rows else {
        unreachable!("three rows are left")
    };
    let target = TwoRows::<V> {
        first_gap: V::shift(simd, first.gap),
        first_allowed: V::splat(simd, first.allowed),
        second_gap: V::shift(simd, second.gap),
        second_allowed: V::splat(simd, second.allowed),
        found: V::splat(simd, 0),
    };
    let (target, effort) = advance(simd, source, row.allowed, target, flush);
    (target.found.sum(), effort)
}

/// Counts the ways to fill two rows with the two columns that are left.
struct TwoRows<V: WordVector> {
    first_gap: V::Shift,
    first_allowed: V,
    second_gap: V::Shift,
    second_allowed: V,
    /// Completions by lane. 16 bits are enough: a level has at most 4096 nodes with at most 16
    /// squares each, they are spread over at least 8 lanes, and a placement has at most two
    /// completions.
    found: V,
}

impl<V: WordVector> Target<V> for TwoRows<V> {
    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    unsafe fn take(&mut self, columns: V, left: V, right: V, mask: Option<V::Mask>) {
        let left = left.shl(self.first_gap);
        let right = right.shr(self.first_gap);
        let first = self.first_allowed.and_not(columns.or(left).or(right));
        let left = left.shl(self.second_gap);
        let right = right.shr(self.second_gap);
        let second = self.second_allowed.and_not(columns.or(left).or(right));
        // With two columns left, the queen of one row decides that of the other. Both ways fail if
        // the distance of the columns is that of the rows.
        let either = first.or(second);
        let apart = either.and(either.shl(self.second_gap)).is_zero();
        let apart = among::<V>(apart, mask);
        let rest = first.without_lowest();
        let lowest = first.and_not(rest);
        let one = V::both(apart, first.is_nonzero());
        let one = V::both(one, second.and_not(lowest).is_nonzero());
        let two = V::both(apart, rest.is_nonzero());
        let two = V::both(two, second.and(lowest).is_nonzero());
        self.found = self.found.increment(one).increment(two);
    }
}
