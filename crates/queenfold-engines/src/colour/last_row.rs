//! Counts the placements of large boards before their last queen is placed.

use super::row_sets::words;
use super::table::Table;
use crate::simd::{ROW, Simd, Word};

/// Counters of placements that lack their last queen: for the columns taken so far, one for each column of that
/// queen.
///
/// A state with one row left has a placement for each square that is free there: it adds 1 to the counters of all of
/// them in one step, and the placements themselves are not made. On large boards that saves more than it takes to move
/// the counters to the [`Table`], where they are weighed, and back.
///
/// An index is that of a table. The row of counters is the one of half the index.
#[derive(Debug)]
pub struct LastRow {
    /// Bits of an index that are the columns.
    columns: u32,
    /// For each number of columns, their words.
    words: Vec<Vec<u16>>,
    /// For each number of columns, the counters of the first of these words, one for each of its columns that is
    /// the last, then those of the next word.
    cells: Vec<Vec<u32>>,
    /// The rows begin after some, where a line of the cache does: no row is in two lines.
    counters: Vec<u16>,
    before: usize,
}

/// The rows for all indices of 16 bits.
const ROWS: usize = 1 << 15;

/// The bytes of a line of the cache.
const LINE: usize = 64;

/// How many states are summed at once. A sum takes two counters of each, and 2 · 2¹⁵ · 65,535 is less than 2³².
const SUMMED: usize = 1 << 15;

impl LastRow {
    /// For indices of so many bits that are columns.
    pub fn new(columns: u32) -> Self {
        let words = words(columns);
        let cells = |words: &Vec<u16>| {
            let last = |&word: &u16| {
                let columns = (0..ROW as u32).filter(move |column| word >> column & 1 == 1);
                columns.map(move |column| {
                    let row = u32::from(word ^ 1 << column) >> 1;
                    row * ROW as u32 + column
                })
            };
            words.iter().flat_map(last).collect()
        };
        let counters = vec![0u16; ROWS * ROW + LINE / size_of::<u16>()];
        Self {
            columns,
            cells: words.iter().map(cells).collect(),
            words,
            // An interpreter may know no alignment: then any place will do.
            before: counters
                .as_ptr()
                .align_offset(LINE)
                .min(LINE / size_of::<u16>()),
            counters,
        }
    }

    /// The counters of a unit.
    const fn of_unit(&self) -> usize {
        ROW << (self.columns - 1)
    }

    /// Sets the counters of the first `units` to zero.
    pub fn clear(&mut self, units: usize) {
        let count = units * self.of_unit();
        self.counters[self.before..][..count].fill(0);
    }

    fn rows(&self) -> &[[u16; ROW]; ROWS] {
        let rows = self.counters[self.before..].as_chunks().0;
        rows.first_chunk()
            .unwrap_or_else(|| unreachable!("that many were made"))
    }

    fn rows_mut(&mut self) -> &mut [[u16; ROW]; ROWS] {
        let rows = self.counters[self.before..].as_chunks_mut().0;
        rows.first_chunk_mut()
            .unwrap_or_else(|| unreachable!("that many were made"))
    }

    /// Counts the placements that follow from states, given by their indices and the squares that are free in the last
    /// row. Returns how many there are.
    pub fn add<S: Simd>(&mut self, simd: S, indices: &[u16], free: &[u16]) -> u64 {
        let rows = self.rows_mut();
        simd.vectorize(
            #[inline(always)]
            move || {
                let free = &free[..indices.len()];
                // By number: an iterator over two lists need not be inlined.
                for place in 0..indices.len() {
                    simd.increment(&mut rows[usize::from(indices[place]) >> 1], free[place]);
                }
            },
        );
        queens(simd, free)
    }

    /// The sum of the counters of the squares that are free in the last row, and how many these are.
    pub fn sum<S: Simd>(&self, simd: S, indices: &[u16], free: &[u16]) -> (u64, u64) {
        let rows = self.rows();
        let (mut sum, mut counted) = (0, 0);
        for (indices, free) in indices.chunks(SUMMED).zip(free.chunks(SUMMED)) {
            let sums = simd.vectorize(
                #[inline(always)]
                move || {
                    let free = &free[..indices.len()];
                    let mut sums = [0; ROW / 2];
                    for place in 0..indices.len() {
                        let row = &rows[usize::from(indices[place]) >> 1];
                        simd.add_pairs(&mut sums, row, free[place]);
                    }
                    sums
                },
            );
            sum += sums.into_iter().map(u64::from).sum::<u64>();
            counted += queens(simd, free);
        }
        (sum, counted)
    }

    /// Sets the counters of a table to the placements of the first `units`, which take so many columns.
    pub fn move_to<T: Word>(&self, table: &mut Table<T>, units: usize, taken: usize) {
        let all = &self.counters[self.before..];
        for (unit, counters) in all.chunks_exact(self.of_unit()).take(units).enumerate() {
            let cells = self.cells[taken].chunks_exact(taken);
            for (&word, cells) in self.words[taken].iter().zip(cells) {
                let placements = cells
                    .iter()
                    .map(|&cell| u32::from(counters[cell as usize]))
                    .sum();
                table.set((unit << self.columns) as u16 | word, placements);
            }
        }
    }

    /// Sets the counters of the first `units` to those of a table, of the columns that placements on `taken` columns
    /// leave.
    pub fn take_from<T: Word>(&mut self, table: &Table<T>, units: usize, taken: usize) {
        let (of_unit, columns) = (self.of_unit(), self.columns);
        let all = &mut self.counters[self.before..];
        for (unit, counters) in all.chunks_exact_mut(of_unit).take(units).enumerate() {
            let cells = self.cells[taken].chunks_exact(taken);
            for (&word, cells) in self.words[taken].iter().zip(cells) {
                let left = word ^ ((1u32 << columns) - 1) as u16;
                let counter = table.at((unit << columns) as u16 | left) as u16;
                for &cell in cells {
                    counters[cell as usize] = counter;
                }
            }
        }
    }
}

/// How many queens can stand on the free squares of the last row.
fn queens<S: Simd>(simd: S, free: &[u16]) -> u64 {
    simd.vectorize(
        #[inline(always)]
        move || {
            free.iter()
                .fold(0, |sum, free| sum + u64::from(free.count_ones()))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Portable, Simd};

    #[test]
    fn more_states_are_summed_than_a_sum_has_room_for() {
        let simd = Portable::new().unwrap();
        let (mut rows, mut table) = (LastRow::new(4), Table::<u16>::new());
        // Placements on two columns leave two.
        for left in [0b1100, 0b1010] {
            table.set(left, u32::from(u16::MAX));
        }
        rows.take_from(&table, 1, 2);
        // One queen is on the first column, the other on the second or third.
        let states = 100_000;
        let (sum, queens) = rows.sum(simd, &vec![0b0001; states], &vec![0b0110; states]);
        let expected = 2 * states as u64;
        assert_eq!((sum, queens), (expected * u64::from(u16::MAX), expected));
    }
}
