//! The oracle of the colour engine: another method to count the same tasks.

use std::collections::HashMap;

use super::lines::Lines;
use super::orientation::Orientation;
use super::{ColourBoard, Partition};
use crate::board::{Squares, bits};
use crate::engine::{Counter, GivenUp, NotCounted, Tally, Task, TaskWatch};

/// The second method of the colour engine: places the queens of each colour on the squares of the board
/// itself, row by row, and counts the placements by their columns.
///
/// It has no sub-boards, no vectors and no table of weights. It is slow, and simple enough to trust.
pub struct ColourOracle {
    board: ColourBoard,
}

impl ColourOracle {
    pub(super) const fn new(board: ColourBoard) -> Self {
        Self { board }
    }

    /// The completions of a partition, each counted as often as [`Orientation`] says. Adds the queens
    /// placed to `nodes`.
    ///
    /// # Errors
    /// The task is to be given up.
    pub(super) fn completions(
        &self,
        partition: &Partition,
        nodes: &mut u64,
        watch: &TaskWatch,
    ) -> Result<u64, GivenUp> {
        let n = self.board.size();
        let orientation = Orientation::of(n);
        let rows = orientation.class([partition.set.even, partition.set.odd]);
        let mut placements = |colour| {
            let mut search = Placements::new(n.get(), partition, colour, watch);
            search.fill(0, Attacked::default())?;
            *nodes += search.nodes;
            Ok(search.found)
        };
        let white = placements(Colour::White)?;
        let black = placements(Colour::Black)?;
        let counts = white.into_iter().map(|(columns, white)| {
            let black = black.get(&(n.full_mask() & !columns)).copied();
            let times = if self.board.is_oriented {
                Orientation::weight(rows, orientation.class(Lines::split(columns)))
            } else {
                1
            };
            white * black.unwrap_or(0) * times
        });
        Ok(counts.sum())
    }
}

impl Counter for ColourOracle {
    fn backend(&self) -> &'static str {
        "scalar"
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            if let Some(partition) = self.board.partition(rank) {
                let found = self.completions(&partition, &mut tally.nodes, watch)?;
                tally.completions.add(partition.set.weight, found.into());
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}

/// The colour of a square: white where row + column is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    White,
    Black,
}

impl Colour {
    /// The rows of a partition whose queen stands on this colour, each with the columns she may take.
    pub fn rows(self, n: u32, partition: &Partition) -> Vec<(u32, u32)> {
        let white = partition.set.rows();
        let open: &Squares = &partition.open;
        (0..n)
            .filter(|&row| (white >> row & 1 == 1) == (self == Self::White))
            .map(|row| {
                let same = (row % 2 == 0) == (self == Self::White);
                let columns = if same { 0x5555_5555 } else { 0xAAAA_AAAA };
                (row, columns & open.row(row))
            })
            .collect()
    }
}

/// A search for the placements of one colour.
struct Placements<'a> {
    rows: Vec<(u32, u32)>,
    watch: &'a TaskWatch,
    /// The number of placements by the columns of their queens.
    found: HashMap<u32, u64>,
    /// The number of queens placed.
    nodes: u64,
}

/// What the queens placed so far attack.
#[derive(Clone, Copy, Default)]
struct Attacked {
    columns: u32,
    /// Diagonals by row + column.
    rising: u64,
    /// Diagonals by 31 + row − column.
    falling: u64,
}

impl<'a> Placements<'a> {
    fn new(n: u32, partition: &Partition, colour: Colour, watch: &'a TaskWatch) -> Self {
        Self {
            rows: colour.rows(n, partition),
            watch,
            found: HashMap::new(),
            nodes: 0,
        }
    }

    fn fill(&mut self, at: usize, attacked: Attacked) -> Result<(), GivenUp> {
        let Some(&(row, columns)) = self.rows.get(at) else {
            *self.found.entry(attacked.columns).or_default() += 1;
            return Ok(());
        };
        self.watch.check()?;
        for column in bits(columns & !attacked.columns) {
            let (rising, falling) = (row + column, 31 + row - column);
            if (attacked.rising >> rising | attacked.falling >> falling) & 1 == 0 {
                self.nodes += 1;
                let next = Attacked {
                    columns: attacked.columns | 1 << column,
                    rising: attacked.rising | 1 << rising,
                    falling: attacked.falling | 1 << falling,
                };
                self.fill(at + 1, next)?;
            }
        }
        Ok(())
    }
}
