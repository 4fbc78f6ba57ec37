use super::Row;
use super::level::Level;
use super::step::{Effort, Target, advance, among};
use crate::simd::Vector;

/// Rows counted in closed form: the last queen searched stands above them.
pub const CLOSED_ROWS: usize = 2;

/// Takes nodes with three rows left, of which the first is searched and the others are counted in
/// closed form, from `source` until it runs low, or with `flush` until it is empty. Returns the
/// number of completions, and the effort.
///
/// # Safety
/// The machine has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn complete<V: Vector>(
    source: &mut Level<V::Word>,
    rows: &[Row],
    flush: bool,
) -> (u64, Effort) {
    let [row, first, second] = rows else {
        unreachable!("three rows are left")
    };
    // SAFETY: the caller vouches for the instruction set.
    unsafe {
        let target = TwoRows::<V> {
            first_gap: V::shift(first.gap),
            first_allowed: V::splat(first.allowed),
            second_gap: V::shift(second.gap),
            second_allowed: V::splat(second.allowed),
            found: V::splat(0),
        };
        let (target, effort) = advance(source, row.allowed, target, flush);
        (target.found.sum(), effort)
    }
}

/// Counts the ways to fill two rows with the two columns that are left.
struct TwoRows<V: Vector> {
    first_gap: V::Shift,
    first_allowed: V,
    second_gap: V::Shift,
    second_allowed: V,
    /// Completions by lane. 16 bits hold them: a level has 4096 nodes of 16 squares at most, dealt
    /// to 8 lanes or more, and a placement above has two completions at most.
    found: V,
}

impl<V: Vector> Target<V> for TwoRows<V> {
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
        // the columns are as far apart as the rows.
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
