//! What does a ledger say of its run? How far it is, how often its tasks were counted, where, and by what.
//!
//! * `run_info`: which run it is, and which processes worked on it.
//! * `coverage`: which tasks are recorded, and which are missing; `status`: how far the run is.
//! * `host_share`: what each host did; `counted_with`: by which kernels, and how many workers.
//! * `confirmation`: how often tasks were counted, and where.
//! * `signature`: one digest of all counts.

pub(super) mod confirmation;
pub(super) mod counted_with;
pub(super) mod coverage;
pub(super) mod host_share;
pub(super) mod run_info;
pub(super) mod signature;
pub(super) mod status;
