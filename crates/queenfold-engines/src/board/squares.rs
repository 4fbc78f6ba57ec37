//! Sets of squares of a board.

use super::{Size, Square, Symmetry, bits};

/// A set of squares of a board: one mask of columns for each row, from the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Squares([u32; Size::MAX as usize]);

impl Squares {
    /// All squares of the board of size `n`.
    pub fn all(n: Size) -> Self {
        let mut all = Self::default();
        all.0[..n.get() as usize].fill(n.full_mask());
        all
    }

    /// The columns of the squares in `row`.
    #[inline]
    pub fn row(&self, row: u32) -> u32 {
        self.0[row as usize]
    }

    /// Whether `square` is one of them.
    pub fn contains(&self, square: Square) -> bool {
        self.row(square.row.into()) >> square.column & 1 == 1
    }

    /// Adds `square`.
    pub fn insert(&mut self, square: Square) {
        self.0[usize::from(square.row)] |= 1 << square.column;
    }

    /// Keeps those squares that `keep` says.
    pub fn retain(&mut self, keep: impl Fn(Square) -> bool) {
        let kept = self.iter().filter(|&square| keep(square)).collect();
        *self = kept;
    }

    /// The squares row by row from the top, in each row from the left.
    pub fn iter(&self) -> impl Iterator<Item = Square> + '_ {
        let rows = (0..).zip(&self.0);
        rows.flat_map(|(row, &columns)| {
            bits(columns).map(move |column| Square::new(row, column as u8))
        })
    }

    /// Their [names](Square::name) on a board of size `n`.
    pub fn names(&self, n: Size) -> Vec<String> {
        self.iter().map(|square| square.name(n)).collect()
    }

    /// The number of squares.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|row| row.count_ones()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == Self::default().0
    }

    /// The squares that are in both sets.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|row| self.0[row] & other.0[row]))
    }

    /// The image of the set on a board of size `n`.
    #[must_use]
    pub fn image(&self, n: Size, symmetry: Symmetry) -> Self {
        self.iter()
            .map(|square| symmetry.apply(n, square))
            .collect()
    }
}

impl FromIterator<Square> for Squares {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares
            .into_iter()
            .fold(Self::default(), |mut set, square| {
                set.insert(square);
                set
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_the_images_of_the_squares() {
        let n = Size::new(5).unwrap();
        let set: Squares = [Square::new(0, 1), Square::new(3, 3)].into_iter().collect();
        assert_eq!((set.len(), Squares::all(n).len()), (2, 25));
        let turned = set.image(n, Symmetry::QuarterTurn);
        assert!(turned.contains(Square::new(1, 4)) && turned.contains(Square::new(3, 1)));
        assert_eq!(turned.and(&set), Squares::default());
        assert_eq!(turned.image(n, Symmetry::ThreeQuarterTurn), set);
    }
}
