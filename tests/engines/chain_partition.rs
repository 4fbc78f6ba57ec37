//! The partitions of the chain engine, told from their ranks by the documented order alone.

use queenfold::chain::{Border, ChainPlan};
use queenfold::engine::Plan;

/// A border and the queens of the next rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Partition {
    pub border: Border,
    pub weight: u8,
    /// Columns of the queens in the first free rows, from the top.
    pub prefix: Vec<u8>,
}

impl Partition {
    /// The partition of a rank; `None` if the rank is empty or too large.
    pub fn of_rank(plan: &ChainPlan, rank: u64) -> Option<Self> {
        let borders = plan.borders();
        let prefix = plan.prefix_columns(rank);
        let index = (rank / ranks_per_border(plan)) as usize;
        let (border, weight) = *borders.list().get(index)?;
        let frame = borders.frame(index);
        let mut taken = frame.start;
        for (&row, &column) in frame.rows.iter().zip(&prefix) {
            if frame.free(taken, row) & 1 << column == 0 {
                return None;
            }
            taken = taken.enter(row).place(1 << column);
        }
        Some(Self {
            border,
            weight,
            prefix,
        })
    }

    /// Its rank on the free board.
    pub fn rank(&self, plan: &ChainPlan) -> u64 {
        let mut list = plan.borders().list().iter();
        let index = list.position(|(border, _)| *border == self.border).unwrap();
        let inner = u64::from(plan.size().get()).saturating_sub(2).max(1);
        let columns = self.prefix.iter();
        columns.fold(index as u64, |rank, &column| {
            rank * inner + u64::from(column) - 1
        })
    }
}

/// The number of ranks of a border, empty ones included.
fn ranks_per_border(plan: &ChainPlan) -> u64 {
    let borders = plan.borders().list().len() as u64;
    // Two queens have no border.
    plan.ranks().checked_div(borders).unwrap_or(1)
}

/// The border of a placement with one queen in each row and column.
pub fn border_of(columns: &[u8]) -> Border {
    let last = columns.len() as u8 - 1;
    let row_of = |column| columns.iter().position(|&c| c == column).unwrap() as u8;
    Border {
        top: columns[0],
        bottom: columns[usize::from(last)],
        left: row_of(0),
        right: row_of(last),
    }
}
