//! The solutions that a quarter turn fixes, found by placing four queens at a time.

use super::taken_squares::TakenSquares;
use crate::board::{Size, bits};

/// The number of placements fixed by a quarter turn, and the number of nodes searched.
///
/// Only boards with n mod 4 in {0, 1} have such placements, because the queens off the centre come
/// in groups of four.
pub(super) fn count(n: Size) -> (u64, u64) {
    let mut nodes = 0;
    let found = match n.get() % 4 {
        0 | 1 => search(n, TakenSquares::new(n), &mut nodes),
        _ => 0,
    };
    (found, nodes)
}

/// Fills the innermost row that has no queen yet. A group of four takes the same numbers of rows
/// and of columns, so that the columns taken show which rows are taken.
fn search(n: Size, taken: TakenSquares, nodes: &mut u64) -> u64 {
    let last = n.get() - 1;
    let Some(row) = (0..n.get() / 2)
        .rev()
        .find(|row| taken.columns & 1 << row == 0)
    else {
        return 1;
    };
    let mut found = 0;
    for column in bits(taken.free(n, row)) {
        // The queens so far attack the image of this square under a quarter turn exactly if they
        // attack this square. Only the pair just placed can attack the image alone.
        let pair = taken.with_pair(n, row, column);
        if pair.free(n, column) & 1 << (last - row) != 0 {
            *nodes += 1;
            found += search(n, pair.with_pair(n, column, last - row), nodes);
        }
    }
    found
}
