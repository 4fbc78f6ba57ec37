//! The method `permutations`: one queen in each row and each column; the diagonals are tested at the end.
//!
#![doc = include_str!("text/permutations.md")]

use super::by_columns::{Rules, search};
use super::{Count, Images, Method, MethodRequest, StopSearch, Watch};

/// One queen in each row and each column; the diagonals are tested when the board is complete.
pub const METHOD: Method = Method {
    name: "permutations",
    step: 2,
    text: include_str!("text/permutations.md"),
    reach: 9,
    count,
    boards,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut columns = Columns(vec![false; request.n.get() as usize]);
    Ok(Count::total(search(request, &mut columns, watch)?))
}

fn boards(n: u32) -> Option<f64> {
    Some((1..=n).map(f64::from).product())
}

/// Which columns are taken.
struct Columns(Vec<bool>);

impl Rules for Columns {
    fn is_free(&self, _board: &[u8], _row: usize, column: usize) -> bool {
        !self.0[column]
    }

    fn set(&mut self, _row: usize, column: usize, taken: bool) {
        self.0[column] = taken;
    }

    /// Boards are counted, and not queens.
    fn placed(&self, board: &[u8], row: usize, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        watch.show_placed(board, row)
    }

    fn filled(&mut self, board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        watch.count()?;
        if !diagonals_are_free(board) {
            return Ok(0);
        }
        watch.solution(board, Images::Itself)?;
        Ok(1)
    }
}

/// Whether no two queens share a diagonal: they would be as many columns apart as rows.
fn diagonals_are_free(board: &[u8]) -> bool {
    (0..board.len()).all(|lower| {
        (0..lower).all(|upper| usize::from(board[lower].abs_diff(board[upper])) != lower - upper)
    })
}
