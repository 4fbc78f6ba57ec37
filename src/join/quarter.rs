use super::Half;
use super::half::MAX_ROWS;
use super::kernel::{Boards, JoinKernel, Place, SLACK};
use super::key_layout::KeyLayout;
use crate::board::bits;

/// What quarter boards are made for: one half board, or all those that share them.
pub struct QuarterFrame<'a> {
    /// A half board that may use all columns of any of them.
    pub half: &'a Half,
    /// Where the bits of the keys go.
    pub layout: &'a KeyLayout,
    /// The columns of which each of them uses some; it uses all the others.
    pub shared: u32,
    /// How many of the shared columns each of them uses.
    pub taken: u32,
}

/// All ways to fill the outer or the inner rows of a half board, sorted by the columns they take.
#[derive(Default)]
pub struct QuarterBoards {
    numbers: SetNumbers,
    /// For each set of columns, in the order of its number, where its boards begin, and how many
    /// there are.
    places: Vec<Place>,
    /// For each board, the diagonals that it takes in the row next to the other quarter: rising
    /// ones in the low half of the word, falling ones in the high half.
    lines: Vec<u64>,
    /// For each board, its part of the key.
    keys: Vec<u64>,
}

/// Boards of a quarter up to which all are expected to stay in the second-level cache: half a MiB
/// of lines and keys. Fetching ahead gains 5 to 8 % above that and loses 3 % below
/// (docs/PERFORMANCE.md, Join, "What was tried").
const NEAR: usize = 1 << 15;

impl QuarterBoards {
    /// Finds all boards of `rows` in `frame`. The last of the rows lies next to the other quarter.
    /// Boards are made row by row; `scratch` alternates with `self` as the boards with one row
    /// fewer. Returns `false`, without the boards, if both together take more than `room` bytes.
    pub fn fill<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuarterFrame<'_>,
        rows: impl Iterator<Item = u32>,
        outer: bool,
        scratch: &mut Self,
        room: u64,
    ) -> bool {
        let columns: Vec<u32> = bits(frame.half.columns()).collect();
        let shared = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| frame.shared >> *column & 1 == 1)
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
            let next = &mut *scratch;
            next.clear(columns.len(), placed + 1);
            for set in subsets(columns.len() as u32, placed as u32 + 1) {
                if (set & shared).count_ones() > frame.taken {
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
                next.places[next.numbers.of(set)] = Place {
                    at: start as u32,
                    count: count as u32,
                };
            }
            next.pad();
            std::mem::swap(self, next);
        }
        if outer {
            // As the first of the inner rows sees them.
            for lines in &mut self.lines {
                *lines = step(*lines);
            }
        }
        true
    }

    /// Bytes of all places and boards.
    pub fn bytes(&self) -> u64 {
        8 * (self.places.len() + self.lines.len() + self.keys.len()) as u64
    }

    /// Removes all boards, and makes an empty place for each set of `size` of the columns.
    fn clear(&mut self, columns: usize, size: usize) {
        self.numbers.fill(columns as u32, size as u32);
        self.places.clear();
        self.places
            .resize(self.numbers.sets as usize, Place::default());
        self.lines.clear();
        self.keys.clear();
    }

    /// Lengthens the lists by [`SLACK`], because vectors are read beyond their ends.
    fn pad(&mut self) {
        self.lines.resize(self.lines.len() + SLACK, 0);
        self.keys.resize(self.keys.len() + SLACK, 0);
    }

    /// How many cache lines of the boards of a set to fetch ahead of use: enough for most sets, and
    /// the same number for each, so that the branches of the loop that fetches are predicted. 0 if
    /// all boards stay in the cache.
    fn ahead(&self) -> usize {
        if self.lines.len() < NEAR {
            return 0;
        }
        (self.lines.len() / self.places.len()).div_ceil(8) + 1
    }

    /// Where the boards with queens in `columns` are.
    #[inline(always)]
    pub fn place(&self, columns: u32) -> Place {
        self.places[self.numbers.of(columns)]
    }

    /// The boards as the kernels take them.
    pub fn boards(&self) -> Boards<'_> {
        Boards {
            lines: &self.lines,
            keys: &self.keys,
            ahead: self.ahead(),
        }
    }
}

/// Numbers the column sets of one size from 0 on, without gaps: a table with a place for sets of
/// every size would not stay in the cache.
///
/// The number of a set is the sum of two numbers that are looked up, one for its upper columns and
/// one for its lower ones.
#[derive(Default)]
struct SetNumbers {
    /// How many columns count as lower ones.
    split: u32,
    /// For each choice of upper columns, how many sets come before those with this choice.
    upper: Vec<u32>,
    /// For each choice of lower columns, how many choices of as many columns are smaller when read
    /// as numbers.
    lower: Vec<u32>,
    /// The number of sets.
    sets: u32,
}

impl SetNumbers {
    /// Numbers the sets that have `size` of `width` columns.
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

/// The sets of `size` bits below bit `width`, in ascending order when read as numbers.
fn subsets(width: u32, size: u32) -> impl Iterator<Item = u32> {
    debug_assert!(size >= 1 && width < 32 && MAX_ROWS <= 16);
    let mut next = (1u64 << size) - 1;
    std::iter::from_fn(move || {
        let set = next;
        // The next number with as many bits (Gosper's hack, HAKMEM item 175): the lowest run of
        // ones moves its top bit up.
        let lowest = set & set.wrapping_neg();
        let ripple = set + lowest;
        next = ripple | ((set ^ ripple) / lowest) >> 2;
        (set < 1 << width).then_some(set as u32)
    })
}
