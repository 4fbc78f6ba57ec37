//! CPU workers make the lists of tasks, and leave the pairs to a device that has room.

use super::bundle::Bundle;
use crate::engine::{
    DeviceProgram, LaunchBatch, LaunchError, Mismatch, NotCounted, PartTaker, Preparer, Tally,
    Task, TaskWatch,
};
use crate::join::counter::{Leave, LeavingCounter, LeftPairs};
use crate::join::key_layout::KeyLayout;
use crate::join::pairs::Lists;

/// Bytes from which a launch is large enough: a GPU counts so many for milliseconds, and several fit its memory.
const LARGE_ENOUGH: u64 = 32 << 20;

/// Counts tasks but for the pairs that a device takes.
pub(super) struct JoinPreparer {
    counter: Box<dyn LeavingCounter>,
    bundle: Bundle,
    /// Launches made: chooses which part of each is counted again.
    launches: u64,
}

impl JoinPreparer {
    /// Lists by `counter`, for this program.
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
            given: (0, 0.0),
            kept: 0,
            outcome: Ok(Tally::default()),
        };
        let counted = self.counter.count_leaving(task, watch, &mut parts);
        // Else the last lists may lack what their pairs stand for.
        if counted.is_ok() {
            parts.give();
        }
        self.launches += parts.launches;
        let (bytes, work) = parts.given;
        if bytes > 0 {
            // The sets of a task have lists of about the same length.
            parts.device.keep(work * parts.kept as f64 / bytes as f64);
        }
        let mut tally = counted?;
        tally += parts.outcome?;
        Ok(tally)
    }
}

/// The parts of a task.
struct Parts<'a> {
    bundle: &'a mut Bundle,
    device: &'a mut dyn PartTaker,
    seed: u64,
    launches: u64,
    /// Bytes and work of what the device took.
    given: (u64, f64),
    /// Bytes of what it had no room for.
    kept: u64,
    /// What parts gave of which nothing was left to the device.
    outcome: Result<Tally, Mismatch>,
}

impl Parts<'_> {
    /// Gives what there is to the device.
    fn give(&mut self) {
        if self.bundle.is_empty() {
            return;
        }
        let seed = self.seed.wrapping_add(self.launches);
        self.launches += 1;
        let bytes = self.bundle.bytes();
        let taken = self.bundle.take(vec![Tally::default()], seed);
        let refused = |error: LaunchError| Mismatch(format!("a launch was refused: {error}"));
        match taken.map_err(refused) {
            Ok((batch, work)) if batch.launch.is_some() => {
                self.given.0 += bytes;
                self.given.1 += work;
                self.device.take(Box::new(batch), work);
            }
            Ok((batch, _)) => match (Box::new(batch).tallies(None), &mut self.outcome) {
                (Ok(tallies), Ok(sum)) => *sum += tallies.into_iter().sum(),
                (Err(wrong), outcome) => *outcome = Err(wrong),
                (Ok(_), Err(_)) => {}
            },
            Err(wrong) => self.outcome = Err(wrong),
        }
    }
}

impl Leave for Parts<'_> {
    fn takes(&mut self, lists: &Lists<u32>, layout: &KeyLayout) -> bool {
        let more = self.bundle.bytes_for(lists, layout);
        if !self.device.has_room(self.bundle.bytes() + more) {
            // The device has room for what it was asked for before.
            self.give();
            if !self.device.has_room(more) {
                self.kept += more;
                return false;
            }
        }
        self.bundle.add(lists, layout);
        true
    }

    fn settle(&mut self, set: LeftPairs) {
        self.bundle.settle(0, set);
        if self.bundle.bytes() >= LARGE_ENOUGH {
            self.give();
        }
    }
}
