//! What an owner is given, and what it gives back uncounted.

use crate::engine::{LaunchBatch, Task};

/// What is to be submitted.
pub(super) enum Pending {
    /// Tasks that become a launch.
    Tasks(Vec<Task>),
    /// A part of a task that somebody prepared.
    Part(Part),
}

/// What a launch counts.
pub(super) enum Counts {
    /// Whole tasks.
    Tasks(Vec<Task>),
    /// The part of this number, of so much work.
    Part(u64, f64),
}

/// A part of a task, prepared by a [`Preparer`](crate::engine::Preparer).
pub struct Part {
    /// The number by which its tally comes back.
    pub number: u64,
    /// Its launch.
    pub batch: Box<dyn LaunchBatch>,
    /// What it takes the device, in the unit of the preparer.
    pub work: f64,
}

/// What comes back uncounted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uncounted {
    /// Tasks.
    pub tasks: Vec<Task>,
    /// The numbers of parts.
    pub parts: Vec<u64>,
}

impl Uncounted {
    /// Whether everything was counted.
    pub const fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.parts.is_empty()
    }

    pub(super) fn add_pending(&mut self, pending: Pending) {
        match pending {
            Pending::Tasks(mut tasks) => self.tasks.append(&mut tasks),
            Pending::Part(part) => self.parts.push(part.number),
        }
    }

    pub(super) fn add_counts(&mut self, counts: Counts) {
        match counts {
            Counts::Tasks(mut tasks) => self.tasks.append(&mut tasks),
            Counts::Part(number, _) => self.parts.push(number),
        }
    }
}
