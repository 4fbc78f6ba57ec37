//! Who counts in a run: CPU workers and devices, and which of them count no more.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::actors::{DeviceIndex, WorkerIndex};
use crate::engine::WorkerId;

/// The workers of a run. CPU workers come first, then devices.
pub(crate) struct Roster {
    /// Their names.
    ids: Vec<WorkerId>,
    cpu_workers: usize,
    /// Which of them count no more: devices that were given up, and whoever counted wrongly.
    retired: Vec<AtomicBool>,
}

impl Roster {
    /// So many CPU workers, and devices of these numbers.
    pub(crate) fn new(cpu_workers: usize, devices: impl Iterator<Item = usize>) -> Self {
        let cpu = (0..cpu_workers).map(WorkerId::Cpu);
        let ids: Vec<_> = cpu.chain(devices.map(WorkerId::Device)).collect();
        Self {
            retired: ids.iter().map(|_| AtomicBool::new(false)).collect(),
            ids,
            cpu_workers,
        }
    }

    /// CPU workers and devices at the beginning of the run.
    pub(crate) const fn workers(&self) -> usize {
        self.ids.len()
    }

    /// CPU workers at the beginning of the run.
    pub(crate) const fn cpu_workers(&self) -> usize {
        self.cpu_workers
    }

    /// Whether it is a CPU worker.
    pub(crate) const fn is_cpu(&self, worker: WorkerIndex) -> bool {
        worker.0 < self.cpu_workers
    }

    /// Which device it is, if it is one.
    pub(crate) fn device(&self, worker: WorkerIndex) -> Option<DeviceIndex> {
        worker.0.checked_sub(self.cpu_workers).map(DeviceIndex)
    }

    /// CPU workers and devices that still count.
    pub(crate) fn left(&self) -> impl Iterator<Item = WorkerIndex> {
        let all = (0..self.workers()).map(WorkerIndex);
        all.filter(|&worker| !self.is_retired(worker))
    }

    /// How many of them are CPU workers.
    pub(crate) fn cpu_workers_left(&self) -> usize {
        self.left().filter(|&worker| self.is_cpu(worker)).count()
    }

    /// How many of them are devices.
    pub(crate) fn devices_left(&self) -> usize {
        self.left().count() - self.cpu_workers_left()
    }

    /// Whether a worker counts no more.
    pub(crate) fn is_retired(&self, worker: WorkerIndex) -> bool {
        self.retired[worker.0].load(Ordering::Relaxed)
    }

    /// From now on a worker counts no more. Returns whether it did until now.
    pub(crate) fn retire(&self, worker: WorkerIndex) -> bool {
        !self.retired[worker.0].swap(true, Ordering::Relaxed)
    }

    /// A CPU worker that still counts and is none of `not_on`: the next one after the first of these, so that work is
    /// spread.
    pub(crate) fn elsewhere(&self, not_on: &[WorkerIndex]) -> Option<WorkerIndex> {
        let from = not_on.first().map_or(0, |worker| worker.0 + 1);
        let mut all = (0..self.cpu_workers).map(|at| WorkerIndex((from + at) % self.cpu_workers));
        all.find(|worker| !self.is_retired(*worker) && !not_on.contains(worker))
    }

    /// The name of a worker: of its thread, its lane and its results.
    pub(crate) fn id(&self, worker: WorkerIndex) -> WorkerId {
        self.ids[worker.0]
    }

    /// The names of all workers.
    pub(crate) fn ids(&self) -> &[WorkerId] {
        &self.ids
    }

    /// The worker of this name.
    pub(crate) fn find(&self, id: WorkerId) -> Option<WorkerIndex> {
        self.ids.iter().position(|of| *of == id).map(WorkerIndex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_is_retired_gets_nothing() {
        let roster = Roster::new(2, 0..2);
        let [first, second, gpu, other] = [0, 1, 2, 3].map(WorkerIndex);
        assert_eq!((roster.workers(), roster.devices_left()), (4, 2));
        assert!(roster.retire(gpu) && !roster.retire(gpu));
        assert_eq!((roster.workers(), roster.devices_left()), (4, 1));
        assert_eq!(roster.elsewhere(&[first]), Some(second));
        assert_eq!(roster.elsewhere(&[second]), Some(first));
        roster.retire(first);
        assert_eq!(roster.elsewhere(&[other]), Some(second));
        assert_eq!(roster.elsewhere(&[second]), None);
        assert_eq!(roster.cpu_workers_left(), 1);
        roster.retire(second);
        assert_eq!(roster.elsewhere(&[]), None);
        assert_eq!((roster.cpu_workers_left(), roster.devices_left()), (0, 1));
    }
}
