//! The log and the signature of a run.

use std::io::{self, Write};
use std::sync::Arc;

use super::digest::{Digest, DigestFields, context};
use super::entry::put_exact;
use super::export_line::{Last, Line};
use super::{Entry, LedgerError, RunInfo, Store};
use crate::engine::Plan;

/// BLAKE3 over what was counted: board, plans, and the tasks with their tallies in canonical order.
/// Nodes, kernels, devices, order and time are not in it, so two runs of the same plans have the same
/// signature wherever they ran.
pub struct Signature(DigestFields);

impl Signature {
    /// The signature of no tasks of the run.
    pub fn new(info: &RunInfo) -> Self {
        let mut fields = DigestFields::new(context::SIGNATURE);
        fields.u64(u64::from(info.n.get()));
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

/// The signature of all records of a ledger.
///
/// # Errors
/// A record is damaged.
pub fn signature(store: &Store) -> Result<Digest, LedgerError> {
    let mut signature = Signature::new(store.info());
    store.for_each(|entry| {
        signature.add(&entry);
        Ok(())
    })?;
    Ok(signature.digest())
}

/// Writes every record as a line of JSON in canonical order, and the signature as the last line.
/// [`read_export`](super::read_export) reads it.
///
/// # Errors
/// A record is damaged, or `out` fails; the inner result has the error of `out`.
pub fn export(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    mut out: impl Write,
) -> Result<io::Result<()>, LedgerError> {
    store.info().check_plans(store.file(), plans)?;
    let key = store.info().key();
    let mut signature = Signature::new(store.info());
    let mut written = Ok(());
    store.for_each(|entry| {
        signature.add(&entry);
        let engine = entry.result.key.engine;
        let plan = plans.iter().find(|plan| plan.engine() == engine);
        if let (Ok(()), Some(plan)) = (&written, plan) {
            let line = Line::of(&entry, plan.as_ref(), &key);
            written = serde_json::to_writer(&mut out, &line)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out));
        }
        Ok(())
    })?;
    let last = Last {
        signature: signature.digest().to_string(),
    };
    Ok(written.and_then(|()| {
        serde_json::to_writer(&mut out, &last)?;
        writeln!(out)?;
        out.flush()
    }))
}
