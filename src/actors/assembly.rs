//! Tasks that CPU workers prepared for a device: their parts come back one by one, and make the tally.

use std::collections::HashMap;

use super::feed::Prepared;
use super::feed_load::PartLoad;
use crate::device::Part;
use crate::engine::{Tally, Task};

/// The prepared tasks of a device that are not counted yet.
#[derive(Default)]
pub(super) struct Assemblies {
    /// By number, which is never used again: a task that comes back may come once more.
    tasks: HashMap<u64, Assembly>,
    /// For each part under way, the number of its task, and what it takes of the device.
    parts: HashMap<u64, (u64, PartLoad)>,
    next: u64,
}

struct Assembly {
    task: Task,
    tally: Tally,
    worker: usize,
    share: f64,
    parts_left: usize,
}

/// A prepared task that is counted.
#[derive(Debug, PartialEq)]
pub(super) struct Assembled {
    pub(super) task: Task,
    pub(super) tally: Tally,
    /// The worker that prepared it.
    pub(super) worker: usize,
    /// The share of its work that the device counted, 0 to 1.
    pub(super) share: f64,
}

impl Assemblies {
    /// Takes a prepared task apart into what the device is to count.
    pub(super) fn begin(&mut self, prepared: Prepared) -> Vec<Part> {
        let number = self.number();
        let parts: Vec<Part> = prepared
            .parts
            .into_iter()
            .map(|part| {
                let own = self.number();
                self.parts.insert(own, (number, part.load));
                Part {
                    number: own,
                    batch: part.batch,
                    work: part.load.work,
                }
            })
            .collect();
        let assembly = Assembly {
            task: prepared.task,
            tally: prepared.tally,
            worker: prepared.worker,
            share: prepared.share,
            parts_left: parts.len(),
        };
        self.tasks.insert(number, assembly);
        parts
    }

    /// Takes in the tally of a part. Returns what the part took, and the task if this was its last one.
    pub(super) fn add(
        &mut self,
        part: u64,
        tally: &Tally,
    ) -> Option<(PartLoad, Option<Assembled>)> {
        let (number, load) = self.parts.remove(&part)?;
        let Some(assembly) = self.tasks.get_mut(&number) else {
            // Another part came back uncounted, and so did the task.
            return Some((load, None));
        };
        assembly.tally += *tally;
        assembly.parts_left -= 1;
        if assembly.parts_left > 0 {
            return Some((load, None));
        }
        let done = self.tasks.remove(&number);
        let done = done.map(|done| Assembled {
            task: done.task,
            tally: done.tally,
            worker: done.worker,
            share: done.share,
        });
        Some((load, done))
    }

    /// A part comes back uncounted. Returns what it took, and its task if that was not returned before.
    pub(super) fn give_up(&mut self, part: u64) -> Option<(PartLoad, Option<Task>)> {
        let (number, load) = self.parts.remove(&part)?;
        let task = self.tasks.remove(&number).map(|assembly| assembly.task);
        Some((load, task))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::feed::PreparedPart;
    use super::*;
    use crate::board::Size;
    use crate::chain::ChainPlan;
    use crate::engine::{Completed, Launch, LaunchBatch, Mismatch, Plan};

    struct Nothing;

    impl LaunchBatch for Nothing {
        fn launch(&self) -> Option<&Launch> {
            None
        }

        fn tallies(self: Box<Self>, _: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
            Ok(Vec::new())
        }
    }

    fn nodes(nodes: u64) -> Tally {
        Tally {
            nodes,
            ..Tally::default()
        }
    }

    fn prepared(parts: usize) -> Prepared {
        let part = |_| PreparedPart {
            batch: Box::new(Nothing),
            load: PartLoad {
                bytes: 8,
                work: 1.0,
            },
        };
        Prepared {
            task: ChainPlan::new(Size::new(15).unwrap()).task(3),
            tally: nodes(1),
            worker: 2,
            took: Duration::from_secs(1),
            share: 0.5,
            parts: (0..parts).map(part).collect(),
        }
    }

    #[test]
    fn the_tally_of_a_task_is_the_sum_of_its_parts_and_of_what_was_counted_before() {
        let mut assemblies = Assemblies::default();
        let parts = assemblies.begin(prepared(2));
        let (load, done) = assemblies.add(parts[1].number, &nodes(10)).unwrap();
        assert_eq!((load.bytes, done), (8, None));
        let (_, done) = assemblies.add(parts[0].number, &nodes(100)).unwrap();
        let done = done.unwrap();
        assert_eq!((done.tally, done.worker, done.share), (nodes(111), 2, 0.5));
        assert_eq!(assemblies.add(parts[0].number, &nodes(100)), None);
    }

    #[test]
    fn a_task_comes_back_once_whatever_becomes_of_its_parts() {
        let mut assemblies = Assemblies::default();
        let parts = assemblies.begin(prepared(3));
        let again = assemblies.begin(prepared(1));
        assert!(assemblies.add(parts[0].number, &nodes(1)).is_some());
        let (_, task) = assemblies.give_up(parts[1].number).unwrap();
        assert_eq!(task.unwrap().key.index, 3);
        let (_, task) = assemblies.give_up(parts[2].number).unwrap();
        assert!(task.is_none());
        // The same task, prepared once more meanwhile, is another one.
        let (_, done) = assemblies.add(again[0].number, &nodes(5)).unwrap();
        assert_eq!(done.unwrap().tally, nodes(6));
    }
}
