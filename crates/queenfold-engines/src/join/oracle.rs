use super::row_sets::RowSets;
use super::word_order::{Bounds, WordOrder};
use super::{ColumnSet, JoinBoard, Partition};
use crate::board::bits;
use crate::engine::{Counter, GivenUp, NotCounted, Tally, Task, TaskWatch};

/// Rows to fill below which a search does not look at the watch: it takes less than a millisecond.
const UNWATCHED: usize = 8;

/// The second method of the join: counts the same tasks by backtracking over the rows of the whole
/// board, where each row may use only the columns that the partition allows it. Each solution is
/// weighed by the squares of its queens: see `word_order.rs`.
///
/// It has no lists, keys or vectors. It is slow, and simple enough to trust.
pub struct JoinOracle {
    board: JoinBoard,
    order: WordOrder,
}

/// A search for the solutions of a partition.
struct Search<'a> {
    order: &'a WordOrder,
    watch: &'a TaskWatch,
    n: u32,
    /// The columns that each row of the board may use, from the top.
    rows: Vec<u32>,
    /// The ranks of the words of the columns.
    columns: Bounds,
    /// The columns of the queens placed so far, from the top.
    queens: Vec<u32>,
    /// The number of queens placed.
    nodes: u64,
}

/// The squares of the next row that the queens placed so far attack.
#[derive(Clone, Copy)]
struct Attacked {
    columns: u32,
    rising: u64,
    falling: u64,
}

impl JoinOracle {
    pub(super) fn new(board: JoinBoard) -> Self {
        let n = board.size();
        Self {
            board,
            order: WordOrder::new(n, &RowSets::new(ColumnSet::half(n))),
        }
    }

    fn search<'a>(&'a self, partition: &Partition, watch: &'a TaskWatch) -> Search<'a> {
        let top = partition.top.allowed().iter().copied();
        let middle = partition.set.middle.map(|column| 1 << column);
        let bottom = partition.bottom.allowed().iter().rev().copied();
        Search {
            order: &self.order,
            watch,
            n: self.board.size().get(),
            rows: top.chain(middle).chain(bottom).collect(),
            columns: if partition.oriented {
                self.order.bounds(self.board.size(), &partition.set)
            } else {
                Bounds::ALL
            },
            queens: Vec::new(),
            nodes: 0,
        }
    }
}

impl Counter for JoinOracle {
    fn backend(&self) -> &'static str {
        "scalar"
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            if let Some(partition) = self.board.partition(rank) {
                let mut search = self.search(&partition, watch);
                let found = search.fill(Attacked {
                    columns: 0,
                    rising: 0,
                    falling: 0,
                })?;
                tally.nodes += search.nodes;
                tally.completions.add(partition.set.weight, found.into());
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}

impl Search<'_> {
    /// The weighted number of ways to fill the rows that are left.
    ///
    /// # Errors
    /// The task is to be given up.
    fn fill(&mut self, attacked: Attacked) -> Result<u64, GivenUp> {
        let Some(&row) = self.rows.get(self.queens.len()) else {
            return Ok(self.columns.weight(self.bounds()));
        };
        if self.rows.len() - self.queens.len() > UNWATCHED {
            self.watch.check()?;
        }
        let mut found = 0;
        for column in bits(row & !(attacked.columns | (attacked.rising | attacked.falling) as u32))
        {
            let queen = 1 << column;
            self.nodes += 1;
            self.queens.push(column);
            found += self.fill(Attacked {
                columns: attacked.columns | queen,
                rising: (attacked.rising | u64::from(queen)) << 1,
                falling: (attacked.falling | u64::from(queen)) >> 1,
            })?;
            self.queens.pop();
        }
        Ok(found)
    }

    /// The ranks of the words of the rows of a filled board.
    fn bounds(&self) -> Bounds {
        let top = self.rank(self.queens.iter());
        let bottom = self.rank(self.queens.iter().rev());
        Bounds::new(top, bottom)
    }

    /// The rank of the word of the first ⌊n/2⌋ rows, whose queens stand in `queens`.
    fn rank<'a>(&self, queens: impl Iterator<Item = &'a u32>) -> u32 {
        let half = self.n / 2;
        let (mut left, mut mark) = (0, None);
        for (row, &column) in (0..half).zip(queens) {
            left |= u32::from(column < half) << row;
            if column == half && !self.n.is_multiple_of(2) {
                mark = Some(row);
            }
        }
        self.order.rank(left, mark)
    }
}
