use std::ops::Range;

use super::level::BLOCK;
use super::lines::Lines;
use super::open_squares::SubSquares;
use crate::board::bits;

/// All ways to fill some rows of a sub-board with queens, by the columns they take.
///
/// A *sub-board* is the squares of rows of one parity and columns of one parity: row 2·i or 2·i + 1 is its
/// row i, and so for columns. On it queens attack as on a plain board. Here the columns are the even ones;
/// such a placement attacks squares in odd columns of the other rows along its diagonals.
#[derive(Debug, Default)]
pub struct SubBoards {
    /// For each placement, its diagonals by column − row, of which the first is that of the first column
    /// and the last row.
    falling: Vec<u32>,
    /// For each placement, its diagonals by column + row.
    rising: Vec<u32>,
    /// For each word of columns, where its placements begin.
    starts: Vec<u32>,
    /// Placements as they are found.
    found: Vec<Placement>,
}

/// A placement, with all that its queens take.
#[derive(Clone, Copy, Debug, Default)]
struct Placement {
    columns: u32,
    falling: u32,
    rising: u32,
}

/// A row of the other sub-board: how far the diagonals of placements are shifted to become its squares.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// For diagonals by column − row.
    pub falling: u32,
    /// For diagonals by column + row.
    pub rising: u32,
    /// The squares on which queens may stand.
    pub open: u32,
}

/// The rows of a sub-board of even columns, and what they attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Even rows; they attack squares of odd rows. All these squares are white.
    Even,
    /// Odd rows; they attack squares of even rows. All these squares are black.
    Odd,
}

impl Rows {
    /// The number of rows.
    const fn count(self, lines: Lines) -> u32 {
        match self {
            Self::Even => lines.even,
            Self::Odd => lines.odd,
        }
    }

    /// Row `row` of the rows of the other parity.
    ///
    /// A queen in column j of row i attacks column j' of row i' there if they are on a diagonal of the
    /// board. From even rows these have j' − i' = j − i or j' + i' + 1 = j + i, and from odd rows
    /// j' − i' = j − i − 1 or j' + i' = j + i.
    pub fn target(self, lines: Lines, squares: &SubSquares, row: u32) -> Target {
        let last = self.count(lines);
        match self {
            Self::Even => Target {
                falling: last - 1 - row,
                rising: row + 1,
                open: squares.odd_odd[row as usize],
            },
            Self::Odd => Target {
                falling: last - row,
                rising: row,
                open: squares.even_odd[row as usize],
            },
        }
    }

    /// The squares of a row in even columns on which queens may stand.
    fn open(self, squares: &SubSquares, row: u32) -> u32 {
        match self {
            Self::Even => squares.even_even[row as usize],
            Self::Odd => squares.odd_even[row as usize],
        }
    }
}

impl SubBoards {
    /// Lists the placements of one queen in each row of `word`.
    pub fn fill(&mut self, lines: Lines, squares: &SubSquares, rows: Rows, word: u32) {
        let last = rows.count(lines);
        let rows: Vec<_> = bits(word)
            .map(|row| Row {
                open: rows.open(squares, row),
                falling: last.saturating_sub(1 + row),
                rising: row,
            })
            .collect();
        self.found.clear();
        place(&rows, Placement::default(), &mut self.found);
        self.sort(1 << lines.even);
    }

    /// Sorts what was found by columns.
    fn sort(&mut self, words: usize) {
        self.starts.clear();
        self.starts.resize(words + 1, 0);
        for placement in &self.found {
            self.starts[placement.columns as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        let room = self.found.len() + BLOCK;
        self.falling.resize(room, 0);
        self.rising.resize(room, 0);
        for placement in &self.found {
            let at = &mut self.starts[placement.columns as usize];
            *at -= 1;
            self.falling[*at as usize] = placement.falling;
            self.rising[*at as usize] = placement.rising;
        }
    }

    /// The placements in these columns.
    pub fn of_columns(&self, word: u32) -> Range<usize> {
        let start = self.starts[word as usize] as usize;
        start..self.starts[word as usize + 1] as usize
    }

    /// The diagonals of some placements, by column − row and by column + row, and of [`BLOCK`] more that
    /// mean nothing.
    pub fn diagonals(&self, of: Range<usize>) -> [&[u32]; 2] {
        let more = of.start..of.end + BLOCK;
        [&self.falling[more.clone()], &self.rising[more]]
    }
}

/// A row to fill: its squares, and how far they are shifted to become diagonals.
#[derive(Clone, Copy, Debug)]
struct Row {
    open: u32,
    falling: u32,
    rising: u32,
}

fn place(rows: &[Row], placed: Placement, found: &mut Vec<Placement>) {
    let Some((row, rest)) = rows.split_first() else {
        return found.push(placed);
    };
    let attacked = placed.columns | placed.falling >> row.falling | placed.rising >> row.rising;
    let mut free = row.open & !attacked;
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        let next = Placement {
            columns: placed.columns | queen,
            falling: placed.falling | queen << row.falling,
            rising: placed.rising | queen << row.rising,
        };
        place(rest, next, found);
    }
}
