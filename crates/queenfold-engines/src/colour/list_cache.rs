//! The placements that a set of rows begins with, kept for the next sets, which share them.

use super::lines::{Lines, Parity};
use super::open_squares::OpenSquares;
use super::placement_list::{Found, PlacementList};
use super::row_sets::RowSets;
use super::side::Side;
use super::sub_board::SubBoard;
use super::{ColourBoard, Partition};
use crate::board::Size;
use crate::engine::{GivenUp, TaskWatch};

/// Placements in columns of one parity, kept for the next sets.
pub struct Lists {
    /// The parity of the columns.
    columns: Parity,
    /// The image of the given board that they are of, and its squares.
    image: Option<(usize, OpenSquares)>,
    /// Those on even rows, of the words that were needed last: as many as a tile of the plan has, if they fit
    /// the memory.
    even: Vec<List>,
    /// Which of them is replaced next.
    next: usize,
    /// Those on odd rows, of a word.
    odd: List,
    found: Found,
}

/// The most placements that are kept on even rows of several words: they take 12 MiB up to 24 queens, 64 MiB
/// above.
const fn most_kept(n: Size) -> usize {
    if n.get() <= 24 { 3 << 19 } else { 1 << 23 }
}

/// The placements on the rows of a word, if it was filled.
#[derive(Default)]
struct List {
    word: Option<u32>,
    placements: PlacementList,
}

impl List {
    /// Fills it anew, unless it holds the placements on the rows of this word.
    fn set(
        &mut self,
        lines: Lines,
        squares: &OpenSquares,
        (board, word): (SubBoard, u32),
        found: &mut Found,
        watch: &TaskWatch,
    ) -> Result<(), GivenUp> {
        if self.word != Some(word) {
            self.word = None;
            self.placements
                .fill(lines, squares, (board, word), found, watch)?;
            self.word = Some(word);
        }
        Ok(())
    }
}

/// What the units of a set have in common.
pub struct SetLists<'a> {
    /// The squares on which queens may stand.
    pub squares: &'a OpenSquares,
    /// The placements on white squares.
    pub white: Listed<'a>,
    /// The placements on black squares.
    pub black: Listed<'a>,
}

/// Placements of one colour in columns of one parity, and the rows that are left to that colour.
pub struct Listed<'a> {
    /// Where they stand.
    pub board: SubBoard,
    /// The placements.
    pub placements: &'a PlacementList,
    /// The rows that are left: those of the other sub-board of this colour.
    pub side: Side,
}

impl Lists {
    /// For the columns of a parity.
    pub fn new(columns: Parity) -> Self {
        Self {
            columns,
            image: None,
            even: Vec::new(),
            next: 0,
            odd: List::default(),
            found: Found::default(),
        }
    }

    /// Where the placements on the even rows of a word are, or are to be listed.
    fn place_of(&mut self, n: Size, even: u32) -> usize {
        if let Some(known) = self.even.iter().position(|list| list.word == Some(even)) {
            return known;
        }
        let room = |list: &List| list.placements.room();
        let tile = RowSets::tile(n, even.count_ones());
        self.even.truncate(tile);
        let mut kept: usize = self.even.iter().map(room).sum();
        while self.even.len() > 1 && kept > most_kept(n) {
            kept -= self.even.pop().as_ref().map_or(0, room);
        }
        let last = self.even.last().map_or(0, room);
        if self.even.len() < tile && kept + last <= most_kept(n) {
            self.even.push(List::default());
            return self.even.len() - 1;
        }
        self.next = (self.next + 1) % self.even.len();
        self.next
    }

    /// The lists for a partition.
    ///
    /// # Errors
    /// The task is to be given up.
    #[expect(
        clippy::expect_used,
        reason = "the image is set where it is another one"
    )]
    pub fn of(
        &mut self,
        board: &ColourBoard,
        partition: &Partition,
        watch: &TaskWatch,
    ) -> Result<SetLists<'_>, GivenUp> {
        let (lines, columns) = (Lines::of(board.size()), self.columns);
        if self.image.as_ref().map(|(image, _)| *image) != Some(partition.image) {
            let squares = OpenSquares::new(board.size(), &partition.open);
            *self = Self {
                image: Some((partition.image, squares)),
                ..Self::new(columns)
            };
        }
        // The rows of the two colours on which queens in these columns stand: white ones have the same parity.
        let white = |parity| partition.set.word(parity);
        let black = |parity| lines.all(parity) & !white(parity);
        let rows = |parity| {
            if parity == columns {
                white(parity)
            } else {
                black(parity)
            }
        };
        let of = |rows| SubBoard { rows, columns };
        let even = rows(Parity::Even);
        let at = self.place_of(board.size(), even);
        let (_, squares) = self.image.as_ref().expect("it was set above");
        let found = &mut self.found;
        let own = (of(Parity::Even), even);
        self.even[at].set(lines, squares, own, found, watch)?;
        let own = (of(Parity::Odd), rows(Parity::Odd));
        self.odd.set(lines, squares, own, found, watch)?;
        let [even, odd] = [&self.even[at].placements, &self.odd.placements];
        let listed = |rows: Parity, own, left| Listed {
            board: of(rows),
            placements: if rows == Parity::Even { even } else { odd },
            side: Side::new((rows.other(), left), own),
        };
        let others = columns.other();
        Ok(SetLists {
            squares,
            white: listed(columns, white(columns), white(others)),
            black: listed(others, black(others), black(columns)),
        })
    }
}
