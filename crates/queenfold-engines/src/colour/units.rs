use std::ops::Range;

use super::expansion::Expansion;
use super::kernel::ColourKernel;
use super::lines::Lines;
use super::lists::SetLists;
use super::orientation::Orientation;
use super::sub_boards::Rows;
use super::table::{Held, MOST, Table, Weights};
use crate::board::Size;
use crate::engine::{Mismatch, NotCounted, TaskWatch};
use crate::simd::Word;

/// A unit: a row set, and the even columns whose queen stands on white.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its placements among those on white.
    pub white: Range<usize>,
    /// Its placements among those on black.
    pub black: Range<usize>,
    /// How often its solutions count.
    pub weights: Weights,
}

/// What units gave.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Solutions, each as often as its weight says.
    pub completions: u64,
    /// Queens placed.
    pub nodes: u64,
}

/// Counts units of a set together.
///
/// The black placements are expanded by the even rows that black takes; each result adds 1 to the counter of
/// the odd columns it takes. Counters are multiplied by the weights of their columns. Then the white
/// placements are expanded by the odd rows that white takes; for each result, the counter of the other odd
/// columns is the number of solutions.
pub struct Units<K, T> {
    kernel: K,
    lines: Lines,
    /// For each word of odd columns that black takes, the rank of those that white takes.
    ranks: Vec<u16>,
    expansion: Expansion,
    table: Table<T>,
}

impl<K: ColourKernel, T: Word> Units<K, T> {
    /// For a board.
    pub fn new(n: Size, kernel: K) -> Self {
        let lines = Lines::of(n);
        let orientation = Orientation::of(n);
        let white = (0..1u32 << lines.odd).map(|black| lines.all_odd() & !black);
        Self {
            kernel,
            lines,
            ranks: white.map(|word| orientation.rank_of_odd(word)).collect(),
            expansion: Expansion::default(),
            table: Table::new(),
        }
    }

    /// The most units that the table has counters for.
    pub const fn most(&self) -> usize {
        1 << (u16::BITS - self.lines.odd)
    }

    /// Counts units, at most as many as [`most`](Self::most) says.
    ///
    /// # Errors
    /// The task is to be given up, or the table does not hold what was counted in it.
    pub fn count(
        &mut self,
        set: &SetLists<'_>,
        units: &[Unit],
        watch: &TaskWatch,
    ) -> Result<Counted, NotCounted> {
        let Self { kernel, lines, .. } = *self;
        self.table.clear(units.len() << lines.odd);
        self.begin(set, Rows::Odd, units);
        let mut counted = 0u64;
        let table = &mut self.table;
        let mut nodes = self
            .expansion
            .run(kernel, &set.black_side, watch, |indices| {
                counted += indices.len() as u64;
                table.add(indices);
            })?;
        let mut held = Held::default();
        for (number, unit) in units.iter().enumerate() {
            held = held.and(self.table.weigh(kernel, number, &self.ranks, unit.weights));
        }
        check::<T>(held, counted)?;
        self.begin(set, Rows::Even, units);
        let mut completions = 0;
        let flipped = lines.all_odd() as u16;
        let table = &self.table;
        nodes += self
            .expansion
            .run(kernel, &set.white_side, watch, |indices| {
                completions += table.sum(indices, flipped);
            })?;
        Ok(Counted { completions, nodes })
    }

    /// Sets the states that an expansion begins with: the placements of all units on these rows.
    fn begin(&mut self, set: &SetLists<'_>, rows: Rows, units: &[Unit]) {
        let (boards, side) = match rows {
            Rows::Even => (set.white, &set.white_side),
            Rows::Odd => (set.black, &set.black_side),
        };
        let level = self.expansion.start(side);
        let targets = side.rows().iter();
        let targets: Vec<_> = targets
            .map(|&row| rows.target(self.lines, set.squares, row))
            .collect();
        for (number, unit) in units.iter().enumerate() {
            let placements = match rows {
                Rows::Even => unit.white.clone(),
                Rows::Odd => unit.black.clone(),
            };
            let diagonals = boards.diagonals(placements);
            let first = (number << self.lines.odd) as u16;
            self.kernel.begin(diagonals, first, &targets, level);
        }
    }
}

/// Compares what the counters held with what was counted in them: a counter that was too small, or memory
/// that fails, shows.
fn check<T: Word>(held: Held, counted: u64) -> Result<(), Mismatch> {
    let most = held.bits.saturating_mul(MOST);
    if held.sum == counted as u32 && T::of(most).widen() == most {
        return Ok(());
    }
    Err(Mismatch(format!(
        "the table of a row set holds {} placements, up to {} in a counter of {} bits, and {counted} were \
         counted in it",
        held.sum,
        held.bits,
        T::BITS,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    /// What a table holds in which one counter was counted so often.
    fn held<T: Word>(times: usize) -> Held {
        use crate::simd::Simd;
        let kernel = Portable::new().unwrap();
        let mut table = Table::<T>::new();
        table.add(&vec![3; times]);
        let weights = Weights {
            below: 1,
            at: 0,
            threshold: 1,
        };
        table.weigh(kernel, 0, &[0; 16], weights)
    }

    #[test]
    fn a_counter_that_is_too_small_shows() {
        for (times, is_right) in [(1, true), (16_000, true), (17_000, false), (70_000, false)] {
            let narrow = check::<u16>(held::<u16>(times), times as u64);
            assert_eq!(narrow.is_ok(), is_right, "{times}: {narrow:?}");
            assert_eq!(check::<u32>(held::<u32>(times), times as u64), Ok(()));
        }
        assert!(check::<u16>(held::<u16>(5), 6).is_err());
    }
}
