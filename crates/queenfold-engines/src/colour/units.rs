//! Joins the two colours: fills counters by the placements of one, and sums them by those of the other.

use std::ops::Range;

use super::expansion::Expansion;
use super::kernel::ColourKernel;
use super::last_row::LastRow;
use super::lines::{Lines, Parity};
use super::list_cache::{Listed, SetLists};
use super::orientation::Orientation;
use super::table::{Held, Table, Weights, largest_weight};
use crate::board::Size;
use crate::engine::{Mismatch, NotCounted, TaskWatch};
use crate::simd::Word;

/// A unit: a row set, and the columns of one parity whose queen stands on white.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its placements among those on white.
    pub white: Range<usize>,
    /// Its placements among those on black.
    pub black: Range<usize>,
    /// How often its solutions count, by the rank of the other columns.
    pub weights: Weights,
}

/// What units gave.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Solutions, each as often as its weight says.
    pub completions: u64,
    /// Queens placed.
    pub nodes: u64,
    /// At least the largest counter, before it was weighed; less than twice that.
    pub largest: u32,
}

/// Counts units of a set together.
///
/// The placements of one colour are expanded by the rows that are left to it; each result adds 1 to the counter
/// of the other columns it takes. Counters are multiplied by the weights of their columns. Then the
/// placements of the other colour are expanded; for each result, the counter of the columns it leaves is the
/// number of solutions.
///
/// On large boards the last row is counted at once, see [`LastRow`].
///
/// The counters are of black placements where the units are by even columns, and of white ones where they are by
/// odd columns. So the same set counted both ways has no list, no counter and no sum of a unit in common.
pub struct Units<K, T> {
    kernel: K,
    lines: Lines,
    /// The parity of the columns of a unit.
    columns: Parity,
    /// For each number of columns that are taken, by the number of a counter the rank of the columns that
    /// white takes.
    ranks: Vec<Vec<u16>>,
    expansion: Expansion,
    table: Table<T>,
    /// The largest counter that may be weighed.
    largest: u32,
    last_row: Option<LastRow>,
}

impl<K: ColourKernel, T: Word> Units<K, T> {
    /// For a board, of the columns of a parity. With `by_last_row` placements are counted before their last queen.
    pub fn new(n: Size, columns: Parity, by_last_row: bool, kernel: K) -> Self {
        let lines = Lines::of(n);
        let orientation = Orientation::of(n);
        let others = columns.other();
        let all = lines.all(others);
        let ranks = |count: u32| {
            let taken = (0..=all.max(1) / 2).map(|half| {
                // The first bit, which the others tell.
                let first = (count ^ half.count_ones()) & 1;
                (2 * half) | first
            });
            let white = taken.map(|taken| match columns {
                Parity::Even => all & !taken,
                Parity::Odd => all & taken,
            });
            white.map(|word| orientation.rank(others, word)).collect()
        };
        Self {
            kernel,
            lines,
            columns,
            ranks: (0..=lines.count(others)).map(ranks).collect(),
            expansion: Expansion::default(),
            table: Table::new(),
            largest: T::of(u32::MAX).widen() / largest_weight(n),
            last_row: by_last_row.then(|| LastRow::new(column_bits(lines, columns))),
        }
    }

    /// Bits of an index that are the columns.
    fn column_bits(&self) -> u32 {
        column_bits(self.lines, self.columns)
    }

    /// The most units that the table has counters for.
    pub fn most(&self) -> usize {
        1 << (u16::BITS - self.column_bits())
    }

    /// The same, with counters of 32 bits.
    pub fn wide(&self, n: Size) -> Units<K, u32> {
        Units::new(n, self.columns, false, self.kernel)
    }

    /// The largest counter that may be weighed: beyond it, the table does not hold what was counted in it.
    pub const fn largest(&self) -> u32 {
        self.largest
    }

    /// The same, but a counter may be so large at most.
    #[cfg(test)]
    pub fn with_largest(mut self, largest: u32) -> Self {
        self.largest = largest;
        self
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
        let kernel = self.kernel;
        let (first, second) = match self.columns {
            Parity::Even => (&set.black, &set.white),
            Parity::Odd => (&set.white, &set.black),
        };
        self.table.clear(units.len() << (self.column_bits() - 1));
        self.begin(set, first, units);
        let (table, expansion) = (&mut self.table, &mut self.expansion);
        let taken = first.side.rows().len();
        let mut counted = 0u64;
        let mut nodes;
        match self.last_row.as_mut().filter(|_| taken > 0) {
            Some(last_row) => {
                last_row.clear(units.len());
                nodes = expansion.run(kernel, &first.side, 1, watch, |states| {
                    counted += last_row.add(kernel, states.word(0), states.word(1));
                })?;
                nodes += counted;
                last_row.move_to(table, units.len(), taken);
            }
            None => {
                nodes = expansion.run(kernel, &first.side, 0, watch, |states| {
                    counted += states.len() as u64;
                    table.add(states.word(0));
                })?;
            }
        }
        let mut held = Held::default();
        let ranks = &self.ranks[taken];
        for (number, unit) in units.iter().enumerate() {
            held = held.and(self.table.weigh(kernel, number, ranks, unit.weights));
        }
        check::<T>(held, counted, self.largest)?;
        self.begin(set, second, units);
        let (table, expansion) = (&self.table, &mut self.expansion);
        let taken = second.side.rows().len();
        let (mut completions, mut last_queens) = (0, 0);
        match self.last_row.as_mut().filter(|_| taken > 0) {
            Some(last_row) => {
                last_row.take_from(table, units.len(), taken);
                nodes += expansion.run(kernel, &second.side, 1, watch, |states| {
                    let (counters, queens) = last_row.sum(kernel, states.word(0), states.word(1));
                    completions += counters;
                    last_queens += queens;
                })?;
                nodes += last_queens;
            }
            None => {
                let flipped = self.lines.all(self.columns.other()) as u16;
                nodes += expansion.run(kernel, &second.side, 0, watch, |states| {
                    completions += table.sum(states.word(0), flipped);
                })?;
            }
        }
        Ok(Counted {
            completions,
            nodes,
            largest: held.bits,
        })
    }

    /// Sets the states that an expansion begins with: the placements of all units on squares of a colour.
    fn begin(&mut self, set: &SetLists<'_>, listed: &Listed<'_>, units: &[Unit]) {
        let is_white = listed.board.is_white();
        let of = |unit: &Unit| match is_white {
            true => unit.white.clone(),
            false => unit.black.clone(),
        };
        let bits = self.column_bits();
        let level = self.expansion.start(&listed.side);
        let targets = listed.side.rows().iter();
        let targets: Vec<_> = targets
            .map(|&row| listed.board.other_row(self.lines, set.squares, row))
            .collect();
        level.make_room(units.iter().map(|unit| of(unit).len()).sum());
        // Placements that follow each other in the list become states together. Those on black do from the
        // last unit to the first: the more columns white takes, the fewer are left.
        let mut run = 0..0;
        for place in 0..units.len() {
            let number = if is_white {
                place
            } else {
                units.len() - 1 - place
            };
            let placements = of(&units[number]);
            if placements.start != run.end {
                self.kernel
                    .begin(listed.placements.diagonals(run), &targets, level);
                run = placements.start..placements.start;
            }
            level.set_first(run.len(), placements.len(), (number << bits) as u16);
            run.end = placements.end;
        }
        self.kernel
            .begin(listed.placements.diagonals(run), &targets, level);
    }
}

/// Bits of an index that are the columns, where units are of the columns of a parity.
fn column_bits(lines: Lines, columns: Parity) -> u32 {
    lines.count(columns.other()).max(1)
}

/// Compares what the counters held with what was counted in them: a counter that was too small, or memory
/// that fails, shows.
fn check<T: Word>(held: Held, counted: u64, largest: u32) -> Result<(), Mismatch> {
    if held.sum == counted as u32 && held.bits <= largest {
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

    /// The same, counted before the last queen.
    fn held_by_rows(times: usize) -> Held {
        use crate::simd::Simd;
        let kernel = Portable::new().unwrap();
        let (mut rows, mut table) = (LastRow::new(4), Table::<u16>::new());
        let counted = rows.add(kernel, &vec![0b0001; times], &vec![0b0010; times]);
        assert_eq!(counted, times as u64);
        rows.move_to(&mut table, 1, 2);
        table.weigh(kernel, 0, &[0; 8], Weights::all(1))
    }

    #[test]
    fn a_counter_that_is_too_small_shows() {
        let narrow = |held, times| check::<u16>(held, times as u64, 16_383);
        for (times, is_right) in [(1, true), (16_000, true), (17_000, false), (70_000, false)] {
            let one_by_one = narrow(held::<u16>(times), times);
            assert_eq!(one_by_one.is_ok(), is_right, "{times}: {one_by_one:?}");
            let wide = check::<u32>(held::<u32>(times), times as u64, 1 << 30);
            assert_eq!(wide, Ok(()));
            let rows = narrow(held_by_rows(times), times);
            assert_eq!(rows.is_ok(), is_right, "{times}: {rows:?}");
        }
        assert!(narrow(held::<u16>(5), 6).is_err());
    }
}
