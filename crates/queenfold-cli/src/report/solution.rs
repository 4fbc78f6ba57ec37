//! One solution of the board that was counted.

use super::RunReport;
use super::board_svg::board_svg;
use queenfold::solve::{Choice, solve};
use queenfold::words::board_flags;

/// The seed of the random solution: everybody who draws it gets the same.
const SEED: u64 = 1;

/// A drawing of one solution, and the command that makes it.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The drawing.
    pub svg: String,
    /// The command.
    pub command: String,
}

impl RunReport {
    /// One solution; `None` if there is none, or if it is not known yet whether there is: looking for it could then take as
    /// long as the run.
    pub fn solution(&self) -> Option<Solution> {
        let board = self.info.board;
        let exists = match &self.outcome {
            Ok(outcome) => outcome.total > 0,
            Err(_) => board.is_free() && board.size().get() > 3,
        };
        if !exists {
            return None;
        }
        let solved = solve(&board, 1, Choice::Random { seed: SEED });
        (!solved.boards.is_empty()).then(|| Solution {
            svg: board_svg(&board, &solved.boards),
            command: format!(
                "queenfold solve {} --random --seed {SEED} --svg",
                board_flags(&board)
            ),
        })
    }
}
