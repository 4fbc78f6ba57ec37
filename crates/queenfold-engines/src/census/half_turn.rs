//! The solutions that a half turn fixes, found by placing pairs of queens from the centre outward.

use super::census_board::CensusBoard;
use super::partition::{image, prefix};
use super::taken_squares::TakenSquares;
use crate::board::{Size, bits};
use crate::engine::{GivenUp, Stretch};

/// Rows to fill below which a search does not look at the watch: it takes less than a millisecond.
const UNWATCHED: u32 = 8;

/// What the search of one rank finds.
#[derive(Default)]
pub(super) struct Found {
    pub solutions: u64,
    /// Whether no two queens of the fixed rows attack each other.
    pub legal: bool,
}

/// Counts the placements fixed by a half turn whose innermost pairs are those of `rank`, which is this
/// stretch of the task. Adds the nodes searched to `nodes`.
///
/// # Errors
/// The task is to be given up.
pub(super) fn count(
    board: &CensusBoard,
    rank: u64,
    nodes: &mut u64,
    stretch: Stretch<'_>,
) -> Result<Found, GivenUp> {
    let n = board.size();
    let mut found = Found::default();
    let open = board.half_turn(image(n, rank));
    if !board.has_centre(open) {
        return Ok(found);
    }
    let mut taken = TakenSquares::new(n, open);
    // Rows of the upper half, of which row ⌊n/2⌋ − 1 is the innermost. Symmetry gives the lower
    // half.
    let mut row = n.get() / 2;
    for column in prefix(n, rank) {
        row -= 1;
        if taken.free(n, row) & 1 << column == 0 {
            return Ok(found);
        }
        *nodes += 1;
        taken = taken.with_pair(n, row, column);
    }
    found.legal = true;
    found.solutions = watched(n, row, taken, nodes, stretch)?;
    Ok(found)
}

/// Fills the rows above `row`, outward, and looks at the watch while many are left.
fn watched(
    n: Size,
    row: u32,
    taken: TakenSquares<'_>,
    nodes: &mut u64,
    stretch: Stretch<'_>,
) -> Result<u64, GivenUp> {
    if row <= UNWATCHED {
        return Ok(search(n, row, taken, nodes));
    }
    let row = row - 1;
    let free = taken.free(n, row);
    let children = free.count_ones().into();
    *nodes += children;
    let mut found = 0;
    for (done, column) in (0..).zip(bits(free)) {
        stretch.step(done, children)?;
        stretch.watch().note_counted(*nodes, 0);
        let taken = taken.with_pair(n, row, column);
        found += watched(n, row, taken, nodes, stretch.part(done, children))?;
    }
    Ok(found)
}

/// Fills the rows above `row`, outward.
fn search(n: Size, row: u32, taken: TakenSquares<'_>, nodes: &mut u64) -> u64 {
    let Some(row) = row.checked_sub(1) else {
        return 1;
    };
    let free = taken.free(n, row);
    if row == 0 {
        return free.count_ones().into();
    }
    *nodes += u64::from(free.count_ones());
    bits(free)
        .map(|column| search(n, row, taken.with_pair(n, row, column), nodes))
        .sum()
}
