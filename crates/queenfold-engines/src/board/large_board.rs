//! Boards that are too large for an engine, but not for a search for single solutions.

use std::collections::BTreeSet;

use super::given::checked;
use super::picture::read_picture;
use super::square_name::squares_named;
use super::{GivenBoard, GivenError, GivenSquares, PictureError, Square, Symmetry};

/// A board of up to 64 × 64 squares with given queens and holes, as [`GivenBoard`] is one of up to 32 × 32.
///
/// ```
/// use queenfold_engines::board::LargeBoard;
///
/// let board = LargeBoard::parse(50, "c3,aw50", "a1")?;
/// assert_eq!((board.size(), board.queens().len()), (50, 2));
/// # Ok::<(), queenfold_engines::board::GivenError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeBoard {
    n: u32,
    queens: BTreeSet<Square>,
    holes: BTreeSet<Square>,
}

impl From<&GivenBoard> for LargeBoard {
    fn from(board: &GivenBoard) -> Self {
        Self {
            n: board.size().get(),
            queens: board.queens().iter().collect(),
            holes: board.holes().iter().collect(),
        }
    }
}

impl LargeBoard {
    /// The largest board: a row of squares is one 64-bit word.
    pub const MAX: u32 = 64;

    /// The board of n × n squares with queens and holes on the squares of these [names](Square::name), separated by commas
    /// or blanks.
    ///
    /// # Errors
    /// A name is wrong, a square is given twice, two queens attack each other, or a queen stands on a hole.
    ///
    /// # Panics
    /// `n` is not in `1..=64`.
    pub fn parse(n: u32, queens: &str, holes: &str) -> Result<Self, GivenError> {
        assert!((1..=Self::MAX).contains(&n), "n = {n}");
        let [queens, holes] = [queens, holes].map(|names| squares_named(n, names));
        let [queens, holes] = checked(n, queens?, holes?)?;
        Ok(Self { n, queens, holes })
    }

    /// The board of a picture, in the form that [`GivenBoard::from_picture`] reads.
    ///
    /// # Errors
    /// The text is no such picture, or what it shows cannot be given.
    pub fn from_picture(text: &str) -> Result<Self, PictureError> {
        let shown = read_picture(text, Self::MAX)?;
        let [queens, holes] = checked(shown.n, shown.queens, shown.holes)?;
        let n = shown.n;
        Ok(Self { n, queens, holes })
    }

    /// Its size, 1 to 64.
    pub const fn size(&self) -> u32 {
        self.n
    }

    /// The given queens.
    pub const fn queens(&self) -> &BTreeSet<Square> {
        &self.queens
    }

    /// The holes.
    pub const fn holes(&self) -> &BTreeSet<Square> {
        &self.holes
    }

    /// The name of a square of it.
    pub fn name(&self, square: Square) -> String {
        square.name_on(self.n)
    }

    /// The squares on which a queen of a solution may stand: those of the given queens, and those that are no holes and
    /// that no given queen attacks. A word for each row from the top, whose bits are its columns.
    pub fn open(&self) -> Vec<u64> {
        let is_open = |square: &Square| {
            let attacked = self.queens.iter().any(|queen| queen.attacks(*square));
            self.queens.contains(square) || !(attacked || self.holes.contains(square))
        };
        let row = |row: u8| {
            let columns = 0..self.n as u8;
            let open = columns.filter(|&column| is_open(&Square::new(row, column)));
            open.fold(0, |word, column| word | 1 << column)
        };
        (0..self.n as u8).map(row).collect()
    }

    /// What is given, for JSON; `None` if nothing is.
    pub fn given(&self) -> Option<GivenSquares> {
        let names = |squares: &BTreeSet<Square>| squares.iter().map(|s| self.name(*s)).collect();
        let image = |squares: &BTreeSet<Square>, symmetry: Symmetry| -> BTreeSet<Square> {
            let squares = squares.iter();
            squares
                .map(|square| symmetry.apply_on(self.n as u8, *square))
                .collect()
        };
        let fixes = |symmetry: &Symmetry| {
            let both = [&self.queens, &self.holes];
            both.iter().all(|given| image(given, *symmetry) == **given)
        };
        let is_free = self.queens.is_empty() && self.holes.is_empty();
        (!is_free).then(|| GivenSquares {
            queens: names(&self.queens),
            holes: names(&self.holes),
            symmetries: Symmetry::ALL
                .into_iter()
                .filter(fixes)
                .map(|symmetry| symmetry.name().to_owned())
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;

    #[test]
    fn it_is_the_same_board_as_a_small_one() {
        for (n, queens, holes) in [(8, "", ""), (8, "d5,b4", "h1"), (32, "af32", "a1,a32,af1")] {
            let large = LargeBoard::parse(n, queens, holes).unwrap();
            let small = GivenBoard::parse(Size::new(n).unwrap(), queens, holes).unwrap();
            let open: Vec<_> = (0..n).map(|row| u64::from(small.open().row(row))).collect();
            assert_eq!(large.open(), open);
            assert_eq!(large.given(), GivenSquares::of(&small));
            assert_eq!(LargeBoard::from(&small), large);
        }
    }

    #[test]
    fn every_square_of_the_largest_board_has_a_name() {
        let board = LargeBoard::parse(64, "", "").unwrap();
        let mut names = BTreeSet::new();
        for (row, column) in (0..64).flat_map(|row| (0..64).map(move |column| (row, column))) {
            let square = Square::new(row, column);
            let name = board.name(square);
            assert_eq!(squares_named(64, &name), Ok(vec![square]), "{name}");
            names.insert(name);
        }
        assert_eq!(names.len(), 64 * 64);
        assert_eq!(board.name(Square::new(0, 63)), "bl64");
    }

    #[test]
    fn a_picture_of_up_to_64_rows_is_read() {
        let rows = |n: usize| format!("{}\n", ".".repeat(n)).repeat(n);
        let read = |n| LargeBoard::from_picture(&rows(n)).map(|board| board.size());
        assert_eq!(read(64), Ok(64));
        let error = read(65).unwrap_err().to_string();
        assert_eq!(
            error,
            "a picture has 1 to 64 lines, one for each row, not 65"
        );
    }
}
