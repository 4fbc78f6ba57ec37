//! CPU workers make the boards of tasks, and leave the half boards to a device that has room.

use super::bundle::Bundle;
use crate::engine::{
    DeviceProgram, LaunchError, Mismatch, NotCounted, PartTaker, Preparer, Tally, Task, TaskWatch,
};
use crate::join::counter::{Leave, LeavingCounter, LeftPairs};
use crate::join::crossing::SetBoards;
use crate::join::key_layout::KeyLayout;

/// Bytes of device memory from which a launch is large enough: a GPU counts what comes of so many for milliseconds, and
/// several fit its memory.
const LARGE_ENOUGH: u64 = 128 << 20;

/// Counts tasks but for the half boards that a device takes.
pub(super) struct JoinPreparer {
    counter: Box<dyn LeavingCounter>,
    bundle: Bundle,
    /// Launches made: chooses which part of each is counted again.
    launches: u64,
}

impl JoinPreparer {
    /// Boards by `counter`, for this program.
    pub(super) fn new(counter: Box<dyn LeavingCounter>, program: DeviceProgram) -> Self {
        Self {
            counter,
            bundle: Bundle::new(program),
            launches: 0,
        }
    }
}

impl Preparer for JoinPreparer {
    fn prepare(
        &mut self,
        task: &Task,
        watch: &TaskWatch,
        device: &mut dyn PartTaker,
    ) -> Result<Tally, NotCounted> {
        self.bundle.clear();
        let mut parts = Parts {
            bundle: &mut self.bundle,
            device,
            seed: task.ranks.start ^ self.launches << 32,
            launches: 0,
            kept: 0.0,
            outcome: Ok(()),
        };
        let counted = self.counter.count_leaving(task, watch, &mut parts);
        // Else the last half boards may lack what their pairs stand for.
        if counted.is_ok() {
            parts.give();
        }
        self.launches += parts.launches;
        parts.device.keep(parts.kept);
        let tally = counted?;
        parts.outcome?;
        Ok(tally)
    }
}

/// The parts of a task.
struct Parts<'a> {
    bundle: &'a mut Bundle,
    device: &'a mut dyn PartTaker,
    seed: u64,
    launches: u64,
    /// The work of what the device had no room for.
    kept: f64,
    /// Whether every launch could be made.
    outcome: Result<(), Mismatch>,
}

impl Parts<'_> {
    /// Gives what there is to the device.
    fn give(&mut self) {
        if self.bundle.is_empty() {
            return;
        }
        let seed = self.seed.wrapping_add(self.launches);
        self.launches += 1;
        let work = self.bundle.work();
        let taken = self.bundle.take(vec![Tally::default()], seed);
        let refused = |error: LaunchError| Mismatch(format!("a launch was refused: {error}"));
        match taken.map_err(refused) {
            Ok(batch) => self.device.take(Box::new(batch), work),
            Err(wrong) => self.outcome = Err(wrong),
        }
    }
}

impl Leave for Parts<'_> {
    fn wants(&self) -> bool {
        true
    }

    fn takes(&mut self, set: &SetBoards<'_>, layout: &KeyLayout) -> bool {
        let more = self.bundle.bytes_for(set, layout);
        if !self.device.has_room(self.bundle.bytes() + more) {
            // The device has room for what it was asked for before.
            self.give();
            if !self.device.has_room(more) {
                self.kept += Bundle::work_for(set);
                return false;
            }
        }
        self.bundle.add(set, layout);
        true
    }

    fn settle(&mut self, set: LeftPairs) {
        self.bundle.settle(0, set);
        if self.bundle.bytes() >= LARGE_ENOUGH {
            self.give();
        }
    }
}
