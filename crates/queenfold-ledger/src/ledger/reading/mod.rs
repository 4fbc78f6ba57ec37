//! What does a ledger say of its run? How far it is, how often its tasks were counted, where, and by what.
//!
//! * `run_info`: which run it is, and which processes worked on it.
//! * `coverage`: which tasks are recorded, and which are missing; `status`: how far the run is.
//! * `who_counted`: one walk through the records, for how often tasks were counted and where (`confirmation`), what each
//!   host did (`host_share`), and by which kernels.
//! * `signature`: one digest of all counts.

pub(super) mod confirmation;
pub(super) mod coverage;
pub(super) mod host_share;
pub(super) mod run_info;
pub(super) mod signature;
pub(super) mod status;
pub(super) mod who_counted;
