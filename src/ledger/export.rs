//! The log and the signature of a run.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::digest::{Digest, DigestFields, context};
use super::entry::put_exact;
use super::export_line::{CorrectionLine, Last, Line, SecondLine};
use super::{Column, Entry, LedgerError, RecordedTask, RunInfo, Store};
use crate::engine::Plan;
use crate::telemetry::printable_json;

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

/// Writes every record as a line of JSON in canonical order, each followed by its second count if there is
/// one; then the log of corrections, and the signature as the last line.
///
/// Returns the number of records. Nothing more is read once `out` fails.
///
/// # Errors
/// A record is damaged, or `out` fails; the inner result has the error of `out`.
pub fn export(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    mut out: impl Write,
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
        write_line(&mut out, &line(&record, Column::Record))?;
        if let Some(second) = &second {
            let second = line(second, Column::Second);
            write_line(&mut out, &SecondLine { second })?;
        }
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(Stop::Ledger(error)) => return Err(error),
        Err(Stop::Output(error)) => return Ok(Err(error)),
    }
    let corrections = store.corrections()?;
    let last = Last {
        signature: signature.digest().to_string(),
    };
    let mut finish = || {
        for logged in &corrections {
            if let Some(plan) = plan_of(logged.task().engine) {
                write_line(&mut out, &CorrectionLine::of(logged, plan.name(), &key))?;
            }
        }
        write_line(&mut out, &last)?;
        out.flush()
    };
    Ok(finish().map(|()| records))
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(line)?;
    writeln!(out, "{}", printable_json(&line))
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
