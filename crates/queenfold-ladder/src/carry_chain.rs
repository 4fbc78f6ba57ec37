//! The method `carry-chain`: borders two squares wide, one for each symmetry class, then the inside of each.
//!
#![doc = include_str!("text/carry-chain.md")]

use std::ops::RangeInclusive;

use super::queens::Queens;
use super::{Count, Method, MethodRequest, StopSearch, Style, Watch};
use queenfold_engines::board::{Orbits, Size, Square, SymmetryGroup};
use queenfold_engines::census::CensusPlan;
use queenfold_engines::engine::{CounterSettings, Plan, Tally};
use queenfold_engines::simd::Isa;

/// Places borders two squares wide, one for each class, then fills the inside of each.
pub const METHOD: Method = Method {
    name: "carry-chain",
    step: 8,
    text: include_str!("text/carry-chain.md"),
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let tops = top_sides(request.n).into_iter();
    let parts = tops.map(|top| count_below(request.n, top, request.style, watch));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    exact(request.n, &parts, watch)
}

/// The number of completed borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CompletedBorders {
    /// Solutions: each completion counts once for each border of its class.
    pub total: u64,
    /// Pairs of a border class and a way to fill its inside. Older programs called this the unique
    /// count.
    pub border_classes: u64,
}

impl CompletedBorders {
    /// Adds the result of another part of the search.
    pub fn add(&mut self, other: Self) {
        self.total += other.total;
        self.border_classes += other.border_classes;
    }
}

/// The numbers of the top sides. The borders below each are a part of the search that does not
/// depend on the others.
pub(super) fn top_sides(n: Size) -> Vec<usize> {
    // The 1×1 board has no two lines along a side, but it has one solution.
    let count = if n.get() == 1 {
        1
    } else {
        Sides::new(n).top_side_count()
    };
    (0..count).collect()
}

/// The count of a board with exact classes. The weight belongs to the border, so the search finds
/// an asymmetric solution with a symmetric border more than once. The census counts the symmetric
/// solutions, and the rest follows from the total.
pub(super) fn exact(
    n: Size,
    parts: &[CompletedBorders],
    watch: &Watch<'_>,
) -> Result<Count, StopSearch> {
    let mut sum = CompletedBorders::default();
    parts.iter().for_each(|part| sum.add(*part));
    let plan = CensusPlan::new(n);
    let mut counter = plan.counter(&CounterSettings { isa: Isa::Portable });
    let mut census = Tally::default();
    for index in 0..plan.tasks() {
        census += counter
            .count(&plan.task(index))
            .map_err(|wrong| watch.fail(wrong.to_string()))?;
    }
    let total = u128::from(sum.total);
    let classes = Orbits::from_counts(n, SymmetryGroup::ALL, total, census.r180, census.r90)
        .map_err(|wrong| watch.fail(wrong.to_string()))?;
    let differs = classes.unique() != u128::from(sum.border_classes);
    Ok(Count {
        total,
        classes: Some(classes),
        note: differs.then(|| {
            format!(
                "unique is exact, by the census; the border classes alone would give {}",
                sum.border_classes
            )
        }),
    })
}

/// Counts the completions of all borders whose top side has the number `top`, the least of their
/// sides.
pub(super) fn count_below(
    n: Size,
    top: usize,
    style: Style,
    watch: &mut Watch<'_>,
) -> Result<CompletedBorders, StopSearch> {
    if n.get() == 1 {
        watch.place(&[1_u32], 0)?;
        watch.border(&[1_u32], 1)?;
        return Ok(CompletedBorders {
            total: 1,
            border_classes: 1,
        });
    }
    let mut borders = Borders {
        sides: Sides::new(n),
        style,
        sum: CompletedBorders::default(),
    };
    borders.below(top, watch)?;
    Ok(borders.sum)
}

/// The ways to put queens on the two lines along a side of the board, each named by a number.
///
/// A side is read clockwise: the top from left to right, the right side from top to bottom, and so
/// on. Pair (a, b) means: the queen of the outer line is at distance a from the point where the
/// side begins, that of the inner line at distance b. With this numbering a turn of the board only
/// rotates the four numbers, and a reflection reverses their order and counts each from the other
/// end of the list.
#[derive(Clone, Debug)]
struct Sides {
    n: Size,
    pairs: Vec<(u8, u8)>,
}

impl Sides {
    fn new(n: Size) -> Self {
        let distances = 0..n.get() as u8;
        let pairs = distances
            .clone()
            .flat_map(|a| distances.clone().map(move |b| (a, b)))
            .filter(|(a, b)| a.abs_diff(*b) > 1)
            .collect();
        Self { n, pairs }
    }

    /// How many sides can be the least of a border: the first half of the list, because the mirror
    /// image of a later one is an earlier one.
    fn top_side_count(&self) -> usize {
        self.pairs.len() / 2
    }

    /// The same side in a mirror.
    fn mirrored(&self, side: usize) -> usize {
        self.pairs.len() - 1 - side
    }

    /// The size of the border's orbit if it is the least of its eight images, otherwise `None`.
    fn orbit_size_if_least(&self, border: [usize; 4]) -> Option<u8> {
        let [top, right, bottom, left] = border;
        let mut turned = border;
        let mut reflected = [left, bottom, right, top].map(|side| self.mirrored(side));
        let mut equal = 0;
        for _ in 0..4 {
            turned.rotate_right(1);
            reflected.rotate_right(1);
            for image in [turned, reflected] {
                if image < border {
                    return None;
                }
                equal += u8::from(image == border);
            }
        }
        Some(8 / equal)
    }

    /// The two squares of pair number `side` at one side of the board: `position` 0 is the top, 1
    /// the right, 2 the bottom, 3 the left. The square of the outer line comes first.
    fn squares(&self, position: usize, side: usize) -> [Square; 2] {
        let last = self.n.get() as u8 - 1;
        let (a, b) = self.pairs[side];
        [(0, a), (1, b)].map(|(line, along)| match position {
            0 => Square::new(line, along),
            1 => Square::new(along, last - line),
            2 => Square::new(last - line, last - along),
            _ => Square::new(last - along, line),
        })
    }
}

impl Queens {
    /// Places a queen on the square unless one is there; `false` if another queen attacks it.
    fn ensure_queen(&mut self, square: Square) -> bool {
        let (row, bit) = (usize::from(square.row), 1 << square.column);
        if self.board()[row] == bit {
            return true;
        }
        if self.board()[row] != 0 || self.free(row) & bit == 0 {
            return false;
        }
        self.flip(row, bit);
        true
    }

    /// Counts the ways to fill the rows that have no queen.
    fn complete(mut self, style: Style, watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        let rows: Vec<_> = (0..self.board().len())
            .filter(|&row| self.board()[row] == 0)
            .collect();
        match style {
            Style::Iterative => self.iterative(&rows, watch),
            _ => self.recursive(&rows, watch),
        }
    }

    /// Counts a node: the queen of `row` was placed.
    #[inline]
    fn show(&self, row: usize, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        watch.place_among(self.board(), row)
    }

    fn recursive(&mut self, rows: &[usize], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        let Some((&row, below)) = rows.split_first() else {
            return Ok(1);
        };
        let mut found = 0;
        let mut free = self.free(row);
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            self.flip(row, bit);
            self.show(row, watch)?;
            found += self.recursive(below, watch)?;
            self.flip(row, bit);
        }
        Ok(found)
    }

    /// The same search as a loop: `left` has the squares to try in each open row, and the board
    /// says which queen to remove on the way back.
    fn iterative(&mut self, rows: &[usize], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        if rows.is_empty() {
            return Ok(1);
        }
        let mut left = vec![0; rows.len()];
        let mut at = 0;
        let mut found = 0;
        left[0] = self.free(rows[0]);
        loop {
            let bit = left[at] & left[at].wrapping_neg();
            if bit == 0 {
                if at == 0 {
                    return Ok(found);
                }
                at -= 1;
                self.flip(rows[at], self.board()[rows[at]]);
                continue;
            }
            left[at] ^= bit;
            self.flip(rows[at], bit);
            self.show(rows[at], watch)?;
            if at + 1 == rows.len() {
                found += 1;
                self.flip(rows[at], bit);
            } else {
                at += 1;
                left[at] = self.free(rows[at]);
            }
        }
    }
}

/// The sides of the board, clockwise.
const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];

/// The search through the borders of one top side.
struct Borders {
    sides: Sides,
    style: Style,
    sum: CompletedBorders,
}

impl Borders {
    /// Adds the queens of one more side; `None` if they do not fit.
    fn place_side(
        &self,
        inside: &Queens,
        position: usize,
        side: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Queens>, StopSearch> {
        let mut next = *inside;
        for square in self.sides.squares(position, side) {
            if !next.ensure_queen(square) {
                return Ok(None);
            }
        }
        watch.side(next.board(), SIDES[position])?;
        Ok(Some(next))
    }

    /// The numbers that the other three sides may have if `top` is the least of the border and of
    /// its mirror images.
    fn sides_beside(&self, top: usize) -> RangeInclusive<usize> {
        top..=self.sides.mirrored(top)
    }

    /// Places all sides, clockwise: a loop for each below the top.
    fn below(&mut self, top: usize, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        let empty = Queens::none(self.sides.n);
        let Some(with_top) = self.place_side(&empty, 0, top, watch)? else {
            return Ok(());
        };
        for right in self.sides_beside(top) {
            let Some(with_right) = self.place_side(&with_top, 1, right, watch)? else {
                continue;
            };
            for bottom in self.sides_beside(top) {
                let Some(with_bottom) = self.place_side(&with_right, 2, bottom, watch)? else {
                    continue;
                };
                for left in self.sides_beside(top) {
                    if let Some(whole) = self.place_side(&with_bottom, 3, left, watch)? {
                        self.complete_border([top, right, bottom, left], &whole, watch)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts the ways to fill the inside, if the border represents its class.
    fn complete_border(
        &mut self,
        border: [usize; 4],
        inside: &Queens,
        watch: &mut Watch<'_>,
    ) -> Result<(), StopSearch> {
        let Some(size) = self.sides.orbit_size_if_least(border) else {
            return Ok(());
        };
        watch.border(inside.board(), size)?;
        let completions = inside.complete(self.style, watch)?;
        self.sum.add(CompletedBorders {
            total: u64::from(size) * completions,
            border_classes: completions,
        });
        Ok(())
    }
}
