//! The signature of a run.

use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::database::entry::put_exact;
use crate::ledger::{Entry, RunInfo};

/// BLAKE3 over what was counted: board, plans, and the tasks with their tallies in canonical order.
/// Nodes, kernels, devices, order and time are not in it, so two runs of the same plans have the same
/// signature wherever they ran. Second counts and corrections are not in it either; a correction that
/// changes a count changes the signature.
pub struct Signature(DigestFields);

impl Signature {
    /// The signature of no tasks of the run.
    pub fn new(info: &RunInfo) -> Self {
        let mut fields = DigestFields::new(context::SIGNATURE);
        fields.u64(u64::from(info.n().get()));
        for plan in &info.plans {
            fields.text(plan.engine.name()).text(&plan.hash);
        }
        Self(fields)
    }

    /// Adds an entry; the caller keeps to the canonical order.
    pub fn add(&mut self, entry: &Entry) {
        put_exact(&mut self.0, entry.result.key, &entry.result.tally);
    }

    /// The signature of what was added.
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }
}
