//! The method `flags`: a flag for each column and each diagonal replaces the comparisons.
//!
#![doc = include_str!("text/flags.md")]

use super::by_columns::{Rules, search};
use super::{Count, Method, MethodRequest, StopSearch, Watch};
use queenfold_engines::board::Size;

/// A flag for each column and each diagonal.
pub const METHOD: Method = Method {
    name: "flags",
    step: 4,
    text: include_str!("text/flags.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut lines = Lines::new(request.n);
    Ok(Count::total(search(request, &mut lines, watch)?))
}

/// Which lines of the board hold a queen. Along one kind of diagonal row + column is the same
/// everywhere, along the other row − column is; each has 2n − 1 values.
pub(super) struct Lines {
    columns: Vec<bool>,
    sums: Vec<bool>,
    differences: Vec<bool>,
}

impl Lines {
    pub fn new(n: Size) -> Self {
        let n = n.get() as usize;
        Self {
            columns: vec![false; n],
            sums: vec![false; 2 * n - 1],
            differences: vec![false; 2 * n - 1],
        }
    }
}

impl Rules for Lines {
    /// Whether no queen stands on a line through the square.
    fn is_free(&self, _board: &[u8], row: usize, column: usize) -> bool {
        !(self.columns[column]
            || self.sums[row + column]
            || self.differences[row + self.columns.len() - 1 - column])
    }

    /// Raises or lowers the three flags of the square.
    fn set(&mut self, row: usize, column: usize, taken: bool) {
        self.columns[column] = taken;
        self.sums[row + column] = taken;
        self.differences[row + self.columns.len() - 1 - column] = taken;
    }
}
