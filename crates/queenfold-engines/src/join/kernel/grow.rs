use super::boards::{Draft, Pointers};
use super::{Entry, QuadrantBoards, Run, SLACK, extend};
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
    /// Whether the high parts of keys are in use. If not, they are neither read nor written.
    pub high: bool,
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
                    extend(to, from.len(), |index| {
                        let lines = from[index];
                        (lines & 0xFFFF) << shift & 0xFFFF | lines >> 16 >> shift << 16
                    });
                } else {
                    extend(to, from.len(), |index| {
                        let lines = from[index];
                        (lines & 0xFFFF) >> shift | (lines >> 16 << shift) << 16
                    });
                }
            },
        )
    }

    /// Adds a queen of `column` to the boards of `parent` in each row that they leave free. `lines`
    /// are the lines of these boards in that column; they go on for [`SLACK`] entries after the last.
    /// The new boards are sorted by their rows, and then by the row of the new queen. Returns `None`
    /// if all boards would take more than `room` bytes; `boards` is then as before.
    fn grow(
        self,
        boards: &mut QuadrantBoards,
        parent: Entry,
        lines: &[u32],
        column: &NewColumn<'_>,
        room: u64,
    ) -> Option<Entry> {
        self.vectorize(
            #[inline(always)]
            move || {
                if column.high {
                    grow::<Self, true>(self, boards, parent, lines, column, room)
                } else {
                    grow::<Self, false>(self, boards, parent, lines, column, room)
                }
            },
        )
    }
}

impl<S: Simd> Grow for S {}

#[inline(always)]
fn grow<S: Simd, const HIGH: bool>(
    simd: S,
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
        ..
    } = column;
    let sets = rows.sets(size);
    let smaller = rows.without_one(size);
    let stride = (size - 1).max(1);
    let end = boards.boards(parent).end();
    assert!(lines.len() >= end + SLACK, "each board has its lines");
    assert!(
        boards.has_high() || !HIGH,
        "there are high parts to write to"
    );
    // The boards of a set of rows come from those of its subsets with one row less.
    let most = size * boards.longest(parent, stride) + 2 * SLACK;
    let draft = Draft::new(boards, sets.len() * size);
    let mut length = 0;
    let mut capacity = 0;
    for (number, &set) in sets.iter().enumerate() {
        if let Some((ranks, most_rank)) = wanted
            && ranks[number] > most_rank
        {
            let (_, own) = draft.starts(boards, parent, number * size, size);
            own.fill(length as u32);
            continue;
        }
        if capacity < length + most {
            if boards.bytes() + 12 * length as u64 > room {
                draft.give_up(boards);
                return None;
            }
            capacity = draft.reserve(boards, length, most);
        }
        let Pointers { to, from } = draft.pointers(boards, parent);
        let (starts, own) = draft.starts(boards, parent, number * size, size);
        let smaller = &smaller[number * size..][..own.len()];
        let mut rest = set;
        for (index, own) in own.iter_mut().enumerate() {
            *own = length as u32;
            let at = usize::from(smaller[index]) * stride;
            let mut run = Run {
                begin: starts[at],
                end: starts[at + stride],
            };
            assert!(run.within(end));
            let queen = &queens[(rest.trailing_zeros() & 15) as usize];
            rest &= rest.wrapping_sub(1);
            let own_lines = simd.splat(queen.lines);
            let [own_low, own_high] = [simd.splat(queen.low), simd.splat(queen.high)];
            // Nearly all runs fill one vector or less.
            loop {
                let there = ((1u64 << run.len().min(S::LANES)) - 1) as u32;
                let at = run.begin as usize;
                // SAFETY: the lists go on for a vector after their last board; there is room for
                // each board and for a vector more.
                unsafe {
                    let lines = simd.load(lines.as_ptr().add(at));
                    let free = simd.disjoint(own_lines, lines) & there & queen.there;
                    simd.compress(simd.or(own_lines, lines), free, to[0].add(length));
                    let low = simd.or(own_low, simd.load(from[0].add(at)));
                    simd.compress(low, free, to[1].add(length));
                    if HIGH {
                        let high = simd.or(own_high, simd.load(from[1].add(at)));
                        simd.compress(high, free, to[2].add(length));
                    }
                    length += free.count_ones() as usize;
                }
                if run.len() <= S::LANES {
                    break;
                }
                run.begin += S::LANES as u32;
            }
        }
    }
    Some(draft.finish(boards, length))
}
