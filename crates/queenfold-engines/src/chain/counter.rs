//! The chain's counter for CPUs: makes nodes of the subtrees of a task for the row search.

use std::sync::Arc;

use super::frame::Diagonals;
use super::oracle;
use super::search::{Node, Reporter, Search, SearchRow};
use super::{Borders, Frame, NodeRule, Subtree, Subtrees};
use crate::board::Size;
use crate::engine::{Counter, NotCounted, Tally, Task, TaskProgress, TaskWatch};
use crate::simd::{Isa, Word};

/// The vector kernel: all subtrees of a task whose borders share bottom, left and right queen are
/// searched together.
///
/// The words of a node cover the inner columns, because border queens fill the outer ones. The
/// diagonals of the top queen are in the words of a node from the start. The other three border
/// queens ban the same squares for all nodes of a row.
pub(super) struct ChainCounter<W> {
    n: Size,
    borders: Arc<Borders>,
    isa: Isa,
    search: Search<W>,
}

/// What nodes that are searched together have in common.
#[derive(Clone, PartialEq, Eq)]
struct SearchGroup {
    bottom: u8,
    left: u8,
    right: u8,
    weight: u8,
    image: usize,
}

impl<W: Word> ChainCounter<W> {
    pub(super) fn new(borders: Arc<Borders>, isa: Isa) -> Self {
        let n = borders.size();
        assert!(n.get() - 2 <= W::BITS, "the inner columns fit a lane");
        Self {
            n,
            borders,
            isa,
            search: Search::new(isa),
        }
    }
}

impl<W: Word> Counter for ChainCounter<W> {
    fn backend(&self) -> &'static str {
        self.isa.name()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut subtrees = Subtrees::new(Arc::clone(&self.borders), task.ranks.clone());
        let mut tally = Tally::default();
        let mut group: Option<SearchGroup> = None;
        let before = self.search.effort();
        let ranks = (task.ranks.end - task.ranks.start) as f64;
        let share_at = |rank: u64| (rank - task.ranks.start) as f64 / ranks;
        // Set before each search: what was counted of the task before the group, and all nodes.
        let mut reporter = Reporter {
            watch,
            before: TaskProgress::default(),
            weight: 1,
        };
        let mut reached = 0.0;
        while let Some(subtree) = subtrees.next_subtree() {
            let share = share_at(subtree.end) - reached;
            reached += share;
            tally.partitions += subtree.partitions;
            let rule = NodeRule::new(self.n, subtree.frame);
            let searched_rows = subtree
                .frame
                .rows
                .len()
                .saturating_sub(NodeRule::CLOSED_ROWS);
            if subtree.depth >= searched_rows || rule.counted_rows > searched_rows {
                let completions = oracle::search(
                    subtree.frame,
                    subtree.depth,
                    subtree.taken,
                    rule,
                    true,
                    &mut tally.nodes,
                    watch,
                )?;
                tally.completions.add(subtree.weight, completions.into());
                continue;
            }
            let own = SearchGroup {
                bottom: subtree.border.bottom,
                left: subtree.border.left,
                right: subtree.border.right,
                weight: subtree.weight,
                image: subtree.image,
            };
            reporter.before.nodes = tally.nodes + self.search.effort().placed - before.placed;
            if group.as_ref() != Some(&own) {
                if let Some(group) = &group {
                    let found = self.search.finish(reporter)?;
                    tally.completions.add(group.weight, found.into());
                    reporter.before.nodes =
                        tally.nodes + self.search.effort().placed - before.placed;
                }
                reporter.before.solutions = tally.completions.solutions() as u64;
                reporter.before.share = reached - share;
                reporter.weight = own.weight;
                self.search.set_rows(rows(self.n, &subtree), rule.ahead);
                group = Some(own);
            }
            let node = node(self.n, &subtree);
            self.search.push(subtree.depth, node, share, reporter)?;
        }
        if let Some(group) = &group {
            reporter.before.nodes = tally.nodes + self.search.effort().placed - before.placed;
            let found = self.search.finish(reporter)?;
            tally.completions.add(group.weight, found.into());
        }
        tally.nodes += subtrees.prefix_nodes() + self.search.effort().placed - before.placed;
        Ok(tally)
    }
}

/// The rows of the subtree's frame, without what its top queen bans.
fn rows(n: Size, subtree: &Subtree<'_>) -> Vec<SearchRow> {
    let diagonals = Diagonals::of(&subtree.border.squares(n)[1..]);
    let mut at = 0;
    subtree
        .frame
        .rows
        .iter()
        .map(|row| {
            at += row.gap;
            SearchRow {
                gap: row.gap,
                allowed: inner(n, !diagonals.in_row(at) & subtree.open.row(at)),
            }
        })
        .collect()
}

/// The node at which the search of the subtree begins.
fn node(n: Size, subtree: &Subtree<'_>) -> Node {
    let Frame { rows, .. } = subtree.frame;
    let at: u32 = rows[..=subtree.depth].iter().map(|row| row.gap).sum();
    let taken = subtree.taken.enter(rows[subtree.depth]);
    let top = 1u64 << subtree.border.top;
    Node {
        columns: inner(n, taken.columns),
        left: inner(n, taken.left | (top << at) as u32),
        right: inner(n, taken.right | (top >> at) as u32),
    }
}

/// The bits of the inner columns, from bit 0 on.
fn inner(n: Size, mask: u32) -> u32 {
    (mask & n.full_mask() >> 1) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::ChainPlan;
    use crate::engine::Plan;

    #[test]
    fn lanes_are_busy_on_large_boards() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let n = Size::new(16).unwrap();
            let plan = ChainPlan::new(n);
            let mut counter = ChainCounter::<u16>::new(Arc::new(plan.borders().clone()), isa);
            // A sixteenth of the tasks, from all parts of the plan.
            for i in (0..plan.tasks()).step_by(16) {
                counter.count(&plan.task(i)).unwrap();
            }
            let effort = counter.search.effort();
            let occupancy = effort.placed as f64 / (effort.placed + effort.idle) as f64;
            println!("{isa}: {occupancy:.4}");
            assert!(occupancy >= 0.95, "{isa}: {occupancy}");
        }
    }

    /// Lanes of 32 bits are meant for boards too large for a test, so they count a small one here.
    #[test]
    fn wide_lanes_count_what_narrow_ones_do() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let n = Size::new(13).unwrap();
            let plan = ChainPlan::new(n);
            let mut narrow = ChainCounter::<u16>::new(Arc::new(plan.borders().clone()), isa);
            let mut wide = ChainCounter::<u32>::new(Arc::new(plan.borders().clone()), isa);
            for i in 0..plan.tasks() {
                let task = plan.task(i);
                assert_eq!(
                    wide.count(&task).unwrap(),
                    narrow.count(&task).unwrap(),
                    "{isa}"
                );
            }
        }
    }
}
