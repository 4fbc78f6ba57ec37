use super::Half;
use super::half::MAX_ROWS;
use super::kernel::{Boards, Kernel, SLACK};
use super::layout::Layout;

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
    keys: Vec<u64>,
    /// Sums of the members of the lower and of the upper half of a set.
    sums: [Vec<u32>; 2],
}

/// All boards of one quarter, sorted by the columns they take.
#[derive(Default)]
struct Quarter {
    /// For each set of columns, numbered within the frame, where its boards begin, and their
    /// number.
    places: Vec<(u32, u32)>,
    lines: Vec<u64>,
    keys: Vec<u64>,
}

/// Keys handed on at a time: they stay in the first-level cache.
const BATCH: usize = 2048;

impl Generator {
    /// Whether it holds the quarter boards of `frame`.
    pub fn holds(&self, frame: &Half) -> bool {
        self.frame.as_ref() == Some(frame)
    }

    /// Forgets the quarter boards.
    pub fn clear(&mut self) {
        self.frame = None;
    }

    /// Makes the quarter boards of `frame`. `most` is the number of columns among `low` that any
    /// half board asked for takes.
    pub fn fill<K: Kernel>(
        &mut self,
        kernel: K,
        frame: &Half,
        layout: &Layout,
        low: u32,
        most: u32,
    ) {
        let rows = frame.rows();
        // Rows whose queen is fixed add nothing to choose from: share out the others evenly.
        let split = (rows + frame.fixed_rows()) / 2;
        self.outer
            .fill(kernel, frame, layout, (0..split).collect(), true, low, most);
        let inner = (split..rows).rev().collect();
        self.inner
            .fill(kernel, frame, layout, inner, false, low, most);
        self.choices = (0..1u32 << rows)
            .filter(|choice| choice.count_ones() == split)
            .map(|choice| choice as u16)
            .collect();
        self.frame = Some(frame.clone());
    }

    /// Hands the keys of all ways to fill a half board with queens in `columns`, which must belong
    /// to the frame, to `found`, in batches. Returns whether it was handed all; `found` may say to
    /// stop.
    pub fn keys<K: Kernel>(
        &mut self,
        kernel: K,
        columns: u32,
        mut found: impl FnMut(&[u64]) -> bool,
    ) -> bool {
        let Some(frame) = &self.frame else {
            return false;
        };
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
        self.keys.clear();
        for &choice in &self.choices {
            let choice = usize::from(choice);
            let chosen = low[choice & ((1 << half) - 1)] | high[choice >> half];
            let outer = self.outer.boards(chosen);
            let inner = self.inner.boards(all ^ chosen);
            kernel.cross(outer, inner, &mut self.keys);
            if self.keys.len() >= BATCH {
                if !found(&self.keys) {
                    return false;
                }
                self.keys.clear();
            }
        }
        found(&self.keys)
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let quarter = |quarter: &Quarter| {
            8 * (quarter.places.capacity() + quarter.lines.capacity() + quarter.keys.capacity())
        };
        (quarter(&self.outer) + quarter(&self.inner) + 8 * self.keys.capacity()) as u64
    }
}

impl Quarter {
    /// Finds all boards of `rows`, the last of which lies at the edge between the quarters.
    fn fill<K: Kernel>(
        &mut self,
        kernel: K,
        frame: &Half,
        layout: &Layout,
        rows: Vec<u32>,
        outer: bool,
        low: u32,
        most: u32,
    ) {
        let columns: Vec<u32> = bits(frame.columns()).collect();
        let low = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| low >> *column & 1 == 1)
            .fold(0u32, |mask, (index, _)| mask | 1 << index);
        let sets = 1usize << columns.len();
        let full = (1u64 << frame.size()) - 1;
        let step = |lines: u64| {
            let (rising, falling) = (lines & 0xFFFF_FFFF, lines >> 32);
            // Outer rows are filled towards the middle, inner rows away from it.
            if outer {
                (rising << 1 & full) | (falling >> 1) << 32
            } else {
                rising >> 1 | (falling << 1 & full) << 32
            }
        };
        // Boards of the rows so far, by the columns they take: no row, no column, one board. The
        // lists go on a little, so that vectors may be read beyond their ends.
        let mut places = vec![(0, 0); sets];
        places[0] = (0, 1);
        let mut lines = vec![0; 1 + SLACK];
        let mut keys = vec![0; 1 + SLACK];
        for (placed, &row) in rows.iter().enumerate() {
            for lines in &mut lines {
                *lines = step(*lines);
            }
            let squares: Vec<(u64, u64)> = columns
                .iter()
                .map(|&column| {
                    (
                        1 << column | 1 << (32 + column),
                        layout.key(frame, row, column),
                    )
                })
                .collect();
            let allowed = frame.allowed()[row as usize];
            let mut next = Self {
                places: vec![(0, 0); sets],
                ..Self::default()
            };
            for set in subsets(columns.len() as u32, placed as u32 + 1) {
                if (set & low).count_ones() > most {
                    continue;
                }
                let start = next.lines.len();
                for index in bits(set) {
                    if allowed >> columns[index as usize] & 1 == 0 {
                        continue;
                    }
                    let (line, key) = squares[index as usize];
                    let (at, count) = places[(set ^ 1 << index) as usize];
                    let boards = Boards {
                        lines: &lines[at as usize..],
                        keys: &keys[at as usize..],
                        count: count as usize,
                    };
                    kernel.extend(boards, line, key, [&mut next.lines, &mut next.keys]);
                }
                next.places[set as usize] = (start as u32, (next.lines.len() - start) as u32);
            }
            next.lines.resize(next.lines.len() + SLACK, 0);
            next.keys.resize(next.keys.len() + SLACK, 0);
            (places, lines, keys) = (next.places, next.lines, next.keys);
        }
        if outer {
            // Seen from the first of the inner rows.
            for lines in &mut lines {
                *lines = step(*lines);
            }
        }
        *self = Self {
            places,
            lines,
            keys,
        };
    }

    fn boards(&self, columns: u32) -> Boards<'_> {
        let (at, count) = self.places[columns as usize];
        Boards {
            lines: &self.lines[at as usize..],
            keys: &self.keys[at as usize..],
            count: count as usize,
        }
    }
}

/// The positions of the bits of `mask`, ascending.
pub fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
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
