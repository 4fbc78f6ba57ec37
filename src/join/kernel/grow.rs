use super::boards::Draft;
use super::{Boards, Entry, QuadrantBoards, Run, SLACK};
use crate::join::half::MAX_ROWS;
use crate::join::row_sets::RowSets;
use crate::simd::Simd;

/// What a queen adds to a board of a quadrant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queen {
    /// The diagonals through her square, as lines of her column.
    pub lines: u32,
    /// The bits that she sets in the low part of the key.
    pub low: u32,
    /// The bits that she sets in the high part of the key.
    pub high: u32,
    /// All bits if she may stand in this row, 0 if not.
    pub there: u32,
}

/// A column that gets a queen.
#[derive(Clone, Copy, Debug)]
pub struct NewColumn<'a> {
    /// The queen for each row.
    pub queens: &'a [Queen; MAX_ROWS],
    /// The sets of rows.
    pub rows: &'a RowSets,
    /// How many rows the boards take, that of this queen included.
    pub size: usize,
    /// The ranks of the sets of so many rows, and the largest one of interest: sets with larger
    /// ranks get no boards.
    pub wanted: Option<(&'a [u32], u32)>,
}

/// Loops that make boards of a quadrant.
pub trait Grow: Simd {
    /// Replaces `to` by the lines of `from`, moved `columns` columns towards the middle of the
    /// board. `rising` says whether the low halves of the lines move to higher rows.
    fn move_lines(self, from: &[u32], columns: u32, rising: bool, to: &mut Vec<u32>) {
        self.vectorize(
            #[inline(always)]
            move || {
                to.clear();
                let shift = columns.min(16);
                if rising {
                    to.extend(from.iter().map(|lines| {
                        (lines & 0xFFFF) << shift & 0xFFFF | lines >> 16 >> shift << 16
                    }));
                } else {
                    to.extend(
                        from.iter()
                            .map(|lines| (lines & 0xFFFF) >> shift | (lines >> 16 << shift) << 16),
                    );
                }
            },
        )
    }

    /// Adds a queen of `column` to the boards of `parent` in each row that they leave free. `lines`
    /// are the lines of these boards in that column. The new boards are sorted by their rows, and
    /// then by the row of the new queen. Returns `None` if all boards would take more than `room`
    /// bytes; what has been made is then unusable.
    fn grow(
        self,
        boards: &mut QuadrantBoards,
        parent: Entry,
        lines: &[u32],
        column: &NewColumn<'_>,
        room: u64,
    ) -> Option<Entry> {
        let &NewColumn {
            queens,
            rows,
            size,
            wanted,
        } = column;
        self.vectorize(
            #[inline(always)]
            move || {
                let draft = Draft::new(boards);
                let stride = (size - 1).max(1);
                let mut length = 0;
                let mut room_left = 0;
                for (number, &set) in rows.sets(size).iter().enumerate() {
                    if let Some((ranks, most)) = wanted
                        && ranks[number] > most
                    {
                        draft.begin_runs(boards, &[length as u32; MAX_ROWS][..size]);
                        continue;
                    }
                    let smaller = &rows.without_one(size)[number * size..][..size];
                    let starts = boards.starts(parent);
                    let mut runs = [Run::default(); MAX_ROWS];
                    let mut most = 2 * SLACK;
                    for (run, &number) in runs.iter_mut().zip(smaller) {
                        let at = usize::from(number) * stride;
                        *run = Run {
                            begin: starts[at],
                            end: starts[at + stride],
                        };
                        most += run.len();
                    }
                    if room_left < most {
                        if boards.bytes() + 12 * length as u64 > room {
                            return None;
                        }
                        room_left = draft.reserve(boards, length, most);
                    }
                    let before = length;
                    let to = draft.begin(boards);
                    let from = Boards {
                        lines,
                        ..boards.boards(parent)
                    };
                    let end = from.end();
                    let mut begins = [0; MAX_ROWS];
                    let mut rest = set;
                    for (begin, &run) in begins[..size].iter_mut().zip(&runs) {
                        *begin = length as u32;
                        let queen = &queens[(rest.trailing_zeros() & 15) as usize];
                        rest &= rest.wrapping_sub(1);
                        assert!(run.within(end));
                        let [lines, low, high] =
                            [queen.lines, queen.low, queen.high].map(|bits| self.splat(bits));
                        let mut at = 0;
                        // Nearly all runs fill one vector or less.
                        loop {
                            let there = ((1u64 << (run.len() - at).min(Self::LANES)) - 1) as u32;
                            // SAFETY: the lists go on for a vector after their last board; there is
                            // room for each board and for a vector more.
                            unsafe {
                                let theirs = from.at(run).map(|from| self.load(from.add(at)));
                                let free = self.disjoint(lines, theirs[0]) & there & queen.there;
                                for (part, own) in [lines, low, high].into_iter().enumerate() {
                                    let both = self.or(own, theirs[part]);
                                    self.compress(both, free, to[part].add(length));
                                }
                                length += free.count_ones() as usize;
                            }
                            at += Self::LANES;
                            if at >= run.len() {
                                break;
                            }
                        }
                    }
                    draft.begin_runs(boards, &begins[..size]);
                    room_left -= length - before;
                }
                Some(draft.finish(boards, length))
            },
        )
    }
}

impl<S: Simd> Grow for S {}
