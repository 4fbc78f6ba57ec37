//! How the ranks of a task become a few subtrees to search.

use std::ops::Range;
use std::sync::Arc;

use super::partition::{prefix_rows, radix, ranks_per_border};
use super::{Border, Borders, Frame, FreeRow, TakenLines};
use crate::board::{Size, Squares, bits};

/// A subtree to search: a border, with as many prefix queens placed as needed to stay within the
/// ranks of its task.
#[derive(Clone, Copy, Debug)]
pub struct Subtree<'a> {
    /// The border.
    pub border: Border,
    /// The image of the given board that it is counted on.
    pub image: usize,
    /// The open squares of that image: those on which queens may stand.
    pub open: &'a Squares,
    /// What the border leaves to search.
    pub frame: &'a Frame,
    /// Prefix queens placed: the search begins at `frame.rows[depth]`.
    pub depth: usize,
    /// The lines taken above that row.
    pub taken: TakenLines,
    /// The number of solutions that each completion stands for.
    pub weight: u8,
    /// Legal partitions in the subtree.
    pub partitions: u64,
    /// The first rank after those of the subtree.
    pub end: u64,
}

/// Cuts a range of ranks into as few subtrees as possible: whole borders where the range spans
/// them, then whole prefixes of the first row, and single partitions only at the ends.
///
/// Not an [`Iterator`], because each subtree borrows the frame that is kept here.
pub struct Subtrees {
    n: Size,
    borders: Arc<Borders>,
    ranks: Range<u64>,
    /// The frame of the border at this index.
    frame: Option<(usize, Frame)>,
    /// The image of the given board that this border is counted on.
    image: usize,
    prefix_nodes: u64,
}

impl Subtrees {
    pub(super) fn new(borders: Arc<Borders>, ranks: Range<u64>) -> Self {
        Self {
            n: borders.size(),
            borders,
            ranks,
            frame: None,
            image: 0,
            prefix_nodes: 0,
        }
    }

    /// The next subtree, `None` after the last. Empty ranks are skipped.
    pub fn next_subtree(&mut self) -> Option<Subtree<'_>> {
        loop {
            let start = self.ranks.start;
            if start >= self.ranks.end {
                return None;
            }
            let (depth, span) = self.widest_block();
            self.ranks.start += span;
            if let Some(taken) = self.place_prefix(start, depth) {
                let (index, frame) = self.frame.as_ref()?;
                let deepest = prefix_rows(self.n) as usize;
                let (border, weight) = self.borders.list()[*index];
                return Some(Subtree {
                    border,
                    image: self.image,
                    open: self.borders.open(self.image),
                    frame,
                    depth,
                    taken,
                    weight,
                    partitions: placements(frame, &frame.rows[depth..deepest], taken),
                    end: self.ranks.start,
                });
            }
        }
    }

    /// Nodes above the subtrees handed out so far.
    ///
    /// All ranks below a prefix queen share it. The queen counts with the smallest of these ranks,
    /// so the number of nodes does not depend on how the plan is cut into ranges.
    pub fn prefix_nodes(&self) -> u64 {
        self.prefix_nodes
    }

    /// The smallest prefix depth whose block of ranks begins here and ends within the range, and
    /// the number of ranks in that block.
    fn widest_block(&self) -> (usize, u64) {
        let Range { start, end } = self.ranks;
        let deepest = prefix_rows(self.n);
        (0..=deepest)
            .map(|depth| (depth as usize, radix(self.n).pow(deepest - depth)))
            .find(|(_, span)| start.is_multiple_of(*span) && start + span <= end)
            .unwrap_or((deepest as usize, 1))
    }

    /// Places the first `depth` prefix queens of `rank`; `None` if one of them is attacked.
    fn place_prefix(&mut self, rank: u64, depth: usize) -> Option<TakenLines> {
        let index = (rank / ranks_per_border(self.n)) as usize;
        if self.frame.as_ref().is_none_or(|(of, _)| *of != index) {
            self.image = self.borders.image(index);
            self.frame = Some((index, self.borders.frame(index)));
        }
        let (_, frame) = self.frame.as_ref()?;
        let mut taken = frame.start;
        let mut span = ranks_per_border(self.n);
        for &row in &frame.rows[..depth] {
            span /= radix(self.n);
            let bit = 1 << (rank / span % radix(self.n) + 1);
            if frame.free(taken, row) & bit == 0 {
                return None;
            }
            taken = taken.enter(row).place(bit);
            self.prefix_nodes += u64::from(rank.is_multiple_of(span));
        }
        Some(taken)
    }
}

/// The number of ways to place queens on `rows` below queens that took the lines `taken`.
fn placements(frame: &Frame, rows: &[FreeRow], taken: TakenLines) -> u64 {
    let Some((&row, below)) = rows.split_first() else {
        return 1;
    };
    let free = frame.free(taken, row);
    if below.is_empty() {
        return u64::from(free.count_ones());
    }
    bits(free)
        .map(|column| placements(frame, below, taken.enter(row).place(1 << column)))
        .sum()
}
