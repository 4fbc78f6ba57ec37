//! Completions of given boards, counted one by one from the list of all solutions.

use queenfold::board::{GivenBoard, Square, Symmetry};

/// All solutions of a board, those that have what is given on it, by a search row by row: for each row, the column
/// of its queen.
pub fn completions(board: impl Into<GivenBoard>) -> Vec<Vec<u8>> {
    fn place(board: &GivenBoard, queens: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
        let row = queens.len() as u8;
        let n = board.size().get() as u8;
        if row == n {
            found.push(queens.clone());
            return;
        }
        for column in 0..n {
            let own = Square::new(row, column);
            let mut above = (0..row).zip(&*queens);
            let mut given = board.queens().iter();
            if !board.holes().contains(own)
                && given.all(|given| given == own || !own.attacks(given))
                && above.all(|(row, &column)| !own.attacks(Square::new(row, column)))
            {
                queens.push(column);
                place(board, queens, found);
                queens.pop();
            }
        }
    }
    let mut found = Vec::new();
    place(&board.into(), &mut Vec::new(), &mut found);
    found
}

/// What is counted of a given board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub total: u128,
    pub unique: u128,
    pub r180: u128,
    pub r90: u128,
}

/// Counts the completions of `board` among `all` solutions of its size, or among all its completions.
pub fn counts(board: &GivenBoard, all: &[Vec<u8>]) -> Counts {
    let completes = |queens: &[u8]| {
        let queens = || {
            (0..)
                .zip(queens)
                .map(|(row, &column)| Square::new(row, column))
        };
        let given = board
            .queens()
            .iter()
            .all(|given| queens().any(|queen| queen == given));
        given && queens().all(|queen| !board.holes().contains(queen))
    };
    let found: Vec<_> = all.iter().filter(|queens| completes(queens)).collect();
    let fixed = |turn: Symmetry| {
        let is_fixed = |queens: &&&Vec<u8>| turn.apply_to_placement(queens) == ***queens;
        found.iter().filter(is_fixed).count() as u128
    };
    // Each orbit has one solution that comes before all its images.
    let first = |queens: &&&Vec<u8>| {
        let symmetries = board.symmetries();
        let mut images = symmetries.iter().map(|s| s.apply_to_placement(queens));
        images.all(|image| image >= ***queens)
    };
    Counts {
        total: found.len() as u128,
        unique: found.iter().filter(first).count() as u128,
        r180: fixed(Symmetry::HalfTurn),
        r90: fixed(Symmetry::QuarterTurn),
    }
}
