use super::row_sets::RowSets;
use super::word_order::{Bounds, WordOrder};
use super::{ColumnSet, Half, Partition};
use crate::board::{Size, bits};

/// A filled half board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filled {
    /// The rank of its word of rows.
    pub rank: u32,
    /// Its key.
    pub key: u64,
}

/// The number of ways to complete a partition: both lists of half boards, every pair compared, each
/// solution counted as often as [`Bounds::weight`] says. For small boards; all other tests of the
/// join rely on it.
pub fn completions(n: Size, order: &WordOrder, partition: &Partition) -> u64 {
    let columns = order.bounds(n, &partition.set);
    let [top, bottom] = [&partition.top, &partition.bottom].map(|half| fillings(order, half));
    let weights = |top: Filled| {
        let fitting = bottom.iter().filter(move |other| top.key & other.key == 0);
        fitting.map(move |other| columns.weight(Bounds::new(top.rank, other.rank)))
    };
    top.iter().copied().flat_map(weights).sum()
}

/// All ways to fill a half board, by a search row by row.
pub fn fillings(order: &WordOrder, half: &Half) -> Vec<Filled> {
    let mut found = Vec::new();
    each_filling(order, half, &mut |filled| found.push(filled));
    found
}

/// Calls `found` with each way to fill a half board.
pub fn each_filling(order: &WordOrder, half: &Half, found: &mut impl FnMut(Filled)) {
    let search = Search { order, half };
    let start = Rows {
        columns: half.columns(),
        rising: 0,
        falling: 0,
        left: 0,
        mark: None,
        key: 0,
    };
    search.fill(0, start, found);
}

struct Search<'a> {
    order: &'a WordOrder,
    half: &'a Half,
}

/// The first rows of a half board, filled.
#[derive(Clone, Copy)]
struct Rows {
    /// The columns that are left.
    columns: u32,
    /// The squares of the next row that are attacked along diagonals.
    rising: u64,
    falling: u64,
    /// The rows whose queens stand left of the middle.
    left: u32,
    /// The row whose queen stands in the central column.
    mark: Option<u32>,
    key: u64,
}

impl Search<'_> {
    fn fill(&self, row: u32, rows: Rows, found: &mut impl FnMut(Filled)) {
        let Some(allowed) = self.half.allowed().get(row as usize) else {
            return found(Filled {
                rank: self.order.rank(rows.left, rows.mark),
                key: rows.key,
            });
        };
        let middle = self.half.rows();
        let is_odd = !self.half.size().is_multiple_of(2);
        for column in bits(rows.columns & allowed & !((rows.rising | rows.falling) as u32)) {
            let queen = 1u64 << column;
            let next = Rows {
                columns: rows.columns & !(1 << column),
                rising: (rows.rising | queen) << 1,
                falling: (rows.falling | queen) >> 1,
                left: rows.left | u32::from(column < middle) << row,
                mark: rows.mark.or((is_odd && column == middle).then_some(row)),
                key: rows.key | self.half.key(row, column),
            };
            self.fill(row + 1, next, found);
        }
    }
}

/// The order of words for boards of size `n`.
pub fn order(n: Size) -> WordOrder {
    WordOrder::new(n, &RowSets::new(ColumnSet::half(n)))
}
