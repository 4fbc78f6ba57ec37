#![doc = include_str!("text/backtrack.md")]

use super::{About, Count, Images, Method, MethodRequest, StopSearch, Style, Watch};

/// Tests each new queen against those above it.
pub struct Backtrack;

impl Method for Backtrack {
    fn about(&self) -> &'static About {
        &About {
            name: "backtrack",
            idea: "test each new queen at once, turn back where attacked",
            text: include_str!("text/backtrack.md"),
            styles: Style::BOTH,
            unique: false,
            reach: 11,
            steps: true,
        }
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        let mut board = vec![0; request.n.get() as usize];
        let total = match request.style {
            Style::Iterative => iterative(&mut board, watch)?,
            _ => recursive(&mut board, 0, watch)?,
        };
        Ok(Count::total(total))
    }
}

/// Places a queen on each square of `row` that those above do not attack, then fills the rows
/// below.
fn recursive(board: &mut [u8], row: usize, watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
    if row == board.len() {
        watch.solution(board, Images::Itself)?;
        return Ok(1);
    }
    let mut found = 0;
    for column in 0..board.len() {
        if !is_safe(board, row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.place(board, row)?;
        found += recursive(board, row + 1, watch)?;
    }
    Ok(found)
}

/// The same search as a loop: `next[row]` is the next column to try in that row.
fn iterative(board: &mut [u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
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
            continue;
        }
        next[row] += 1;
        if !is_safe(board, row, column) {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.place(board, row)?;
        if row + 1 == n {
            watch.solution(board, Images::Itself)?;
            found += 1;
        } else {
            row += 1;
            next[row] = 0;
        }
    }
}

/// Whether no queen above `row` attacks the square in `column`.
fn is_safe(board: &[u8], row: usize, column: usize) -> bool {
    board[..row].iter().enumerate().all(|(above, &queen)| {
        let columns = column.abs_diff(queen.into());
        columns != 0 && columns != row - above
    })
}
