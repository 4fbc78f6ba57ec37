use super::{Half, Partition};
use crate::board::Size;
use crate::engine::{Counter, Mismatch, Tally, Task};

/// The second method of the join: counts the same tasks by backtracking over the rows of the whole
/// board, where each row may use only the columns that the partition allows it.
///
/// It has no lists, keys or vectors. It is slow, and simple enough to trust.
pub struct JoinOracle {
    n: Size,
}

/// The squares of the next row that the queens placed so far attack.
#[derive(Clone, Copy)]
struct Attacked {
    columns: u32,
    rising: u64,
    falling: u64,
}

impl JoinOracle {
    pub(super) fn new(n: Size) -> Self {
        Self { n }
    }

    /// The columns that each row of the board may use, from the top.
    fn rows(&self, partition: &Partition) -> Vec<u32> {
        let bottom = partition.bottom.allowed().iter().rev();
        let middle = partition.set.middle.map(|column| 1 << column);
        let top: &Half = &partition.top;
        top.allowed()
            .iter()
            .copied()
            .chain(middle)
            .chain(bottom.copied())
            .collect()
    }
}

impl Counter for JoinOracle {
    fn backend(&self) -> &'static str {
        "scalar"
    }

    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            if let Some(partition) = Partition::of_rank(self.n, rank) {
                let start = Attacked {
                    columns: 0,
                    rising: 0,
                    falling: 0,
                };
                let found = fill(&self.rows(&partition), start, &mut tally.nodes);
                tally.completions.add(partition.set.weight, found.into());
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}

/// The number of ways to fill `rows`. Adds the number of queens placed to `nodes`.
fn fill(rows: &[u32], attacked: Attacked, nodes: &mut u64) -> u64 {
    let Some((&row, below)) = rows.split_first() else {
        return 1;
    };
    let mut found = 0;
    let mut free = row & !(attacked.columns | (attacked.rising | attacked.falling) as u32);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        *nodes += 1;
        let next = Attacked {
            columns: attacked.columns | queen,
            rising: (attacked.rising | u64::from(queen)) << 1,
            falling: (attacked.falling | u64::from(queen)) >> 1,
        };
        found += fill(below, next, nodes);
    }
    found
}
