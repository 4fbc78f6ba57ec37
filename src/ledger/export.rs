//! The log and the signature of a run.

use std::io;
use std::sync::Arc;

use super::digest::{Digest, DigestFields, context};
use super::entry::put_exact;
use super::export_line::{ExportLine, Line};
use super::{Column, Entry, LedgerError, RecordedTask, RunInfo, Store};
use crate::engine::Plan;

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

/// Gives out every record in canonical order, each followed by its second count if there is one; then the log of
/// corrections, and the signature at last.
///
/// Returns the number of records. Nothing more is read once `write` fails.
///
/// # Errors
/// A record is damaged, or `write` fails; the inner result has its error.
pub fn export(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    mut write: impl FnMut(&ExportLine<'_>) -> io::Result<()>,
) -> Result<io::Result<u64>, LedgerError> {
    store.info().check_plans(store.file(), plans)?;
    let key = store.info().key();
    let mut signature = Signature::new(store.info());
    let mut records = 0;
    let plan_of = |engine| plans.iter().find(|plan| plan.engine() == engine);
    // Records and corrections of the same moment: another process may write meanwhile.
    let _moment = store.moment()?;
    let read = store.try_for_each(|RecordedTask { record, second }| {
        signature.add(&record);
        records += 1;
        let Some(plan) = plan_of(record.result.key.engine) else {
            return Ok(());
        };
        let line = |entry, column| Line::of(entry, column, plan.as_ref(), &key);
        write(&ExportLine::record(line(&record, Column::Record)))?;
        if let Some(second) = &second {
            write(&ExportLine::second(line(second, Column::Second)))?;
        }
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(Stop::Ledger(error)) => return Err(error),
        Err(Stop::Output(error)) => return Ok(Err(error)),
    }
    let corrections = store.corrections()?;
    let mut finish = || {
        for logged in &corrections {
            if let Some(plan) = plan_of(logged.task().engine) {
                write(&ExportLine::correction(logged, plan.name(), &key))?;
            }
        }
        write(&ExportLine::signature(&signature.digest()))
    };
    Ok(finish().map(|()| records))
}

/// What ends an export early.
enum Stop {
    Ledger(LedgerError),
    Output(io::Error),
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
