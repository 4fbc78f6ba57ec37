use super::lines::Lines;
use crate::board::{Size, Squares};

/// The squares on which queens may stand, by sub-board: for each of its rows the columns, as a word.
#[derive(Clone, Debug)]
pub struct SubSquares {
    /// Even rows and even columns.
    pub even_even: Vec<u32>,
    /// Even rows and odd columns.
    pub even_odd: Vec<u32>,
    /// Odd rows and even columns.
    pub odd_even: Vec<u32>,
    /// Odd rows and odd columns.
    pub odd_odd: Vec<u32>,
}

impl SubSquares {
    /// Those of a board.
    pub fn new(n: Size, open: &Squares) -> Self {
        let of = |first: u32, parity: usize| {
            let rows = (first..n.get()).step_by(2);
            rows.map(|row| Lines::split(open.row(row))[parity])
                .collect()
        };
        Self {
            even_even: of(0, 0),
            even_odd: of(0, 1),
            odd_even: of(1, 0),
            odd_odd: of(1, 1),
        }
    }
}
