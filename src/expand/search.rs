use super::ending::Ending;
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
            effort: Effort::default(),
        }
    }

    /// Sets the rows to fill, from the top, and at how many rows left (at most) nodes are dropped
    /// if the next two rows cannot both be filled, rather than the next one alone. Not below the
    /// rows the ending closes. What was pushed before must have been [finished](Self::finish).
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

    /// Adds a node that has `depth` of the rows filled, if its next row has a square for it; there must be more rows left than the
    /// ending closes. Searches when there is plenty to do.
    pub fn push<E: Ending<W>>(&mut self, depth: usize, node: Node, ending: &mut E) {
        if self.levels[depth].len >= PLENTY {
            self.pump(ending, false);
        }
        let free = self.rows[depth].allowed & !(node.columns | node.left | node.right);
        if free != 0 {
            self.levels[depth].push(node.columns, node.left, node.right);
        }
    }

    /// Searches what is left of everything that was pushed.
    pub fn finish<E: Ending<W>>(&mut self, ending: &mut E) {
        self.pump(ending, true);
    }

    fn pump<E: Ending<W>>(&mut self, ending: &mut E, flush: bool) {
        let searched = self.rows.len() - E::CLOSED_ROWS;
        self.effort += self.isa.run(Pump {
            rows: &self.rows,
            ahead: self.ahead,
            levels: &mut self.levels[..searched],
            ending,
            flush,
        });
    }
}

/// Moves nodes down the levels until none has plenty, or with `flush` until all are empty. Returns
/// the effort.
struct Pump<'a, W, E> {
    rows: &'a [Row],
    ahead: usize,
    levels: &'a mut [Level<W>],
    ending: &'a mut E,
    flush: bool,
}

impl<W: Word, E: Ending<W>> Program for Pump<'_, W, E> {
    type Output = Effort;

    #[inline(always)]
    unsafe fn run<V16: Vector<Word = u16>, V32: Vector<Word = u32>>(mut self) -> Effort {
        let mut effort = Effort::default();
        while let Some((depth, flush)) = self.next_level() {
            // SAFETY: the caller vouches for the instruction set.
            effort += unsafe { self.step::<W::Vector<V16, V32>>(depth, flush) };
        }
        effort
    }
}

impl<W: Word, E: Ending<W>> Pump<'_, W, E> {
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
                None => self.ending.finish::<V>(source, &self.rows[depth..], flush),
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
