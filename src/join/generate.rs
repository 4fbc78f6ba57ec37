use super::Half;
use super::kernel::{Boards, Kernel};

/// Makes the list of keys of all ways to fill a half board, from quarter boards.
///
/// A quarter board is the outer or the inner rows of a half board. For each choice of columns for
/// the outer rows there are a few outer boards, and a few inner boards in the columns left over;
/// the half boards are the pairs that do not attack each other. That takes a handful of vector
/// tests for each key, where a search row by row places nine queens for each key it finds (n = 20).
#[derive(Default)]
pub struct Generator {
    outer: Quarter,
    inner: Quarter,
}

/// All boards of one quarter, sorted by the columns they take.
#[derive(Default)]
struct Quarter {
    /// For each set of columns, numbered within the half, where its boards begin; they end where
    /// those of the next set begin.
    starts: Vec<u32>,
    lines: Vec<u64>,
    keys: Vec<u64>,
    /// Boards in the order they are found: columns, lines, key.
    found: Vec<(u32, u64, u64)>,
}

impl Generator {
    /// Appends the keys of all ways to fill `half` to `to`. Returns the number of queens placed.
    pub fn keys<K: Kernel>(&mut self, kernel: K, half: &Half, to: &mut Vec<u64>) -> u64 {
        let rows = half.rows();
        let split = rows / 2;
        let before = to.len();
        self.outer.fill(half, 0..split, split);
        self.inner.fill(half, split..rows, split);
        let all = (1u32 << rows) - 1;
        for columns in 0..=all {
            if columns.count_ones() == split {
                kernel.cross(
                    self.outer.boards(columns),
                    self.inner.boards(all ^ columns),
                    to,
                );
            }
        }
        (to.len() - before) as u64
    }
}

impl Quarter {
    /// Finds all boards of `rows`, with the diagonals that meet row `edge`.
    fn fill(&mut self, half: &Half, rows: std::ops::Range<u32>, edge: u32) {
        self.found.clear();
        let columns: Vec<u32> = (0..32).filter(|c| half.columns() >> c & 1 == 1).collect();
        self.place(half, &columns, rows, edge, Board::default());
        let sets = 1 << columns.len();
        self.starts.clear();
        self.starts.resize(sets + 1, 0);
        for &(set, ..) in &self.found {
            self.starts[set as usize + 1] += 1;
        }
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        self.lines.resize(self.found.len(), 0);
        self.keys.resize(self.found.len(), 0);
        // Fill each set's places from the front, then move the starts back.
        for &(set, lines, key) in &self.found {
            let at = self.starts[set as usize] as usize;
            self.lines[at] = lines;
            self.keys[at] = key;
            self.starts[set as usize] += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn place(
        &mut self,
        half: &Half,
        columns: &[u32],
        mut rows: std::ops::Range<u32>,
        edge: u32,
        board: Board,
    ) {
        let Some(row) = rows.next() else {
            self.found.push((board.columns, board.lines, board.key));
            return;
        };
        let attacked = (board.rising | board.falling) as u32;
        for (index, &column) in columns.iter().enumerate() {
            let free = half.allowed()[row as usize] & !attacked;
            if board.columns >> index & 1 == 0 && free >> column & 1 == 1 {
                let next = Board {
                    columns: board.columns | 1 << index,
                    rising: (board.rising | 1 << column) << 1,
                    falling: (board.falling | 1 << column) >> 1,
                    lines: board.lines | half.lines_at(row, column, edge),
                    key: board.key | half.key(row, column),
                };
                self.place(half, columns, rows.clone(), edge, next);
            }
        }
    }

    fn boards(&self, columns: u32) -> Boards<'_> {
        let at = columns as usize;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        Boards {
            lines: &self.lines[range.clone()],
            keys: &self.keys[range],
        }
    }
}

/// A quarter board in the making.
#[derive(Clone, Copy, Default)]
struct Board {
    columns: u32,
    rising: u64,
    falling: u64,
    lines: u64,
    key: u64,
}
