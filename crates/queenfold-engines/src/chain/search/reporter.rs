//! What the row search reports to the watch over its task while it searches.

use super::level::Level;
use crate::engine::{GivenUp, TaskProgress, TaskWatch};

/// After so many nodes the search reports to the watch how far it is: half a millisecond to some tens of
/// milliseconds, by instruction set.
pub(super) const EVERY: u64 = 1 << 20;

/// The watch, and what was counted of its task outside of the nodes that are being searched.
#[derive(Clone, Copy, Debug)]
pub struct Reporter<'a> {
    /// The watch.
    pub watch: &'a TaskWatch,
    /// What was counted of the task before the nodes that were pushed since the last
    /// [`finish`](super::Search::finish). Nodes are those up to this call of the search.
    pub before: TaskProgress,
    /// The number of solutions that each completion stands for.
    pub weight: u8,
}

impl Reporter<'_> {
    /// Reports that the search placed `nodes` queens since it was called, has found `completions`, and
    /// has these `levels` left; asks whether to go on. Of the streams of a level, up to `lanes` nodes
    /// may be unfinished.
    ///
    /// # Errors
    /// The task is to be given up.
    #[cold]
    pub(super) fn report<W>(
        &self,
        nodes: u64,
        completions: u64,
        levels: &[Level<W>],
        lanes: usize,
    ) -> Result<(), GivenUp> {
        let solutions = completions.saturating_mul(self.weight.into());
        self.watch.note(TaskProgress {
            nodes: self.before.nodes + nodes,
            solutions: self.before.solutions.saturating_add(solutions),
            share: self.before.share + share_done(levels, lanes as f64),
        });
        self.watch.check()
    }
}

/// The share of the task that is done of the nodes that were pushed on `levels`.
///
/// It is an estimate: nodes of one level are taken for equal. So a level that holds a tenth of the
/// nodes that ever entered it passed on nine tenths of the work that entered it. On average a node
/// that is parked in a stream is half done.
fn share_done<W>(levels: &[Level<W>], lanes: f64) -> f64 {
    let mut share = 0.0;
    for level in levels {
        share += level.share;
        let entered = level.entered as f64;
        let parked = if level.is_parked { lanes } else { 0.0 };
        let waiting = level.len as f64 + parked.min(entered) / 2.0;
        if entered > 0.0 {
            share *= 1.0 - (waiting / entered).min(1.0);
        }
    }
    share
}
