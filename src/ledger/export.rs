use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::digest::{Digest, Fields};
use super::record::put_exact;
use super::{LedgerError, Record, RunInfo, Store};
use crate::engine::Plan;

/// BLAKE3 over what was counted: board, plans, and the tasks with their tallies in canonical
/// order. Free of nodes, kernels, devices, order and time, so that two runs of the same plans have
/// the same signature wherever they ran.
pub struct Signature(Fields);

impl Signature {
    /// The signature of no tasks of the run.
    pub fn new(info: &RunInfo) -> Self {
        let mut fields = Fields::new("queenfold ledger 1: signature");
        fields.u64(u64::from(info.n.get()));
        for plan in &info.plans {
            fields.text(plan.engine.name()).text(&plan.hash);
        }
        Self(fields)
    }

    /// Adds a record; the caller keeps to the canonical order.
    pub fn add(&mut self, record: &Record) {
        put_exact(&mut self.0, record.task, &record.tally);
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
    store.for_each(|record| {
        signature.add(&record);
        Ok(())
    })?;
    Ok(signature.digest())
}

/// A line of the exported log. Counts are decimal strings: they may exceed what a reader of JSON
/// takes for a number.
#[derive(Serialize)]
struct Line<'a> {
    n: u32,
    plan: &'a str,
    engine: &'a str,
    task: u64,
    ranks: [u64; 2],
    completions: Weights,
    r180: String,
    r90: String,
    partitions: String,
    nodes: String,
    backend: &'a str,
    device: &'a str,
    worker: &'a str,
    audited_by: Option<&'a str>,
    session: &'a str,
    seconds: f64,
    blake3: String,
}

#[derive(Serialize)]
struct Weights {
    #[serde(rename = "1")]
    one: String,
    #[serde(rename = "2")]
    two: String,
    #[serde(rename = "4")]
    four: String,
    #[serde(rename = "8")]
    eight: String,
}

#[derive(Serialize)]
struct Last {
    signature: String,
}

/// Writes every record as a line of JSON in canonical order, and the signature as the last line.
///
/// # Errors
/// A record is damaged, or `out` fails: the error of the latter is in the inner result.
pub fn export(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    mut out: impl Write,
) -> Result<io::Result<()>, LedgerError> {
    store.info().check_plans(store.file(), plans)?;
    let key = store.info().key();
    let mut signature = Signature::new(store.info());
    let mut written = Ok(());
    store.for_each(|record| {
        signature.add(&record);
        let plan = plans
            .iter()
            .find(|plan| plan.engine() == record.task.engine);
        if let (Ok(()), Some(plan)) = (&written, plan) {
            written = line(&mut out, plan.as_ref(), &record, &key);
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

fn line(out: &mut impl Write, plan: &dyn Plan, record: &Record, key: &Digest) -> io::Result<()> {
    let tally = &record.tally;
    let ranks = plan.task(record.task.index).ranks;
    let [one, two, four, eight] = tally.completions.by_weight().map(|count| count.to_string());
    let line = Line {
        n: plan.size().get(),
        plan: plan.version(),
        engine: record.task.engine.name(),
        task: record.task.index,
        ranks: [ranks.start, ranks.end],
        completions: Weights {
            one,
            two,
            four,
            eight,
        },
        r180: tally.r180.to_string(),
        r90: tally.r90.to_string(),
        partitions: tally.partitions.to_string(),
        nodes: tally.nodes.to_string(),
        backend: &record.backend,
        device: &record.device,
        worker: &record.worker,
        audited_by: record.audited_by.as_deref(),
        session: &record.session,
        seconds: record.duration.as_secs_f64(),
        blake3: record.digest(key).to_string(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}
