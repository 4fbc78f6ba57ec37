use super::generate::Generator;
use super::kernel::{Buckets, Kernel, Portable};
use super::layout::Layout;
use super::pairs::{Countable, Pairs};
use super::{ColumnSet, Half, Partition, Side, kernel};
use crate::board::Size;
use crate::engine::{Counter, CounterSettings, Mismatch, Tally, Task};
use crate::simd::Isa;

/// Counts join tasks with one instruction set.
struct JoinCounter<K> {
    n: Size,
    kernel: K,
    /// What the quarter boards at hand were made for: the shared columns, the other columns of
    /// either half, the column of the middle queen.
    asked: Option<(u32, [u32; 2], Option<u32>)>,
    layout: Layout,
    top: Generator,
    bottom: Generator,
    pairs: Pairs<K>,
    /// The lists of both halves; one of these pairs is used, as the layout wants it.
    narrow: [Buckets<u32>; 2],
    wide: [Buckets<u64>; 2],
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

/// How many of the first columns a frame grants whole to both halves: quarter boards are shared by
/// the sets that differ in those columns only.
const fn shared_columns(n: Size) -> u32 {
    match n.get() {
        0..=17 => n.get(),
        18..=21 => 8,
        22..=23 => 6,
        24..=25 => 4,
        _ => 0,
    }
}

/// How many bits to sort the lists by at least.
const fn sorted_bits(n: Size) -> u32 {
    match n.get() {
        0..=17 => 0,
        18..=19 => 2,
        20..=21 => 6,
        22..=23 => 10,
        _ => 12,
    }
}

impl<K: Kernel> JoinCounter<K> {
    fn new(n: Size, kernel: K) -> Self {
        Self {
            n,
            kernel,
            asked: None,
            layout: Layout::default(),
            top: Generator::default(),
            bottom: Generator::default(),
            pairs: Pairs::new(kernel),
            narrow: Default::default(),
            wide: Default::default(),
        }
    }

    /// Makes quarter boards for `partition`, if those at hand do not serve.
    fn prepare(&mut self, partition: &Partition) {
        let set = &partition.set;
        // Which columns of the frame are in question, and to which half the others belong.
        let low = if Partition::sliced_rows(self.n) == 0 {
            let all = (1u64 << shared_columns(self.n)) - 1;
            all as u32 & (set.top | set.bottom)
        } else {
            0
        };
        let asked = (low, [set.top & !low, set.bottom & !low], set.middle);
        if low != 0 && self.asked == Some(asked) {
            return;
        }
        self.asked = Some(asked);
        let frame = if low == 0 {
            [partition.top.clone(), partition.bottom.clone()]
        } else {
            let wide = ColumnSet {
                top: set.top | low,
                bottom: set.bottom | low,
                ..*set
            };
            [Side::Top, Side::Bottom].map(|side| Half::new(self.n, &wide, side))
        };
        let taken = [set.top, set.bottom].map(|columns| (columns & low).count_ones());
        let weights = [0, 1].map(|side| -> Vec<f64> {
            let columns = [set.top, set.bottom][side];
            let share = f64::from(taken[side]) / f64::from(low.count_ones().max(1));
            (0..self.n.get())
                .map(|column| match (low >> column & 1, columns >> column & 1) {
                    (1, _) => share,
                    (_, bit) => f64::from(bit),
                })
                .collect()
        });
        self.layout = Layout::new(
            self.n,
            [&frame[0], &frame[1]],
            [&weights[0], &weights[1]],
            sorted_bits(self.n),
        );
        self.top
            .fill(self.kernel, &frame[0], &self.layout, low, taken[0]);
        self.bottom
            .fill(self.kernel, &frame[1], &self.layout, low, taken[1]);
    }

    /// The lists of both halves made, and their disjoint pairs counted.
    fn completions<T: Countable>(
        &mut self,
        lists: impl Fn(&mut Self) -> &mut [Buckets<T>; 2],
        partition: &Partition,
        nodes: &mut u64,
    ) -> u64 {
        let mut own = std::mem::take(lists(self));
        for list in &mut own {
            list.clear(self.layout.sorted());
        }
        let kernel = self.kernel;
        let generators = [&mut self.top, &mut self.bottom];
        let halves = [&partition.top, &partition.bottom];
        for ((generator, half), list) in generators.into_iter().zip(halves).zip(&mut own) {
            generator.keys(kernel, half.columns(), |keys| {
                kernel.scatter(keys, list);
                true
            });
            *nodes += list.len() as u64;
        }
        let found = self.pairs.count(&own[0], &own[1], self.layout.sorted());
        *lists(self) = own;
        found
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
            self.prepare(&partition);
            let found = if self.layout.rest() <= 32 {
                self.completions(|this| &mut this.narrow, &partition, &mut tally.nodes)
            } else {
                self.completions(|this| &mut this.wide, &partition, &mut tally.nodes)
            };
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
