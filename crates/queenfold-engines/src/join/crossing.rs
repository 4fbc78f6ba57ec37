use std::ops::Range;

use super::Half;
use super::kernel::{Boards, JoinKernel, KeyBatch, Run};
use super::key_layout::KeyLayout;
use super::quadrant::{Part, Quadrant, QuadrantFrame};
use super::row_sets::RowSets;
use super::word_order::WordOrder;

/// Lists the keys of all ways to fill a half board, from the boards of its two quadrants.
///
/// For each choice of the rows whose queens stand in the left quadrant there are some boards of
/// either quadrant. The half boards are the pairs of the two that do not attack each other. They
/// are listed in the order of their words of rows: see [`WordOrder`].
#[derive(Default)]
pub struct Crossing {
    /// The half board that the boards are made for.
    frame: Option<Half>,
    quadrants: [Quadrant; 2],
    /// The half boards that are open.
    wanted: Wanted,
    /// For each choice of rows, the boards of both quadrants, in the order of the words.
    runs: Vec<[Run; 2]>,
    /// The ranks of the words.
    ranks: Vec<u32>,
    keys: KeyBatch,
}

/// Half boards whose keys are to be listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The columns of their queens.
    pub columns: u32,
    /// The largest rank of their words of rows.
    pub most_rank: u32,
    /// Whether the boards of the left quadrant are made for all words, because other half boards are
    /// likely to need them too. If not, they are made for these words only, and forgotten.
    pub keeps_left: bool,
}

/// What half boards are crossed from.
#[derive(Clone, Copy)]
pub struct HalfBoards<'a> {
    /// The boards of both quadrants that meet, a run of the left one and one of the right one, in the order of the words of
    /// rows.
    pub runs: &'a [[Run; 2]],
    /// The boards of both quadrants.
    pub boards: [Boards<'a>; 2],
    /// Keys with any of these bits are left out.
    pub attacked: u64,
}

/// What the half boards of a partition are crossed from, and which of their pairs are to be counted.
pub struct SetBoards<'a> {
    /// The top half and the bottom half.
    pub halves: [HalfBoards<'a>; 2],
    /// The pairs: first those of the whole lists, then those with ties.
    pub pairs: Vec<PairsOfRuns>,
}

/// Pairs of half boards that come of some runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairsOfRuns {
    /// The runs of the top half and of the bottom half.
    pub runs: [Range<usize>; 2],
    /// How many completions each pair stands for; fewer than none if it was counted too often elsewhere.
    pub times: i64,
}

/// What the keys of half boards depend on, besides the half boards.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where the bits of the keys go.
    pub layout: &'a KeyLayout,
    /// The sets of rows of a half board.
    pub rows: &'a RowSets,
    /// The order of the words of rows.
    pub order: &'a WordOrder,
}

/// Bytes that boards of quadrants may always take: more than they need if all queens are fixed, so
/// that slicing halves ends whatever the budget is.
const LEAST: u64 = 1 << 20;

/// Bytes at which the boards of a quadrant are forgotten before others are made.
const KEPT: u64 = 1 << 20;

/// The same where all boards of a quadrant are made, which other sets use again.
const KEPT_WHOLE: u64 = 4 << 20;

impl Crossing {
    /// Forgets all boards.
    pub fn clear(&mut self) {
        self.frame = None;
        self.quadrants.iter_mut().for_each(Quadrant::clear);
    }

    /// Opens half boards: makes the boards of both quadrants, unless they are there already. They are
    /// made for `frame`, which must allow the columns; boards made for another one are forgotten.
    /// Returns `false` if they take more than `room` bytes.
    pub fn open<K: JoinKernel>(
        &mut self,
        kernel: K,
        context: Context<'_>,
        frame: &Half,
        wanted: Wanted,
        room: u64,
    ) -> bool {
        if self.frame.as_ref() != Some(frame) {
            self.clear();
            self.frame = Some(frame.clone());
        } else if self.wanted == wanted {
            return true;
        }
        self.wanted = wanted;
        let Wanted {
            columns,
            most_rank,
            keeps_left,
        } = wanted;
        let central = self.central();
        let mut room = room.max(LEAST);
        let kept = if keeps_left { KEPT_WHOLE } else { KEPT };
        let left = columns & ((1u64 << frame.rows()) - 1) as u32;
        let parts = [(Part::Left, left), (Part::Right, columns ^ left)];
        for (quadrant, (part, columns)) in self.quadrants.iter_mut().zip(parts) {
            let frame = QuadrantFrame {
                half: frame,
                layout: context.layout,
                rows: context.rows,
                part,
            };
            // The left quadrant of each set is another one.
            let wanted = (part == Part::Left && !keeps_left)
                .then(|| (context.order.lowest(left.count_ones(), central), most_rank));
            if !quadrant.open(kernel, &frame, columns, wanted, kept.min(room / 4), room) {
                self.frame = None;
                return false;
            }
            room = room.saturating_sub(quadrant.bytes());
        }
        self.list_runs(context, left);
        true
    }

    /// Whether the half board that is open has a queen in the central column.
    #[expect(clippy::expect_used, reason = "only an open half board is asked")]
    fn central(&self) -> bool {
        let frame = self.frame.as_ref().expect("boards are made for one");
        frame.size() % 2 == 1 && self.wanted.columns >> frame.rows() & 1 == 1
    }

    /// Lists the runs of the half board, which has its queens of the left quadrant in the columns
    /// `left`.
    fn list_runs(&mut self, context: Context<'_>, left: u32) {
        // The queen of the central column is the one placed last on the right.
        let central = self.central();
        let strides =
            [left, self.wanted.columns ^ left].map(|columns| columns.count_ones().max(1) as usize);
        let [left_starts, right_starts] = self.quadrants.each_ref().map(Quadrant::starts);
        self.runs.clear();
        self.ranks.clear();
        for choice in context.order.choices(left.count_ones(), central) {
            if choice.rank > self.wanted.most_rank {
                break;
            }
            let at = usize::from(choice.left) * strides[0];
            let left = Run {
                begin: left_starts[at],
                end: left_starts[at + strides[0]],
            };
            let at = usize::from(choice.right) * strides[1];
            let (begin, end) = match choice.place {
                Some(place) => (at + usize::from(place), at + usize::from(place) + 1),
                None => (at, at + strides[1]),
            };
            let right = Run {
                begin: right_starts[begin],
                end: right_starts[end],
            };
            if left.len() != 0 && right.len() != 0 {
                self.runs.push([left, right]);
                self.ranks.push(choice.rank);
            }
        }
    }

    /// The runs of the open half board whose words have this rank: those before them have lower ones.
    pub fn runs_of(&self, rank: u32) -> Range<usize> {
        runs_of(&self.ranks, rank)
    }

    /// The keys of the first of the half boards in these runs of the open half board, and the
    /// number of runs that they are made of.
    pub fn keys<K: JoinKernel>(
        &mut self,
        kernel: K,
        layout: &KeyLayout,
        runs: Range<usize>,
    ) -> (&KeyBatch, usize) {
        self.keys.clear();
        let boards = self.quadrants.each_ref().map(Quadrant::boards);
        let done = kernel.cross(&self.runs[runs], boards, layout.high(), &mut self.keys);
        (&self.keys, done)
    }

    /// Adds the keys of all half boards that are open to `keys`, and the ranks of the words of their runs
    /// to `ranks`.
    pub fn add_all_keys<K: JoinKernel>(
        &self,
        kernel: K,
        layout: &KeyLayout,
        keys: &mut KeyBatch,
        ranks: &mut Vec<u32>,
    ) {
        ranks.extend_from_slice(&self.ranks);
        let boards = self.quadrants.each_ref().map(Quadrant::boards);
        let mut rest = &self.runs[..];
        while !rest.is_empty() {
            rest = &rest[kernel.cross(rest, boards, layout.high(), keys)..];
        }
    }

    /// What the open half boards are crossed from.
    pub fn boards(&self, attacked: u64) -> HalfBoards<'_> {
        HalfBoards {
            runs: &self.runs,
            boards: self.quadrants.each_ref().map(Quadrant::boards),
            attacked,
        }
    }

    /// The number of boards that half boards are crossed from now.
    #[cfg(test)]
    pub fn open_boards(&self) -> usize {
        let boards = self.quadrants.iter().map(Quadrant::boards);
        boards.map(|boards| boards.lines.len()).sum()
    }

    /// Bytes of all boards.
    pub fn bytes(&self) -> u64 {
        self.quadrants.iter().map(Quadrant::bytes).sum()
    }
}

/// The runs of this rank among runs of these `ranks`, which ascend.
pub(super) fn runs_of(ranks: &[u32], rank: u32) -> Range<usize> {
    let begin = ranks.partition_point(|other| *other < rank);
    // Hardly ever more than one: a second search would take longer.
    let count = ranks[begin..].iter().take_while(|other| **other == rank);
    begin..begin + count.count()
}
