//! What counting a partition is expected to cost.

use super::{ColumnSet, Partition};
use crate::board::Size;

/// Up to this number of ranks the total is the sum of them all, beyond an estimate from as many
/// ranks, evenly spread.
const SAMPLE: u64 = 1 << 17;

/// The expected cost of a rank, 0 if it is empty.
pub fn of_rank(n: Size, rank: u64) -> f64 {
    match ColumnSet::unrank(n, rank / Partition::slices(n)) {
        Some(set) => of_set(n, &set) / Partition::slices(n) as f64,
        None => 0.0,
    }
}

/// The expected cost of all ranks: exact where there are few, else within a few per cent.
pub fn total(n: Size) -> f64 {
    let sets = ColumnSet::ranks(n);
    let cost = |set| ColumnSet::unrank(n, set).map_or(0.0, |set| of_set(n, &set));
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
///
/// Two queens of a half of h rows, in columns that are d < h apart, attack each other in
/// 2·(h − d) of h·(h − 1) cases. Taking pairs as independent gives the number of placements of
/// either half, h! times the product of the chances of peace; the cost grows a little less than
/// with the product of both.
fn of_set(n: Size, set: &ColumnSet) -> f64 {
    let h = ColumnSet::half(n);
    let mut logarithm = 0.0;
    for distance in 1..h {
        // Two adjacent rows cannot both be peaceful, but a cost must not be nothing.
        let attacked = (2.0 * f64::from(h - distance) / f64::from(h * (h - 1))).min(0.9);
        let pairs = [set.top, set.bottom]
            .map(|columns| (columns & columns >> distance).count_ones())
            .iter()
            .sum::<u32>();
        logarithm += f64::from(pairs) * (1.0 - attacked).ln();
    }
    (0.75 * logarithm).exp()
}
