//! What is given on a board before its completions are counted: queens and holes.

use std::fmt;

use super::square_name::squares_named;
use super::{Size, Square, Squares, Symmetry, SymmetryGroup};

/// A board with given queens, which every solution keeps, and holes, on which no queen may stand.
///
/// Its solutions are its *completions*: the ways to place n queens, the given ones among them, so that
/// none attacks another and none stands on a hole. Queens attack across holes. A board with nothing
/// given is *free*.
///
/// ```
/// # use queenfold_engines::board as queenfold;
/// use queenfold::{GivenBoard, Size};
///
/// let n = Size::new(8)?;
/// let board = GivenBoard::parse(n, "b4,d5", "")?;
/// assert_eq!(board.to_string(), "queens d5,b4");
/// assert_eq!(board.symmetries().order(), 1);
/// let error = GivenBoard::parse(n, "b4,d6", "").unwrap_err();
/// assert_eq!(error.to_string(), "the given queens on d6 and b4 attack each other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct GivenBoard {
    n: Size,
    queens: Squares,
    holes: Squares,
}

/// Up to so many squares are all named in [`GivenBoard::brief`], and of more only the first ones.
const MOST_NAMED: usize = 8;
const FIRST_NAMED: usize = 3;

/// Why queens and holes cannot be given together, or a text that names no square or is no picture of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GivenError(pub(super) String);

impl GivenBoard {
    /// The board of size `n` with nothing given.
    pub fn free(n: Size) -> Self {
        Self {
            n,
            queens: Squares::default(),
            holes: Squares::default(),
        }
    }

    /// The board of size `n` with these queens and holes.
    ///
    /// # Errors
    /// A square is given twice, two queens attack each other, or a queen stands on a hole.
    ///
    /// # Panics
    /// A square is outside of the board.
    pub fn new(
        n: Size,
        queens: impl IntoIterator<Item = Square>,
        holes: impl IntoIterator<Item = Square>,
    ) -> Result<Self, GivenError> {
        let queens = each_once(n, queens, "queen")?;
        let holes = each_once(n, holes, "hole")?;
        for one in queens.iter() {
            if let Some(other) = queens
                .iter()
                .find(|other| one < *other && one.attacks(*other))
            {
                let (one, other) = (one.name(n), other.name(n));
                let what = format!("the given queens on {one} and {other} attack each other");
                return Err(GivenError(what));
            }
            if holes.contains(one) {
                let one = one.name(n);
                let what = format!(
                    "the given queen on {one} stands on the hole {one}: give one of the two"
                );
                return Err(GivenError(what));
            }
        }
        Ok(Self { n, queens, holes })
    }

    /// The same from the [names](Square::name) of the squares, separated by commas or blanks.
    ///
    /// # Errors
    /// As [`new`](Self::new), or a name is wrong.
    pub fn parse(n: Size, queens: &str, holes: &str) -> Result<Self, GivenError> {
        let [queens, holes] = [queens, holes].map(|names| squares_named(n, names));
        Self::new(n, queens?, holes?)
    }

    /// Its size.
    pub const fn size(&self) -> Size {
        self.n
    }

    /// The given queens.
    pub const fn queens(&self) -> &Squares {
        &self.queens
    }

    /// The holes.
    pub const fn holes(&self) -> &Squares {
        &self.holes
    }

    /// Whether nothing is given.
    pub fn is_free(&self) -> bool {
        self.queens.is_empty() && self.holes.is_empty()
    }

    /// The names of the given queens and of the holes, separated by commas, in an order that depends on
    /// the board alone.
    pub fn names(&self) -> [String; 2] {
        [self.queens, self.holes].map(|squares| squares.names(self.n).join(","))
    }

    /// What is given, in a few words: of many squares only the first, `holes a1,a2,a3 and 222 more`.
    pub fn brief(&self) -> String {
        let part = |what: &str, squares: &Squares| {
            let names = squares.names(self.n);
            match names.len() {
                0 => None,
                1..=MOST_NAMED => Some(format!("{what} {}", names.join(","))),
                all => {
                    let first = names[..FIRST_NAMED].join(",");
                    Some(format!("{what} {first} and {} more", all - FIRST_NAMED))
                }
            }
        };
        let parts = [part("queens", &self.queens), part("holes", &self.holes)];
        match parts.into_iter().flatten().collect::<Vec<_>>() {
            parts if parts.is_empty() => "nothing".to_owned(),
            parts => parts.join(" and "),
        }
    }

    /// The board in a few words: `n = 12`, or `n = 12 with queens b4`.
    pub fn in_words(&self) -> String {
        match self.is_free() {
            true => format!("n = {}", self.n),
            false => format!("n = {} with {}", self.n, self.brief()),
        }
    }

    /// The image of the board.
    #[must_use]
    pub fn image(&self, symmetry: Symmetry) -> Self {
        Self {
            queens: self.queens.image(self.n, symmetry),
            holes: self.holes.image(self.n, symmetry),
            ..*self
        }
    }

    /// The symmetries of the square that leave the given queens and the holes where they are. They map
    /// completions to completions; for a free board they are all eight.
    pub fn symmetries(&self) -> SymmetryGroup {
        // The question of each start, which eight images answer slowly.
        if self.is_free() {
            return SymmetryGroup::ALL;
        }
        SymmetryGroup::of(|symmetry| self.image(symmetry) == *self)
    }

    /// The squares on which a queen of a completion may stand: those of the given queens, and all that are
    /// neither holes nor attacked by a given queen. The ways to place n queens on them that do not attack
    /// each other are the completions, because the row of a given queen has no other square.
    pub fn open(&self) -> Squares {
        let mut open = Squares::all(self.n);
        if self.is_free() {
            return open;
        }
        open.retain(|square| {
            !self.holes.contains(square) && self.queens.iter().all(|queen| !queen.attacks(square))
        });
        open
    }

    /// The share of all solutions that are expected to be completions, as if the choices of queens did not
    /// depend on each other: each given queen is one of the squares that those given before leave open in
    /// her row, and each hole excludes one square of n. It is computed without any function whose last
    /// digit depends on the machine, because the tasks of plans follow from it. Above 0.
    pub fn share(&self) -> f64 {
        let n = f64::from(self.n.get());
        let mut share = 1.0;
        let mut before = Self {
            queens: Squares::default(),
            ..*self
        };
        for queen in self.queens.iter() {
            share /= f64::from(before.open().row(queen.row.into()).count_ones().max(1));
            before.queens.insert(queen);
        }
        for row in 0..self.n.get() {
            if self.queens.row(row) == 0 {
                let holes = f64::from(self.holes.row(row).count_ones());
                share *= (n - holes).max(0.5) / n;
            }
        }
        share
    }
}

fn each_once(
    n: Size,
    squares: impl IntoIterator<Item = Square>,
    what: &str,
) -> Result<Squares, GivenError> {
    let mut all = Squares::default();
    for square in squares {
        let is_on_board = u32::from(square.row.max(square.column)) < n.get();
        assert!(
            is_on_board,
            "{square:?} is outside of the board of n = {n}: rows and columns count from 0"
        );
        if all.contains(square) {
            let square = square.name(n);
            return Err(GivenError(format!(
                "{square} is given twice: give each {what} once"
            )));
        }
        all.insert(square);
    }
    Ok(all)
}

/// The board with nothing given.
impl From<Size> for GivenBoard {
    fn from(n: Size) -> Self {
        Self::free(n)
    }
}

/// What is given, in words: `queens c3,a7 and holes d4`.
impl fmt::Display for GivenBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [queens, holes] = self.names();
        match (queens.is_empty(), holes.is_empty()) {
            (true, true) => f.write_str("nothing"),
            (false, true) => write!(f, "queens {queens}"),
            (true, false) => write!(f, "holes {holes}"),
            (false, false) => write!(f, "queens {queens} and holes {holes}"),
        }
    }
}

impl fmt::Debug for GivenBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GivenBoard(n = {}, {self})", self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(n: u32, queens: &str, holes: &str) -> Result<GivenBoard, GivenError> {
        GivenBoard::parse(Size::new(n).unwrap(), queens, holes)
    }

    #[test]
    fn what_cannot_be_given_is_named_with_both_squares() {
        for (queens, holes, error) in [
            (
                "c3,c7",
                "",
                "the given queens on c7 and c3 attack each other",
            ),
            (
                "a1,c3",
                "",
                "the given queens on c3 and a1 attack each other",
            ),
            ("c3,c3", "", "c3 is given twice: give each queen once"),
            ("", "c3 c3", "c3 is given twice: give each hole once"),
            (
                "c3",
                "a1,c3",
                "the given queen on c3 stands on the hole c3: give one of the two",
            ),
        ] {
            assert_eq!(board(8, queens, holes).unwrap_err().to_string(), error);
        }
        assert!(
            board(8, "c3,x9", "")
                .unwrap_err()
                .to_string()
                .starts_with("`x9`")
        );
    }

    #[test]
    fn names_are_read_as_the_same_board() {
        let given = board(8, "d5, b4", "h1 a8").unwrap();
        let [queens, holes] = given.names();
        assert_eq!((queens.as_str(), holes.as_str()), ("d5,b4", "a8,h1"));
        assert_eq!(board(8, &queens, &holes), Ok(given));
        assert_eq!(given.to_string(), "queens d5,b4 and holes a8,h1");
    }

    #[test]
    fn many_squares_are_shortened() {
        let names = |holes: &str| board(8, "d5", holes).unwrap().brief();
        assert_eq!(
            names("a1,b1,c1,d1,e1,f1,g1,h1"),
            "queens d5 and holes a1,b1,c1,d1,e1,f1,g1,h1"
        );
        assert_eq!(
            names("a1,b1,c1,d1,e1,f1,g1,h1,h2"),
            "queens d5 and holes h2,a1,b1 and 6 more"
        );
        assert_eq!(board(8, "", "").unwrap().in_words(), "n = 8");
        assert_eq!(
            board(8, "d5", "").unwrap().in_words(),
            "n = 8 with queens d5"
        );
    }

    #[test]
    fn the_symmetries_of_a_board_are_those_of_what_is_given() {
        for (n, queens, holes, order) in [
            (8, "", "", 8),
            (5, "c3", "", 8),
            (8, "", "a1,a8,h1,h8", 8),
            (8, "b4,g5", "", 2),
            (8, "b1,h2,g8,a7", "", 4),
            (8, "", "a1", 2),
            (8, "", "a1,h1", 2),
            (8, "b4", "", 1),
        ] {
            assert_eq!(board(n, queens, holes).unwrap().symmetries().order(), order);
        }
    }

    #[test]
    fn given_queens_leave_the_squares_open_that_they_do_not_attack() {
        let open = board(5, "c3", "a2").unwrap().open();
        let names: Vec<_> = open.iter().map(|s| s.name(Size::new(5).unwrap())).collect();
        assert_eq!(names.join(" "), "b5 d5 a4 e4 c3 e2 b1 d1");
    }

    #[test]
    fn the_share_falls_with_what_is_given() {
        let share = |queens, holes| board(8, queens, holes).unwrap().share();
        assert_eq!(share("", ""), 1.0);
        assert_eq!(share("a1", ""), 0.125);
        assert_eq!(share("", "a1,b1"), 0.75);
        assert!(share("d5,b4", "") > share("d5,b4", "a1"));
        assert!(board(1, "", "a1").unwrap().share() > 0.0);
    }
}
