//! Tasks that nobody could choose, to be counted again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::check::{CheckError, Checked, check_with, wrong};
use super::line::{Line, tally_of};
use crate::run_directory::{Said, ToCheck};
use queenfold::engine::CountedBy;
use queenfold::simd::Isa;

/// Draws `m` times one of the tasks of the certificate that `input` has from its beginning and that was `checked` before, by its
/// root and a seed. They are to be counted again as if a run on this machine had counted them.
///
/// # Errors
/// The input is no longer what was checked.
pub fn challenge(
    input: impl std::io::BufRead,
    checked: &Checked,
    seed: &str,
    m: u64,
) -> Result<Arc<ToCheck>, CheckError> {
    let drawn = positions(&checked.root, seed, checked.tasks, m);
    let (mut plans, mut said) = (Vec::new(), BTreeMap::new());
    let mut position = 0;
    let again = check_with(input, |body, line| {
        let Line::Task(line) = line else {
            return Ok(());
        };
        if drawn.contains(&position)
            && let Some(plan) = body.plan(&line.plan)
            && let Some(tally) = tally_of(plan.engine(), &line.tally)
        {
            plans = body.plans();
            let of = Said {
                tally,
                // Only the certificate of a shard tells them.
                has_partitions: body.checked.part.is_some(),
                counted_by: CountedBy::Cpu(plan.kernel(Isa::best()).into()),
                origin: None,
            };
            said.insert(plan.key(line.task), of);
        }
        position += 1;
        Ok(())
    })?;
    match again.root == checked.root {
        true => Ok(Arc::new(ToCheck { plans, said })),
        false => wrong("line 1: the file changed while it was read"),
    }
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
