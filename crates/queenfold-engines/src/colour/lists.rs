use super::lines::Lines;
use super::open_squares::SubSquares;
use super::row_sets::RowSets;
use super::side::Side;
use super::sub_boards::{Rows, SubBoards};
use super::{ColourBoard, Partition, RowSet};

/// Placements in even columns, kept for the next sets.
#[derive(Default)]
pub struct Lists {
    /// The image of the given board that they are of, and its squares.
    image: Option<(usize, SubSquares)>,
    /// The white ones, on the even rows of the words that were needed last: as many as a tile of the plan has.
    white: Vec<List>,
    /// Which of them is replaced next.
    next: usize,
    /// The black ones, on the odd rows of a word.
    black: List,
}

/// The placements on the rows of a word, if it was filled.
#[derive(Default)]
struct List {
    word: Option<u32>,
    boards: SubBoards,
}

impl List {
    /// Fills it anew, unless it holds the placements on the rows of this word.
    fn set(&mut self, lines: Lines, squares: &SubSquares, rows: Rows, word: u32) {
        if self.word != Some(word) {
            self.boards.fill(lines, squares, rows, word);
            self.word = Some(word);
        }
    }
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
    #[expect(
        clippy::expect_used,
        reason = "the image is set where it is another one"
    )]
    pub fn of(&mut self, board: &ColourBoard, partition: &Partition) -> SetLists<'_> {
        let lines = Lines::of(board.size());
        let RowSet { even, odd, .. } = partition.set;
        if self.image.as_ref().map(|(image, _)| *image) != Some(partition.image) {
            let squares = SubSquares::new(board.size(), &partition.open);
            *self = Self {
                image: Some((partition.image, squares)),
                ..Self::default()
            };
        }
        let (_, squares) = self.image.as_ref().expect("it was set above");
        let known = self.white.iter().position(|list| list.word == Some(even));
        let at = known.unwrap_or_else(|| {
            let at = self.next;
            self.next = (at + 1) % RowSets::tile(board.size());
            if at == self.white.len() {
                self.white.push(List::default());
            }
            at
        });
        self.white[at].set(lines, squares, Rows::Even, even);
        self.black
            .set(lines, squares, Rows::Odd, lines.all_odd() & !odd);
        SetLists {
            white: &self.white[at].boards,
            black: &self.black.boards,
            squares,
            white_side: Side::new(odd),
            black_side: Side::new(lines.all_even() & !even),
        }
    }
}
