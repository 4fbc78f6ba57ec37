//! Tasks that nobody could choose, counted again.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::check::{CheckError, Checked, check_with};
use super::line::{Line, tally_of};
use crate::engine::{CheckedBy, CountedBy, CounterSettings, Plan, Tally, TaskKey};
use crate::system::threads::start_scoped;

/// The tasks of a certificate that its root and a seed draw.
pub struct Challenge {
    tasks: Vec<(Arc<dyn Plan>, u64, Tally)>,
}

/// A task of a certificate that was counted wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[error("task {task}: the certificate says {said}, but {found}")]
pub struct WrongTask {
    task: TaskKey,
    said: String,
    found: String,
}

impl Challenge {
    /// Draws `m` times one of the tasks of the certificate that `input` has from its
    /// beginning and that was `checked` before.
    ///
    /// # Errors
    /// The input is no longer what was checked.
    pub fn draw(
        input: impl std::io::BufRead,
        checked: &Checked,
        seed: &str,
        m: u64,
    ) -> Result<Self, CheckError> {
        let drawn = positions(&checked.root, seed, checked.tasks, m);
        let mut tasks = Vec::new();
        let mut position = 0;
        let again = check_with(input, |body, line| {
            let Line::Task(line) = line else {
                return Ok(());
            };
            if drawn.contains(&position)
                && let Some(plan) = body.plan(&line.plan)
                && let Some(tally) = tally_of(plan.engine(), &line.tally)
            {
                tasks.push((Arc::clone(plan), line.task, tally));
            }
            position += 1;
            Ok(())
        })?;
        match again.root == checked.root {
            true => Ok(Self { tasks }),
            false => Err(CheckError::defect(1, "the file changed while it was read")),
        }
    }

    /// The number of different tasks drawn.
    pub fn tasks(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// The tasks drawn: each with its plan, and its index there.
    pub fn drawn(&self) -> impl Iterator<Item = (&Arc<dyn Plan>, u64)> {
        self.tasks.iter().map(|(plan, index, _)| (plan, *index))
    }

    /// Counts the tasks by another kernel than a run with `settings` does, or by the oracle, with `workers` threads.
    /// `tell` is called after each task, with whether the certificate is right. Returns what is wrong.
    pub fn count(
        &self,
        by: CheckedBy,
        settings: &CounterSettings,
        workers: NonZeroUsize,
        tell: &(dyn Fn(bool) + Sync),
    ) -> Vec<WrongTask> {
        let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let work = || {
                while let Some((plan, index, said)) =
                    self.tasks.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let found = recount(plan.as_ref(), (by, settings), *index, said);
                    tell(found.is_none());
                    wrong.lock().extend(found);
                }
            };
            // Where the system allows no more threads, fewer count.
            for _ in 1..workers.get().min(self.tasks.len()) {
                let _ = start_scoped(scope, work);
            }
            work();
        });
        wrong.into_inner()
    }
}

fn recount(
    plan: &dyn Plan,
    (by, settings): (CheckedBy, &CounterSettings),
    index: u64,
    said: &Tally,
) -> Option<WrongTask> {
    let first = CountedBy::Cpu(plan.counter(settings).backend().into());
    let mut counter = by.counter(plan, settings, &first);
    let task = plan.task(index);
    let found = match counter.count(&task) {
        // Nodes are in no certificate, and the number of partitions only in that of a shard.
        Ok(found)
            if Tally {
                partitions: if said.partitions == 0 {
                    0
                } else {
                    found.partitions
                },
                ..found
            }
            .agrees_with(said) =>
        {
            return None;
        }
        Ok(found) => format!("{} counted {}", counter.backend(), found.exact()),
        Err(mismatch) => mismatch.to_string(),
    };
    Some(WrongTask {
        task: task.key,
        said: said.exact(),
        found,
    })
}

/// The positions of the drawn tasks among all: each number i below `m` is hashed with root and seed, and
/// the hash is reduced modulo the number of tasks.
fn positions(root: &str, seed: &str, tasks: u64, m: u64) -> BTreeSet<u64> {
    let draw = |number| {
        let hash = Sha256::digest(format!("{root} {seed} {number}"));
        let tasks = u128::from(tasks);
        let position = hash
            .iter()
            .fold(0, |rest, &byte| (rest << 8 | u128::from(byte)) % tasks);
        position as u64
    };
    (0..m).map(draw).collect()
}

/// The share of wrong tasks that `m` tasks drawn at random, all of them right, exclude with a certainty of
/// 95 %.
pub fn most_wrong(m: u64) -> f64 {
    1.0 - 0.05f64.powf(1.0 / m as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_thousand_tasks_exclude_that_one_in_a_thousand_is_wrong() {
        assert!(most_wrong(3000) < 0.001 && most_wrong(2990) > 0.001);
        assert!((most_wrong(1) - 0.95).abs() < 1e-12);
    }

    #[test]
    fn a_draw_depends_on_root_and_seed() {
        let draw = |root, seed| positions(root, seed, 1_000_000, 20);
        assert_eq!(draw("a", "b"), draw("a", "b"));
        assert!(draw("a", "b") != draw("a", "c") && draw("a", "b") != draw("b", "b"));
        assert_eq!(draw("a", "b").len(), 20);
        assert_eq!(positions("a", "b", 1, 20).len(), 1);
    }
}
