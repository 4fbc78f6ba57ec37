//! The oracle of the chain: a plain recursive search.

use std::sync::Arc;

use super::{Borders, Frame, NodeRule, Subtrees, TakenLines};
use crate::board::bits;
use crate::engine::{Counter, GivenUp, NotCounted, Tally, Task, TaskWatch};

/// Rows to fill below which a search does not look at the watch: it takes less than a millisecond.
const UNWATCHED: usize = 8;

/// The oracle, and the kernel of the smallest boards: places one queen at a time, row by row.
///
/// It is slow, but so simple that a reader can check it. Faster kernels are checked against it.
pub struct ChainOracle {
    borders: Arc<Borders>,
}

impl ChainOracle {
    pub(super) const fn new(borders: Arc<Borders>) -> Self {
        Self { borders }
    }
}

impl Counter for ChainOracle {
    fn backend(&self) -> &'static str {
        "scalar"
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut subtrees = Subtrees::new(Arc::clone(&self.borders), task.ranks.clone());
        let mut tally = Tally::default();
        while let Some(subtree) = subtrees.next_subtree() {
            let rule = NodeRule::new(self.borders.size(), subtree.frame);
            let found = search(
                subtree.frame,
                subtree.depth,
                subtree.taken,
                rule,
                true,
                &mut tally.nodes,
                watch,
            )?;
            tally.completions.add(subtree.weight, found.into());
            tally.partitions += subtree.partitions;
        }
        tally.nodes += subtrees.prefix_nodes();
        Ok(tally)
    }
}

/// The number of ways to fill the rows from `depth` on. With `count_nodes`, adds the queens that
/// are nodes by `rule` to `nodes`.
///
/// # Errors
/// `watch` asks to give up.
pub(super) fn search(
    frame: &Frame,
    depth: usize,
    taken: TakenLines,
    rule: NodeRule,
    count_nodes: bool,
    nodes: &mut u64,
    watch: &TaskWatch,
) -> Result<u64, GivenUp> {
    let Some(&row) = frame.rows.get(depth) else {
        return Ok(1);
    };
    if frame.rows.len() - depth > UNWATCHED {
        watch.check()?;
    }
    let mut found = 0;
    for column in bits(frame.free(taken, row)) {
        *nodes += u64::from(count_nodes && depth < rule.counted_rows);
        let child = taken.enter(row).place(1 << column);
        let count_below = count_nodes && !rule.drops(frame, depth + 1, child);
        found += search(frame, depth + 1, child, rule, count_below, nodes, watch)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Size, known};
    use crate::chain::ChainPlan;
    use crate::engine::Plan;

    fn count(plan: &ChainPlan, ranks: std::ops::Range<u64>) -> Tally {
        let task = Task {
            ranks,
            ..plan.task(0)
        };
        plan.oracle().count(&task).unwrap()
    }

    fn plan(n: u32) -> ChainPlan {
        ChainPlan::new(Size::new(n).unwrap())
    }

    #[test]
    fn every_total_up_to_14_is_the_known_one() {
        for n in (1..=14).map(|n| Size::new(n).unwrap()) {
            let plan = ChainPlan::new(n);
            let mut counter = plan.oracle();
            let tally: Tally = (0..plan.tasks())
                .map(|i| counter.count(&plan.task(i)).unwrap())
                .sum();
            assert_eq!(
                tally.completions.solutions(),
                known(n).unwrap().total,
                "n = {n}"
            );
        }
    }

    #[test]
    fn any_cut_into_ranges_adds_up() {
        for n in 4..=9 {
            let plan = plan(n);
            let whole = count(&plan, 0..plan.ranks());
            for step in [1, 2, 7, 31, 144] {
                let starts = (0..plan.ranks()).step_by(step as usize);
                let parts: Tally = starts
                    .map(|start| count(&plan, start..(start + step).min(plan.ranks())))
                    .sum();
                assert_eq!(parts, whole, "n = {n}, step {step}");
            }
        }
    }
}
