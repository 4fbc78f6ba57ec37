//! What counting a set is expected to cost.

use super::lines::{Lines, Parity, reversed};
use super::orientation::Orientation;
use super::row_sets::words;
use super::{ColourBoard, Partition};
use crate::board::Size;

/// How much more seldom two queens of a colour are safe than all lines but diagonals allow: with a chance of
/// one less this by the size of the board. Fitted to the queens placed for sets of 14 to 22 queens.
const UNSAFE: f64 = 3.2;

/// What a listed placement costs, in placements on all rows of a colour: 5 to 12 with AVX2 on boards of 16 to
/// 24 queens.
const LISTED: f64 = 7.0;

/// What a unit costs, likewise: about a tenth of a microsecond with AVX2.
const UNIT: f64 = 100.0;

/// What sets of a board cost, relative to each other: the placements that are expected on the rows of either
/// colour, and what comes before them, multiplied by the share of the units that count in this orientation.
#[derive(Debug)]
pub struct Costs {
    /// For each number of even rows, what a set costs of which all units count.
    by_size: Vec<f64>,
    /// For each number of even columns, the ranks of the words of units, in order. Empty where each unit counts.
    ranks: Vec<Vec<u16>>,
    /// The sum over all partitions.
    total: f64,
    orientation: Orientation,
}

impl Costs {
    /// Those of a board.
    pub fn new(board: &ColourBoard) -> Self {
        let n = board.size();
        let lines = Lines::of(n);
        let surplus = lines.even - lines.odd;
        let words = words(lines.even);
        let by_size = (0..=lines.even).map(|even| {
            let odd = even.saturating_sub(surplus);
            // The rows that are left to black: as many even ones as odd ones.
            let left = lines.odd - odd;
            let [white, black] = [ways(lines.even, even), ways(lines.even, left)];
            let all = white * ways(lines.odd, odd) * safe(n, even + odd)
                + black * ways(lines.odd, left) * safe(n, 2 * left);
            let listed = white * safe(n, even) + black * safe(n, left);
            all + LISTED * listed + UNIT * words[even as usize].len() as f64
        });
        let by_size: Vec<_> = by_size.collect();
        let orientation = Orientation::of(n);
        let is_even = surplus == 0;
        let is_unit = |word: &u16| {
            let word = u32::from(*word);
            is_even || !board.is_mirrored || word <= reversed(word, lines.even)
        };
        let mut ranks = Vec::new();
        if board.is_oriented {
            for words in words {
                let units = words.iter().filter(|word| is_unit(word));
                let mut own: Vec<_> = units
                    .map(|&word| orientation.rank(Parity::Even, word.into()))
                    .collect();
                own.sort_unstable();
                ranks.push(own);
            }
        }
        // The share is the rank of a random word, or of the larger one of two.
        let share = match (board.is_oriented, is_even) {
            (false, _) => 1.0,
            (true, true) => 2.0 / 3.0,
            (true, false) => 0.5,
        };
        let sizes = (0..).zip(&by_size);
        let sum: f64 = sizes
            .map(|(even, cost)| board.sets_of(even) as f64 * cost)
            .sum();
        Self {
            total: sum * share * board.images() as f64,
            by_size,
            ranks,
            orientation,
        }
    }

    /// The share of a partition of the cost of all.
    pub fn share(&self, partition: &Partition) -> f64 {
        let set = partition.set;
        let even = set.even.count_ones() as usize;
        let counted = self.ranks.get(even).map_or(1.0, |ranks| {
            let [first, _] = self.orientation.class([set.even, set.odd]);
            ranks.partition_point(|&rank| rank <= first) as f64 / ranks.len() as f64
        });
        self.by_size[even] * counted / self.total
    }
}

/// The ways to choose a column of `lines` for each of so many rows.
fn ways(lines: u32, rows: u32) -> f64 {
    (0..rows)
        .map(|row| f64::from(lines.saturating_sub(row)))
        .product()
}

/// The chance that so many queens of a colour are safe, with each in a row and a column of her own.
fn safe(n: Size, queens: u32) -> f64 {
    let pair = 1.0 - (UNSAFE / f64::from(n.get())).min(0.9);
    let pairs = queens * queens.saturating_sub(1) / 2;
    (0..pairs).fold(1.0, |chance, _| chance * pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::GivenBoard;

    #[test]
    fn the_shares_of_all_sets_add_up() {
        let size = |n| Size::new(n).unwrap();
        let given = GivenBoard::parse(size(14), "b3", "").unwrap();
        let boards = (14..=18).map(|n| ColourBoard::from(size(n)));
        for board in boards.chain([given.into()]) {
            let costs = Costs::new(&board);
            let partitions = (0..board.ranks()).filter_map(|rank| board.partition(rank));
            let sum: f64 = partitions.map(|partition| costs.share(&partition)).sum();
            assert!((sum - 1.0).abs() < 0.05, "{:?}: {sum}", board.given());
        }
    }
}
