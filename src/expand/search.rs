use super::last_rows::{CLOSED_ROWS, complete};
use super::level::{CAPACITY, Level};
use super::step::{Effort, NextLevel, advance};
use crate::simd::{Isa, Program, Vector, Word};

/// A row to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How many rows below the previous row to fill it is; of no meaning for the first.
    pub gap: u32,
    /// The squares that no queen placed beforehand takes: one bit for each column.
    pub allowed: u32,
}

/// A node: what the queens of the rows above take away from the row to fill next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Columns taken.
    pub columns: u32,
    /// Squares attacked along diagonals that move one column up with each row.
    pub left: u32,
    /// Squares attacked along diagonals that move one column down with each row.
    pub right: u32,
}

/// Searches the completions of many nodes that share the rows to fill.
///
/// Memory is a function of the number of rows alone.
pub struct Search<W> {
    isa: Isa,
    rows: Vec<Row>,
    ahead: usize,
    levels: Vec<Level<W>>,
    completions: u64,
    effort: Effort,
}

/// Levels with at least as many nodes are taken first, the deepest before all others.
const PLENTY: usize = CAPACITY / 2;

impl<W: Word> Search<W> {
    /// A search with nothing to do, with the vectors of `isa`.
    pub fn new(isa: Isa) -> Self {
        Self {
            isa,
            rows: Vec::new(),
            ahead: 0,
            levels: Vec::new(),
            completions: 0,
            effort: Effort::default(),
        }
    }

    /// Sets the rows to fill, from the top, and at how many rows left (at most) nodes are dropped
    /// if the next two rows cannot both be filled, rather than the next one alone. The last two
    /// rows are counted in closed form, whatever `ahead` says. What was pushed before must have been [finished](Self::finish).
    pub fn set_rows(&mut self, rows: impl IntoIterator<Item = Row>, ahead: usize) {
        self.ahead = ahead;
        assert!(self.levels.iter().all(Level::is_empty), "nodes are left");
        self.rows.clear();
        self.rows.extend(rows);
        while self.levels.len() < self.rows.len() {
            self.levels.push(Level::new());
        }
    }

    /// What it did so far.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Adds a node that has `depth` of the rows filled, if its next row has a square for it; at
    /// least three rows must be left. Searches when there is plenty to do.
    pub fn push(&mut self, depth: usize, node: Node) {
        if self.levels[depth].len >= PLENTY {
            self.pump(false);
        }
        let free = self.rows[depth].allowed & !(node.columns | node.left | node.right);
        if free != 0 {
            self.levels[depth].push(node.columns, node.left, node.right);
        }
    }

    /// Searches what is left of everything that was pushed. Returns the number of completions of
    /// all nodes since the last call.
    pub fn finish(&mut self) -> u64 {
        self.pump(true);
        std::mem::take(&mut self.completions)
    }

    fn pump(&mut self, flush: bool) {
        let searched = self.rows.len() - CLOSED_ROWS;
        let (completions, effort) = self.isa.run(Pump {
            rows: &self.rows,
            ahead: self.ahead,
            levels: &mut self.levels[..searched],
            completions: 0,
            flush,
        });
        self.completions += completions;
        self.effort += effort;
    }
}

/// Moves nodes down the levels until none has plenty, or with `flush` until all are empty. Returns
/// the number of completions, and the effort.
struct Pump<'a, W> {
    rows: &'a [Row],
    ahead: usize,
    levels: &'a mut [Level<W>],
    completions: u64,
    flush: bool,
}

impl<W: Word> Program for Pump<'_, W> {
    type Output = (u64, Effort);

    #[inline(always)]
    unsafe fn run<V16: Vector<Word = u16>, V32: Vector<Word = u32>>(mut self) -> (u64, Effort) {
        let mut effort = Effort::default();
        while let Some((depth, flush)) = self.next_level() {
            // SAFETY: the caller vouches for the instruction set.
            effort += unsafe { self.step::<W::Vector<V16, V32>>(depth, flush) };
        }
        (self.completions, effort)
    }
}

impl<W: Word> Pump<'_, W> {
    /// The level to take nodes from, and whether to leave none.
    fn next_level(&self) -> Option<(usize, bool)> {
        let levels = &self.levels;
        if let Some(depth) = levels.iter().rposition(|level| level.len >= PLENTY) {
            return Some((depth, false));
        }
        // None has plenty, so that emptying one, the highest first, cannot overflow the next.
        let depth = levels.iter().position(|level| !level.is_empty())?;
        self.flush.then_some((depth, true))
    }

    /// # Safety
    /// The machine has the instruction set of `V`.
    #[inline(always)]
    unsafe fn step<V: Vector<Word = W>>(&mut self, depth: usize, flush: bool) -> Effort {
        let (above, below) = self.levels.split_at_mut(depth + 1);
        let source = &mut above[depth];
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            match below.first_mut() {
                None => {
                    let (completions, effort) = complete::<V>(source, &self.rows[depth..], flush);
                    self.completions += completions;
                    effort
                }
                Some(next) => {
                    let rows = &self.rows[depth..];
                    let ahead = rows.len() - 1 <= self.ahead;
                    if ahead {
                        let target = NextLevel::<V, true>::new(next, rows[1], rows[2]);
                        let (target, effort) = advance(source, rows[0].allowed, target, flush);
                        next.len = target.len;
                        effort
                    } else {
                        let target = NextLevel::<V, false>::new(next, rows[1], rows[1]);
                        let (target, effort) = advance(source, rows[0].allowed, target, flush);
                        next.len = target.len;
                        effort
                    }
                }
            }
        }
    }
}
