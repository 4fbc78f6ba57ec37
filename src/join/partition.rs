use super::{ColumnSet, Half, Side};
use crate::board::Size;

/// A column set, and for the largest boards the queens of the outermost rows of both halves: the
/// unit that ranks count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The columns of either half.
    pub set: ColumnSet,
    /// The top half, its outermost queens fixed where the plan has slices.
    pub top: Half,
    /// The bottom half likewise.
    pub bottom: Half,
}

impl Partition {
    /// How many rows of each half a slice of a column set fixes: none up to n = 28.
    pub const fn sliced_rows(n: Size) -> u32 {
        match n.get() {
            0..=28 => 0,
            29..=30 => 1,
            _ => 2,
        }
    }

    /// The number of slices of each column set: every choice of columns for the sliced rows, those
    /// that attack one another included.
    pub const fn slices(n: Size) -> u64 {
        (ColumnSet::half(n) as u64).pow(2 * Self::sliced_rows(n))
    }

    /// The number of ranks, empty ones included.
    pub const fn ranks(n: Size) -> u64 {
        ColumnSet::ranks(n) * Self::slices(n)
    }

    /// The partition of `rank`, which must be below [`ranks`](Self::ranks); `None` where the rank
    /// is empty.
    ///
    /// A rank is that of the column set times [`slices`](Self::slices), plus a number whose digits
    /// to base n/2 are the places, among the columns of the half in ascending order, of the queens
    /// of the top half's first rows and then of the bottom half's.
    pub fn of_rank(n: Size, rank: u64) -> Option<Self> {
        let slices = Self::slices(n);
        let set = ColumnSet::unrank(n, rank / slices)?;
        let mut partition = Self {
            top: Half::new(n, &set, Side::Top),
            bottom: Half::new(n, &set, Side::Bottom),
            set,
        };
        let base = u64::from(ColumnSet::half(n));
        let mut span = slices;
        for half in [&mut partition.top, &mut partition.bottom] {
            let mut placed: Vec<(u32, u32)> = Vec::new();
            for row in 0..Self::sliced_rows(n) {
                span /= base;
                let column = member(half.columns(), (rank / span % base) as u32);
                let attacked = half.allowed()[row as usize] >> column & 1 == 0
                    || placed.iter().any(|&(above, other)| {
                        other == column || other.abs_diff(column) == row - above
                    });
                if attacked {
                    return None;
                }
                half.fix(row, column);
                placed.push((row, column));
            }
        }
        Some(partition)
    }
}

/// The member of `set` with `place` smaller ones.
fn member(set: u32, place: u32) -> u32 {
    (0..place)
        .fold(set, |rest, _| rest & rest.wrapping_sub(1))
        .trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_set_fix_the_outermost_queens() {
        let n = Size::new(31).unwrap();
        let base = 15;
        // Places 3 and 7 in the top half, 14 and 0 in the bottom half.
        let slice = ((3 * base + 7) * base + 14) * base;
        let whole = Half::new(n, &ColumnSet::unrank(n, 12_345).unwrap(), Side::Top);
        let partition = Partition::of_rank(n, 12_345 * Partition::slices(n) + slice).unwrap();
        assert_eq!(partition.top.columns(), whole.columns());
        assert_eq!(partition.top.allowed()[0], 1 << member(whole.columns(), 3));
        assert_eq!(partition.top.allowed()[1], 1 << member(whole.columns(), 7));
        assert_eq!(partition.bottom.allowed()[1].count_ones(), 1);
        assert_eq!(partition.top.allowed()[2..], whole.allowed()[2..]);
    }

    #[test]
    fn queens_that_attack_each_other_leave_an_empty_rank() {
        let n = Size::new(32).unwrap();
        let rank = (0..Partition::slices(n))
            .filter(|slice| Partition::of_rank(n, *slice).is_none())
            .count();
        assert!(rank > 0 && rank < Partition::slices(n) as usize);
    }
}
