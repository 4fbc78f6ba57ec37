use super::lines::{Lines, Parity};
use super::open_squares::OpenSquares;
use super::placement_list::PlacementList;
use super::row_sets::RowSets;
use super::side::Side;
use super::sub_board::SubBoard;
use super::{ColourBoard, Partition};

/// Placements in columns of one parity, kept for the next sets.
pub struct Lists {
    /// The parity of the columns.
    columns: Parity,
    /// The image of the given board that they are of, and its squares.
    image: Option<(usize, OpenSquares)>,
    /// Those on even rows, of the words that were needed last: as many as a tile of the plan has.
    even: Vec<List>,
    /// Which of them is replaced next.
    next: usize,
    /// Those on odd rows, of a word.
    odd: List,
}

/// The placements on the rows of a word, if it was filled.
#[derive(Default)]
struct List {
    word: Option<u32>,
    placements: PlacementList,
}

impl List {
    /// Fills it anew, unless it holds the placements on the rows of this word.
    fn set(&mut self, lines: Lines, squares: &OpenSquares, board: SubBoard, word: u32) {
        if self.word != Some(word) {
            self.placements.fill(lines, squares, board, word);
            self.word = Some(word);
        }
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
        }
    }

    /// The lists for a partition.
    #[expect(
        clippy::expect_used,
        reason = "the image is set where it is another one"
    )]
    pub fn of(&mut self, board: &ColourBoard, partition: &Partition) -> SetLists<'_> {
        let (lines, columns) = (Lines::of(board.size()), self.columns);
        if self.image.as_ref().map(|(image, _)| *image) != Some(partition.image) {
            let squares = OpenSquares::new(board.size(), &partition.open);
            *self = Self {
                image: Some((partition.image, squares)),
                ..Self::new(columns)
            };
        }
        let (_, squares) = self.image.as_ref().expect("it was set above");
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
        let known = self.even.iter().position(|list| list.word == Some(even));
        let at = known.unwrap_or_else(|| {
            let at = self.next;
            self.next = (at + 1) % RowSets::tile(board.size());
            if at == self.even.len() {
                self.even.push(List::default());
            }
            at
        });
        self.even[at].set(lines, squares, of(Parity::Even), even);
        self.odd
            .set(lines, squares, of(Parity::Odd), rows(Parity::Odd));
        let [even, odd] = [&self.even[at].placements, &self.odd.placements];
        let listed = |rows, left| Listed {
            board: of(rows),
            placements: if rows == Parity::Even { even } else { odd },
            side: Side::new(left),
        };
        SetLists {
            squares,
            white: listed(columns, white(columns.other())),
            black: listed(columns.other(), black(columns)),
        }
    }
}
