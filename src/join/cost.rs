//! What counting a partition is expected to cost, in core-seconds.

use super::half::MAX_ROWS;
use super::{ColumnSet, Partition};
use crate::board::Size;

/// Up to this number of column sets the total cost is the sum over all sets. Above, it is estimated
/// from as many sets, evenly spread: 16,384 of them take a few milliseconds and are within a few
/// per cent of the sum.
const SAMPLE: u64 = 1 << 14;

/// Scale factor of the cost model, in core-seconds: see [`Costs::of_set`]. Fitted, see [`Costs`],
/// and multiplied by 1.67, so that it holds on the machine of
/// [`core_seconds`](crate::engine::core_seconds).
const SECONDS: f64 = 1.07e-9;

/// The exponent with which the cost grows with the placements of both halves, from one board size
/// to another. Fitted, see [`Costs`].
const BETWEEN: f64 = 0.625;

/// The expected costs of the partitions of one board size, in core-seconds.
///
/// **The model.** Two queens of a half of h rows, in columns that are d < h apart, attack each
/// other in 2·(h − d) of h·(h − 1) cases. A queen at most h columns from the middle queen stands on
/// one of its diagonals in one case of h. If all these events were independent, a half would have
/// h! times the product of the probabilities of no attack as placements. Up to a constant factor,
/// that is within 4 to 7 % of the number generated.
///
/// The cost is a power of the placements of both halves. Between the sets of one board the exponent
/// is smaller the more of the time goes to generating placements rather than to comparing them.
///
/// **The fit.** Made on 2026-11-22 from the CPU times of random tasks of n = 17 to 27 on an AMD
/// EPYC (Zen 5, AVX-512): thousands of tasks for small boards, a handful from n = 24 on. The ratio
/// of measured and modelled totals is at most 1.3 for n = 18 to 23 and 26, at most 1.5 for n = 24,
/// 25 and 27, and 1.6 for n = 17. The standard deviation between the time of a task and its cost,
/// relative to the mean time:
///
/// | n | 17 | 18 | 19 | 20 | 21 | 22 | 23 | 24 |
/// |---|---|---|---|---|---|---|---|---|
/// | | 0.08 | 0.21 | 0.07 | 0.19 | 0.11 | 0.19 | 0.18 | 0.29 |
#[derive(Debug)]
pub struct Costs {
    n: Size,
    /// For each distance of two columns of a half, the logarithm of the probability that their
    /// queens do not attack each other.
    peace: [f64; MAX_ROWS],
    /// The same for a column within reach of the middle queen.
    spared: f64,
    /// The logarithm of the placements of both halves if no queen attacked another.
    free: f64,
    /// The logarithm of the placements of both halves of a typical set.
    typical: f64,
    /// The exponent with which the cost grows with the placements, from set to set of this board.
    within: f64,
}

impl Costs {
    /// The costs for boards of size `n`.
    pub fn new(n: Size) -> Self {
        let h = f64::from(ColumnSet::half(n));
        // A half of two rows has no placement in adjacent columns (probability 0), but a cost of 0
        // would mean that a rank is empty.
        let peace = |attacked: f64| (1.0 - attacked.min(0.9)).ln();
        let mut of_distance = [0.0; MAX_ROWS];
        let rows = 1..ColumnSet::half(n).max(1);
        for distance in rows.clone() {
            let attacked = 2.0 * (h - f64::from(distance)) / (h * (h - 1.0));
            of_distance[distance as usize] = peace(attacked);
        }
        let spared = peace(1.0 / h.max(1.0));
        // Two columns belong to the same half with the probability (h − 1)/(2h − 1), and three
        // quarters of the columns are within reach of the middle queen.
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

    /// The expected cost of a rank in core-seconds: 0 if another column set represents this one.
    /// All slices of a set have the same cost, also those whose queens attack each other.
    pub fn of_rank(&self, rank: u64) -> f64 {
        let slices = Partition::slices(self.n);
        match ColumnSet::unrank(self.n, rank / slices) {
            Some(set) => self.of_set(&set) / slices as f64,
            None => 0.0,
        }
    }

    /// The expected cost of all ranks: their sum if they are few, else within a few per cent of it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, core_seconds};
    use crate::simd::Isa;

    #[test]
    fn totals_agree_with_the_measured_times_within_the_factor_of_the_fit() {
        for n in 17..=28 {
            let n = Size::new(n).unwrap();
            let measured = core_seconds(Engine::Join, n, Isa::Avx512);
            let ratio = Costs::new(n).total() / measured;
            let factor = match n.get() {
                17 => 1.6,
                18..=23 | 26 => 1.3,
                _ => 1.5,
            };
            // The times of both machines scatter by a tenth.
            let factor = 1.1 * factor;
            assert!((1.0 / factor..factor).contains(&ratio), "n = {n}: {ratio}");
        }
    }
}
