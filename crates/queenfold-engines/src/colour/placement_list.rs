use std::ops::Range;

use super::level::BLOCK;
use super::lines::Lines;
use super::open_squares::OpenSquares;
use super::sub_board::{SubBoard, Target};
use crate::board::bits;

/// All ways to fill some rows of a [`SubBoard`] with queens, by the columns they take.
#[derive(Debug, Default)]
pub struct PlacementList {
    /// For each placement, its diagonals by column − row.
    falling: Vec<u32>,
    /// For each placement, its diagonals by column + row.
    rising: Vec<u32>,
    /// For each word of columns, where its placements begin.
    starts: Vec<u32>,
    /// Placements as they are found.
    found: Vec<Placement>,
}

/// A placement, with all that its queens take.
#[derive(Clone, Copy, Debug, Default)]
struct Placement {
    columns: u32,
    falling: u32,
    rising: u32,
}

impl PlacementList {
    /// Lists the placements of one queen in each row of `word`.
    pub fn fill(&mut self, lines: Lines, squares: &OpenSquares, board: SubBoard, word: u32) {
        let rows: Vec<_> = bits(word)
            .map(|row| board.own_row(lines, squares, row))
            .collect();
        self.found.clear();
        place(&rows, Placement::default(), &mut self.found);
        self.sort(1 << lines.count(board.columns));
    }

    /// Sorts what was found by columns.
    fn sort(&mut self, words: usize) {
        self.starts.clear();
        self.starts.resize(words + 1, 0);
        for placement in &self.found {
            self.starts[placement.columns as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        let room = self.found.len() + BLOCK;
        self.falling.resize(room, 0);
        self.rising.resize(room, 0);
        for placement in &self.found {
            let at = &mut self.starts[placement.columns as usize];
            *at -= 1;
            self.falling[*at as usize] = placement.falling;
            self.rising[*at as usize] = placement.rising;
        }
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

fn place(rows: &[Target], placed: Placement, found: &mut Vec<Placement>) {
    let Some((row, rest)) = rows.split_first() else {
        return found.push(placed);
    };
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
        place(rest, next, found);
    }
}
