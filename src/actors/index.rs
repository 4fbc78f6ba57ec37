//! Positions in the lists of a run: a type for each list, so that none is taken for another.

/// Who counts: a CPU worker or a device. CPU workers come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WorkerIndex(pub(super) usize);

/// A plan of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PlanIndex(pub(super) usize);

/// A device of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceIndex(pub(super) usize);
