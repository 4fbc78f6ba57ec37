use std::collections::HashMap;

use super::Half;
use super::half::MAX_ROWS;
use super::kernel::{Boards, Entry, JoinKernel, NewColumn, QuadrantBoards, Queen};
use super::key_layout::KeyLayout;
use super::row_sets::RowSets;
use crate::simd::array;

/// The quadrant of a half board left or right of its middle: all ways to fill some of its columns
/// with one queen each.
///
/// The left quadrant has the columns below the column h = ⌊n/2⌋, the right one those from h on; on
/// odd boards that includes the central column. Boards are made column by column from the edge of
/// the board to its middle, each from the boards with one column fewer. They are kept, because
/// other column sets need the same.
#[derive(Default)]
pub struct Quadrant {
    /// For each column set made, its boards.
    entries: HashMap<u32, Entry>,
    boards: QuadrantBoards,
    /// The boards that are open.
    open: Option<Entry>,
    /// The boards that are open, if they are not all of their columns. They come last.
    partial: Option<Entry>,
    /// The lines of boards, moved to the next column; those of the open boards, to the column h.
    lines: Vec<u32>,
}

/// Left or right of the middle of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The columns below h.
    Left,
    /// The columns from h on.
    Right,
}

/// What the boards of a quadrant are made for.
pub struct QuadrantFrame<'a> {
    /// A half board that may use all columns that are asked for.
    pub half: &'a Half,
    /// Where the bits of the keys go.
    pub layout: &'a KeyLayout,
    /// The sets of its rows.
    pub rows: &'a RowSets,
    /// Which quadrant.
    pub part: Part,
}

impl QuadrantFrame<'_> {
    /// The column of `columns` next to the middle of the board.
    fn innermost(&self, columns: u32) -> u32 {
        match self.part {
            Part::Left => u32::BITS - 1 - columns.leading_zeros(),
            Part::Right => columns.trailing_zeros(),
        }
    }

    /// A queen of `column` in each row.
    fn queens(&self, column: u32) -> [Queen; MAX_ROWS] {
        array(|row| match self.half.allowed().get(row) {
            Some(allowed) if allowed >> column & 1 == 1 => {
                let key = self.layout.key(self.half, row as u32, column);
                Queen {
                    lines: 1 << row | 1 << (row + 16),
                    low: key as u32,
                    high: (key >> 32) as u32,
                    there: u32::MAX,
                }
            }
            _ => Queen::default(),
        })
    }
}

impl Quadrant {
    /// Forgets all boards.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.boards.clear();
        self.open = None;
        self.partial = None;
    }

    /// Opens the boards of `columns`: makes them, unless they are there already. If all boards take
    /// more than `most` bytes, the others are forgotten before. Returns `false` if they take more
    /// than `room` bytes.
    pub fn open<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuadrantFrame<'_>,
        columns: u32,
        wanted: Option<(&[u32], u32)>,
        most: u64,
        room: u64,
    ) -> bool {
        if let Some(entry) = self.partial.take() {
            self.boards.remove_last(entry);
        }
        if self.boards.bytes() > most && !self.entries.contains_key(&columns) {
            self.clear();
        }
        self.open = match wanted {
            Some(_) if columns != 0 => {
                self.partial = self.extended(kernel, frame, columns, wanted, room);
                self.partial
            }
            _ => self.extend(kernel, frame, columns, room),
        };
        let Some(entry) = self.open else {
            // Free the memory that these boards have taken, or fewer boards would be refused too.
            *self = Self::default();
            return false;
        };
        // Where the lines of both quadrants are compared.
        let middle = frame.half.rows();
        self.move_lines(kernel, frame, (columns, entry), middle);
        true
    }

    /// Moves the lines of the boards of `columns` from the column of the queen placed last to the
    /// column `to`.
    fn move_lines<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuadrantFrame<'_>,
        (columns, entry): (u32, Entry),
        to: u32,
    ) {
        let steps = if columns == 0 {
            0
        } else {
            frame.innermost(columns).abs_diff(to)
        };
        let lines = self.boards.boards(entry).lines;
        kernel.move_lines(lines, steps, frame.part == Part::Left, &mut self.lines);
    }

    fn extend<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuadrantFrame<'_>,
        columns: u32,
        room: u64,
    ) -> Option<Entry> {
        if let Some(&entry) = self.entries.get(&columns) {
            return Some(entry);
        }
        let entry = if columns == 0 {
            self.boards.add_empty(frame.layout.high())
        } else {
            self.extended(kernel, frame, columns, None, room)?
        };
        self.entries.insert(columns, entry);
        Some(entry)
    }

    /// Makes the boards of `columns` from those with one column fewer.
    fn extended<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuadrantFrame<'_>,
        columns: u32,
        wanted: Option<(&[u32], u32)>,
        room: u64,
    ) -> Option<Entry> {
        let column = frame.innermost(columns);
        let fewer = columns ^ 1 << column;
        let parent = self.extend(kernel, frame, fewer, room)?;
        self.move_lines(kernel, frame, (fewer, parent), column);
        let column = NewColumn {
            queens: &frame.queens(column),
            rows: frame.rows,
            size: columns.count_ones() as usize,
            wanted,
            high: frame.layout.high(),
        };
        let Self { boards, lines, .. } = self;
        kernel.grow(boards, parent, lines, &column, room)
    }

    #[expect(clippy::expect_used, reason = "`open` comes before every other call")]
    fn entry(&self) -> Entry {
        self.open.expect("boards are opened first")
    }

    /// The open boards, with their lines in the column h.
    pub fn boards(&self) -> Boards<'_> {
        Boards {
            lines: &self.lines,
            ..self.boards.boards(self.entry())
        }
    }

    /// Where the runs of the open boards begin: see [`QuadrantBoards::starts`].
    pub fn starts(&self) -> &[u32] {
        self.boards.starts(self.entry())
    }

    /// Bytes of all boards.
    pub fn bytes(&self) -> u64 {
        self.boards.bytes()
    }
}
