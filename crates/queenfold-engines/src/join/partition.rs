use std::sync::Arc;

use super::column_set::member;
use super::{ColumnSet, Half, Side};
use crate::board::{Size, Squares};

/// What a rank of the plan stands for: a column set, from n = 30 on together with the outermost
/// queens of its halves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The columns of either half.
    pub set: ColumnSet,
    /// The top half, with its outermost queens fixed if sets are sliced.
    pub top: Half,
    /// The bottom half, with its outermost queens fixed if sets are sliced.
    pub bottom: Half,
    /// The squares on which queens may stand if something is given on the board.
    pub open: Option<Arc<Squares>>,
    /// Whether solutions are counted in one of two orientations, twice: see `word_order.rs`. Else each one
    /// is counted where it stands.
    pub oriented: bool,
}

impl Partition {
    /// How many outermost queens of the top half and of the bottom half a slice of a column set
    /// fixes: so many that it takes a core at most two to three minutes (docs/PERFORMANCE.md, Join,
    /// "Boards beyond 28").
    const fn sliced_queens(n: Size) -> [u32; 2] {
        match n.get() {
            0..=29 => [0, 0],
            30 => [1, 1],
            31 => [1, 0],
            _ => [2, 2],
        }
    }

    /// The number of slices of each column set: 1 if sets are not sliced.
    pub const fn slices(n: Size) -> u64 {
        let [top, bottom] = Self::sliced_queens(n);
        (ColumnSet::half(n) as u64).pow(top + bottom)
    }

    /// The number of ranks, empty ones included.
    pub const fn ranks(n: Size) -> u64 {
        ColumnSet::ranks(n) * Self::slices(n)
    }

    /// The partition of `rank` of the free board, which must be below [`ranks`](Self::ranks); `None` where
    /// the rank is empty.
    ///
    /// A rank is the rank of the column set times [`slices`](Self::slices), plus the number of the
    /// slice. The number of the slice has one digit to base ⌊n/2⌋ for each fixed queen: the place
    /// of her column among the columns of her half in ascending order. The lowest digit belongs to
    /// the outermost row of the top half; the rows of the bottom half follow those of the top half.
    pub fn of_rank(n: Size, rank: u64) -> Option<Self> {
        Self::on(n, rank, None)
    }

    /// The same on a board whose queens may stand on the `open` squares only. A rank is empty there, too, if
    /// a row or a column has no open square.
    pub(super) fn on(n: Size, rank: u64, open: Option<&Arc<Squares>>) -> Option<Self> {
        let slices = Self::slices(n);
        let set = ColumnSet::unrank(n, rank / slices)?;
        let mut partition = Self {
            top: Half::new(n, &set, Side::Top, open.map(Arc::as_ref)),
            bottom: Half::new(n, &set, Side::Bottom, open.map(Arc::as_ref)),
            set,
            open: open.cloned(),
            oriented: true,
        };
        if let Some(open) = open {
            let middle = open.row(ColumnSet::half(n));
            let stands = |column: u32| middle >> column & 1 == 1;
            let halves = [&partition.top, &partition.bottom];
            if !set.middle.is_none_or(stands) || !halves.iter().all(|half| half.has_squares()) {
                return None;
            }
        }
        let base = u64::from(ColumnSet::half(n));
        let mut places = rank % slices;
        let halves = [&mut partition.top, &mut partition.bottom];
        for (half, queens) in halves.into_iter().zip(Self::sliced_queens(n)) {
            let mut placed: Vec<u32> = Vec::new();
            for row in 0..queens {
                let column = member(half.columns(), (places % base) as u32);
                places /= base;
                let attacked = half.allowed()[row as usize] >> column & 1 == 0
                    || (0..row).zip(&placed).any(|(above, &other)| {
                        other == column || other.abs_diff(column) == row - above
                    });
                if attacked {
                    return None;
                }
                half.fix(row, column);
                placed.push(column);
            }
        }
        Some(partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_set_fix_the_outermost_queens() {
        let n = Size::new(32).unwrap();
        let set = ColumnSet::unrank(n, 12_345).unwrap();
        // Places 3 and 7 in the top half, 15 and 0 in the bottom half.
        let slice = 3 + 16 * (7 + 16 * 15);
        let partition = Partition::of_rank(n, 12_345 * Partition::slices(n) + slice).unwrap();
        for (half, side, places) in [
            (&partition.top, Side::Top, [3, 7]),
            (&partition.bottom, Side::Bottom, [15, 0]),
        ] {
            let whole = Half::new(n, &set, side, None);
            assert_eq!(half.columns(), whole.columns());
            for (row, place) in places.into_iter().enumerate() {
                assert_eq!(half.allowed()[row], 1 << member(whole.columns(), place));
            }
            assert_eq!(half.allowed()[2..], whole.allowed()[2..]);
        }
    }

    /// Every way to place the queens of the sliced rows so that none attacks another is one slice
    /// of the set.
    #[test]
    fn slices_of_a_set_are_all_choices_of_its_outermost_queens() {
        for (n, queens) in [(29, [0, 0]), (30, [1, 1]), (31, [1, 0]), (32, [2, 2])] {
            let n = Size::new(n).unwrap();
            let (set, slices) = (1234, Partition::slices(n));
            let mut fixed: Vec<_> = (set * slices..(set + 1) * slices)
                .filter_map(|rank| Partition::of_rank(n, rank))
                .map(|partition| {
                    let rows = |half: &Half| half.allowed()[..2].to_vec();
                    (rows(&partition.top), rows(&partition.bottom))
                })
                .collect();
            fixed.sort_unstable();
            fixed.dedup();
            let set = ColumnSet::unrank(n, set).unwrap();
            let choices = |side, queens: u32| {
                let mut choices = vec![Half::new(n, &set, side, None)];
                for _ in 0..queens {
                    choices = choices.iter().flat_map(Half::slices).collect();
                }
                let valid = |half: &Half| {
                    let [first, second] = [0, 1].map(|row| half.allowed()[row]);
                    queens < 2 || second & (first << 1 | first >> 1) == 0
                };
                choices.into_iter().filter(valid).count()
            };
            let all = choices(Side::Top, queens[0]) * choices(Side::Bottom, queens[1]);
            assert_eq!(fixed.len(), all, "n = {n}");
        }
    }
}
