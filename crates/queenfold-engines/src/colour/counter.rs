//! The counter of the colour engine for CPUs: cuts tasks into units, and says how often solutions count.

use std::cmp::Ordering;

use super::kernel::ColourKernel;
use super::lines::{Lines, Parity, reversed};
use super::list_cache::Lists;
use super::orientation::Orientation;
use super::row_sets::words;
use super::table::Weights;
use super::units::{Unit, Units};
use super::{ColourBoard, Partition, RowSet};
use crate::engine::{Counter, CounterSettings, NotCounted, Stretch, Tally, Task, TaskWatch};
use crate::simd::{Algorithm, Isa, Simd, Word};

/// Whether all placements of a board are counted at a time that differ in the last queen alone: where queens or holes
/// are given, a unit has few placements.
pub fn by_last_row(board: &ColourBoard) -> bool {
    board.size().get() >= 26 && board.given().is_free()
}

/// How many placements of a colour are expanded together at least, if there are as many.
const BATCH: usize = 4096;

/// A counter for the instruction set that `settings` ask for.
pub struct NewCounter {
    /// What it counts.
    pub board: ColourBoard,
    /// Whether it counts all placements at a time that differ in the last queen alone.
    pub by_last_row: bool,
    /// The parity of the columns of a [unit](Units). Two counters that differ in it are two methods.
    pub columns: Parity,
}

impl NewCounter {
    /// The counter for a board.
    ///
    /// # Panics
    /// If this machine does not have the instruction set.
    pub fn of(board: ColourBoard, columns: Parity, settings: &CounterSettings) -> Box<dyn Counter> {
        settings.isa.run(Self {
            by_last_row: by_last_row(&board),
            board,
            columns,
        })
    }
}

/// The name of a kernel that counts units of the columns of a parity.
pub const fn kernel_name(columns: Parity, isa: Isa) -> &'static str {
    match (columns, isa) {
        (Parity::Even, isa) => isa.name(),
        (Parity::Odd, Isa::Portable) => "portable-transposed",
        (Parity::Odd, Isa::Neon) => "neon-transposed",
        (Parity::Odd, Isa::Avx2) => "avx2-transposed",
        (Parity::Odd, Isa::Avx512) => "avx512-transposed",
    }
}

/// Counts one set with counters of 32 bits.
pub struct WideSet<'a> {
    /// The board.
    pub board: &'a ColourBoard,
    /// The parity of the columns of a unit.
    pub columns: Parity,
    /// The set.
    pub partition: &'a Partition,
}

impl Algorithm for WideSet<'_> {
    /// The completions, the queens placed, and at least the largest counter.
    type Output = Result<(u64, u64, u32), NotCounted>;

    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let new = NewCounter {
            board: self.board.clone(),
            by_last_row: false,
            columns: self.columns,
        };
        let mut counter = ColourCounter::<S, u32>::new(new, simd);
        let (mut tally, watch) = (Tally::default(), TaskWatch::default());
        let found = counter.completions(self.partition, &mut tally, watch.whole())?;
        Ok((found, tally.nodes, counter.largest))
    }
}

impl Algorithm for NewCounter {
    type Output = Box<dyn Counter>;

    fn run<S: Simd>(self, simd: S) -> Box<dyn Counter> {
        Box::new(ColourCounter::<S, u16>::new(self, simd))
    }
}

/// Counts colour tasks with one instruction set and counters of one width.
struct ColourCounter<K, T> {
    board: ColourBoard,
    /// The parity of the columns of a unit.
    columns: Parity,
    /// For each number of these columns, their words.
    words: Vec<Vec<u16>>,
    lists: Lists,
    batch: Vec<Unit>,
    units: Units<K, T>,
    /// What counts units again that have a counter too large for `units`; made when it is first needed.
    wide: Option<Units<K, u32>>,
    /// At least the largest counter so far, before it was weighed; less than twice that.
    largest: u32,
}

impl<K: ColourKernel, T: Word> ColourCounter<K, T> {
    fn new(counter: NewCounter, kernel: K) -> Self {
        let NewCounter {
            board,
            by_last_row,
            columns,
        } = counter;
        let n = board.size();
        Self {
            board,
            columns,
            words: words(Lines::of(n).count(columns)),
            lists: Lists::new(columns),
            batch: Vec::new(),
            units: Units::new(n, columns, by_last_row, kernel),
            wide: None,
            largest: 0,
        }
    }

    /// The completions of a partition, each as often as [`Orientation`] says. Adds the queens placed to the
    /// nodes of `tally`, to which the partition will be added. It is this stretch of the task.
    fn completions(
        &mut self,
        partition: &Partition,
        tally: &mut Tally,
        stretch: Stretch<'_>,
    ) -> Result<u64, NotCounted> {
        let Self {
            board,
            words,
            lists,
            batch,
            units,
            wide,
            largest,
            columns: parity,
        } = self;
        let RowSet { even, odd, weight } = partition.set;
        let set = lists.of(board, partition, stretch.watch())?;
        let all = Lines::of(board.size()).all(*parity);
        let class = Orientation::of(board.size()).class([even, odd]);
        // White takes as many columns of a parity as rows of the same.
        let columns = &words[partition.set.word(*parity).count_ones() as usize];
        let before = tally.completions.solutions() as u64;
        let most = units.most();
        let (mut white, mut black, mut found) = (0, 0, 0u64);
        batch.clear();
        for (done, &word) in (1..).zip(columns) {
            let word = u32::from(word);
            if let Some(weights) = weights(board, class, *parity, word) {
                let unit = Unit {
                    white: set.white.placements.of_columns(word),
                    black: set.black.placements.of_columns(all & !word),
                    weights,
                };
                if !unit.white.is_empty() && !unit.black.is_empty() {
                    white += unit.white.len();
                    black += unit.black.len();
                    batch.push(unit);
                }
            }
            let is_full = batch.len() == most || white.max(black) >= BATCH;
            if is_full || done == columns.len() {
                let counted = match units.count(&set, batch, stretch.watch()) {
                    Err(NotCounted::Mismatch(why)) => {
                        let wide = wide.get_or_insert_with(|| units.wide(board.size()));
                        let counted = wide.count(&set, batch, stretch.watch())?;
                        if counted.largest <= units.largest() {
                            // The counters did hold them: memory or the processor failed.
                            return Err(why.into());
                        }
                        counted
                    }
                    counted => counted?,
                };
                *largest |= counted.largest;
                found += counted.completions;
                tally.nodes += counted.nodes;
                let solutions = before.saturating_add(found.saturating_mul(weight.into()));
                stretch.watch().note_counted(tally.nodes, solutions);
                stretch.step(done as u64, columns.len() as u64)?;
                batch.clear();
                (white, black) = (0, 0);
            }
        }
        Ok(found)
    }
}

/// How often solutions count whose white queens take this word of columns of a parity, and rows of this class;
/// `None` if they do not count.
#[inline]
pub(super) fn weights(
    board: &ColourBoard,
    rows: [u16; 2],
    parity: Parity,
    word: u32,
) -> Option<Weights> {
    let n = board.size();
    let is_even = n.get().is_multiple_of(2);
    // On boards of odd size a set of columns stands for the reversed one, too.
    let times = if is_even || !board.is_mirrored {
        1
    } else {
        let backwards = reversed(word, Lines::of(n).count(parity));
        as_often(word.cmp(&backwards))?
    };
    if !board.is_oriented {
        return Some(Weights::all(times));
    }
    let [first, second] = rows;
    let rank = Orientation::of(n).rank(parity, word);
    let beside = |other| as_often(rank.cmp(&other)).unwrap_or(0) * times;
    match rank.cmp(&first) {
        // On boards of odd size, the rank of the even columns comes first in the class.
        _ if !is_even && parity == Parity::Odd => Some(Weights {
            below: 2 * times,
            at: beside(second),
            threshold: first,
        }),
        Ordering::Greater => None,
        Ordering::Equal => Some(Weights {
            below: 2 * times,
            at: times,
            threshold: second,
        }),
        // On boards of even size, the rank of the other columns may be the larger one of the class.
        Ordering::Less if is_even => Some(Weights {
            below: 2 * times,
            at: beside(second),
            threshold: first,
        }),
        Ordering::Less => Some(Weights::all(2 * times)),
    }
}

/// How often one of two images of each other counts: twice if it is the smaller, once if it is both.
const fn as_often(ordering: Ordering) -> Option<u16> {
    match ordering {
        Ordering::Less => Some(2),
        Ordering::Equal => Some(1),
        Ordering::Greater => None,
    }
}

impl<K: ColourKernel, T: Word> Counter for ColourCounter<K, T> {
    fn backend(&self) -> &'static str {
        kernel_name(self.columns, K::ISA)
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        let ranks = task.ranks.end - task.ranks.start;
        for rank in task.ranks.clone() {
            let stretch = watch.whole().part(rank - task.ranks.start, ranks);
            if let Some(partition) = self.board.partition(rank) {
                let found = self.completions(&partition, &mut tally, stretch)?;
                tally.completions.add(partition.set.weight, found.into());
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::board::{Size, Square};
    use crate::colour::{ColourOracle, ColourPlan};
    use crate::engine::Plan;
    use crate::simd::Portable;

    #[test]
    fn units_with_a_counter_that_is_too_small_are_counted_again() {
        let n = Size::new(13).unwrap();
        let plan = ColourPlan::new(n);
        let tasks: Vec<_> = (0..plan.tasks()).map(|index| plan.task(index)).collect();
        let count = |largest, by_last_row| {
            let new = NewCounter {
                board: n.into(),
                by_last_row,
                columns: Parity::Even,
            };
            let mut counter = ColourCounter::<_, u16>::new(new, Portable::new().unwrap());
            counter.units = counter.units.with_largest(largest);
            let tallies = tasks.iter().map(|task| counter.count(task).unwrap());
            let tally: Tally = tallies.sum();
            (tally, counter.wide.is_some())
        };
        let (expected, again) = count(16_383, false);
        assert!(!again);
        for by_last_row in [false, true] {
            assert_eq!(count(3, by_last_row), (expected, true), "{by_last_row}");
        }
    }

    /// Single units of large boards, whose sets take the oracle hours: the squares of all others are closed.
    #[test]
    fn units_of_29_and_30_queens_are_counted_as_by_the_oracle() {
        for n in [29, 30].map(|n| Size::new(n).unwrap()) {
            for columns in [Parity::Even, Parity::Odd] {
                let board = ColourBoard::from(n);
                let mut partition = board.partition(board.ranks() / 3).unwrap();
                let taken = partition.set.word(columns).count_ones();
                let lines = Lines::of(n);
                // The first word from there on that is below its reflected one.
                let from = 5 << taken;
                let mut alike = (from..).filter(|word: &u32| word.count_ones() == taken);
                let is_unit = |word: &u32| *word < reversed(*word, lines.count(columns));
                let word = alike.find(is_unit).unwrap();
                let odd = u8::from(columns == Parity::Odd);
                Arc::make_mut(&mut partition.open).retain(|Square { row, column }| {
                    let is_white = (row + column) % 2 == 0;
                    column % 2 != odd || is_white == (word >> (column / 2) & 1 == 1)
                });
                let (mut nodes, watch) = (0, TaskWatch::default());
                let oracle = ColourOracle::new(board.clone());
                let expected = oracle.completions(&partition, &mut nodes, &watch).unwrap();
                assert!(expected > 0, "n = {n}, {columns:?}");
                let times = if n.get() % 2 == 0 { 1 } else { 2 };
                let new = NewCounter {
                    by_last_row: by_last_row(&board),
                    board,
                    columns,
                };
                let mut counter = ColourCounter::<_, u16>::new(new, Portable::new().unwrap());
                let found = counter.completions(&partition, &mut Tally::default(), watch.whole());
                assert_eq!(found.unwrap(), times * expected, "n = {n}, {columns:?}");
            }
        }
    }
}
