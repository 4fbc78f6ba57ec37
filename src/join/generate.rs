use super::Half;
use super::half::MAX_ROWS;
use super::kernel::{Boards, Kernel, Place, SLACK};
use super::key_layout::KeyLayout;
use crate::board::bits;

/// Makes the list of keys of all ways to fill a half board, from quarter boards.
///
/// A quarter board is the outer or the inner rows of a half board. For each choice of columns for
/// the outer rows there are a few outer boards, and a few inner boards in the columns left over;
/// the half boards are the pairs that do not attack each other. That takes a handful of vector
/// tests for each key, where a search row by row places nine queens for each key it finds (n = 20).
///
/// Quarter boards are kept while half boards of the same *frame* are asked for: one that grants
/// more columns than it has rows, so that neighbouring column sets share it.
#[derive(Default)]
pub struct Generator {
    frame: Option<Half>,
    outer: Quarter,
    inner: Quarter,
    /// Every choice of half the columns of a half board, numbered within it.
    choices: Vec<u16>,
    /// Where the outer and the inner boards of each choice are.
    places: Vec<[Place; 2]>,
    keys: Vec<u64>,
    /// Sums of the members of the lower and of the upper half of a set.
    sums: [Vec<u32>; 2],
}

/// Half boards that share their quarter boards.
pub struct QuarterFrame<'a> {
    /// A half board that is granted all columns of any of them.
    pub half: &'a Half,
    /// The bits of the keys.
    pub layout: &'a KeyLayout,
    /// Columns that each of them takes some of, the same number; it takes all the others.
    pub low: u32,
    /// How many it takes.
    pub taken: u32,
}

/// All boards of one quarter, sorted by the columns they take.
#[derive(Default)]
pub struct Quarter {
    index: Index,
    /// For each set of columns, in the order of the index, where its boards begin, and their
    /// number.
    places: Vec<Place>,
    lines: Vec<u64>,
    keys: Vec<u64>,
}

/// Numbers the sets of so many columns of a frame from 0 on, without gaps: a table of all sets of any
/// size would not stay in the cache.
///
/// The number of a set is the sum of two, one for its upper columns and one for its lower ones.
#[derive(Default)]
struct Index {
    /// The columns of the lower half.
    split: u32,
    /// For each choice of upper columns, how many sets come before those that have it.
    upper: Vec<u32>,
    /// For each choice of lower columns, how many smaller ones have as many.
    lower: Vec<u32>,
    /// All sets.
    sets: u32,
}

impl Index {
    /// Numbers the sets of `size` of `width` columns.
    fn fill(&mut self, width: u32, size: u32) {
        self.split = width / 2;
        let mut of_size = [0; u32::BITS as usize];
        self.lower.clear();
        self.lower.extend((0..1u32 << self.split).map(|lower| {
            let before = &mut of_size[lower.count_ones() as usize];
            *before += 1;
            *before - 1
        }));
        self.sets = 0;
        self.upper.clear();
        self.upper
            .extend((0..1u32 << (width - self.split)).map(|upper| {
                let before = self.sets;
                if let Some(rest) = size.checked_sub(upper.count_ones()) {
                    self.sets += of_size[rest as usize];
                }
                before
            }));
    }

    /// The number of `set`.
    #[inline(always)]
    fn of(&self, set: u32) -> usize {
        let lower = set & ((1 << self.split) - 1);
        (self.upper[(set >> self.split) as usize] + self.lower[lower as usize]) as usize
    }
}

/// Bytes that are granted whatever there is: more than it takes where all queens are fixed.
const LEAST: u64 = 1 << 20;

/// So many boards of a quarter are expected to stay in the second-level cache.
const NEAR: usize = 1 << 15;

impl Generator {
    /// Whether it holds the quarter boards of `frame`.
    pub fn holds(&self, frame: &Half) -> bool {
        self.frame.as_ref() == Some(frame)
    }

    /// Bytes of its quarter boards.
    pub fn bytes(&self) -> u64 {
        self.frame
            .as_ref()
            .map_or(0, |_| self.outer.bytes() + self.inner.bytes())
    }

    /// Forgets the quarter boards.
    pub fn clear(&mut self) {
        self.frame = None;
    }

    /// Makes the quarter boards of `frame`, if they and `spare`, which is for making them, take no
    /// more than about `most` bytes. Returns whether they do: else there are none.
    pub fn fill<K: Kernel>(
        &mut self,
        kernel: K,
        frame: &QuarterFrame<'_>,
        spare: &mut Quarter,
        most: u64,
    ) -> bool {
        let rows = frame.half.rows();
        // Rows whose queen is fixed add nothing to choose from: share out the others evenly.
        let split = (rows + frame.half.fixed_rows()) / 2;
        let (outer, inner) = (0..split, (split..rows).rev());
        let room = most.max(LEAST);
        let fits = self.outer.fill(kernel, frame, outer, true, spare, room) && {
            let room = room.saturating_sub(self.outer.bytes());
            self.inner.fill(kernel, frame, inner, false, spare, room)
        };
        if !fits {
            // Fewer boards must not be refused for the room that these have taken.
            *spare = Quarter::default();
            *self = Self::default();
            return false;
        }
        self.choices = (0..1u32 << rows)
            .filter(|choice| choice.count_ones() == split)
            .map(|choice| choice as u16)
            .collect();
        self.frame = Some(frame.half.clone());
        true
    }

    /// Hands the keys of all ways to fill a half board with queens in `columns`, which must belong
    /// to the frame, to `found`, in batches. Skips the first `begin` choices of columns for the outer
    /// rows. If `found` says to stop, returns the choices to skip for the keys after that batch.
    ///
    /// # Panics
    /// If there are no quarter boards.
    pub fn keys<K: Kernel>(
        &mut self,
        kernel: K,
        columns: u32,
        begin: usize,
        mut found: impl FnMut(&[u64]) -> bool,
    ) -> Option<usize> {
        let frame = self.frame.as_ref().expect("quarter boards are made first");
        // The columns numbered within the frame: sums of two halves are looked up.
        let members: Vec<u32> = bits(columns)
            .map(|column| 1 << (frame.columns() & ((1 << column) - 1)).count_ones())
            .collect();
        let half = members.len().div_ceil(2);
        let sums = |members: &[u32], sums: &mut Vec<u32>| {
            sums.clear();
            sums.push(0);
            for member in members {
                sums.extend_from_within(..);
                let middle = sums.len() / 2;
                sums[middle..].iter_mut().for_each(|sum| *sum |= member);
            }
        };
        let [low, high] = &mut self.sums;
        sums(&members[..half], low);
        sums(&members[half..], high);
        let all = members.iter().sum::<u32>();
        self.places.clear();
        self.places
            .extend(self.choices[begin..].iter().map(|&choice| {
                let choice = usize::from(choice);
                let chosen = low[choice & ((1 << half) - 1)] | high[choice >> half];
                [self.outer.place(chosen), self.inner.place(all ^ chosen)]
            }));
        let boards = [self.outer.boards(), self.inner.boards()];
        let mut rest = &self.places[..];
        while !rest.is_empty() {
            self.keys.clear();
            let done = kernel.cross(rest, boards, &mut self.keys);
            rest = &rest[done..];
            if !found(&self.keys) && !rest.is_empty() {
                return Some(self.choices.len() - rest.len());
            }
        }
        None
    }
}

impl Quarter {
    /// Finds all boards of `rows` in `frame`, the last of which lies at the edge between the
    /// quarters. `spare` holds those of a row less by turns. Gives up, and returns `false`, where both
    /// together take more than `room` bytes.
    fn fill<K: Kernel>(
        &mut self,
        kernel: K,
        frame: &QuarterFrame<'_>,
        rows: impl Iterator<Item = u32>,
        outer: bool,
        spare: &mut Self,
        room: u64,
    ) -> bool {
        let columns: Vec<u32> = bits(frame.half.columns()).collect();
        let low = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| frame.low >> *column & 1 == 1)
            .fold(0u32, |mask, (index, _)| mask | 1 << index);
        let full = (1u64 << frame.half.size()) - 1;
        let step = |lines: u64| {
            let (rising, falling) = (lines & 0xFFFF_FFFF, lines >> 32);
            // Outer rows are filled towards the middle, inner rows away from it.
            if outer {
                (rising << 1 & full) | (falling >> 1) << 32
            } else {
                rising >> 1 | (falling << 1 & full) << 32
            }
        };
        // No row, no column: one board.
        self.clear(columns.len(), 0);
        self.places[0] = Place { at: 0, count: 1 };
        self.lines.push(0);
        self.keys.push(0);
        self.pad();
        for (placed, row) in rows.enumerate() {
            for lines in &mut self.lines {
                *lines = step(*lines);
            }
            let squares: Vec<(u64, u64)> = columns
                .iter()
                .map(|&column| {
                    let lines = 1 << column | 1 << (32 + column);
                    (lines, frame.layout.key(frame.half, row, column))
                })
                .collect();
            let allowed = frame.half.allowed()[row as usize];
            let next = &mut *spare;
            next.clear(columns.len(), placed + 1);
            for set in subsets(columns.len() as u32, placed as u32 + 1) {
                if (set & low).count_ones() > frame.taken {
                    continue;
                }
                let start = next.lines.len();
                for index in bits(set) {
                    if allowed >> columns[index as usize] & 1 == 1 {
                        let (line, key) = squares[index as usize];
                        let place = self.place(set ^ 1 << index);
                        let to = [&mut next.lines, &mut next.keys];
                        kernel.extend(self.boards(), place, line, key, to);
                    }
                }
                if self.bytes() + next.bytes() > room {
                    return false;
                }
                let count = next.lines.len() - start;
                next.places[next.index.of(set)] = Place {
                    at: start as u32,
                    count: count as u32,
                };
            }
            next.pad();
            std::mem::swap(self, next);
        }
        if outer {
            // Seen from the first of the inner rows.
            for lines in &mut self.lines {
                *lines = step(*lines);
            }
        }
        true
    }

    /// Bytes of all places and boards.
    fn bytes(&self) -> u64 {
        8 * (self.places.len() + self.lines.len() + self.keys.len()) as u64
    }

    /// No boards, and a place for each set of `size` of the columns.
    fn clear(&mut self, columns: usize, size: usize) {
        self.index.fill(columns as u32, size as u32);
        self.places.clear();
        self.places
            .resize(self.index.sets as usize, Place::default());
        self.lines.clear();
        self.keys.clear();
    }

    /// Lets the lists go on a little, so that vectors may be read beyond their ends.
    fn pad(&mut self) {
        self.lines.resize(self.lines.len() + SLACK, 0);
        self.keys.resize(self.keys.len() + SLACK, 0);
    }

    /// How many cache lines of the boards of a set to ask for ahead of use: most of them, and the
    /// same number for each set, so that the loop that asks is foreseen. None if all stays near.
    fn ahead(&self) -> usize {
        if self.lines.len() < NEAR {
            return 0;
        }
        (self.lines.len() / self.places.len()).div_ceil(8) + 1
    }

    /// Where the boards with queens in `columns` are.
    #[inline(always)]
    fn place(&self, columns: u32) -> Place {
        self.places[self.index.of(columns)]
    }

    fn boards(&self) -> Boards<'_> {
        Boards {
            lines: &self.lines,
            keys: &self.keys,
            ahead: self.ahead(),
        }
    }
}

/// The sets of `size` bits below bit `width`, ascending when read as numbers.
fn subsets(width: u32, size: u32) -> impl Iterator<Item = u32> {
    debug_assert!(size >= 1 && width < 32 && MAX_ROWS <= 16);
    let mut next = (1u64 << size) - 1;
    std::iter::from_fn(move || {
        let set = next;
        // The next number with as many bits: the lowest run of ones moves its top bit up.
        let lowest = set & set.wrapping_neg();
        let ripple = set + lowest;
        next = ripple | ((set ^ ripple) / lowest) >> 2;
        (set < 1 << width).then_some(set as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::join::kernel::Portable;
    use crate::join::{ColumnSet, Side};

    fn half(n: u32) -> Half {
        let n = Size::new(n).unwrap();
        let set = (0..).find_map(|rank| ColumnSet::unrank(n, rank)).unwrap();
        Half::new(n, &set, Side::Top)
    }

    fn fill(generator: &mut Generator, half: &Half, most: u64) -> bool {
        let frame = QuarterFrame {
            half,
            layout: &KeyLayout::default(),
            low: 0,
            taken: 0,
        };
        generator.fill(Portable, &frame, &mut Quarter::default(), most)
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes hundreds of thousands of boards")]
    fn quarter_boards_beyond_the_room_are_given_up() {
        let half = half(26);
        let mut generator = Generator::default();
        assert!(!fill(&mut generator, &half, 0));
        assert!(!generator.holds(&half));
        assert_eq!(generator.bytes(), 0);
        assert!(fill(&mut generator, &half, 1 << 30));
        assert!(generator.holds(&half));
    }

    /// So that slicing comes to an end whatever the memory.
    #[test]
    #[cfg_attr(miri, ignore = "looks at all sets of 32 columns")]
    fn a_half_of_fixed_queens_always_fits() {
        let mut half = half(32);
        for row in 0..half.rows() {
            let column = bits(half.columns()).nth(row as usize).unwrap();
            half.fix(row, column);
        }
        assert_eq!(half.fixed_rows(), half.rows());
        assert!(fill(&mut Generator::default(), &half, 0));
    }
}
