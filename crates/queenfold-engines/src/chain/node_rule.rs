//! Which queens count as nodes, so that every kernel of the chain counts the same ones.

use super::partition::prefix_rows;
use super::{Frame, TakenLines, search};
use crate::board::Size;

/// What counts as a node, the same for every kernel.
///
/// A queen is one node if the search places it
///
/// * in a prefix row, or in any free row but the last [`CLOSED_ROWS`](Self::CLOSED_ROWS), and
/// * below a node that the look-ahead has not dropped.
///
/// The look-ahead drops a placement when at most [`AHEAD_ROWS`](Self::AHEAD_ROWS) free rows (and
/// neither a prefix row nor the one after) are left, and the next two cannot both be filled: one of
/// them has no square, or both have the same single column.
///
/// The rule does not depend on how the plan is cut into tasks. A kernel may continue below dropped
/// placements: it finds no solutions there, and does not count those queens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRule {
    /// The number of free rows, from the top, whose queens count.
    pub counted_rows: usize,
    /// The look-ahead is used when at most this number of free rows is left.
    pub ahead: usize,
}

impl NodeRule {
    /// The number of last rows whose fillings are counted in closed form.
    pub const CLOSED_ROWS: usize = search::CLOSED_ROWS;

    /// The look-ahead begins with this number of rows left. With more, it drops almost nothing.
    pub const AHEAD_ROWS: usize = 6;

    /// The rule for a frame.
    pub fn new(n: Size, frame: &Frame) -> Self {
        let prefix = prefix_rows(n) as usize;
        let rows = frame.rows.len();
        Self {
            counted_rows: rows.saturating_sub(Self::CLOSED_ROWS).max(prefix),
            ahead: rows.saturating_sub(prefix + 1).min(Self::AHEAD_ROWS),
        }
    }

    /// Whether the look-ahead drops a placement whose queens took the lines `taken`, with
    /// `frame.rows[depth]` the next row to fill.
    pub fn drops(self, frame: &Frame, depth: usize, taken: TakenLines) -> bool {
        let left = frame.rows.len() - depth;
        if left > self.ahead || left <= Self::CLOSED_ROWS {
            return false;
        }
        let next = frame.free(taken, frame.rows[depth]);
        let after = frame.free(taken.enter(frame.rows[depth]), frame.rows[depth + 1]);
        next == 0 || after == 0 || (next | after).is_power_of_two()
    }
}
