//! What does a ledger say of its run? How far it is, how often its tasks were counted, where, and by what.

pub(super) mod confirmation;
pub(super) mod counted_with;
pub(super) mod coverage;
pub(super) mod host_share;
pub(super) mod run_info;
pub(super) mod signature;
pub(super) mod status;
