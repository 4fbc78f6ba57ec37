//! The oracle of the census: another method to count the same tasks.

use super::partition;
use crate::board::{Size, Square, Symmetry};
use crate::engine::{Counter, GivenUp, NotCounted, Tally, Task, TaskWatch};

/// The second method of the census: counts the same tasks with lists of queens that are tested
/// square by square, from the edge inward. It has no bit masks, and uses the mirror symmetry only
/// where the plan does.
pub(super) struct CensusOracle {
    n: Size,
}

impl CensusOracle {
    pub fn new(n: Size) -> Self {
        Self { n }
    }

    /// Places the orbit of `square` under `turns`. Returns `false`, and leaves the queens as they
    /// were, if two queens would attack each other.
    fn place(&self, queens: &mut Vec<Square>, square: Square, turns: &[Symmetry]) -> bool {
        let before = queens.len();
        for turn in turns {
            let image = turn.apply(self.n, square);
            if queens[before..].contains(&image) {
                continue;
            }
            if queens
                .iter()
                .any(|queen| queen.attacks(image) || *queen == image)
            {
                queens.truncate(before);
                return false;
            }
            queens.push(image);
        }
        true
    }

    /// The number of ways to add orbits under `turns` until every row has a queen.
    ///
    /// # Errors
    /// `watch` asks to give up.
    fn search(
        &self,
        queens: &mut Vec<Square>,
        turns: &[Symmetry],
        watch: &TaskWatch,
    ) -> Result<u64, GivenUp> {
        let n = self.n.get() as u8;
        let Some(row) = (0..n).find(|row| queens.iter().all(|queen| queen.row != *row)) else {
            return Ok(1);
        };
        watch.check()?;
        let mut found = 0;
        for column in 0..n {
            let before = queens.len();
            if self.place(queens, Square::new(row, column), turns) {
                found += self.search(queens, turns, watch)?;
                queens.truncate(before);
            }
        }
        Ok(found)
    }
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
        let quarter_turn = partition::quarter_turn(self.n);
        let mut tally = Tally::default();
        for rank in task.ranks.clone() {
            let mut queens = Vec::new();
            if rank == quarter_turn {
                tally.r90 += u128::from(self.search(&mut queens, &QUARTER_TURN, watch)?);
                tally.partitions += 1;
                continue;
            }
            let centre = self.n.get() as u8 / 2;
            let mut legal = true;
            for (row, column) in (0..centre).rev().zip(partition::prefix(self.n, rank)) {
                legal =
                    legal && self.place(&mut queens, Square::new(row, column as u8), &HALF_TURN);
            }
            if self.n.get() % 2 == 1 {
                legal = legal && self.place(&mut queens, Square::new(centre, centre), &HALF_TURN);
            }
            if legal {
                let found = self.search(&mut queens, &HALF_TURN, watch)?;
                tally.r180 += u128::from(found) * partition::weight(self.n);
                tally.partitions += 1;
            }
        }
        Ok(tally)
    }
}
