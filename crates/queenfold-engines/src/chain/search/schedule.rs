//! Which level of the search goes on next, and how nodes move from one to the next.

use super::last_rows::{CLOSED_ROWS, complete};
use super::level::{CAPACITY, Level};
use super::reporter::{EVERY, Reporter};
use super::row::SearchRow;
use super::step::{Effort, NextLevel, advance};
use crate::engine::GivenUp;
use crate::simd::{Algorithm, Isa, Simd, Word, WordVector};

/// A node: what the queens above take away from the next row of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Columns taken.
    pub columns: u32,
    /// Squares attacked along diagonals that move to a higher column with each row.
    pub left: u32,
    /// Squares attacked along diagonals that move to a lower column with each row.
    pub right: u32,
}

/// Counts the completions of many nodes that share the rows of the search.
///
/// The memory it takes depends on the number of rows only.
pub struct Search<W> {
    isa: Isa,
    rows: Vec<SearchRow>,
    ahead: usize,
    levels: Vec<Level<W>>,
    completions: u64,
    effort: Effort,
    /// Nodes searched since the last report to the watch.
    unreported: u64,
}

/// The deepest level with at least this many nodes is searched first.
const PLENTY: usize = CAPACITY / 2;

impl<W: Word> Search<W> {
    /// A search without work, which uses the vectors of `isa`.
    pub fn new(isa: Isa) -> Self {
        Self {
            isa,
            rows: Vec::new(),
            ahead: 0,
            levels: Vec::new(),
            completions: 0,
            effort: Effort::default(),
            unreported: 0,
        }
    }

    /// Sets the rows of the search, from the top.
    ///
    /// With at most `ahead` rows left, a node is dropped if it cannot fill both of the next two
    /// rows; with more rows left, only if it cannot fill the next one. The last two rows are always
    /// counted in closed form.
    ///
    /// # Panics
    /// If nodes are left that were pushed before; call [`finish`](Self::finish) first.
    pub fn set_rows(&mut self, rows: impl IntoIterator<Item = SearchRow>, ahead: usize) {
        self.ahead = ahead;
        assert!(self.levels.iter().all(Level::is_empty), "nodes are left");
        self.rows.clear();
        self.rows.extend(rows);
        while self.levels.len() < self.rows.len() {
            self.levels.push(Level::new());
        }
    }

    /// The work done since the search was made.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Adds a node that has `depth` of the rows filled, unless its next row has no free square. At
    /// least three rows must be left. The node is this `share` of the task. Searches when the level is
    /// half full.
    ///
    /// # Errors
    /// The task is to be given up. The search must not be used again.
    pub fn push(
        &mut self,
        depth: usize,
        node: Node,
        share: f64,
        reporter: Reporter<'_>,
    ) -> Result<(), GivenUp> {
        if self.levels[depth].len >= PLENTY {
            self.pump(false, reporter)?;
        }
        self.levels[depth].share += share;
        let free = self.rows[depth].allowed & !(node.columns | node.left | node.right);
        if free != 0 {
            self.levels[depth].push(node.columns, node.left, node.right);
        }
        Ok(())
    }

    /// Searches all nodes that are left. Returns the number of completions of the nodes that were
    /// pushed since the last call.
    ///
    /// # Errors
    /// The task is to be given up. The search must not be used again.
    pub fn finish(&mut self, reporter: Reporter<'_>) -> Result<u64, GivenUp> {
        self.pump(true, reporter)?;
        for level in &mut self.levels {
            level.entered = 0;
            level.share = 0.0;
        }
        Ok(std::mem::take(&mut self.completions))
    }

    fn pump(&mut self, flush: bool, reporter: Reporter<'_>) -> Result<(), GivenUp> {
        let searched = self.rows.len() - CLOSED_ROWS;
        let (done, effort) = self.isa.run(Pump {
            rows: &self.rows,
            ahead: self.ahead,
            levels: &mut self.levels[..searched],
            completions: &mut self.completions,
            flush,
            unreported: &mut self.unreported,
            reporter,
        });
        self.effort += effort;
        done
    }
}

/// Moves nodes down the levels until no level has [`PLENTY`], or until all are empty if `flush` is
/// set. Adds to the completions. Returns the effort, and whether it came that far or gave up.
struct Pump<'a, W> {
    rows: &'a [SearchRow],
    ahead: usize,
    levels: &'a mut [Level<W>],
    completions: &'a mut u64,
    flush: bool,
    unreported: &'a mut u64,
    reporter: Reporter<'a>,
}

impl<W: Word> Algorithm for Pump<'_, W> {
    type Output = (Result<(), GivenUp>, Effort);

    fn run<S: Simd>(mut self, simd: S) -> Self::Output {
        simd.vectorize(
            #[inline(always)]
            move || {
                let mut effort = Effort::default();
                while let Some((depth, flush)) = self.next_level() {
                    let step = self.step::<W::Vector<S>>(simd, depth, flush);
                    effort += step;
                    *self.unreported += step.placed;
                    if *self.unreported >= EVERY {
                        *self.unreported = 0;
                        let lanes = W::Vector::<S>::STREAMS * W::Vector::<S>::LANES;
                        let (reporter, found) = (self.reporter, *self.completions);
                        if let Err(given_up) =
                            reporter.report(effort.placed, found, self.levels, lanes)
                        {
                            return (Err(given_up), effort);
                        }
                    }
                }
                (Ok(()), effort)
            },
        )
    }
}

impl<W: Word> Pump<'_, W> {
    /// The level to take nodes from, and whether to empty it.
    fn next_level(&self) -> Option<(usize, bool)> {
        let levels = &self.levels;
        if let Some(depth) = levels.iter().rposition(|level| level.len >= PLENTY) {
            return Some((depth, false));
        }
        // No level has plenty. So emptying one, the highest first, cannot overflow the next.
        let depth = levels.iter().position(|level| !level.is_empty())?;
        self.flush.then_some((depth, true))
    }

    #[inline(always)]
    fn step<V: WordVector<Word = W>>(
        &mut self,
        simd: V::Simd,
        depth: usize,
        flush: bool,
    ) -> Effort {
        let (above, below) = self.levels.split_at_mut(depth + 1);
        let source = &mut above[depth];
        match below.first_mut() {
            None => {
                let (completions, effort) = complete::<V>(simd, source, &self.rows[depth..], flush);
                *self.completions += completions;
                effort
            }
            Some(next) => {
                let rows = &self.rows[depth..];
                let ahead = rows.len() - 1 <= self.ahead;
                if ahead {
                    // SAFETY: the level is not used until the target is gone.
                    let target = unsafe { NextLevel::<V, true>::new(simd, next, rows[1], rows[2]) };
                    let (target, effort) = advance(simd, source, rows[0].allowed, target, flush);
                    next.enter(target.len);
                    effort
                } else {
                    // SAFETY: as above.
                    let target =
                        unsafe { NextLevel::<V, false>::new(simd, next, rows[1], rows[1]) };
                    let (target, effort) = advance(simd, source, rows[0].allowed, target, flush);
                    next.enter(target.len);
                    effort
                }
            }
        }
    }
}
