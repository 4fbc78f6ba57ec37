//! What is given on a board as JSON.

use serde::{Deserialize, Serialize};

use super::{GivenBoard, Symmetry};

/// What is given on a board, as results and events have it in JSON: names of squares, and the symmetries that
/// leave it as it is, the identity first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenSquares {
    /// The given queens.
    pub queens: Vec<String>,
    /// The holes.
    pub holes: Vec<String>,
    /// The names of the symmetries.
    pub symmetries: Vec<String>,
}

impl GivenSquares {
    /// `None` for a free board.
    pub fn of(board: &GivenBoard) -> Option<Self> {
        let n = board.size();
        let symmetries = board.symmetries().iter();
        (!board.is_free()).then(|| Self {
            queens: board.queens().names(n),
            holes: board.holes().names(n),
            symmetries: symmetries.map(|s| Symmetry::name(s).to_owned()).collect(),
        })
    }
}
