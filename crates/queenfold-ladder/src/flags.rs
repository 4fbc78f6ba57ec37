#![doc = include_str!("text/flags.md")]

use super::{About, Count, Images, Method, MethodRequest, StopSearch, Style, Watch};

/// A flag for each column and each diagonal.
pub struct Flags;

impl Method for Flags {
    fn about(&self) -> &'static About {
        &About {
            name: "flags",
            idea: "a flag for each column and diagonal, no comparison",
            text: include_str!("text/flags.md"),
            styles: Style::BOTH,
            unique: false,
            reach: 12,
            steps: true,
        }
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        let n = request.n.get() as usize;
        let mut board = vec![0; n];
        let mut lines = Lines::new(n);
        let total = match request.style {
            Style::Iterative => iterative(&mut board, &mut lines, watch)?,
            _ => recursive(&mut board, &mut lines, 0, watch)?,
        };
        Ok(Count::total(total))
    }
}

/// Which lines of the board hold a queen. Along one kind of diagonal row + column is the same
/// everywhere, along the other row − column is; each has 2n − 1 values.
pub(super) struct Lines {
    columns: Vec<bool>,
    sums: Vec<bool>,
    differences: Vec<bool>,
}

impl Lines {
    pub fn new(n: usize) -> Self {
        Self {
            columns: vec![false; n],
            sums: vec![false; 2 * n - 1],
            differences: vec![false; 2 * n - 1],
        }
    }

    /// Whether no queen stands on a line through the square.
    pub fn are_free(&self, row: usize, column: usize) -> bool {
        !(self.columns[column]
            || self.sums[row + column]
            || self.differences[row + self.columns.len() - 1 - column])
    }

    /// Raises or lowers the three flags of the square.
    pub fn set(&mut self, row: usize, column: usize, taken: bool) {
        self.columns[column] = taken;
        self.sums[row + column] = taken;
        self.differences[row + self.columns.len() - 1 - column] = taken;
    }
}

/// Places a queen on each square of `row` whose flags are down, then fills the rows below.
fn recursive(
    board: &mut [u8],
    lines: &mut Lines,
    row: usize,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    if row == board.len() {
        watch.solution(board, Images::Itself)?;
        return Ok(1);
    }
    let mut found = 0;
    for column in 0..board.len() {
        if !lines.are_free(row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.place(board, row)?;
        lines.set(row, column, true);
        found += recursive(board, lines, row + 1, watch)?;
        lines.set(row, column, false);
    }
    Ok(found)
}

/// The same search as a loop: `next[row]` is the next column to try in that row, and the queen in a
/// row says which flags to lower on the way back.
fn iterative(
    board: &mut [u8],
    lines: &mut Lines,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    let n = board.len();
    let mut next = vec![0; n];
    let mut row = 0;
    let mut found = 0;
    loop {
        let column = next[row];
        if column == n {
            if row == 0 {
                return Ok(found);
            }
            row -= 1;
            lines.set(row, board[row].into(), false);
            continue;
        }
        next[row] += 1;
        if !lines.are_free(row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.place(board, row)?;
        if row + 1 == n {
            watch.solution(board, Images::Itself)?;
            found += 1;
        } else {
            lines.set(row, column, true);
            row += 1;
            next[row] = 0;
        }
    }
}
