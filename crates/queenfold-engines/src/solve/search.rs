//! The search for completions one by one: in a fast, a random or the lexicographic order.

use fastrand::Rng;

use crate::board::{GivenBoard, Size, bits};

/// The most rows of a board.
const ROWS: usize = Size::MAX as usize;

/// A search for completions. Unless it goes [by rows](Order::Rows), it always fills what has the fewest squares left: a
/// column with one square, or else the row with the fewest. So it finds soon that queens cannot be completed.
pub struct Search {
    n: u32,
    /// The columns of the queens placed so far.
    queens: [u8; ROWS],
    /// The rows that are filled, in the order in which they are, and what is left to try there.
    branches: Vec<Branch>,
    order: Order,
    nodes_left: u64,
}

/// In which order a search fills rows and tries squares.
pub enum Order {
    /// What has the fewest squares left comes first.
    FewestFirst,
    /// The same, and squares, and rows with equally few squares, in random order.
    Random(Rng),
    /// Rows from the top, columns from the left: solutions come in lexicographic order.
    Rows,
}

/// A row that the search fills.
struct Branch {
    row: u32,
    /// The squares before a queen is placed in it.
    left: Left,
    /// The columns to try, the first one last.
    columns: Vec<u32>,
}

/// A search ended because its nodes are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodesUsedUp;

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
    /// A search of the completions of a board that places at most `nodes` queens.
    pub fn new(board: &GivenBoard, order: Order, nodes: u64) -> Self {
        let (n, open) = (board.size(), board.open());
        let mut search = Self {
            n: n.get(),
            queens: [0; ROWS],
            branches: Vec::new(),
            order,
            nodes_left: nodes,
        };
        search.branch(Left {
            squares: std::array::from_fn(|row| open.row(row as u32)),
            rows: n.full_mask(),
            columns: n.full_mask(),
        });
        search
    }

    /// The next completion: for each row from the top, the column of its queen. `None` if there is no other.
    ///
    /// # Errors
    /// The nodes are used up.
    pub fn next(&mut self) -> Result<Option<&[u8]>, NodesUsedUp> {
        while let Some(branch) = self.branches.last_mut() {
            let Some(column) = branch.columns.pop() else {
                self.branches.pop();
                continue;
            };
            self.nodes_left = self.nodes_left.checked_sub(1).ok_or(NodesUsedUp)?;
            self.queens[branch.row as usize] = column as u8;
            let left = branch.left.with(branch.row, column);
            if left.rows == 0 {
                return Ok(Some(&self.queens[..self.n as usize]));
            }
            self.branch(left);
        }
        Ok(None)
    }

    /// Goes on with what is left, unless that cannot be completed.
    fn branch(&mut self, left: Left) {
        let Some((row, squares)) = self.next_row(&left) else {
            return;
        };
        let mut columns: Vec<u32> = bits(squares).collect();
        if let Order::Random(random) = &mut self.order {
            random.shuffle(&mut columns);
        }
        columns.reverse();
        self.branches.push(Branch { row, left, columns });
    }

    /// The row to fill next, and which of its squares to try; `None` if a row or column has no square.
    fn next_row(&mut self, left: &Left) -> Option<(u32, u32)> {
        let (mut once, mut twice) = (0_u32, 0_u32);
        let mut fewest = (u32::MAX, 0);
        for row in bits(left.rows) {
            let squares = left.squares[row as usize];
            twice |= once & squares;
            once |= squares;
            let tie = match &mut self.order {
                Order::Random(random) => random.u32(..1 << 16),
                Order::FewestFirst | Order::Rows => row,
            };
            fewest = fewest.min((squares.count_ones() << 16 | tie, row));
        }
        if once & left.columns != left.columns || fewest.0 >> 16 == 0 {
            return None;
        }
        if let Order::Rows = self.order {
            let row = left.rows.trailing_zeros();
            return Some((row, left.squares[row as usize]));
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
            let bit = 1 << column;
            let attacked = bit | bit << distance | bit >> distance;
            left.squares[other as usize] &= !attacked;
        }
        left
    }
}
