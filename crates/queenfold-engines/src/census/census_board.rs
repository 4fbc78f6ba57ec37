//! What a given board leaves to its symmetric completions, and whether mirror images are counted apart.

use crate::board::{GivenBoard, Size, Square, Squares, Symmetry};

/// The squares that symmetric completions of a given board may use.
///
/// A completion that a turn fixes has a queen on every image of a square that it uses. So only squares count
/// all of whose images are open.
#[derive(Debug)]
pub(super) struct CensusBoard {
    given: GivenBoard,
    /// For the half turn: these squares, and their mirror image if that is another set.
    half_turn: [Squares; 2],
    is_mirrored: bool,
    quarter_turn: Squares,
}

impl CensusBoard {
    pub fn new(given: GivenBoard) -> Self {
        let n = given.size();
        let open = given.open();
        let half_turn = open.and(&open.image(n, Symmetry::HalfTurn));
        let quarter_turn = half_turn.and(&half_turn.image(n, Symmetry::QuarterTurn));
        let mirrored = half_turn.image(n, Symmetry::MirrorColumns);
        Self {
            given,
            half_turn: [half_turn, mirrored],
            is_mirrored: mirrored == half_turn,
            quarter_turn,
        }
    }

    pub const fn given(&self) -> GivenBoard {
        self.given
    }

    pub const fn size(&self) -> Size {
        self.given.size()
    }

    /// How often the partitions of the half turn are counted: once, and their solutions twice, if the mirror
    /// image of a solution is a solution; else once on the board and once on its mirror image.
    pub fn images(&self) -> usize {
        if self.is_mirrored { 1 } else { 2 }
    }

    /// The squares for the half turn on an image.
    pub fn half_turn(&self, image: usize) -> &Squares {
        &self.half_turn[image]
    }

    /// The squares for the quarter turn.
    pub const fn quarter_turn(&self) -> &Squares {
        &self.quarter_turn
    }

    /// Whether a symmetric solution on `squares` has the queen in the centre that it needs on odd boards.
    pub fn has_centre(&self, squares: &Squares) -> bool {
        let middle = self.size().get() as u8 / 2;
        self.size().get().is_multiple_of(2) || squares.contains(Square::new(middle, middle))
    }
}
