//! How tasks of the join become launches for a device.

use std::ops::RangeInclusive;
use std::sync::Arc;

use parking_lot::Mutex;

use super::batch::JoinBatch;
use super::bundle::Bundle;
use super::preparer::JoinPreparer;
use super::program::{default_program, fitted, program};
use crate::board::Size;
use crate::engine::{
    CounterSettings, DeviceCanary, DeviceProgram, Engine, LaunchBatch, LaunchError, Launcher,
    Mismatch, Preparer, Task, TaskWatch, core_seconds, interpolate,
};
use crate::join::JoinBoard;
use crate::join::canary::canary;
use crate::join::counter::{Leave, LeavingCounter, LeftPairs, counter};
use crate::join::crossing::SetBoards;
use crate::join::key_layout::KeyLayout;
use crate::simd::Isa;

/// Boards that devices count. Smaller ones have next to no pairs; on larger ones keys do not fit 32 bits once they are
/// sorted.
pub(in crate::join) const BOARDS: RangeInclusive<u32> = 8..=27;

/// The most bytes that a launch of whole tasks takes on a device. Further sets are counted on the CPU.
const LARGEST: u64 = 512 << 20;

/// The share of the time of a CPU worker that a device can take over: all but the making of boards. Measured with AVX-512
/// from 18 to 26 queens (docs/PERFORMANCE.md, "The join on a device"); runs of smaller boards are over before a device is
/// open.
fn share_of_pairs(n: Size) -> f64 {
    const EVEN: [(u32, f64); 6] = [
        (8, 0.05),
        (18, 0.47),
        (20, 0.67),
        (22, 0.86),
        (24, 0.95),
        (26, 0.99),
    ];
    const ODD: [(u32, f64); 5] = [(9, 0.05), (19, 0.33), (21, 0.59), (23, 0.83), (25, 0.86)];
    let table: &[_] = if n.get().is_multiple_of(2) {
        &EVEN
    } else {
        &ODD
    };
    interpolate(n, table)
}

/// Makes launches of the tasks of a join plan.
pub(in crate::join) struct JoinLauncher {
    board: JoinBoard,
    program: DeviceProgram,
    /// Counters that have made lists of this board before.
    counters: Mutex<Vec<Box<dyn LeavingCounter>>>,
}

impl JoinLauncher {
    /// For the plan of `board`; `None` if the kernel does not count boards of this size.
    pub(in crate::join) fn new(board: JoinBoard) -> Option<Self> {
        let n = board.size();
        BOARDS
            .contains(&n.get())
            .then(|| Self::with(board, default_program()))
    }

    /// With a program of its own.
    pub(super) fn with(board: JoinBoard, program: DeviceProgram) -> Self {
        Self {
            board,
            program,
            counters: Mutex::default(),
        }
    }

    fn counter(&self) -> Box<dyn LeavingCounter> {
        let kept = self.counters.lock().pop();
        kept.unwrap_or_else(|| {
            let settings = CounterSettings {
                isa: Isa::best(),
                memory: LARGEST,
            };
            counter(self.board.clone(), &settings)
        })
    }

    /// Makes a batch of whole tasks.
    fn make(&self, tasks: &[Task], seed: u64) -> Result<JoinBatch, LaunchError> {
        let mut counter = self.counter();
        let mut whole = WholeTasks {
            bundle: Bundle::new(self.program),
            task: 0,
        };
        let mut tallies = Vec::with_capacity(tasks.len());
        let mut wrong = None;
        for (index, task) in tasks.iter().enumerate() {
            whole.task = index;
            match counter.count_leaving(task, &TaskWatch::default(), &mut whole) {
                Ok(tally) => tallies.push(tally),
                Err(error) => {
                    wrong = Some(Mismatch::from(error));
                    break;
                }
            }
        }
        if wrong.is_some() {
            whole.bundle.clear();
        } else {
            self.counters.lock().push(counter);
        }
        let batch = whole.bundle.take(tallies, seed)?;
        Ok(JoinBatch { wrong, ..batch })
    }
}

impl Launcher for JoinLauncher {
    fn program(&self) -> DeviceProgram {
        self.program
    }

    fn fitted(&self, shared_memory: u32) -> Option<Arc<dyn Launcher>> {
        let program = fitted(shared_memory);
        (program != self.program)
            .then(|| Arc::new(Self::with(self.board.clone(), program)) as Arc<dyn Launcher>)
    }

    /// What a core takes for the pairs of the whole board, in seconds.
    fn work(&self) -> f64 {
        let n = self.board.size();
        self.board.work() * core_seconds(Engine::Join, n, Isa::Avx512) * share_of_pairs(n)
    }

    fn share(&self) -> f64 {
        share_of_pairs(self.board.size())
    }

    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError> {
        Ok(Box::new(self.make(tasks, seed)?))
    }

    fn canary(&self, copies: u32) -> Result<DeviceCanary, LaunchError> {
        let canary = canary(self.board.size());
        let small = Self::with(canary.size().into(), self.program);
        let tasks = (0..canary.tasks().len()).map(|at| canary.task(at));
        let all: Vec<Task> = (0..copies).flat_map(|_| tasks.clone()).collect();
        Ok(DeviceCanary {
            batch: Box::new(small.make(&all, 0)?),
            canary,
        })
    }

    fn preparer(&self, settings: &CounterSettings) -> Option<Box<dyn Preparer>> {
        let counter = counter(self.board.clone(), settings);
        Some(Box::new(JoinPreparer::new(counter, self.program)))
    }
}

/// A launcher for blocks that have room for so few keys, an even number, that small boards take every path of the
/// kernel. Made for tests: only the emulated device has such blocks.
#[doc(hidden)]
pub fn launcher_of_small_blocks(board: impl Into<JoinBoard>, keys: u32) -> Arc<dyn Launcher> {
    Arc::new(JoinLauncher::with(board.into(), program(keys, 32)))
}

/// The half boards of whole tasks, as long as they fit a launch.
struct WholeTasks {
    bundle: Bundle,
    /// The position of the present task.
    task: usize,
}

impl Leave for WholeTasks {
    fn wants(&self) -> bool {
        true
    }

    fn takes(&mut self, set: &SetBoards<'_>, layout: &KeyLayout) -> bool {
        let fits = self.bundle.bytes() + self.bundle.bytes_for(set, layout) <= LARGEST;
        if fits {
            self.bundle.add(set, layout);
        }
        fits
    }

    fn settle(&mut self, set: LeftPairs) {
        self.bundle.settle(self.task, set);
    }
}
