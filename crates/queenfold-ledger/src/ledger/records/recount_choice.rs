//! Which recorded tasks `verify` counts again.

use crate::ledger::Coverage;
use crate::ledger::database::digest::{DigestFields, context};
use queenfold::engine::TaskKey;

/// Which recorded tasks are counted again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecountChoice {
    /// All.
    All,
    /// A random share of them, above 0 and up to 1: the same one for the same seed.
    Sample {
        /// The share, rounded up to whole tasks.
        share: f64,
        /// Decides which.
        seed: u64,
    },
}

impl RecountChoice {
    /// Chooses among the tasks of `coverage`, each with the same probability.
    pub(crate) fn among(self, coverage: &Coverage) -> Vec<TaskKey> {
        let Self::Sample { share, seed } = self else {
            return coverage.iter().collect();
        };
        // The tasks with the smallest keys: keys are digests, so this is a random choice.
        let mut keyed: Vec<_> = coverage.iter().map(|t| (key(seed, t), t)).collect();
        let wanted = ((keyed.len() as f64 * share).ceil() as usize).min(keyed.len());
        if let Some(last) = wanted.checked_sub(1) {
            keyed.select_nth_unstable(last);
        }
        keyed.truncate(wanted);
        keyed.into_iter().map(|(_, task)| task).collect()
    }
}

fn key(seed: u64, task: TaskKey) -> u64 {
    let digest = DigestFields::new(context::SAMPLE)
        .u64(seed)
        .text(task.engine.name())
        .u64(task.index)
        .digest();
    digest.0[..8]
        .iter()
        .fold(0, |key, &byte| key << 8 | u64::from(byte))
}

/// The probability that none of `checked` tasks shows a fault that each task has with probability
/// `rate`.
pub fn chance_missed(checked: u64, rate: f64) -> f64 {
    (checked as f64 * (-rate).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ledger::PlanInfo;
    use queenfold::board::Size;
    use queenfold::engine::Engine;

    fn n() -> Size {
        Size::new(20).unwrap()
    }

    fn chain(index: u64) -> TaskKey {
        TaskKey {
            n: n(),
            engine: Engine::Chain,
            version: 1,
            index,
        }
    }

    fn full(tasks: u64) -> Coverage {
        let plans = vec![PlanInfo {
            engine: Engine::Chain,
            name: "chain-1".parse().unwrap(),
            tasks,
            hash: String::new(),
            canary: None,
        }];
        let mut coverage = Coverage::none_of(n(), &plans);
        for index in 0..tasks {
            coverage.add(chain(index));
        }
        coverage
    }

    #[test]
    fn a_sample_has_the_share_asked_for_and_a_seed_repeats_it() {
        let coverage = full(1000);
        for (share, tasks) in [(1e-9, 1), (0.1, 100), (0.1001, 101), (1.0, 1000)] {
            let held = |seed| {
                let chosen = RecountChoice::Sample { share, seed }.among(&coverage);
                chosen.into_iter().collect::<BTreeSet<_>>()
            };
            assert_eq!(held(1).len(), tasks);
            assert_eq!(held(1), held(1));
            assert_eq!(held(1) == held(2), tasks == 1000);
        }
        let all = RecountChoice::All.among(&coverage);
        assert!(all.into_iter().eq((0..1000).map(chain)));
    }

    #[test]
    fn every_task_is_drawn_equally_often() {
        let coverage = full(20);
        let mut drawn = [0u32; 20];
        for seed in 0..2000 {
            for task in (RecountChoice::Sample { share: 0.25, seed }).among(&coverage) {
                drawn[task.index as usize] += 1;
            }
        }
        // 500 expected, standard deviation 19.4.
        assert!(drawn.iter().all(|n| (410..590).contains(n)), "{drawn:?}");
    }

    #[test]
    fn the_chance_to_miss_a_fault_is_that_of_independent_draws() {
        assert_eq!(chance_missed(0, 0.01), 1.0);
        assert!((chance_missed(100, 0.01) - 0.99_f64.powi(100)).abs() < 1e-12);
        assert_eq!(chance_missed(5, 1.0), 0.0);
    }
}
