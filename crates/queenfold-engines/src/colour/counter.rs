use std::cmp::Ordering;

use super::kernel::ColourKernel;
use super::lines::{Lines, reversed};
use super::lists::Lists;
use super::orientation::Orientation;
use super::row_sets::words;
use super::table::Weights;
use super::units::{Unit, Units};
use super::{ColourBoard, Partition, RowSet};
use crate::engine::{Counter, CounterSettings, NotCounted, Stretch, Tally, Task, TaskWatch};
use crate::simd::{Algorithm, Simd, Word};

/// The largest board whose counters are of 16 bits: none was seen above 6,390 there.
const LAST_NARROW: u32 = 28;

/// How many placements of a colour are expanded together at least, if there are as many.
const BATCH: usize = 4096;

/// How many units are counted together at most: their counters take 128 KiB at 20 queens.
const MOST_UNITS: usize = 64;

/// A counter for the instruction set that `settings` ask for, with counters of 32 bits if `is_wide` is set.
///
/// # Panics
/// If this machine does not have the instruction set.
pub fn counter(board: ColourBoard, settings: &CounterSettings, is_wide: bool) -> Box<dyn Counter> {
    settings.isa.run(NewCounter { board, is_wide })
}

/// Whether a board needs counters of 32 bits.
pub fn is_wide(board: &ColourBoard) -> bool {
    board.size().get() > LAST_NARROW
}

/// Makes a counter for an instruction set.
struct NewCounter {
    board: ColourBoard,
    is_wide: bool,
}

impl Algorithm for NewCounter {
    type Output = Box<dyn Counter>;

    fn run<S: Simd>(self, simd: S) -> Box<dyn Counter> {
        match self.is_wide {
            false => Box::new(ColourCounter::<S, u16>::new(self.board, simd)),
            true => Box::new(ColourCounter::<S, u32>::new(self.board, simd)),
        }
    }
}

/// Counts colour tasks with one instruction set and counters of one width.
struct ColourCounter<K, T> {
    board: ColourBoard,
    /// For each number of even columns, their words.
    words: Vec<Vec<u16>>,
    lists: Lists,
    batch: Vec<Unit>,
    units: Units<K, T>,
}

impl<K: ColourKernel, T: Word> ColourCounter<K, T> {
    fn new(board: ColourBoard, kernel: K) -> Self {
        let n = board.size();
        Self {
            board,
            words: words(Lines::of(n).even),
            lists: Lists::default(),
            batch: Vec::new(),
            units: Units::new(n, kernel),
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
        } = self;
        let RowSet { even, odd, weight } = partition.set;
        let set = lists.of(board, partition);
        let all = Lines::of(board.size()).all_even();
        let class = Orientation::of(board.size()).class([even, odd]);
        let columns = &words[even.count_ones() as usize];
        let before = tally.completions.solutions() as u64;
        let most = MOST_UNITS.min(units.most());
        let (mut white, mut black, mut found) = (0, 0, 0u64);
        batch.clear();
        for (done, &word) in (1..).zip(columns) {
            let word = u32::from(word);
            if let Some(weights) = weights(board, class, word) {
                let unit = Unit {
                    white: set.white.of_columns(word),
                    black: set.black.of_columns(all & !word),
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
                let counted = units.count(&set, batch, stretch.watch())?;
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

/// How often solutions count whose white queens take this word of even columns, and rows of this class;
/// `None` if they do not count.
pub(super) fn weights(board: &ColourBoard, rows: [u16; 2], word: u32) -> Option<Weights> {
    let n = board.size();
    let is_even = n.get().is_multiple_of(2);
    // On boards of odd size a set of columns stands for the reversed one, too.
    let times = if is_even || !board.is_mirrored() {
        1
    } else {
        let backwards = reversed(word, Lines::of(n).even);
        as_often(word.cmp(&backwards))?
    };
    let all = |below| Weights {
        below,
        at: 0,
        threshold: u16::MAX,
    };
    if !board.is_oriented() {
        return Some(all(times));
    }
    let [first, second] = rows;
    let rank = Orientation::of(n).rank_of_even(word);
    match rank.cmp(&first) {
        Ordering::Greater => None,
        Ordering::Equal => Some(Weights {
            below: 2 * times,
            at: times,
            threshold: second,
        }),
        // The rank of the odd columns may be the larger one of the class.
        Ordering::Less if is_even => Some(Weights {
            below: 2 * times,
            at: as_often(rank.cmp(&second)).unwrap_or(0) * times,
            threshold: first,
        }),
        Ordering::Less => Some(all(2 * times)),
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
        K::ISA.name()
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
