//! Canaries: small tasks whose counts are known, by which a worker or a device shows that it counts
//! correctly.

use std::ops::Range;

use super::{Mismatch, PlanName, Tally, Task};
use crate::board::Size;

/// Many small tasks of a small board, each with its known count.
///
/// A core that fails now and then gives a wrong count in few of them, so they are compared one by one. A
/// worker counts them with the kernel that it counts its plan with:
/// [`Plan::canary_counter`](super::Plan::canary_counter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    n: Size,
    plan: PlanName,
    tasks: Vec<CanaryTask>,
}

/// A task of a canary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanaryTask {
    /// Its ranks in the plan of the canary.
    pub ranks: Range<u64>,
    /// Its solutions: those that its completions stand for, and those fixed by a half or a quarter turn.
    pub count: u64,
}

impl Canary {
    /// The canary of all ranks of a board, in pieces of `ranks` each; the last one may be shorter. `counts`
    /// are those of the pieces.
    pub fn pieces(n: Size, plan: PlanName, all: u64, ranks: u64, counts: &[u64]) -> Self {
        let starts = (0..all).step_by(ranks as usize);
        let tasks = starts.zip(counts).map(|(start, &count)| CanaryTask {
            ranks: start..(start + ranks).min(all),
            count,
        });
        Self {
            n,
            plan,
            tasks: tasks.collect(),
        }
    }

    /// The board that the tasks are parts of.
    pub const fn size(&self) -> Size {
        self.n
    }

    /// The plan whose ranks the tasks count.
    pub const fn plan(&self) -> PlanName {
        self.plan
    }

    /// The tasks.
    pub fn tasks(&self) -> &[CanaryTask] {
        &self.tasks
    }

    /// The task at a position, for a counter.
    pub fn task(&self, at: usize) -> Task {
        Task {
            key: self.plan.key(self.n, 0),
            ranks: self.tasks[at].ranks.clone(),
            cost: 0.0,
        }
    }

    /// Compares a count of the task at a position with the known one.
    ///
    /// # Errors
    /// It is another one.
    pub fn compare(&self, at: usize, tally: &Tally) -> Result<(), Mismatch> {
        let counted = tally.found();
        let CanaryTask { ranks, count } = &self.tasks[at];
        if counted == u128::from(*count) {
            return Ok(());
        }
        let (Self { n, plan, .. }, Range { start, end }) = (self, ranks);
        Err(Mismatch(format!(
            "the canary of ranks {start}..{end} of {plan} of n = {n} has {count} solutions, and \
             {counted} were counted"
        )))
    }
}
