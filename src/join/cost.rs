//! What counting a partition is expected to cost.

use super::half::MAX_ROWS;
use super::{ColumnSet, Partition};
use crate::board::Size;

/// Up to this number of ranks the total is the sum of them all, beyond an estimate from as many
/// ranks, evenly spread.
const SAMPLE: u64 = 1 << 14;

/// Core-seconds of a set without any placement, so to speak: see [`Costs::of_set`].
const SECONDS: f64 = 6.4e-10;

/// The power of the placements of both halves with which the cost grows from board to board.
const BETWEEN: f64 = 0.625;

/// The expected costs of the partitions of one board size, in core-seconds.
///
/// Two queens of a half of h rows, in columns that are d < h apart, attack each other in
/// 2·(h − d) of h·(h − 1) cases; a queen no more than h columns from the middle queen would stand
/// on one of its diagonals in one case of h. Taking all this as independent gives the number of
/// placements of a half, h! times the product of the chances of peace, within 4 to 7 % of what is
/// generated but for a factor.
///
/// The cost grows with a power of the placements of both halves. Within one board it is the
/// smaller the more of the time goes to generating placements, and not to comparing them.
///
/// Fitted on 2026-11-22 to the CPU times of random tasks of n = 17 to 27 on an AMD EPYC (Zen 5,
/// AVX-512), thousands of them for small boards and a handful from n = 24 on. Totals came within 1.3
/// times for n = 18 to 23 and 26, within 1.5 for 24 to 27; n = 17 takes 1.6 times its cost. What is
/// left between a task's time and its cost, as a standard deviation in parts of the mean time:
/// n = 17 0.08, 18 0.21, 19 0.07, 20 0.19, 21 0.11, 22 0.19, 23 0.18, 24 0.29.
#[derive(Debug)]
pub struct Costs {
    n: Size,
    /// For each distance of two columns of a half, the logarithm of the chance of peace.
    peace: [f64; MAX_ROWS],
    /// That of a column within reach of the middle queen.
    spared: f64,
    /// The logarithm of the placements of both halves, if no queen attacked another.
    free: f64,
    /// The same of a typical set, as they do.
    typical: f64,
    /// The power of the placements with which the cost grows from set to set.
    within: f64,
}

impl Costs {
    /// The costs for boards of size `n`.
    pub fn new(n: Size) -> Self {
        let h = f64::from(ColumnSet::half(n));
        // Two adjacent rows cannot both be peaceful, but a cost must not be nothing.
        let peace = |attacked: f64| (1.0 - attacked.min(0.9)).ln();
        let mut of_distance = [0.0; MAX_ROWS];
        let rows = 1..ColumnSet::half(n).max(1);
        for distance in rows.clone() {
            let attacked = 2.0 * (h - f64::from(distance)) / (h * (h - 1.0));
            of_distance[distance as usize] = peace(attacked);
        }
        let spared = peace(1.0 / h.max(1.0));
        // Columns stand together in a half of a typical set with the chance (h − 1)/(2h − 1), and
        // three quarters of them are within reach of the middle queen.
        let pairs = rows
            .map(|distance| of_distance[distance as usize] * (2.0 * h - f64::from(distance)))
            .sum::<f64>()
            * (h - 1.0)
            / (2.0 * h - 1.0);
        let free = 2.0
            * (1..=ColumnSet::half(n))
                .map(|row| f64::from(row).ln())
                .sum::<f64>();
        let middle = if n.get().is_multiple_of(2) {
            0.0
        } else {
            1.5 * h * spared
        };
        Self {
            n,
            peace: of_distance,
            spared,
            free,
            typical: free + pairs + middle,
            within: match n.get() {
                0..=17 => 0.25,
                18..=19 => 0.4,
                20..=21 => 0.65,
                _ => 0.9,
            },
        }
    }

    /// The expected cost of a rank: 0 if another column set represents its own, that of any other
    /// slice if its queens attack one another.
    pub fn of_rank(&self, rank: u64) -> f64 {
        let slices = Partition::slices(self.n);
        match ColumnSet::unrank(self.n, rank / slices) {
            Some(set) => self.of_set(&set) / slices as f64,
            None => 0.0,
        }
    }

    /// The expected cost of all ranks: exact where there are few, else within a few per cent.
    pub fn total(&self) -> f64 {
        let sets = ColumnSet::ranks(self.n);
        let cost = |set| ColumnSet::unrank(self.n, set).map_or(0.0, |set| self.of_set(&set));
        if sets <= SAMPLE {
            (0..sets).map(cost).sum()
        } else {
            let spread = sets as f64 / SAMPLE as f64;
            let sum: f64 = (0..SAMPLE)
                .map(|i| cost(((i as f64 + 0.5) * spread) as u64))
                .sum();
            sum * spread
        }
    }

    /// The expected cost of a column set.
    fn of_set(&self, set: &ColumnSet) -> f64 {
        let h = ColumnSet::half(self.n);
        let mut placements = self.free;
        for distance in 1..h {
            let pairs =
                [set.top, set.bottom].map(|columns| (columns & columns >> distance).count_ones());
            placements += f64::from(pairs.iter().sum::<u32>()) * self.peace[distance as usize];
        }
        if let Some(middle) = set.middle {
            let reach = (0..self.n.get()).filter(|column| {
                let distance = column.abs_diff(middle);
                distance != 0 && distance <= h
            });
            placements += reach.count() as f64 * self.spared;
        }
        let exponent = BETWEEN * self.typical + self.within * (placements - self.typical);
        SECONDS * exponent.exp()
    }
}
