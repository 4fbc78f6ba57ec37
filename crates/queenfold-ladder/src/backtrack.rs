//! The method `backtrack`: tests each new queen against those above it.
//!
#![doc = include_str!("text/backtrack.md")]

use super::by_columns::{Rules, search};
use super::{About, Count, Method, MethodRequest, StopSearch, Style, Watch};

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
        Ok(Count::total(search(request, &mut Comparisons, watch)?))
    }
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
