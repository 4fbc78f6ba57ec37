use super::taken_squares::TakenSquares;
use crate::board::{Size, bits};

/// The number of placements fixed by a quarter turn, and the nodes searched for them.
///
/// Only boards with n mod 4 in {0, 1} have any: the queens off the centre come in groups of four.
pub(super) fn count(n: Size) -> (u64, u64) {
    let mut nodes = 0;
    let found = match n.get() % 4 {
        0 | 1 => search(n, TakenSquares::new(n), &mut nodes),
        _ => 0,
    };
    (found, nodes)
}

/// Fills the innermost row that has no queen yet. A group takes the same rows as columns, so the
/// columns taken tell which rows are.
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
        // The square a quarter turn away is attacked exactly if this one is, except by the pair
        // itself, which is placed first.
        let pair = taken.with_pair(n, row, column);
        if pair.free(n, column) & 1 << (last - row) != 0 {
            *nodes += 1;
            found += search(n, pair.with_pair(n, column, last - row), nodes);
        }
    }
    found
}
