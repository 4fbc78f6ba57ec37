#![doc = include_str!("text/permutations.md")]

use super::{About, Count, Images, Method, MethodRequest, StopSearch, Style, Watch};

/// One queen in each row and each column; the diagonals are tested when the board is complete.
pub struct Permutations;

impl Method for Permutations {
    fn about(&self) -> &'static About {
        &About {
            name: "permutations",
            idea: "one queen per row and column, diagonals tested last",
            text: include_str!("text/permutations.md"),
            styles: Style::BOTH,
            unique: false,
            reach: 9,
            steps: true,
        }
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        let n = request.n.get() as usize;
        let mut board = vec![0; n];
        let mut taken = vec![false; n];
        let total = match request.style {
            Style::Iterative => iterative(&mut board, &mut taken, watch)?,
            _ => recursive(&mut board, &mut taken, 0, watch)?,
        };
        Ok(Count::total(total))
    }

    fn boards(&self, n: u32) -> Option<f64> {
        Some((1..=n).map(f64::from).product())
    }
}

/// Fills the board from `row` down with the columns that are not taken, in every order.
fn recursive(
    board: &mut [u8],
    taken: &mut [bool],
    row: usize,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    if row == board.len() {
        return test(board, watch);
    }
    let mut found = 0;
    for column in 0..board.len() {
        if taken[column] {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.show_placed(board, row)?;
        taken[column] = true;
        found += recursive(board, taken, row + 1, watch)?;
        taken[column] = false;
    }
    Ok(found)
}

/// The same search as a loop: `next[row]` is the next column to try in that row.
fn iterative(
    board: &mut [u8],
    taken: &mut [bool],
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    let n = board.len();
    let mut next = vec![0; n];
    let mut row = 0;
    let mut found = 0;
    loop {
        let column = next[row];
        if column == n {
            // This row is done: remove the queen of the row above and continue there.
            if row == 0 {
                return Ok(found);
            }
            row -= 1;
            taken[usize::from(board[row])] = false;
            continue;
        }
        next[row] += 1;
        if taken[column] {
            watch.show_attacked(board, row, column)?;
            continue;
        }
        board[row] = column as u8;
        watch.show_placed(board, row)?;
        if row + 1 == n {
            found += test(board, watch)?;
        } else {
            taken[column] = true;
            row += 1;
            next[row] = 0;
        }
    }
}

fn test(board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
    watch.count()?;
    if !diagonals_are_free(board) {
        return Ok(0);
    }
    watch.solution(board, Images::Itself)?;
    Ok(1)
}

/// Whether no two queens share a diagonal: they would be as many columns apart as rows.
fn diagonals_are_free(board: &[u8]) -> bool {
    (0..board.len()).all(|lower| {
        (0..lower).all(|upper| usize::from(board[lower].abs_diff(board[upper])) != lower - upper)
    })
}
