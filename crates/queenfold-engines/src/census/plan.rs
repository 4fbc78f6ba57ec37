//! The plan of the census: its tasks, and what counts them.

use super::NAME;
use std::sync::Arc;

use super::census_board::CensusBoard;
use super::oracle::CensusOracle;
use super::{CensusPartition, canary, half_turn, partition, quarter_turn};
use crate::board::GivenBoard;
use crate::engine::{
    Canary, Counter, CounterSettings, Engine, NotCounted, Plan, PlanName, Tally, Task, TaskWatch,
    core_seconds,
};
use crate::simd::Isa;

/// The plan of the census. `partition.rs` has the order of its partitions.
///
/// Version `census-1`.
#[derive(Clone, Debug)]
pub struct CensusPlan {
    board: Arc<CensusBoard>,
}

impl CensusPlan {
    /// The census of a board: of its size, or of a board on which queens and holes are given. It counts the
    /// completions that a turn fixes, whether the turn fixes the given board or not.
    pub fn new(board: impl Into<GivenBoard>) -> Self {
        Self {
            board: Arc::new(CensusBoard::new(board.into())),
        }
    }

    /// What a rank stands for, which must be below the end of the last task.
    pub fn partition(&self, rank: u64) -> CensusPartition {
        CensusPartition::of_rank(&self.board, rank)
    }

    /// Small boards are one task. Boards from n = 18 have one task for each column of the innermost
    /// queen, boards from n = 22, which take 0.1 s or more, one for each rank.
    fn ranks_per_task(&self) -> u64 {
        let n = self.size().get();
        match n {
            0..18 => partition::ranks(&self.board),
            18..22 => n.into(),
            _ => 1,
        }
    }
}

impl Plan for CensusPlan {
    fn name(&self) -> PlanName {
        NAME
    }

    fn given(&self) -> GivenBoard {
        self.board.given()
    }

    fn tasks(&self) -> u64 {
        partition::ranks(&self.board).div_ceil(self.ranks_per_task())
    }

    fn task(&self, index: u64) -> Task {
        assert!(index < self.tasks(), "task {index} of {}", self.tasks());
        let start = index * self.ranks_per_task();
        let ranks = start..(start + self.ranks_per_task()).min(partition::ranks(&self.board));
        Task {
            key: self.key(index),
            cost: self.total_cost() * (ranks.end - ranks.start) as f64
                / partition::ranks(&self.board) as f64,
            ranks,
        }
    }

    fn total_cost(&self) -> f64 {
        let whole = core_seconds(Engine::Census, self.size(), Isa::Portable);
        whole * self.given().share() * self.board.images() as f64
    }

    fn counter(&self, _settings: &CounterSettings) -> Box<dyn Counter> {
        Box::new(CensusCounter {
            board: Arc::clone(&self.board),
        })
    }

    fn kernels(&self, _: Isa) -> [&'static str; 2] {
        [KERNEL; 2]
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(CensusOracle::new(Arc::clone(&self.board)))
    }

    fn canary(&self) -> Option<Canary> {
        Some(canary::canary())
    }

    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        Self::new(canary::canary().size()).counter(settings)
    }
}

/// It uses no vectors.
const KERNEL: &str = "scalar";

struct CensusCounter {
    board: Arc<CensusBoard>,
}

impl Counter for CensusCounter {
    fn backend(&self) -> &'static str {
        KERNEL
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        let ranks = task.ranks.end - task.ranks.start;
        for rank in task.ranks.clone() {
            let stretch = watch.whole().part(rank - task.ranks.start, ranks);
            stretch.step(0, 1)?;
            let nodes = &mut tally.nodes;
            if rank == partition::quarter_turn(&self.board) {
                tally.r90 += u128::from(quarter_turn::count(&self.board, nodes, stretch)?);
                tally.partitions += 1;
            } else {
                let found = half_turn::count(&self.board, rank, nodes, stretch)?;
                tally.r180 += u128::from(found.solutions) * partition::weight(&self.board);
                tally.partitions += u64::from(found.legal);
            }
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Size, known, known_symmetric};

    fn whole(plan: &CensusPlan, mut counter: Box<dyn Counter>) -> Tally {
        (0..plan.tasks())
            .map(|index| counter.count(&plan.task(index)).unwrap())
            .sum()
    }

    fn settings() -> CounterSettings {
        CounterSettings {
            isa: crate::simd::Isa::Portable,
        }
    }

    #[test]
    fn both_censuses_up_to_20_are_the_known_ones() {
        for n in (1..=20).map(|n| Size::new(n).unwrap()) {
            let plan = CensusPlan::new(n);
            let tally = whole(&plan, plan.counter(&settings()));
            let known = known(n).unwrap();
            assert_eq!((tally.r180, tally.r90), (known.r180, known.r90), "n = {n}");
        }
    }

    #[test]
    fn quarter_turns_of_large_boards_are_the_known_ones() {
        for n in Size::all().skip(21) {
            let plan = CensusPlan::new(n);
            let task = plan.task(partition::quarter_turn(&plan.board));
            let tally = plan.counter(&settings()).count(&task).unwrap();
            assert_eq!(tally.r90, known_symmetric(n)[1], "n = {n}");
        }
    }

    #[test]
    fn the_oracle_agrees_task_by_task() {
        for n in (1..=13).chain([18]).map(|n| Size::new(n).unwrap()) {
            let plan = CensusPlan::new(n);
            let (mut counter, mut oracle) = (plan.counter(&settings()), plan.oracle());
            for index in 0..plan.tasks().min(3) {
                let task = plan.task(index);
                let (a, b) = (counter.count(&task).unwrap(), oracle.count(&task).unwrap());
                assert!(a.agrees_with(&b), "n = {n}, task {index}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_tasks_cover_every_rank_once() {
        for n in Size::all() {
            let plan = CensusPlan::new(n);
            let mut next = 0;
            let mut cost = 0.0;
            for task in (0..plan.tasks()).map(|index| plan.task(index)) {
                assert_eq!(task.ranks.start, next);
                next = task.ranks.end;
                cost += task.cost;
            }
            assert_eq!(next, partition::ranks(&plan.board));
            assert!((cost - plan.total_cost()).abs() <= 1e-9 * cost);
        }
    }
}
