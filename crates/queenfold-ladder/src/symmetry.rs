//! The method `symmetry`: cuts off boards that cannot be the smallest of their images, as early as possible.
//!
#![doc = include_str!("text/symmetry.md")]

use std::array;
use std::cmp::Ordering;

use super::bitmap::{Rules, Search, Taken};
use super::bitmap_orbits::quarter_turn;
use super::{Count, Images, Method, MethodRequest, StopSearch, Style, Watch};
use queenfold_engines::board::{Orbits, Size};

/// Searches only boards that may be the smallest of their images, and cuts off others as early as
/// possible.
pub const METHOD: Method = Method {
    name: "symmetry",
    step: 6,
    text: include_str!("text/symmetry.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut classes = Vec::new();
    for start in Start::all(request.n) {
        classes.push(start.count(request.n, request.style, watch)?);
    }
    Ok(Count::classes(classes.into_iter().sum()))
}

/// The number of rows of the largest board.
const ROWS: usize = Size::MAX as usize;

/// A position of the first queens: a part of the search that does not depend on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The 1×1 board.
    OneQueen,
    /// The first queen in the corner, the second as [`Corner`] says.
    Corner(Corner),
    /// The first queen on the side.
    Side(Side),
}

impl Start {
    /// All starts: first queens in the lower half of the columns, without the centre.
    pub fn all(n: Size) -> Vec<Self> {
        let n = n.get() as usize;
        if n == 1 {
            return vec![Self::OneQueen];
        }
        let corners = (2..n - 1).map(|bound1| Self::Corner(Corner::new(bound1)));
        let sides = (1..n / 2).map(|bound1| Self::Side(Side::new(n, bound1)));
        corners.chain(sides).collect()
    }

    /// Counts the classes of solutions with this start.
    pub fn count(self, n: Size, style: Style, watch: &mut Watch<'_>) -> Result<Orbits, StopSearch> {
        match self {
            Self::OneQueen => {
                watch.place(&[1_u32], 0)?;
                watch.solution(&[1_u32], Images::Orbit(1))?;
                Ok(Orbits {
                    c1: 1,
                    ..Orbits::default()
                })
            }
            Self::Corner(corner) => count_case(n, style, corner, watch),
            Self::Side(side) => count_case(n, style, side, watch),
        }
    }
}

fn count_case(
    n: Size,
    style: Style,
    case: impl Case,
    watch: &mut Watch<'_>,
) -> Result<Orbits, StopSearch> {
    let leaf = Leaf {
        case,
        classes: Orbits::default(),
    };
    let mut search = Search::new(n, leaf, watch);
    let first_queens = case.first_queens();
    let taken = search.place_first(&first_queens)?;
    search.run(style, first_queens.len(), taken)?;
    Ok(search.rules.classes)
}

/// What the two cases, corner and side, have in common.
pub(super) trait Case: Copy {
    /// The queens of the first rows.
    fn first_queens(&self) -> Vec<u32>;

    /// The column of the last of these.
    fn bound1(&self) -> u32;

    /// Which of the `free` squares of `row` can lead to a smallest image.
    fn allowed(&self, row: usize, taken: Taken, free: u32) -> u32;

    /// The size of the orbit of a solution whose squares were all `allowed`; `None` if an image of
    /// it is smaller.
    fn orbit_size(&self, board: &[u32]) -> Option<u8>;
}

struct Leaf<C> {
    case: C,
    classes: Orbits,
}

impl<C: Case> Rules for Leaf<C> {
    #[inline]
    fn allowed(&self, row: usize, taken: Taken, free: u32) -> u32 {
        self.case.allowed(row, taken, free)
    }

    #[inline]
    fn filled(&mut self, board: &[u32], watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        if let Some(size) = self.case.orbit_size(board) {
            self.classes.add(size, 1);
            watch.solution(board, Images::Orbit(size))?;
        }
        Ok(())
    }
}

/// The first queen in the corner. Only one reflection competes, the one in the diagonal through
/// that corner. It is larger if column 1 is empty down to row `bound1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corner {
    /// The column of the second queen.
    bound1: usize,
    /// The squares of each row that are not excluded.
    open: [u32; ROWS],
}

impl Corner {
    fn new(bound1: usize) -> Self {
        Self {
            bound1,
            open: array::from_fn(|row| if row < bound1 { !0b10 } else { !0 }),
        }
    }
}

impl Case for Corner {
    fn first_queens(&self) -> Vec<u32> {
        vec![1, 1 << self.bound1]
    }

    fn bound1(&self) -> u32 {
        self.bound1 as u32
    }

    #[inline]
    fn allowed(&self, row: usize, _taken: Taken, free: u32) -> u32 {
        free & self.open[row]
    }

    #[inline]
    fn orbit_size(&self, _board: &[u32]) -> Option<u8> {
        Some(8)
    }
}

/// The first queen outside the corners, at distance `bound1` from one. A queen nearer to a corner,
/// on any side of the board, would give an image with a smaller first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The column of the first queen.
    bound1: usize,
    /// Its distance from the other corner, which is also the last row in which the side columns may
    /// get their queens.
    bound2: usize,
    /// The last row.
    last: usize,
    /// The first and the last column.
    side_mask: u32,
    /// The squares of each row that are not excluded: above row `bound1` those outside the side
    /// columns, in the last row those no nearer to a corner than the first queen is.
    open: [u32; ROWS],
}

impl Side {
    fn new(n: usize, bound1: usize) -> Self {
        let last = n - 1;
        let side_mask = 1 << last | 1;
        let near_column_0 = (1 << bound1) - 1;
        let near_last_column = near_column_0 << (n - bound1);
        Self {
            bound1,
            bound2: last - bound1,
            last,
            side_mask,
            open: array::from_fn(|row| match row {
                _ if row < bound1 => !side_mask,
                _ if row == last => !(near_column_0 | near_last_column),
                _ => !0,
            }),
        }
    }
}

impl Case for Side {
    fn first_queens(&self) -> Vec<u32> {
        vec![1 << self.bound1]
    }

    fn bound1(&self) -> u32 {
        self.bound1 as u32
    }

    #[inline]
    fn allowed(&self, row: usize, taken: Taken, free: u32) -> u32 {
        let open = free & self.open[row];
        if row != self.bound2 {
            return open;
        }
        match taken.down & self.side_mask {
            0 => 0,
            both if both == self.side_mask => open,
            _ => open & self.side_mask,
        }
    }

    /// No reflection can be smaller or equal here. A turn can tie only where a queen stands exactly
    /// as far from the corner of its side as the first queen from its corner: three squares to look
    /// at.
    #[inline]
    fn orbit_size(&self, board: &[u32]) -> Option<u8> {
        let quarter = board[self.bound2] == 1;
        let half = board[self.last] == 1 << self.bound2;
        let three_quarter = board[self.bound1] == 1 << self.last;
        if !(quarter || half || three_quarter) {
            return Some(8);
        }
        orbit_size_by_turns(board, quarter, half, three_quarter)
    }
}

/// Compares the board with those of its turned images that may be smaller or equal.
fn orbit_size_by_turns(
    board: &[u32],
    quarter: bool,
    half: bool,
    three_quarter: bool,
) -> Option<u8> {
    let mut image = board.to_vec();
    // A board equal to its quarter turn equals all its turns, so the quarter turn comes first.
    for (may_tie, size_if_equal) in [(quarter, 2), (half, 4), (three_quarter, 2)] {
        image = quarter_turn(&image);
        if may_tie {
            match image.as_slice().cmp(board) {
                Ordering::Less => return None,
                Ordering::Equal => return Some(size_if_equal),
                Ordering::Greater => {}
            }
        }
    }
    Some(8)
}
