//! The method `backtrack`: tests each new queen against those above it.
//!
#![doc = include_str!("text/backtrack.md")]

use super::by_columns::{Rules, search};
use super::{Count, Method, MethodRequest, StopSearch, Watch};

/// Tests each new queen against those above it.
pub const METHOD: Method = Method {
    name: "backtrack",
    step: 3,
    text: include_str!("text/backtrack.md"),
    reach: 11,
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    Ok(Count::total(search(request, &mut Comparisons, watch)?))
}

struct Comparisons;

impl Rules for Comparisons {
    /// Whether no queen above the row attacks the square.
    fn is_free(&self, board: &[u8], row: usize, column: usize) -> bool {
        board[..row].iter().enumerate().all(|(above, &queen)| {
            let columns = column.abs_diff(queen.into());
            columns != 0 && columns != row - above
        })
    }
}
