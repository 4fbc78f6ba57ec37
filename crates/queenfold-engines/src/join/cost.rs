//! What counting a partition is expected to cost, in core-seconds.

use std::ops::Range;
use std::sync::OnceLock;

use super::half::MAX_ROWS;
use super::row_sets::RowSets;
use super::word_order::WordOrder;
use super::{ColumnSet, JoinBoard, Partition};
use crate::board::{Size, bits};

/// Up to this number of column sets the total cost is the sum over all sets. Above, it is estimated
/// from as many sets, evenly spread: 16,384 of them take a few milliseconds and are within a few
/// per cent of the sum.
const SAMPLE: u64 = 1 << 14;

/// How the cost of a set follows from its placements, for each board size from 16 to 27. Fitted, see
/// [`Costs`]. First comes the logarithm of the core-seconds of a typical set of which everything is
/// counted, then the exponent with which the cost grows with the placements from set to set.
const FIT: [(f64, f64); 12] = [
    (-12.02, 0.2),
    (-12.63, 0.2),
    (-9.75, 0.3),
    (-10.55, 0.35),
    (-7.80, 1.3),
    (-8.99, 0.8),
    (-5.72, 1.3),
    (-7.01, 1.3),
    (-2.55, 1.5),
    (-4.30, 1.5),
    (0.20, 1.5),
    (-1.38, 1.5),
];

/// The sizes of the first and of the last board of [`FIT`].
const FIT_FROM: u32 = 16;
const FIT_TO: u32 = FIT_FROM + FIT.len() as u32 - 1;

/// The exponent with which the cost grows with the placements of a typical set, from one board
/// size to another.
const BETWEEN: f64 = 0.6;

/// The share of the cost of a set that does not depend on how many half boards are counted.
const FIXED: f64 = 0.1;

/// Below this size every set costs as much as the typical one. A set of n = 17 takes some 14 µs there, of
/// which its cost took 4 % (docs/PERFORMANCE.md, Join, "What was tried").
const SETS_FROM: u32 = 18;

/// The ratio of the core-seconds of the machine of [`core_seconds`](crate::engine::core_seconds) to
/// those of the machine of the fit.
const MACHINE: f64 = 1.67;

/// The expected costs of the partitions of one board size, in core-seconds.
///
/// **The model.** Two queens of a half of h rows, in columns that are d < h apart, attack each
/// other in 2·(h − d) of h·(h − 1) cases. A queen at most h columns from the middle queen stands on
/// one of its diagonals in one case of h. If all these events were independent, a half would have
/// h! times the product of the probabilities of no attack as placements. Up to a constant factor,
/// that is within 4 to 7 % of the number there is.
///
/// Only the half boards whose words of rows rank below those of the columns are counted: see
/// [`WordOrder`]. By the same model, a choice of rows has placements in proportion to the product
/// of the probabilities of no attack between rows of the same quadrant. The share that is counted is
/// the geometric mean of the shares of both halves.
///
/// The cost is a power of the placements times the power 3/2 of that share; a tenth of it does not
/// depend on the share.
///
/// **The fit.** Made on 2026-11-23 from the times of tasks spread over the plan, on an AMD EPYC
/// (Zen 5, AVX-512): 64 to 128 tasks for each board up to n = 24, 40 and 30 for n = 25 and 26. The
/// totals of 21 to 25 are those of `queenfold estimate`. n = 27 follows from 25 as 26 from 24. The
/// standard deviation between the time of a task and its cost, relative to the mean time:
///
/// | n | 18 | 19 | 20 | 21 | 22 | 23 | 24 |
/// |---|---|---|---|---|---|---|---|
/// | | 0.26 | 0.21 | 0.18 | 0.15 | 0.25 | 0.16 | 0.25 |
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
    /// The logarithm of the core-seconds of a typical set of which everything is counted.
    scale: f64,
    /// The exponent with which the cost grows with the placements, from set to set of this board.
    within: f64,
    /// Made when the first cost is asked for.
    shares: OnceLock<Shares>,
    /// What the cost of a set of a given board is multiplied by. Made when the first cost is asked for.
    scale_of_given: OnceLock<f64>,
}

/// Which share of the placements of a half board has words of rows below a rank.
#[derive(Debug)]
struct Shares {
    order: WordOrder,
    /// Without and with a queen in the central column, for each number of queens in the left
    /// quadrant: the ranks of the choices of rows, and the share of the placements up to each.
    sums: [Vec<Vec<(u32, f64)>>; 2],
}

impl Shares {
    fn new(n: Size, peace: &[f64; MAX_ROWS]) -> Self {
        let h = ColumnSet::half(n);
        let rows = RowSets::new(h);
        let order = WordOrder::new(n, &rows);
        let all = ((1u64 << h) - 1) as u32;
        let peace_of = |set: u32| -> f64 {
            let pairs = |distance: &u32| f64::from((set & set >> distance).count_ones());
            let distances = 1..h;
            distances
                .map(|distance| pairs(&distance) * peace[distance as usize])
                .sum()
        };
        let sums = [false, true].map(|central| {
            let of_size = |size: u32| {
                let mut sum = 0.0;
                let choices = order.choices(size, central).iter();
                let mut sums: Vec<_> = choices
                    .map(|choice| {
                        let left = rows.sets(size as usize)[usize::from(choice.left)];
                        let marked = choice.place.map_or(0, |place| {
                            bits(all ^ left).nth(place.into()).map_or(0, |row| 1 << row)
                        });
                        sum += (peace_of(left) + peace_of(all ^ left ^ marked)).exp();
                        (choice.rank, sum)
                    })
                    .collect();
                sums.iter_mut().for_each(|(_, share)| *share /= sum);
                sums
            };
            (0..=h).map(of_size).collect()
        });
        Self { order, sums }
    }

    /// The share for `rank` of a half board with queens in `columns` of a board of `n`.
    fn below(&self, n: Size, columns: u32, rank: u32) -> f64 {
        let h = ColumnSet::half(n);
        let left = (u64::from(columns) & ((1 << h) - 1)).count_ones();
        let central = !n.get().is_multiple_of(2) && columns >> h & 1 == 1;
        let sums = &self.sums[usize::from(central)][left as usize];
        match sums.partition_point(|(other, _)| *other < rank) {
            0 => 0.0,
            choices => sums[choices - 1].1,
        }
    }
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
        let mut new = Self {
            n,
            peace: of_distance,
            spared,
            free,
            typical: free + pairs + middle,
            scale: 0.0,
            within: 0.0,
            shares: OnceLock::new(),
            scale_of_given: OnceLock::new(),
        };
        // Even and odd boards differ, so boards beyond the fit follow the next one of their kind.
        let odd = n.get() % 2;
        let fitted = match n.get() {
            0..FIT_FROM => FIT_FROM + odd,
            FIT_FROM..=FIT_TO => n.get(),
            _ => FIT_TO - 1 + odd,
        };
        (new.scale, new.within) = FIT[(fitted - FIT_FROM) as usize];
        if fitted != n.get()
            && let Ok(other) = Size::new(fitted)
        {
            new.scale += BETWEEN * (new.typical - Self::new(other).typical);
        }
        new
    }

    /// The expected cost of these ranks of `board` in core-seconds: see
    /// [`of_free_ranks`](Self::of_free_ranks). On a given board, empty ranks cost nothing.
    pub fn of_ranks(&self, board: &JoinBoard, ranks: Range<u64>) -> f64 {
        if board.given().is_free() {
            return self.of_free_ranks(ranks);
        }
        let scale = *self.scale_of_given.get_or_init(|| {
            let samples = board.ranks().min(SAMPLE);
            let spread = board.ranks() as f64 / samples as f64;
            let ranks = (0..samples).map(|i| ((i as f64 + 0.5) * spread) as u64);
            let sum: f64 = ranks.map(|rank| self.of_given(board, rank)).sum();
            if sum > 0.0 {
                self.total(board) / (sum * spread)
            } else {
                1.0
            }
        });
        ranks.map(|rank| self.of_given(board, rank)).sum::<f64>() * scale
    }

    /// The cost of a rank of a given board, relative to other ranks.
    fn of_given(&self, board: &JoinBoard, rank: u64) -> f64 {
        match board.partition(rank) {
            None => 0.0,
            Some(_) if self.n.get() < SETS_FROM => self.mean(),
            Some(partition) => self.of_set(&partition.set) / Partition::slices(self.n) as f64,
        }
    }

    /// The expected cost of these ranks of the free board in core-seconds: 0 for those of column sets that
    /// another one represents, except on boards whose sets all cost the same. All slices of a set have the
    /// same cost, also those whose queens attack each other.
    fn of_free_ranks(&self, ranks: Range<u64>) -> f64 {
        if self.n.get() < SETS_FROM {
            return (ranks.end - ranks.start) as f64 * self.mean();
        }
        let slices = Partition::slices(self.n);
        let cost = |rank| match ColumnSet::unrank(self.n, rank / slices) {
            Some(set) => self.of_set(&set) / slices as f64,
            None => 0.0,
        };
        ranks.map(cost).sum()
    }

    /// The mean cost of a rank of a board whose sets all cost the same. Half of the ranks of even boards
    /// and of the central middle column have a set.
    fn mean(&self) -> f64 {
        let middles = ColumnSet::middles(self.n) as f64;
        MACHINE * self.scale.exp() * (middles - 0.5) / middles
    }

    /// The expected cost of all ranks of `board`: on the free board their sum if they are few, else within a
    /// few per cent of it.
    pub fn total(&self, board: &JoinBoard) -> f64 {
        board.work() * self.of_free() + board.overhead()
    }

    fn of_free(&self) -> f64 {
        let sets = ColumnSet::ranks(self.n);
        if self.n.get() < SETS_FROM {
            return self.of_free_ranks(0..sets);
        }
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
        let exponent = self.scale + self.within * (placements - self.typical);
        let whole = MACHINE * exponent.exp();
        let shares = self.shares.get_or_init(|| Shares::new(self.n, &self.peace));
        let rank = shares.order.bounds(self.n, set).larger;
        let [top, bottom] =
            [set.top, set.bottom].map(|columns| shares.below(self.n, columns, rank));
        let share = (top * bottom).sqrt();
        let counted = FIXED + (1.0 - FIXED) * share * share.sqrt();
        whole * counted
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
            let ratio = Costs::new(n).total(&n.into()) / measured;
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
