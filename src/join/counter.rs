use super::generate::Generator;
use super::kernel::{Kernel, Portable};
use super::pairs::Pairs;
use super::{Partition, kernel};
use crate::board::Size;
use crate::engine::{Counter, CounterSettings, Mismatch, Tally, Task};
use crate::simd::Isa;

/// Counts join tasks with one instruction set.
struct JoinCounter<K> {
    n: Size,
    kernel: K,
    generator: Generator,
    pairs: Pairs<K>,
    top: Vec<u64>,
    bottom: Vec<u64>,
}

/// A counter for the instruction set that `settings` ask for.
pub fn counter(n: Size, settings: &CounterSettings) -> Box<dyn Counter> {
    #[cfg(target_arch = "x86_64")]
    match settings.isa {
        Isa::Portable => {}
        Isa::Avx2 => {
            if let Some(kernel) = kernel::Avx2::new() {
                return Box::new(JoinCounter::new(n, kernel));
            }
        }
        Isa::Avx512 => {
            if let Some(kernel) = kernel::Avx512::new() {
                return Box::new(JoinCounter::new(n, kernel));
            }
        }
    }
    Box::new(JoinCounter::new(n, Portable))
}

impl<K: Kernel> JoinCounter<K> {
    fn new(n: Size, kernel: K) -> Self {
        Self {
            n,
            kernel,
            generator: Generator::default(),
            pairs: Pairs::new(kernel),
            top: Vec::new(),
            bottom: Vec::new(),
        }
    }
}

impl<K: Kernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        self.kernel.name()
    }

    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            let Some(partition) = Partition::of_rank(self.n, rank) else {
                continue;
            };
            tally.partitions += 1;
            for (half, keys) in [
                (&partition.top, &mut self.top),
                (&partition.bottom, &mut self.bottom),
            ] {
                keys.clear();
                tally.nodes += self.generator.keys(self.kernel, half, keys);
            }
            let found = self.pairs.count(&mut self.top, &mut self.bottom);
            tally.completions.add(partition.set.weight, found.into());
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::known;
    use crate::engine::Plan;
    use crate::join::{JoinPlan, naive};

    fn total(n: u32, isa: Isa) -> u128 {
        let plan = JoinPlan::new(Size::new(n).unwrap());
        let mut counter = plan.counter(&CounterSettings {
            isa,
            memory: 1 << 30,
        });
        let tally: Tally = (0..plan.tasks())
            .map(|i| counter.count(&plan.task(i)).unwrap())
            .sum();
        tally.completions.solutions()
    }

    #[test]
    fn totals() {
        for isa in Isa::ALL {
            for n in 1..=16 {
                let size = Size::new(n).unwrap();
                assert_eq!(total(n, isa), known(size).unwrap().total, "n = {n}, {isa}");
            }
        }
    }

    #[test]
    fn naive_totals() {
        for n in 1..=12 {
            let n = Size::new(n).unwrap();
            let mut sum = 0;
            for partition in (0..Partition::ranks(n)).filter_map(|r| Partition::of_rank(n, r)) {
                sum +=
                    u128::from(naive::completions(&partition)) * u128::from(partition.set.weight);
            }
            assert_eq!(sum, known(n).unwrap().total, "n = {n}");
        }
    }
}
