//! The oracle of the census: another method to count the same tasks.

use std::sync::Arc;

use super::census_board::CensusBoard;
use super::partition;
use crate::board::{Square, Squares, Symmetry};
use crate::engine::{Counter, GivenUp, NotCounted, Tally, Task, TaskWatch};

/// The second method of the census: counts the same tasks with lists of queens that are tested
/// square by square, from the edge inward. It has no bit masks, and uses the mirror symmetry only
/// where the plan does.
pub(super) struct CensusOracle {
    board: Arc<CensusBoard>,
}

impl CensusOracle {
    pub const fn new(board: Arc<CensusBoard>) -> Self {
        Self { board }
    }

    /// Places the orbit of `square` under the turns of `on`, whose squares it may use. Returns `false`, and leaves the queens as they
    /// were, if two queens would attack each other.
    fn place(&self, queens: &mut Vec<Square>, square: Square, on: &Turned<'_>) -> bool {
        let before = queens.len();
        for turn in on.turns {
            let image = turn.apply(self.board.size(), square);
            if queens[before..].contains(&image) {
                continue;
            }
            let is_free = || {
                let mut others = queens.iter();
                others.all(|queen| !queen.attacks(image) && *queen != image)
            };
            if !on.open.contains(image) || !is_free() {
                queens.truncate(before);
                return false;
            }
            queens.push(image);
        }
        true
    }

    /// The number of ways to add orbits under the turns of `on` until every row has a queen.
    ///
    /// # Errors
    /// `watch` asks to give up.
    fn search(
        &self,
        queens: &mut Vec<Square>,
        on: &Turned<'_>,
        watch: &TaskWatch,
    ) -> Result<u64, GivenUp> {
        let n = self.board.size().get() as u8;
        let Some(row) = (0..n).find(|row| queens.iter().all(|queen| queen.row != *row)) else {
            return Ok(1);
        };
        watch.check()?;
        let mut found = 0;
        for column in 0..n {
            let before = queens.len();
            if self.place(queens, Square::new(row, column), on) {
                found += self.search(queens, on, watch)?;
                queens.truncate(before);
            }
        }
        Ok(found)
    }
}

/// What symmetric solutions are made of.
struct Turned<'a> {
    turns: &'a [Symmetry],
    open: &'a Squares,
}

const HALF_TURN: [Symmetry; 2] = [Symmetry::Identity, Symmetry::HalfTurn];
const QUARTER_TURN: [Symmetry; 4] = [
    Symmetry::Identity,
    Symmetry::QuarterTurn,
    Symmetry::HalfTurn,
    Symmetry::ThreeQuarterTurn,
];

impl Counter for CensusOracle {
    fn backend(&self) -> &'static str {
        "squares"
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let n = self.board.size();
        let quarter_turn = partition::quarter_turn(&self.board);
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            let mut queens = Vec::new();
            if rank == quarter_turn {
                let on = Turned {
                    turns: &QUARTER_TURN,
                    open: self.board.quarter_turn(),
                };
                tally.r90 += u128::from(self.search(&mut queens, &on, watch)?);
                tally.partitions += 1;
                continue;
            }
            let on = Turned {
                turns: &HALF_TURN,
                open: self.board.half_turn(partition::image(n, rank)),
            };
            let centre = n.get() as u8 / 2;
            let mut legal = true;
            for (row, column) in (0..centre).rev().zip(partition::prefix(n, rank)) {
                legal = legal && self.place(&mut queens, Square::new(row, column as u8), &on);
            }
            if n.get() % 2 == 1 {
                legal = legal && self.place(&mut queens, Square::new(centre, centre), &on);
            }
            if legal {
                let found = self.search(&mut queens, &on, watch)?;
                tally.r180 += u128::from(found) * partition::weight(&self.board);
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}
