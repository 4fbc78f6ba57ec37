//! The search that tries the columns of each row one after the other: what the methods before the bit masks have in
//! common.

use super::{Images, MethodRequest, StopSearch, Style, Watch};

/// Which squares a method tries, and what it does with a board that is filled.
pub(super) trait Rules {
    /// Whether the square is worth trying, with the queens in the rows above it.
    fn is_free(&self, board: &[u8], row: usize, column: usize) -> bool;

    /// Notes that a queen is placed on the square or removed from it.
    fn set(&mut self, _row: usize, _column: usize, _taken: bool) {}

    /// Reports that the queen of `row` was placed.
    fn placed(&self, board: &[u8], row: usize, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        watch.place(board, row)
    }

    /// Reports a filled board. Returns how many solutions it is.
    fn filled(&mut self, board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        watch.solution(board, Images::Itself)?;
        Ok(1)
    }
}

/// Fills the board in every way that the rules allow. Returns the number of solutions.
pub(super) fn search(
    request: &MethodRequest,
    rules: &mut impl Rules,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    let mut board = vec![0; request.n.get() as usize];
    match request.style {
        Style::Iterative => iterative(&mut board, rules, watch),
        _ => recursive(&mut board, rules, 0, watch),
    }
}

/// Places a queen on each free square of `row`, then fills the rows below.
fn recursive(
    board: &mut [u8],
    rules: &mut impl Rules,
    row: usize,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    if row == board.len() {
        return rules.filled(board, watch);
    }
    let mut found = 0;
    for column in 0..board.len() {
        if !rules.is_free(board, row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        rules.placed(board, row, watch)?;
        rules.set(row, column, true);
        found += recursive(board, rules, row + 1, watch)?;
        rules.set(row, column, false);
    }
    Ok(found)
}

/// The same search as a loop: `next[row]` is the next column to try in that row, and the queen in a row says which square
/// is free again on the way back.
fn iterative(
    board: &mut [u8],
    rules: &mut impl Rules,
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
            rules.set(row, board[row].into(), false);
            continue;
        }
        next[row] += 1;
        if !rules.is_free(board, row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        rules.placed(board, row, watch)?;
        if row + 1 == n {
            found += rules.filled(board, watch)?;
        } else {
            rules.set(row, column, true);
            row += 1;
            next[row] = 0;
        }
    }
}
