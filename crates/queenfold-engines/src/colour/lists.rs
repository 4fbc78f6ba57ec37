use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::lines::Lines;
use super::open_squares::SubSquares;
use super::side::Side;
use super::sub_boards::{Rows, SubBoards};
use super::{ColourBoard, Partition, RowSet};

/// The memory for lists of placements that are kept for later sets, in bytes. All sets of 20 queens that
/// share them find them there.
const KEPT: usize = 7 << 20;

/// Placements in even columns, kept for the sets that share them.
#[derive(Default)]
pub struct Lists {
    /// The image of the given board that they are of, and its squares.
    image: Option<(usize, SubSquares)>,
    /// The white ones, on the even rows of a word.
    white: Option<(u32, SubBoards)>,
    /// The black ones on the odd rows of words of `kept_rows` rows, as many as there is memory for.
    kept: HashMap<u32, SubBoards>,
    kept_rows: u32,
    kept_bytes: usize,
    /// The black ones that are not kept.
    black: SubBoards,
}

/// What the units of a set have in common.
pub struct SetLists<'a> {
    /// The placements on white squares of even rows, in even columns.
    pub white: &'a SubBoards,
    /// The placements on black squares of odd rows, in even columns.
    pub black: &'a SubBoards,
    /// The squares on which queens may stand.
    pub squares: &'a SubSquares,
    /// The odd rows that white takes.
    pub white_side: Side,
    /// The even rows that black takes.
    pub black_side: Side,
}

impl Lists {
    /// The lists for a partition.
    pub fn of(&mut self, board: &ColourBoard, partition: &Partition) -> SetLists<'_> {
        let lines = Lines::of(board.size());
        let RowSet { even, odd, .. } = partition.set;
        let known = self.image.as_ref().map(|(image, _)| *image);
        if known != Some(partition.image) {
            let squares = SubSquares::new(board.size(), &partition.open);
            *self = Self {
                image: Some((partition.image, squares)),
                ..Self::default()
            };
        }
        let (_, squares) = self.image.as_ref().expect("it was set above");
        let (word, white) = self.white.get_or_insert_default();
        if *word != even || known != Some(partition.image) {
            white.fill(lines, squares, Rows::Even, even);
            *word = even;
        }
        let rest = lines.all_odd() & !odd;
        if self.kept_rows != rest.count_ones() {
            self.kept.clear();
            self.kept_rows = rest.count_ones();
            self.kept_bytes = 0;
        }
        let black = match self.kept.entry(rest) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(place) => {
                self.black.fill(lines, squares, Rows::Odd, rest);
                if self.kept_bytes < KEPT {
                    let packed = self.black.packed();
                    self.kept_bytes += packed.bytes();
                    place.insert(packed)
                } else {
                    &self.black
                }
            }
        };
        SetLists {
            white,
            black,
            squares,
            white_side: Side::new(odd),
            black_side: Side::new(lines.all_even() & !even),
        }
    }
}
