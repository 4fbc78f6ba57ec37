//! The eight symmetries of the square: how they map squares and solutions, and how they combine.

use super::{Size, Square};

/// One of the eight symmetries of the square board.
///
/// They form the dihedral group of order 8: two of them, one after the other, are one of them, and each has an
/// [`inverse`](Self::inverse).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symmetry {
    /// Leaves every square where it is.
    Identity,
    /// A quarter turn clockwise.
    QuarterTurn,
    /// A half turn.
    HalfTurn,
    /// A quarter turn anticlockwise.
    ThreeQuarterTurn,
    /// Left and right exchanged.
    MirrorColumns,
    /// Top and bottom exchanged.
    MirrorRows,
    /// Reflection in the main diagonal: rows and columns exchanged.
    Transpose,
    /// Reflection in the other diagonal.
    AntiTranspose,
}

impl Symmetry {
    /// All eight, the identity first.
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::QuarterTurn,
        Self::HalfTurn,
        Self::ThreeQuarterTurn,
        Self::MirrorColumns,
        Self::MirrorRows,
        Self::Transpose,
        Self::AntiTranspose,
    ];

    /// Its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::QuarterTurn => "quarter turn",
            Self::HalfTurn => "half turn",
            Self::ThreeQuarterTurn => "three-quarter turn",
            Self::MirrorColumns => "left-right reflection",
            Self::MirrorRows => "top-bottom reflection",
            Self::Transpose => "reflection in the falling diagonal",
            Self::AntiTranspose => "reflection in the rising diagonal",
        }
    }

    /// The image of `square` on a board of size `n`. Both coordinates must be below `n`.
    pub const fn apply(self, n: Size, square: Square) -> Square {
        let last = n.get() as u8 - 1;
        let Square { row, column } = square;
        match self {
            Self::Identity => square,
            Self::QuarterTurn => Square::new(column, last - row),
            Self::HalfTurn => Square::new(last - row, last - column),
            Self::ThreeQuarterTurn => Square::new(last - column, row),
            Self::MirrorColumns => Square::new(row, last - column),
            Self::MirrorRows => Square::new(last - row, column),
            Self::Transpose => Square::new(column, row),
            Self::AntiTranspose => Square::new(last - column, last - row),
        }
    }

    /// The symmetry that reverses this one.
    pub const fn inverse(self) -> Self {
        match self {
            Self::QuarterTurn => Self::ThreeQuarterTurn,
            Self::ThreeQuarterTurn => Self::QuarterTurn,
            involution => involution,
        }
    }

    /// The image of a placement with one queen in each row, `columns[row]` being its column.
    ///
    /// The placement must be a permutation of `0..n`, as every solution is.
    ///
    /// # Panics
    /// There are no rows, or more than 32.
    #[expect(clippy::expect_used, reason = "callers must give a permutation")]
    pub fn apply_to_placement(self, columns: &[u8]) -> Vec<u8> {
        let n = Size::new(columns.len() as u32).expect("a placement has 1 to 32 rows");
        let mut image = vec![0; columns.len()];
        for (row, &column) in columns.iter().enumerate() {
            let to = self.apply(n, Square::new(row as u8, column));
            image[usize::from(to.row)] = to.column;
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(n: Size) -> impl Iterator<Item = Square> {
        let n = n.get() as u8;
        (0..n).flat_map(move |row| (0..n).map(move |column| Square::new(row, column)))
    }

    #[test]
    fn they_are_a_group_and_each_has_an_inverse() {
        let n = Size::new(5).unwrap();
        let images = |map: &dyn Fn(Square) -> Square| squares(n).map(map).collect::<Vec<_>>();
        let own = Symmetry::ALL.map(|symmetry| images(&|s| symmetry.apply(n, s)));
        for a in Symmetry::ALL {
            for b in Symmetry::ALL {
                let both = images(&|s| b.apply(n, a.apply(n, s)));
                let which: Vec<_> = (0..8).filter(|&at| own[at] == both).collect();
                assert_eq!(which.len(), 1, "{a:?}, {b:?}");
                assert_eq!(which == [0], b == a.inverse(), "{a:?}, {b:?}");
            }
        }
    }

    #[test]
    fn they_keep_attacks() {
        let n = Size::new(6).unwrap();
        for symmetry in Symmetry::ALL {
            for a in squares(n) {
                for b in squares(n) {
                    assert_eq!(
                        a.attacks(b),
                        symmetry.apply(n, a).attacks(symmetry.apply(n, b))
                    );
                }
            }
        }
    }

    #[test]
    fn a_placement_and_its_squares_have_the_same_image() {
        let solution = [1, 3, 0, 2];
        assert_eq!(
            Symmetry::QuarterTurn.apply_to_placement(&solution),
            [1, 3, 0, 2]
        );
        assert_eq!(
            Symmetry::MirrorColumns.apply_to_placement(&solution),
            [2, 0, 3, 1]
        );
        assert_eq!(
            Symmetry::Transpose.apply_to_placement(&[0, 2, 1]),
            [0, 2, 1]
        );
    }
}
