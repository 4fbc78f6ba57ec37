//! What an engine implements: a plan, and counters of its tasks.

use std::ops::Range;
use std::sync::Arc;

use super::{
    Canary, CounterSettings, Engine, Launcher, Mismatch, NoLauncher, NotCounted, PlanName, Tally,
    Task, TaskKey, TaskWatch,
};
use crate::board::{GivenBoard, Size};
use crate::simd::Isa;

/// A pure, documented order of partitions with random access, cut into tasks.
///
/// A plan depends only on the board, the engine and the plan version, so nothing has to be stored to
/// resume, shard, verify or re-run a task.
///
/// ```
/// # mod queenfold {
/// #     pub use queenfold_engines::{board::*, engine::*};
/// #     pub fn plan(_: Engine, n: Size) -> impl Plan { queenfold_engines::chain::ChainPlan::new(n) }
/// # }
/// use queenfold::{Engine, Plan, Size, plan};
///
/// let plan = plan(Engine::Chain, Size::new(16)?);
/// assert_eq!(plan.name().to_string(), "chain-1");
/// // Tasks tile the ranks of the plan.
/// assert_eq!(plan.task(0).ranks.end, plan.task(1).ranks.start);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Plan: Send + Sync {
    /// The engine it belongs to, [`Engine::Own`] if it is not of this library, and the version of the order of
    /// partitions and of the task boundaries: `chain-1`. Two plans of one name and board have the same tasks.
    fn name(&self) -> PlanName;

    /// The board it counts.
    fn given(&self) -> GivenBoard;

    /// Its engine.
    fn engine(&self) -> Engine {
        self.name().engine
    }

    /// The size of its board.
    fn size(&self) -> Size {
        self.given().size()
    }

    /// The key of the task at position `index`.
    fn key(&self, index: u64) -> TaskKey {
        self.name().key(self.size(), index)
    }

    /// The number of tasks, at least 1.
    fn tasks(&self) -> u64;

    /// The task at position `index`, which must be below [`tasks`](Self::tasks). Takes constant
    /// time and memory.
    fn task(&self, index: u64) -> Task;

    /// The ranks of the task at position `index`, for callers that need no cost: to estimate it may take
    /// longer than everything else about the task.
    fn ranks_of(&self, index: u64) -> Range<u64> {
        self.task(index).ranks
    }

    /// Numbers that tell which partition is at `rank`, so that a ledger refuses a program that orders the partitions of
    /// the same version otherwise. Empty where the rank is empty, and by default: then the version alone stands for the
    /// order.
    fn partition_words(&self, _rank: u64) -> Vec<u64> {
        Vec::new()
    }

    /// The sum of [`Task::cost`] over all tasks.
    fn total_cost(&self) -> f64;

    /// How many tasks next to each other a [`Counter`] should count one after the other, because they share work.
    fn neighbours(&self) -> u64 {
        1
    }

    /// A counter for one worker.
    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter>;

    /// The name of the kernel by which [`counter`](Self::counter) counts with an instruction set.
    fn kernel(&self, isa: Isa) -> &'static str {
        self.counter(&CounterSettings { isa }).backend()
    }

    /// A counter for tasks that a [`counter`](Self::counter) has counted already. Where the plan has two ways
    /// to count that cost about the same and share no number on the way, it uses the other one, and
    /// [`backend`](Counter::backend) tells them apart. The default is the same counter.
    fn recounter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        self.counter(settings)
    }

    /// The names of the kernels by which [`counter`](Self::counter) and [`recounter`](Self::recounter) count with an
    /// instruction set.
    fn kernels(&self, isa: Isa) -> [&'static str; 2] {
        [isa.name(); 2]
    }

    /// A counter that counts the same tasks by a different and simpler method, to check the
    /// first. It is slow, and its counts are exactly equal.
    fn oracle(&self) -> Box<dyn Counter>;

    /// Small tasks with known counts, for the kernels that its counters use. `None` where there are none:
    /// then nothing tells whether a worker counts correctly except second counts of its tasks.
    fn canary(&self) -> Option<Canary> {
        None
    }

    /// A counter of the tasks of the [canary](Self::canary), by the kernel that [`counter`](Self::counter)
    /// uses. It is the same counter unless the canary is of another board.
    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        self.counter(settings)
    }

    /// The same work, of which each task is divided into so many, where tasks can be: for samples of tasks that take
    /// minutes. `None` where they cannot.
    fn in_parts(&self, _parts: u64) -> Option<Arc<dyn Plan>> {
        None
    }

    /// How its tasks become launches for a device.
    ///
    /// # Errors
    /// Devices do not count this plan, and why.
    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        Err(NoLauncher::Engine)
    }

    /// How tasks that the [launcher](Self::launcher) counted already become launches. Where the plan has two ways to
    /// count on a device that share no number, it uses the other one, and [`kernel`](Launcher::kernel) tells them
    /// apart. The default is the same launcher.
    ///
    /// # Errors
    /// As [`launcher`](Self::launcher).
    fn relauncher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        self.launcher()
    }
}

/// Counts tasks, one after the other, on the thread that owns it.
///
/// It may keep buffers and tables between tasks, but nothing of a task's result.
pub trait Counter: Send {
    /// Which kernel counts, as recorded with each task: `avx512`, `scalar`, ….
    fn backend(&self) -> &'static str;

    /// Counts one task of the plan this counter was made by. Tells `watch` how far it is, and gives the
    /// task up if `watch` asks for that.
    ///
    /// A counter that never asks `watch` delays the stop of a run until its task is counted.
    ///
    /// # Errors
    /// The task was given up, or a check inside the counter found a contradiction. After an error the
    /// counter must not be used again.
    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted>;

    /// Counts one task to its end, whatever happens meanwhile.
    ///
    /// # Errors
    /// A check inside the counter found a contradiction: nothing it counted can be trusted.
    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        Ok(self.count_watched(task, &TaskWatch::default())?)
    }
}
