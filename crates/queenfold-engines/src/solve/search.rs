use std::ops::ControlFlow;

use fastrand::Rng;

use crate::board::{GivenBoard, Size, bits};

/// The most rows of a board.
const ROWS: usize = Size::MAX as usize;

/// A search for completions that always fills what has the fewest squares left: a column with one square, or
/// else the row with the fewest. So it finds soon that queens cannot be completed.
pub struct Search {
    n: u32,
    /// The open squares of each row.
    open: [u32; ROWS],
    /// The columns of the queens placed so far.
    queens: [u8; ROWS],
    /// If squares, and rows with equally few squares, are tried in random order.
    random: Option<Rng>,
    nodes_left: u64,
}

/// Why a search ended before all was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Enough was found.
    Enough,
    /// The nodes are used up.
    Nodes,
}

/// The squares that are left.
#[derive(Clone, Copy)]
struct Left {
    /// The squares of each row that no queen attacks.
    squares: [u32; ROWS],
    /// Rows and columns without a queen.
    rows: u32,
    columns: u32,
}

impl Search {
    /// A search of the completions of `board` that places at most `nodes` queens, in random order with
    /// `random`.
    pub fn new(board: &GivenBoard, random: Option<Rng>, nodes: u64) -> Self {
        let n = board.size().get();
        let open = board.open();
        Self {
            n,
            open: std::array::from_fn(|row| open.row(row as u32)),
            queens: [0; ROWS],
            random,
            nodes_left: nodes,
        }
    }

    /// Calls `found` with each completion until it breaks: for each row from the top, the column of its queen.
    pub fn run(mut self, found: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<Stop> {
        let all = u32::MAX >> (u32::BITS - self.n);
        let left = Left {
            squares: self.open,
            rows: all,
            columns: all,
        };
        self.fill(&left, found)
    }

    fn fill(
        &mut self,
        left: &Left,
        found: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<Stop> {
        if left.rows == 0 {
            let queens = &self.queens[..self.n as usize];
            return match found(queens) {
                ControlFlow::Break(()) => ControlFlow::Break(Stop::Enough),
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
            };
        }
        let Some((row, squares)) = self.next(left) else {
            return ControlFlow::Continue(());
        };
        let mut columns: Vec<u32> = bits(squares).collect();
        if let Some(random) = &mut self.random {
            random.shuffle(&mut columns);
        }
        for column in columns {
            let Some(nodes) = self.nodes_left.checked_sub(1) else {
                return ControlFlow::Break(Stop::Nodes);
            };
            self.nodes_left = nodes;
            self.queens[row as usize] = column as u8;
            self.fill(&left.with(row, column), found)?;
        }
        ControlFlow::Continue(())
    }

    /// The row to fill next, and which of its squares to try; `None` if a row or column has no square.
    fn next(&mut self, left: &Left) -> Option<(u32, u32)> {
        let (mut once, mut twice) = (0, 0);
        let mut fewest = (u32::MAX, 0);
        for row in bits(left.rows) {
            let squares = left.squares[row as usize];
            twice |= once & squares;
            once |= squares;
            let tie = match &mut self.random {
                Some(random) => random.u32(..1 << 16),
                None => row,
            };
            fewest = fewest.min((squares.count_ones() << 16 | tie, row));
        }
        if once & left.columns != left.columns || fewest.0 >> 16 == 0 {
            return None;
        }
        let single = once & !twice;
        let column = 1 << single.trailing_zeros().min(31);
        let mut rows = bits(left.rows);
        match rows.find(|row| single != 0 && left.squares[*row as usize] & column != 0) {
            Some(row) => Some((row, column)),
            None => Some((fewest.1, left.squares[fewest.1 as usize])),
        }
    }
}

impl Left {
    /// What is left after a queen is placed.
    fn with(&self, row: u32, column: u32) -> Self {
        let mut left = *self;
        left.rows &= !(1 << row);
        left.columns &= !(1 << column);
        for other in bits(left.rows) {
            let distance = other.abs_diff(row);
            let bit = 1u64 << column;
            let attacked = bit | bit << distance | bit >> distance;
            left.squares[other as usize] &= !(attacked as u32);
        }
        left
    }
}
