//! How the placements on a sub-board are found, and kept by the columns they take.

use std::ops::Range;

use super::level::BLOCK;
use super::lines::Lines;
use super::open_squares::OpenSquares;
use super::sub_board::{SubBoard, Target};
use crate::board::bits;
use crate::engine::{GivenUp, TaskWatch};

/// All ways to fill some rows of a [`SubBoard`] with queens, by the columns they take.
#[derive(Debug, Default)]
pub struct PlacementList {
    /// For each placement, its diagonals by column − row.
    falling: Vec<u32>,
    /// For each placement, its diagonals by column + row.
    rising: Vec<u32>,
    /// For each word of columns, where its placements begin.
    starts: Vec<u32>,
}

/// Placements as they are found, in memory that serves one list after the other.
#[derive(Debug, Default)]
pub struct Found(Vec<Placement>);

/// So many placements are kept as they are found. Longer lists are searched a second time instead: only some
/// sets of 24 queens and more, whose work is a small share of all, have such lists.
const MOST_FOUND: usize = 1 << 20;

/// A placement, with all that its queens take.
#[derive(Clone, Copy, Debug, Default)]
struct Placement {
    columns: u32,
    falling: u32,
    rising: u32,
}

impl PlacementList {
    /// Lists the placements of one queen in each row of `word`.
    ///
    /// # Errors
    /// The task is to be given up. Then the list must be filled anew.
    pub fn fill(
        &mut self,
        lines: Lines,
        squares: &OpenSquares,
        (board, word): (SubBoard, u32),
        Found(found): &mut Found,
        watch: &TaskWatch,
    ) -> Result<(), GivenUp> {
        let rows: Vec<_> = bits(word)
            .map(|row| board.own_row(lines, squares, row))
            .collect();
        self.starts.clear();
        self.starts.resize((1 << lines.count(board.columns)) + 1, 0);
        found.clear();
        place(&rows, Placement::default(), watch, &mut |placement| {
            self.starts[placement.columns as usize] += 1;
            if found.len() < MOST_FOUND {
                found.push(placement);
            }
        })?;
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        for diagonals in [&mut self.falling, &mut self.rising] {
            let room = end as usize + BLOCK;
            if diagonals.capacity() > 2 * room {
                *diagonals = Vec::new();
            }
            diagonals.resize(room, 0);
        }
        let mut keep = |placement: Placement| {
            let at = &mut self.starts[placement.columns as usize];
            *at -= 1;
            self.falling[*at as usize] = placement.falling;
            self.rising[*at as usize] = placement.rising;
        };
        if found.len() == end as usize {
            found.iter().copied().for_each(keep);
        } else {
            place(&rows, Placement::default(), watch, &mut keep)?;
        }
        Ok(())
    }

    /// The number of placements that it takes memory for.
    pub fn room(&self) -> usize {
        self.falling.len()
    }

    /// The placements in these columns.
    #[inline]
    pub fn of_columns(&self, word: u32) -> Range<usize> {
        let start = self.starts[word as usize] as usize;
        start..self.starts[word as usize + 1] as usize
    }

    /// The diagonals of some placements, by column − row and by column + row, and of [`BLOCK`] more that
    /// mean nothing.
    pub fn diagonals(&self, of: Range<usize>) -> [&[u32]; 2] {
        let more = of.start..of.end + BLOCK;
        [&self.falling[more.clone()], &self.rising[more]]
    }
}

/// With so many rows left, the rest takes a millisecond at most.
const SOON: usize = 6;

fn place(
    rows: &[Target],
    placed: Placement,
    watch: &TaskWatch,
    found: &mut impl FnMut(Placement),
) -> Result<(), GivenUp> {
    let Some((row, rest)) = rows.split_first() else {
        found(placed);
        return Ok(());
    };
    if rows.len() == SOON {
        watch.check()?;
    }
    let attacked = placed.columns | placed.falling >> row.falling | placed.rising >> row.rising;
    let mut free = row.open & !attacked;
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        let next = Placement {
            columns: placed.columns | queen,
            falling: placed.falling | queen << row.falling,
            rising: placed.rising | queen << row.rising,
        };
        place(rest, next, watch, found)?;
    }
    Ok(())
}
