//! The solutions that a quarter turn fixes, found by placing four queens at a time.

use super::census_board::CensusBoard;
use super::taken_squares::TakenSquares;
use crate::board::{Size, bits};
use crate::engine::{GivenUp, Stretch};

/// Columns without a queen up to which a search does not look at the watch: it takes microseconds.
const UNWATCHED: u32 = 16;

/// The number of placements fixed by a quarter turn, which is this stretch of the task. Adds the nodes
/// searched to `nodes`.
///
/// Only boards with n mod 4 in {0, 1} have such placements, because the queens off the centre come
/// in groups of four.
///
/// # Errors
/// The task is to be given up.
pub(super) fn count(
    board: &CensusBoard,
    nodes: &mut u64,
    stretch: Stretch<'_>,
) -> Result<u64, GivenUp> {
    let (n, open) = (board.size(), board.quarter_turn());
    match n.get() % 4 {
        0 | 1 if board.has_centre(open) => search(n, TakenSquares::new(n, open), nodes, stretch),
        _ => Ok(0),
    }
}

/// Fills the innermost row that has no queen yet. A group of four takes the same numbers of rows
/// and of columns, so that the columns taken show which rows are taken.
fn search(
    n: Size,
    taken: TakenSquares<'_>,
    nodes: &mut u64,
    stretch: Stretch<'_>,
) -> Result<u64, GivenUp> {
    let last = n.get() - 1;
    let Some(row) = (0..n.get() / 2)
        .rev()
        .find(|row| taken.columns & 1 << row == 0)
    else {
        return Ok(1);
    };
    let free = taken.free(n, row);
    let squares = free.count_ones().into();
    let is_watched = n.get() - taken.columns.count_ones() > UNWATCHED;
    let mut found = 0;
    for (done, column) in (0..).zip(bits(free)) {
        if is_watched {
            stretch.step(done, squares)?;
            stretch.watch().note_counted(*nodes, 0);
        }
        // The queens so far attack the image of this square under a quarter turn exactly if they
        // attack this square. Only the pair just placed can attack the image alone.
        let pair = taken.with_pair(n, row, column);
        if pair.free(n, column) & 1 << (last - row) != 0 {
            *nodes += 1;
            let taken = pair.with_pair(n, column, last - row);
            found += search(n, taken, nodes, stretch.part(done, squares))?;
        }
    }
    Ok(found)
}
